package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/process"
)

func (p *program) migrateCommand() *cobra.Command {
	var store string
	c := group("migrate", "Upgrade a database's schema, or show its version",
		&cobra.Command{
			Use: "up", Short: "Upgrade the schema to the newest version that this program knows", Args: exactly(),
			Long: `Upgrade the schema to the newest version that this program knows. There is no way back to
an earlier version. Several processes may run this command at the same time. Programs that support the new version
continue to run; a program that does not support it does not start.`,
			Example: "  timerbus migrate up --store postgres://timerbus@db/timerbus",
			RunE: func(c *cobra.Command, _ []string) error {
				before, after, err := backend.Migrate(c.Context(), store, process.NewLogger(p.stderr, "auto", 0))
				switch {
				case err != nil:
					return p.migration(err)
				case before.Version == after.Version:
					_, err = fmt.Fprintf(p.stdout, "the schema is version %d already\n", after.Version)
				default:
					_, err = fmt.Fprintf(p.stdout, "the schema went from version %d to %d\n", before.Version, after.Version)
				}
				return err
			},
		},
		&cobra.Command{
			Use: "status", Short: "Show the schema's version, and whether this program supports it", Args: exactly(),
			Long: `Show the schema's version, and whether this program supports it. It changes nothing. The exit code is 1 if this
program does not support it.`,
			Example: "  timerbus migrate status --store postgres://timerbus@db/timerbus",
			RunE: func(c *cobra.Command, _ []string) error {
				s, err := backend.SchemaOf(c.Context(), store, process.NewLogger(p.stderr, "auto", 0))
				if err != nil {
					return p.migration(err)
				}
				_, err = fmt.Fprintf(p.stdout, "the schema is version %d, this program supports up to %d\n", s.Version, s.Known)
				return errors.Join(err, s.Usable())
			},
		},
		&cobra.Command{
			Use: "partitions", Short: "Merge the partitions of timers of an older PostgreSQL database", Args: exactly(),
			Long: `Reduce the partitions of the table timers from 32 to 8, which new databases have. This makes fires cheaper. It is for
databases that contained timers before schema 20. They also work without it.

Processes of this release or a later one may run during the merge. The command copies an eighth of the timers at a time, and the
database does not answer calls about timers during each copy. The disk needs space for one eighth. If the command is interrupted,
run it again.`,
			Example: "  timerbus migrate partitions --store postgres://timerbus@db/timerbus",
			RunE: func(c *cobra.Command, _ []string) error {
				before, after, err := backend.MergePartitions(c.Context(), store, process.NewLogger(p.stderr, "auto", 0))
				switch {
				case errors.Is(err, backend.ErrNoMigrations):
					_, err = fmt.Fprintln(p.stdout, "nothing to do: only PostgreSQL has partitions of timers")
				case err != nil:
					return p.migration(err)
				case before == after:
					_, err = fmt.Fprintf(p.stdout, "timers has %d partitions already\n", after)
				default:
					_, err = fmt.Fprintf(p.stdout, "timers had %d partitions and has %d now\n", before, after)
				}
				return err
			},
		})
	// Not the flag's default, because --help shows defaults and the URL may contain a password.
	c.PersistentFlags().StringVar(&store, "store", "", "URL of the database (default $TIMERBUS_STORE, or the file in $TIMERBUS_STORE_FILE)")
	c.PersistentPreRunE = func(*cobra.Command, []string) error {
		if store != "" {
			return nil
		}
		given, err := process.Secret("STORE")
		if err != nil {
			return usageError{err}
		}
		store = given
		return nil
	}
	return c
}

// migration turns an error of the command line into a usage error.
func (p *program) migration(err error) error {
	switch {
	case errors.Is(err, backend.ErrURL):
		return usageError{fmt.Errorf("--store: %w", err)}
	case errors.Is(err, backend.ErrNoMigrations):
		_, err = fmt.Fprintln(p.stdout, "nothing to do: this store brings its schema up to date when it is opened")
		return err
	default:
		return err
	}
}
