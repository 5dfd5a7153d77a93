package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

func (t *timerCommands) pause() *cobra.Command {
	filter := filterFlags{wholeNamespace: true, unchanged: []client.Status{"parked", "paused"}}
	var note, ifGeneration string
	c := &cobra.Command{
		Use: "pause (ID | --matching)", Short: "Pause a timer, or all that a filter selects",
		Long: `Pause a timer: it is not delivered until "timer resume". With --matching, pause all timers that a filter selects, page
by page; without a filter, all of the namespace. Timers that are created meanwhile are not paused.`,
		Example: `  timerbus timer pause order-17 --note "the shop is closed"
  timerbus timer pause -n billing --matching --note maintenance --yes`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			if t.matching {
				work := change{
					program: t.program, filter: &filter, json: t.json, verb: "pause", done: "paused",
					why: "were paused, parked, deleted or changed meanwhile",
				}
				work.walk = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
					return api.PauseAllMatching(ctx, client.PauseMatchingRequest{
						Namespace: filter.namespace, Status: client.Status(filter.status), CorrelationID: filter.correlationID,
						DueFrom: filter.from, DueBefore: filter.before, Limit: filter.pageSize, Cursor: filter.cursor, Note: note,
					}, progress)
				}
				return work.run(c.Context(), api)
			}
			paused, err := api.PauseTimer(c.Context(), client.PauseTimerRequest{
				Namespace: t.namespace, TimerID: t.id, IfGeneration: ifGeneration, Note: note,
			})
			switch {
			case err != nil:
				return err
			case t.json:
				return printJSON(t.stdout, paused.Timer)
			}
			text := "paused %s in namespace %s\n"
			if !paused.InTime {
				text = "paused %s in namespace %s, but a delivery may have begun before\n"
			}
			_, err = fmt.Fprintf(t.stdout, text, printable(paused.Timer.ID), paused.Timer.Namespace)
			return err
		},
	}
	c.Flags().StringVar(&note, "note", "", "why, at most 1024 bytes")
	c.Flags().StringVar(&ifGeneration, "if-generation", "", "only if the timer still has this generation")
	return t.orMatching(c, &filter, "scheduled", "retrying")
}

func (t *timerCommands) resume() *cobra.Command {
	filter := filterFlags{wholeNamespace: true}
	var overdue, ifGeneration, startAt string
	var rate int
	c := &cobra.Command{
		Use: "resume (ID | --matching)", Short: "Resume a paused timer, or all that a filter selects",
		Long: `Resume a paused timer: it is delivered at its time. If its time has passed, it is delivered now, or with --overdue skip
ends with the outcome "expired". With --matching, resume all paused timers that a filter selects, page by page; without
a filter, all of the namespace. With --rate, those whose time has passed become due one after another.`,
		Example: `  timerbus timer resume order-17
  timerbus timer resume -n billing --matching --rate 100 --yes
  timerbus timer resume -n billing --matching --due-before 2030-01-31T09:00:00Z --overdue skip --yes`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			if t.matching {
				start, err := instant("--start-at", startAt)
				switch {
				case err != nil:
					return err
				case rate < 1 && c.Flags().Changed("rate"):
					return usagef("--rate: %d is not accepted: want at least 1", rate)
				}
				filter.status = "paused"
				work := change{
					program: t.program, filter: &filter, json: t.json, verb: "resume", done: "resumed",
					why: "were resumed, deleted or changed meanwhile",
				}
				work.walk = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
					return api.ResumeAllMatching(ctx, client.ResumeMatchingRequest{
						Namespace: filter.namespace, CorrelationID: filter.correlationID, DueFrom: filter.from, DueBefore: filter.before,
						Limit: filter.pageSize, Cursor: filter.cursor, Overdue: client.Overdue(overdue), ResumeRate: rate, StartAt: start,
					}, progress)
				}
				return work.run(c.Context(), api)
			}
			for _, flag := range []string{"rate", "start-at"} {
				if c.Flags().Changed(flag) {
					return usagef("--%s selects many timers and requires --matching", flag)
				}
			}
			resumed, err := api.ResumeTimer(c.Context(), client.ResumeTimerRequest{
				Namespace: t.namespace, TimerID: t.id, IfGeneration: ifGeneration, Overdue: client.Overdue(overdue),
			})
			switch {
			case err != nil:
				return err
			case t.json:
				return printJSON(t.stdout, resumed.Timer)
			}
			_, err = fmt.Fprintf(t.stdout, "resumed %s in namespace %s: due %s\n",
				printable(resumed.Timer.ID), resumed.Timer.Namespace, when(resumed.Timer.DueAt, time.Now()))
			return err
		},
	}
	c.Flags().StringVar(&overdue, "overdue", "", `what happens if the time has passed: "deliver" (default) or "skip"`)
	c.Flags().IntVar(&rate, "rate", 0, "timers per second that become due, of those whose time has passed (default: all at once)")
	c.Flags().StringVar(&startAt, "start-at", "", "when the first of them becomes due (default: now)")
	c.Flags().StringVar(&ifGeneration, "if-generation", "", "only if the timer still has this generation")
	completeWith(c, "overdue", "deliver", "skip")
	return t.orMatching(c, &filter, "paused")
}
