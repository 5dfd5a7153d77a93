package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/restore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// restored are the counts of a namespace as --json prints them.
type restored struct {
	Namespace string `json:"namespace"`
	// Due timers were due before the cut-off, Dead of them were made dead, and Changed of them were changed by another process.
	Due     int `json:"due"`
	Dead    int `json:"dead"`
	Changed int `json:"changed"`
	// Later timers were due between the cut-off and the present.
	Later       int           `json:"later"`
	OldestDueAt *timer.Millis `json:"oldestDueAt,omitempty"`
	NewestDueAt *timer.Millis `json:"newestDueAt,omitempty"`
}

func (p *program) restoreCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "restore", Short: "After a restore of the database: skip the timers that were delivered since the backup", Args: exactly(),
		Long: `After a restore of the database, and before any process starts on it: make the timers dead that were due before a
time, so that they are not delivered again. Use the time at which the lost database stopped working. Timers that were due
after it, but before the present, are delivered when the processes start.

Without --apply the command only counts the timers. With --apply it makes them dead, with the reason "skipped by a restore".
They are listed by "timerbus timer list --status dead", and "timerbus timer retry" delivers them. A timer that is rescheduled
by its callback ends too: retry it to continue. If the command fails, run it again.

No process may use the database. docs/backup.md describes the whole restore.`,
		Example: `  timerbus restore --skip-due-before 2026-11-23T09:30:00Z --store postgres://timerbus@db/timerbus
  timerbus restore --skip-due-before 2026-11-23T09:30:00Z --data /var/lib/timerbus --apply`,
	}
	settings := onlyFlags(c, "store", "data")
	cutoff := c.Flags().String("skip-due-before", "", "skip timers that were due before this time (RFC 3339); required")
	namespace := c.Flags().StringP("namespace", "n", "", "only timers of this namespace (default all)")
	apply := c.Flags().Bool("apply", false, "make the timers dead; otherwise they are only counted")
	asJSON := c.Flags().Bool("json", false, "print the result as JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, err := settings()
		if err != nil {
			return usageError{err}
		}
		if *cutoff == "" {
			return usagef("--skip-due-before is missing: want the time at which the old database stopped, such as 2026-11-23T09:30:00Z")
		}
		before, err := timer.ParseMillis(*cutoff)
		if err != nil {
			return usagef("--skip-due-before: %w", err)
		}
		storeURL := config.Store
		if storeURL == "" {
			storeURL = backend.FolderURL("sqlite", filepath.Clean(config.Data), nil)
		}
		if err := inProcess("--store", storeURL); err != nil {
			return usageError{err}
		}
		ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		return p.restore(ctx, storeURL, &restore.Options{Cutoff: before, Namespace: *namespace, Apply: *apply}, *asJSON)
	}
	return c
}

func (p *program) restore(ctx context.Context, storeURL string, o *restore.Options, asJSON bool) (err error) {
	if backend.InFolder(storeURL) { // to open a folder would create a database
		if _, _, err := backend.FolderSchema(ctx, storeURL); err != nil {
			return usageOfURL(err)
		}
	}
	opened, err := backend.OpenStore(ctx, backend.Options{
		StoreURL: storeURL, Clock: timer.SystemClock, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return usageOfURL(err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	o.Store = opened.Store
	shown := p.progress(asJSON)
	o.Progress = func(n restore.Counts) {
		shown.show(time.Now(), func() string {
			return fmt.Sprintf("%s timers read, %s made dead", thousands(n.Due+n.Later), thousands(n.Dead))
		})
	}
	namespaces, err := restore.Run(ctx, o)
	shown.clear()
	if _, bad := errors.AsType[*timer.InvalidError](err); bad {
		return usageError{fmt.Errorf("--skip-due-before: %w", err)}
	}
	changed := 0
	for i := range namespaces {
		changed += namespaces[i].Changed
	}
	switch {
	case err != nil:
		err = hintedError{err, "Run the same command again: it continues with the remaining timers."}
	case changed > 0:
		err = fmt.Errorf("%d timers were changed during the run: a process uses the database; stop all processes, then repeat it", changed)
	}
	return errors.Join(p.restoreResult(namespaces, o.Apply, asJSON), err)
}

func usageOfURL(err error) error {
	if errors.Is(err, backend.ErrURL) {
		return usageError{fmt.Errorf("--store: %w", err)}
	}
	return err
}

func (p *program) restoreResult(namespaces []restore.Namespace, applied, asJSON bool) error {
	if asJSON {
		out := make([]restored, len(namespaces))
		for i, ns := range namespaces {
			out[i] = restored{Namespace: ns.Name, Due: ns.Due, Dead: ns.Dead, Changed: ns.Changed, Later: ns.Later}
			if ns.Due > 0 {
				out[i].OldestDueAt, out[i].NewestDueAt = &ns.Oldest, &ns.Newest
			}
		}
		return printJSON(p.stdout, map[string]any{"applied": applied, "namespaces": out})
	}
	rows := [][]string{{"NAMESPACE", "DUE BEFORE", "MADE DEAD", "DUE LATER", "OLDEST", "NEWEST"}}
	for _, ns := range namespaces {
		row := []string{ns.Name, strconv.Itoa(ns.Due), strconv.Itoa(ns.Dead), strconv.Itoa(ns.Later), "-", "-"}
		if ns.Due > 0 {
			row[4], row[5] = ns.Oldest.String(), ns.Newest.String()
		}
		rows = append(rows, row)
	}
	if err := table(p.stdout, rows); err != nil {
		return err
	}
	if !applied {
		_, err := fmt.Fprintln(p.stdout, "Nothing was changed: repeat the command with --apply to make the timers of DUE BEFORE dead.")
		return err
	}
	return nil
}
