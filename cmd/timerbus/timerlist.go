package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

func (t *timerCommands) list() *cobra.Command {
	var status, correlationID, dueFrom, dueBefore, order, cursor string
	var limit int
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "List a namespace's timers", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			request := client.ListTimersRequest{
				Namespace: t.namespace, Status: client.Status(status), CorrelationID: correlationID, Limit: limit, Cursor: cursor,
				Order: client.ListOrder(order),
			}
			if request.DueFrom, err = instant("--due-from", dueFrom); err != nil {
				return err
			}
			if request.DueBefore, err = instant("--due-before", dueBefore); err != nil {
				return err
			}
			return t.printList(c, api, request, all)
		},
	}
	c.Flags().StringVar(&status, "status", "", "scheduled, retrying, parked, paused, done or dead (default: the first four)")
	c.Flags().StringVar(&correlationID, "correlation-id", "", "only timers with this correlation id")
	c.Flags().StringVar(&dueFrom, "due-from", "", "only timers due from this time on")
	c.Flags().StringVar(&dueBefore, "due-before", "", "only timers due before this time")
	c.Flags().StringVar(&order, "order", "", "key, or due: the timers that are due next first (default: key)")
	c.Flags().IntVar(&limit, "limit", 100, "timers on a page, 1 to 1000")
	c.Flags().StringVar(&cursor, "cursor", "", "continue where an earlier page ended")
	c.Flags().BoolVar(&all, "all", false, "all pages")
	completeWith(c, "status", "scheduled", "retrying", "parked", "paused", "done", "dead")
	completeWith(c, "order", "key", "due")
	return c
}

func (t *timerCommands) printList(c *cobra.Command, api *client.Client, request client.ListTimersRequest, all bool) error {
	page, err := api.ListTimers(c.Context(), request)
	if err != nil {
		return err
	}
	for all && page.NextCursor != "" {
		request.Cursor = page.NextCursor
		more, err := api.ListTimers(c.Context(), request)
		if err != nil {
			return err
		}
		page.Timers, page.NextCursor = slices.Concat(page.Timers, more.Timers), more.NextCursor
	}
	if t.json {
		return printJSON(t.stdout, page)
	}
	now := time.Now()
	rows := [][]string{{"ID", "STATUS", "DUE", "ATTEMPTS", "DELIVER", "CALLBACK"}}
	for i := range page.Timers {
		one := &page.Timers[i]
		rows = append(rows, []string{
			one.ID, string(one.Status), when(one.DueAt, now), strconv.Itoa(one.Attempts), string(one.Deliver),
			short(cmp.Or(one.CallbackURL, "-"), 60),
		})
	}
	if err := table(t.stdout, rows); err != nil {
		return err
	}
	if page.NextCursor != "" {
		_, err = fmt.Fprintf(t.stderr, "there are more timers: add --all, or --cursor %s\n", page.NextCursor)
	}
	return err
}
