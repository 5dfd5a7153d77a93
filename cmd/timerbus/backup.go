package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/pkg/timer"
)

// backed is the result as --json prints it.
type backed struct {
	File    string       `json:"file"`
	Bytes   int64        `json:"bytes"`
	TakenAt timer.Millis `json:"takenAt"`
	Seconds float64      `json:"seconds"`
}

func (p *program) backupCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "backup FILE", Short: "Copy the database of a data folder into a file, while the service runs", Args: exactly("FILE"),
		Long: `Copy the SQLite database of a data folder into a file, while the service runs or not. The copy is
consistent: it has every timer that was acknowledged before the command began. FILE must not exist.

To restore it, stop the service, make an empty folder, copy FILE into it as timerbus.db, and start the service with
--data FOLDER. Timers that were delivered after the backup are delivered again, with the same webhook-id. The folder's
nats/ is not part of a backup: it has the commands on the topic that were not applied yet, and the events that were
not consumed yet.

To back up a database outside the folder (--store), use the tools of that database.`,
		Example: "  timerbus backup /backup/timerbus-$(date +%F).db --data /var/lib/timerbus",
	}
	settings := onlyFlags(c, "data")
	asJSON := c.Flags().Bool("json", false, "print the result as JSON")
	c.RunE = func(c *cobra.Command, args []string) error {
		config, err := settings()
		if err != nil {
			return usageError{err}
		}
		if config.Store != "" {
			return usagef("the store is %s: use the backup tools of that database; this command copies the database of a data folder",
				backend.Redacted(config.Store))
		}
		ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		return p.backup(ctx, config.Data, args[0], *asJSON)
	}
	return c
}

func (p *program) backup(ctx context.Context, folder, file string, asJSON bool) error {
	began := time.Now()
	shown := newProgress(p.stderr, began)
	bytes, takenAt, err := backend.Backup(ctx, folder, file, func(done, all int64) {
		shown.show(time.Now(), func() string { return fmt.Sprintf("%s of %s copied", megabytes(done), megabytes(all)) })
	})
	shown.clear()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return fmt.Errorf("interrupted: %s was not created", file)
	}
	if err != nil {
		return err
	}
	took := time.Since(began)
	if asJSON {
		return printJSON(p.stdout, backed{File: file, Bytes: bytes, TakenAt: takenAt, Seconds: took.Seconds()})
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %s in %v, as of %s\n", file, megabytes(bytes), took.Round(100*time.Millisecond), takenAt)
	return err
}

func megabytes(n int64) string { return thousands(int((n+1<<20-1)>>20)) + " MiB" }
