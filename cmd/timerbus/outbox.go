package main

import (
	"fmt"

	"github.com/spf13/cobra"

	sql "github.com/timerbus/timerbus/deploy/outbox"
)

func (p *program) outboxCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "outbox postgres|mysql", Short: "Print the SQL that creates an outbox in the database of an application",
		Args: exactly("postgres|mysql"), ValidArgs: []string{"postgres", "mysql"},
		Long: `Print the SQL that creates an outbox: the table timerbus_outbox, into which the transactions of an application insert
commands. It is run once in the database of the application. "timerbus ingest --outbox URL" and "timerbus dev --outbox URL"
apply the commands of committed transactions.`,
		Example: "  timerbus outbox postgres | psql shop\n  timerbus outbox mysql | mysql shop",
	}
	c.RunE = func(_ *cobra.Command, args []string) error {
		text, known := map[string]string{"postgres": sql.Postgres, "mysql": sql.MySQL}[args[0]]
		if !known {
			return usagef("%q is not a database with an outbox: want postgres or mysql", args[0])
		}
		_, err := fmt.Fprint(p.stdout, text)
		return err
	}
	return c
}
