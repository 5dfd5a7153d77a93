package postgresstore

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Options configure the store. Only URL has no default.
type Options struct {
	// URL is postgres://user:password@host:port/database?sslmode=…, or a DSN of libpq. PGHOST and the other variables
	// of libpq are used for values that it does not have. Parameters of pgxpool, such as pool_max_conns, and
	// connect_timeout are used if the corresponding option here is not set. Connect to the server itself, not to a
	// pooler: connections use prepared statements and startup parameters, which poolers refuse or drop.
	URL string
	// MaxConns bounds the connections of this process. Default 16. In addition, the process opens up to a quarter as
	// many for second reads (when timers are re-armed, or created with onConflict keep or fail), two for lists and
	// counts, and one for reading the server's clock. A process with one role keeps a few connections busy. More than
	// two for each of the server's processors do not make writes faster.
	MaxConns int
	// MinConns is the number of idle connections that are kept open. Default 2.
	MinConns int
	// ConnectTimeout bounds one attempt to connect. Default 5 s.
	ConnectTimeout time.Duration
	// AllowUnsafe allows a server that may lose acknowledged timers in a power failure (fsync or full_page_writes off),
	// for tests. ?allow_unsafe=true in the URL has the same effect.
	AllowUnsafe bool
	// Role is the only role of the process: ingest, scheduler or dispatcher. Open requires the rights of this role only. Default:
	// all roles.
	Role string
	// Logger gets events that are not part of a call's answer. By default nothing is logged.
	Logger *slog.Logger
}

// unsafeParameter is the only URL parameter that this engine defines.
const unsafeParameter = "allow_unsafe"

// withDefaults returns a copy in which all fields are set.
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
	all.ConnectTimeout = cmp.Or(all.ConnectTimeout, 5*time.Second)
	if all.ConnectTimeout < 0 {
		return all, timer.Invalid("connectTimeout", all.ConnectTimeout, "a positive duration")
	}
	if all.Logger == nil {
		all.Logger = slog.New(slog.DiscardHandler)
	}
	return all, nil
}
