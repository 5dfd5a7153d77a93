package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

func (t *timerCommands) retry() *cobra.Command {
	var filter filterFlags
	var at, in, ifGeneration string
	c := &cobra.Command{
		Use: "retry (ID | --matching --status STATUS)", Short: "Schedule a dead or parked timer again, or all that a filter selects",
		Long: `Schedule a dead or parked timer again: it starts again at attempt 1, immediately unless a time is given. This is
possible for a dead timer as long as history keeps it, and for a done one if the namespace has kept its payload
(--keep-payload). With --matching, all timers that a filter selects are
scheduled again, page by page; --status dead or --status parked is then required.`,
		Example: `  timerbus timer retry order-17
  timerbus timer retry -n billing --matching --status dead --due-from 2030-01-31T09:00:00Z --dry-run
  timerbus timer retry -n billing --matching --status dead --callback-host a.example --last-error 'dial tcp: timeout'
  timerbus timer retry -n billing --matching --status dead --in 10m --yes`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := atMostOne(c, "at", "in"); err != nil {
				return err
			}
			executeAt, err := instant("--at", at)
			if err != nil {
				return err
			}
			api, err := t.client()
			if err != nil {
				return err
			}
			if t.matching {
				return t.retryMatching(c, api, &filter, executeAt, in)
			}
			armed, err := api.RetryTimer(c.Context(), client.RetryTimerRequest{
				Namespace: t.namespace, TimerID: t.id, IfGeneration: ifGeneration, ExecuteAt: executeAt, ExecuteIn: in,
			})
			switch {
			case err != nil:
				return err
			case t.json:
				return printJSON(t.stdout, armed)
			}
			_, err = fmt.Fprintf(t.stdout, "armed %s in namespace %s again: fires %s\n",
				printable(armed.ID), armed.Namespace, when(armed.ExecuteAt, time.Now()))
			return err
		},
	}
	c.Flags().StringVar(&at, "at", "", "when to fire, such as 2030-01-31T09:00:00Z (default: now)")
	c.Flags().StringVar(&in, "in", "", "when to fire, from now, such as 15m")
	c.Flags().StringVar(&ifGeneration, "if-generation", "", "only if the timer still has this generation")
	filter.addFailed(c)
	return t.orMatching(c, &filter, "dead", "parked")
}

func (t *timerCommands) retryMatching(c *cobra.Command, api *client.Client, filter *filterFlags, at client.Instant, in string) error {
	if filter.status == "" {
		return usagef("retry --matching needs --status dead or --status parked")
	}
	work := change{program: t.program, filter: filter, json: t.json, verb: "retry", done: "armed again"}
	request := client.RetryMatchingRequest{
		Namespace: filter.namespace, Status: client.Status(filter.status), CorrelationID: filter.correlationID,
		DueFrom: filter.from, DueBefore: filter.before, CallbackHost: filter.host(), LastError: filter.lastError,
		Limit: filter.pageSize, Cursor: filter.cursor, ExecuteAt: at, ExecuteIn: in,
	}
	work.walk = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
		return api.RetryAllMatching(ctx, request, progress)
	}
	work.try = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
		dry := request
		dry.DryRun = true
		return api.RetryAllMatching(ctx, dry, progress)
	}
	return work.run(c.Context(), api)
}
