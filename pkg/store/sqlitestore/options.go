package sqlitestore

import (
	"fmt"
	"log/slog"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Options configure the store. Only Folder has no default.
type Options struct {
	// Folder is the data folder. Only one process at a time can use it. It is created if it does not exist.
	Folder string
	// CacheMiB is the page cache of each connection, in MiB. Default 8. 16 is hardly faster, and 64 is no faster than
	// 16.
	CacheMiB int
	// Readers is the number of connections for short reads, on which timers wait. Default 4.
	Readers int
	// LongReaders is the number of connections for lists and counts, which then use about as many processors. Default
	// 1.
	LongReaders int
	// Queue is how many write requests may wait. Further callers block. Default 1,024.
	Queue int
	// GroupRows and GroupBytes bound one commit: a request that would exceed either waits for the next commit. A
	// request that is larger than a bound is committed alone. Defaults 1,024 rows and 8 MiB.
	GroupRows, GroupBytes int
	// WALMiB is the size of the write-ahead log, in MiB, above which the writer pauses the readers briefly to truncate
	// it. From 16 MiB on the log is reused without that, unless readers overlap all the time. Default 64.
	WALMiB int
	// Clock is the clock that Time reads. Default timer.SystemClock, the wall clock of this machine.
	Clock timer.Clock
	// Logger gets events that are not part of a call's answer. By default nothing is logged.
	Logger *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	if o.Folder == "" {
		return o, timer.Invalid("folder", o.Folder, "the path of the data folder")
	}
	if o.Clock == nil {
		o.Clock = timer.SystemClock
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
