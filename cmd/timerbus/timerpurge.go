package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

func (t *timerCommands) purge() *cobra.Command {
	var filter filterFlags
	c := &cobra.Command{
		Use: "purge --status STATUS", Short: "Remove all dead or done timers that a filter selects from the history",
		Long: `Remove all dead or done timers that a filter selects from the history, with their attempts, page by page. They can
then neither be shown nor retried. A timer that was scheduled again stays and loses this part of its history. The
command skips dead timers whose event is not published yet.`,
		Example: `  timerbus timer purge -n billing --status dead --due-before 2030-01-31T09:00:00Z --dry-run
  timerbus timer purge -n billing --status done --correlation-id order-17 --yes`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if filter.status == "" {
				return usagef("purge needs --status dead or --status done")
			}
			if err := filter.check(c, t.namespace); err != nil {
				return err
			}
			api, err := t.client()
			if err != nil {
				return err
			}
			work := change{
				program: t.program, filter: &filter, json: t.json, verb: "purge", done: "purged",
				why: "were removed meanwhile or whose event is not published yet",
			}
			request := client.PurgeMatchingRequest{
				Namespace: filter.namespace, Status: client.Status(filter.status), CorrelationID: filter.correlationID,
				DueFrom: filter.from, DueBefore: filter.before, CallbackHost: filter.host(), LastError: filter.lastError,
				Limit: filter.pageSize, Cursor: filter.cursor,
			}
			work.walk = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
				return api.PurgeAllMatching(ctx, request, progress)
			}
			work.try = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
				dry := request
				dry.DryRun = true
				return api.PurgeAllMatching(ctx, dry, progress)
			}
			return work.run(c.Context(), api)
		},
	}
	filter.add(c, "dead", "done")
	filter.addFailed(c)
	return c
}
