package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/doctor"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// examination is one run of `timerbus doctor`.
type examination struct {
	config process.Config
	url    string
	limits doctor.Limits
	logger *slog.Logger

	// badURL is the error of a URL that is not acceptable. Each check runs in a separate goroutine.
	badURL atomic.Pointer[error]
}

func (p *program) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Short: "Check the store, the bus, the clocks and the timers, and say what to do", Args: exactly(),
		Long: `Check the store, the bus, the clocks and the timers, and say what to do. Use the settings of the processes.

The checks change nothing, except that "store write" creates a timer for the year 9999, whose id begins with
timerbus-doctor-, and deletes it. "bus rights" sends messages to NATS that the server refuses in any case.

If a process uses the data folder (SQLite), its database cannot be opened: the results then come from the HTTP API of that
process, at --url.

Exit codes: 0 if no check failed (warnings do not count), 1 if a check failed, 2 if the checks could not run, because a
flag or a setting is not acceptable.`,
		Example: `  timerbus doctor --store postgres://timerbus@db/timerbus --bus nats://nats:4222
  timerbus doctor --data /var/lib/timerbus --json`,
	}
	settings := onlyFlags(c, "store", "bus", "data", "listen", "token", "partitions")
	c.Flags().Lookup("listen").Usage = "address of the process that uses the data folder, if --url is not set"
	c.Flags().Lookup("token").Usage = "token of the service (preferably set as TIMERBUS_TOKEN)"
	var e examination
	c.Flags().StringVar(&e.url, "url", "", "URL of the process that uses the data folder (default $TIMERBUS_URL, else from --listen)")
	durationFlag(c, &e.limits.Timeout, "timeout", 5*time.Second, "longest duration of each check")
	durationFlag(c, &e.limits.Overdue, "overdue", 10*time.Second, "a timer that is overdue for longer is a failure")
	asJSON := c.Flags().Bool("json", false, "print the result as JSON")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if e.config, err = settings(); err != nil {
			return usageError{err}
		}
		if e.limits.Timeout <= 0 || e.limits.Overdue < 0 {
			return usagef("--timeout %v and --overdue %v: want durations such as 5s", e.limits.Timeout, e.limits.Overdue)
		}
		e.logger = slog.New(slog.DiscardHandler)
		if !*asJSON {
			e.logger = process.NewLogger(p.stderr, e.config.LogFormat, slog.LevelWarn)
		}
		results, err := e.run(c.Context())
		if err != nil {
			return usageError{err}
		}
		return p.diagnosis(results, *asJSON)
	}
	return c
}

func (p *program) diagnosis(results []doctor.Result, asJSON bool) error {
	var err error
	healthy := doctor.Healthy(results)
	if asJSON {
		err = printJSON(p.stdout, map[string]any{"healthy": healthy, "results": results})
	} else {
		rows := [][]string{{"CHECK", "STATUS", "FOUND"}}
		for _, r := range results {
			rows = append(rows, []string{r.Check, string(r.Status), r.Found})
			if r.Advice != "" {
				rows = append(rows, []string{"", "", "→ " + r.Advice})
			}
		}
		err = table(p.stdout, rows)
	}
	if err != nil {
		return err
	}
	if !healthy {
		return errors.New("at least one check failed")
	}
	return nil
}

// run returns an error if a setting is not acceptable.
func (e *examination) run(ctx context.Context) ([]doctor.Result, error) {
	storeURL, busURL := e.config.Store, e.config.Bus
	folder := storeURL == "" || backend.InFolder(storeURL)
	if storeURL == "" {
		storeURL = backend.FolderURL("sqlite", filepath.Clean(e.config.Data), nil)
	}
	if err := inProcess("--store", storeURL); err != nil {
		return nil, err
	}
	if err := inProcess("--bus", busURL); err != nil {
		return nil, err
	}
	o := doctor.Options{
		Store: func(ctx context.Context) (store.Store, error) {
			b, err := backend.OpenStore(ctx, backend.Options{StoreURL: storeURL, Clock: timer.SystemClock, Logger: e.logger})
			if err != nil {
				return nil, e.keep(err)
			}
			return b.Store, nil // a backend without a bus has nothing else to close
		},
		Partitions: e.config.Partitions, Limits: e.limits, Clock: timer.SystemClock, Random: rand.Uint64,
	}
	if busURL == "" || strings.HasPrefix(busURL, "embedded:") {
		o.NoBus = "the NATS server is inside the process that uses the data folder"
	} else {
		o.Bus = func(ctx context.Context) (bus.Inspection, error) {
			found, err := backend.InspectBus(ctx, busURL, e.logger)
			return found, e.keep(err)
		}
	}
	var results []doctor.Result
	if folder {
		results = e.folder(ctx, &o, storeURL)
	} else {
		o.Schema = func(ctx context.Context) (store.Schema, error) {
			s, err := backend.SchemaOf(ctx, storeURL, e.logger)
			return s, e.keep(err)
		}
		results = doctor.Run(ctx, &o)
	}
	if bad := e.badURL.Load(); bad != nil {
		return nil, *bad
	}
	return results, nil
}

// keep stores an error that means that a URL is not acceptable.
func (e *examination) keep(err error) error {
	if errors.Is(err, backend.ErrURL) {
		e.badURL.Store(&err)
	}
	return err
}

func inProcess(flag, url string) error {
	if strings.HasPrefix(url, "memory:") {
		return fmt.Errorf("%s memory: exists only inside its process: use its /readyz and `timerbus shard list`", flag)
	}
	return nil
}

// folder examines a data folder. If a process uses it, the process answers.
func (e *examination) folder(ctx context.Context, o *doctor.Options, storeURL string) []doctor.Result {
	limited, cancel := context.WithTimeout(ctx, e.limits.Timeout)
	defer cancel()
	schema, inUse, err := backend.FolderSchema(limited, storeURL)
	if e.keep(err) != nil {
		return e.unread(ctx, o, doctor.Result{
			Check: doctor.CheckStore, Status: doctor.Failed, Found: err.Error(),
			Advice: "check --data and the rights of this user; `timerbus dev` creates the database at its first start",
		})
	}
	version := doctor.Result{
		Check: doctor.CheckSchema, Status: doctor.OK,
		Found: fmt.Sprintf("version %d, this program supports up to %d", schema.Version, schema.Known),
	}
	switch {
	case schema.Version > schema.Known:
		version.Status, version.Advice = doctor.Failed, "use the timerbus that has upgraded it, or a newer one"
	case schema.Version < schema.Known:
		version.Status = doctor.Warning
		version.Advice = "this program upgrades it when it starts; back the folder up before, because there is no way back"
	}
	switch {
	case inUse:
		return append([]doctor.Result{version}, e.ask(ctx, o)...)
	case version.Status != doctor.OK: // to open the database would upgrade it
		return e.unread(ctx, o, version)
	default:
		o.Schema = func(context.Context) (store.Schema, error) { return schema, nil }
		return doctor.Run(ctx, o)
	}
}

func (e *examination) unread(ctx context.Context, o *doctor.Options, found doctor.Result) []doctor.Result {
	const why = "the database was not opened"
	results := append([]doctor.Result{found}, doctor.Skip(why, doctor.StoreChecks()...)...)
	results = append(results, doctor.Bus(ctx, o, o.Partitions, false)...)
	return append(results, doctor.Skip(why, doctor.TimerChecks()...)...)
}

// address returns the URL of the process that uses the data folder.
func (e *examination) address() string {
	return cmp.Or(e.url, os.Getenv("TIMERBUS_URL"), ownURL(&e.config))
}
