package sqlitestore

import (
	"fmt"
	"log/slog"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Options say where the database is and how much it may take. Only Folder has no default.
type Options struct {
	// Folder holds the database and belongs to one process at a time. It is made if it is not there.
	Folder string
	// CacheMiB is the page cache of each connection. Default 8; 16 is hardly faster, 64 not at all.
	CacheMiB int
	// Readers is the number of connections for reads that timers wait for. Default 4.
	Readers int
	// LongReaders is the number of connections for lists and counts, which then use about as many processors. Default 1.
	LongReaders int
	// Queue is how many write requests may wait; more callers wait for a place. Default 1,024.
	Queue int
	// GroupRows and GroupBytes bound what one commit takes in: beyond either, no further request joins
	// (one that is larger by itself is committed alone). Defaults 1,024 rows and 8 MiB.
	GroupRows, GroupBytes int
	// WALMiB is how large the write-ahead log may get before readers are held up for a moment to
	// empty it. It is emptied without that at 16 MiB, unless readers never leave a gap. Default 64.
	WALMiB int
	// Logger gets what no caller is told. Default: none.
	Logger *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	if o.Folder == "" {
		return o, timer.Invalid("folder", o.Folder, "the path of the data folder")
	}
	for _, setting := range []struct {
		name        string
		value       *int
		otherwise   int
		least, most int
	}{
		{"cacheMiB", &o.CacheMiB, 8, 1, 1024},
		{"readers", &o.Readers, 4, 1, 64},
		{"longReaders", &o.LongReaders, 1, 1, 64},
		{"queue", &o.Queue, 1024, 1, 1 << 20},
		{"groupRows", &o.GroupRows, 1024, 1, 1 << 20},
		{"groupBytes", &o.GroupBytes, 8 << 20, 1, 1 << 30},
		{"walMiB", &o.WALMiB, 64, 17, 1 << 20},
	} {
		if *setting.value == 0 {
			*setting.value = setting.otherwise
		}
		if *setting.value < setting.least || *setting.value > setting.most {
			return o, timer.Invalid(setting.name, *setting.value, between(setting.least, setting.most))
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

func between(least, most int) string { return fmt.Sprintf("%d to %d", least, most) }
