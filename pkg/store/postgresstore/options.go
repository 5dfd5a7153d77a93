package postgresstore

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Options say where the database is and how much of it is used. Only URL has no default.
type Options struct {
	// URL is postgres://user:password@host:port/database?sslmode=…, or a DSN of libpq; PGHOST and the
	// like are used for what it does not say. pool_max_conns and the like in it are pgxpool's, and count
	// where no option here is set, as does connect_timeout. Connect to the server itself: connections keep
	// prepared statements, and are set up by startup parameters, which poolers refuse or drop.
	URL string
	// MaxConns bounds the connections of this process. Default 16. It opens up to a quarter as many more for a second look
	// when timers are created that must not have been there, or re-armed, two for lists and counts, and one for reading the
	// server's clock. A process of one role keeps a few busy; beyond two for each of the server's processors, more do not
	// write faster.
	MaxConns int
	// MinConns are kept open while nothing happens. Default 2.
	MinConns int
	// ConnectTimeout bounds how long one attempt to connect takes. Default 5 s.
	ConnectTimeout time.Duration
	// AllowUnsafe starts on a server that may lose acknowledged timers in a power failure (fsync or
	// full_page_writes off), for tests that do not mind. ?allow_unsafe=true in the URL says the same.
	AllowUnsafe bool
	// Logger gets what no caller is told. Default: none.
	Logger *slog.Logger
}

// unsafeParameter is the only parameter of the URL that is this engine's.
const unsafeParameter = "allow_unsafe"

// withDefaults is a copy in which everything is set.
func (o *Options) withDefaults() (Options, error) {
	all := *o
	if all.URL == "" {
		return all, timer.Invalid("store", all.URL, "postgres://user:password@host:port/database")
	}
	for _, setting := range []struct {
		name        string
		value       *int
		otherwise   int
		least, most int
	}{
		{"maxConns", &all.MaxConns, 16, 2, 1000},
		{"minConns", &all.MinConns, 2, 1, 1000},
	} {
		if *setting.value == 0 {
			*setting.value = setting.otherwise
		}
		if *setting.value < setting.least || *setting.value > setting.most {
			return all, timer.Invalid(setting.name, *setting.value, fmt.Sprintf("%d to %d", setting.least, setting.most))
		}
	}
	all.MinConns = min(all.MinConns, all.MaxConns)
	if all.ConnectTimeout == 0 {
		all.ConnectTimeout = 5 * time.Second
	}
	if all.ConnectTimeout < 0 {
		return all, timer.Invalid("connectTimeout", all.ConnectTimeout, "a positive duration")
	}
	if all.Logger == nil {
		all.Logger = slog.New(slog.DiscardHandler)
	}
	return all, nil
}
