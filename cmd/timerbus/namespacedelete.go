package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/client"
)

func (n *namespaceCommands) delete() *cobra.Command {
	var request client.DeleteNamespaceRequest
	var yes bool
	c := &cobra.Command{
		Use: "delete NAME", Short: "Delete a namespace with its timers", Args: exactly("NAME"), ValidArgsFunction: n.offerNamespaces,
		Long: `Delete a namespace with its pending timers and its history. This cannot be undone. The namespace accepts no new timers
from the start of the command, which takes a minute or more, because other processes must learn about it first. If the
command is interrupted, run it again: it continues. The namespace default cannot be deleted.`,
		Example: `  timerbus namespace delete billing --dry-run
  timerbus namespace delete billing --yes`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := n.client()
			if err != nil {
				return err
			}
			request.Name = args[0]
			if request.DryRun {
				return n.countTimers(c.Context(), api, request)
			}
			if !yes {
				if err := n.confirmDelete(c.Context(), api, request.Name); err != nil {
					return err
				}
			}
			return n.deleteAll(c.Context(), api, request)
		},
	}
	c.Flags().BoolVar(&request.DryRun, "dry-run", false, "count the timers, and do not delete anything")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	c.Flags().Int64Var(&request.IfVersion, "if-version", 0, "start only if the namespace has this version")
	return c
}

func (n *namespaceCommands) countTimers(ctx context.Context, api *client.Client, request client.DeleteNamespaceRequest) error {
	d, err := api.DeleteNamespace(ctx, request)
	switch {
	case err != nil:
		return err
	case n.json:
		return printJSON(n.stdout, map[string]any{"dryRun": true, "pending": d.Pending, "finished": d.Finished})
	}
	_, err = fmt.Fprintf(n.stdout, "%s would be deleted with %s\n", request.Name, describeTimers(&d))
	return err
}

// describeTimers describes the counts of a dry run, which end at 10,000.
func describeTimers(d *client.NamespaceDeletion) string {
	const most = 10_000
	count := func(n int, what string) string {
		if n >= most {
			return thousands(n) + " or more " + what + " timers"
		}
		return counted(n, what+" timer")
	}
	return count(d.Pending, "pending") + " and " + count(d.Finished, "finished")
}

func (n *namespaceCommands) confirmDelete(ctx context.Context, api *client.Client, name string) error {
	f, ok := n.stdin.(*os.File)
	if !ok || !process.IsTerminal(f) {
		return usagef("no terminal to confirm that namespace %s is to be deleted: add --yes, or --dry-run to count its timers", name)
	}
	d, err := api.DeleteNamespace(ctx, client.DeleteNamespaceRequest{Name: name, DryRun: true})
	if err != nil {
		return err
	}
	return confirmed(n.stdin, n.stderr, fmt.Sprintf("delete namespace %s with %s? [y/N] ", name, describeTimers(&d)))
}

func (n *namespaceCommands) deleteAll(ctx context.Context, api *client.Client, request client.DeleteNamespaceRequest) error {
	line := n.progress(n.json)
	started := false
	sum, err := api.DeleteWholeNamespace(ctx, request, func(so client.NamespaceDeletion) {
		started = true
		line.show(time.Now(), func() string {
			text := fmt.Sprintf("%s deleted, %s purged",
				counted(so.PendingDeleted, "pending timer"), counted(so.FinishedPurged, "finished timer"))
			if so.RetryAfter != "" {
				text += ", next step in " + so.RetryAfter
			}
			return text
		})
	})
	line.clear()
	switch {
	case err != nil && started:
		return hintedError{err, "Run the same command again: it continues with the remaining timers."}
	case err != nil:
		return err
	case n.json:
		return printJSON(n.stdout, map[string]any{
			"deleted": request.Name, "pendingDeleted": sum.PendingDeleted, "late": sum.Late, "finishedPurged": sum.FinishedPurged,
		})
	}
	text := fmt.Sprintf("deleted namespace %s with %s", request.Name, counted(sum.PendingDeleted, "pending timer"))
	if sum.Late > 0 {
		text += fmt.Sprintf(" (deliveries of %s may have gone out)", thousands(sum.Late))
	}
	_, err = fmt.Fprintf(n.stdout, "%s and %s\n", text, counted(sum.FinishedPurged, "finished timer"))
	return err
}
