package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

func (t *timerCommands) delete() *cobra.Command {
	var filter filterFlags
	var ifGeneration string
	c := &cobra.Command{
		Use: "delete (ID | --matching)", Short: "Delete a timer, or all that a filter selects",
		Long: `Delete a timer. With --matching, delete all timers that a filter selects, page by page. The
command may or may not include timers that are created meanwhile. Finished timers stay in the history.`,
		Example: `  timerbus timer delete order-17
  timerbus timer delete -n billing --matching --correlation-id order-17 --dry-run
  timerbus timer delete -n billing --matching --due-before 2030-01-31T09:00:00Z --yes`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			if t.matching {
				return t.deleteMatching(c, api, &filter)
			}
			inTime, err := api.DeleteTimer(c.Context(), client.DeleteTimerRequest{
				Namespace: t.namespace, TimerID: t.id, IfGeneration: ifGeneration,
			})
			switch {
			case err != nil:
				return err
			case t.json:
				return printJSON(t.stdout, map[string]any{"deleted": t.id, "inTime": inTime})
			case inTime:
				_, err = fmt.Fprintf(t.stdout, "deleted %s in namespace %s: it does not fire\n", printable(t.id), t.namespace)
			default:
				_, err = fmt.Fprintf(t.stdout, "deleted %s in namespace %s, but its delivery may have gone out\n",
					printable(t.id), t.namespace)
			}
			return err
		},
	}
	c.Flags().StringVar(&ifGeneration, "if-generation", "", "only if the timer still has this generation")
	return t.orMatching(c, &filter, "scheduled", "retrying", "parked", "paused")
}

func (t *timerCommands) deleteMatching(c *cobra.Command, api *client.Client, filter *filterFlags) error {
	work := change{program: t.program, filter: filter, json: t.json, verb: "delete", done: "deleted"}
	work.walk = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
		return api.DeleteAllMatching(ctx, client.DeleteMatchingRequest{
			Namespace: filter.namespace, Status: client.Status(filter.status), CorrelationID: filter.correlationID,
			DueFrom: filter.from, DueBefore: filter.before, Limit: filter.pageSize, Cursor: filter.cursor,
		}, progress)
	}
	return work.run(c.Context(), api)
}
