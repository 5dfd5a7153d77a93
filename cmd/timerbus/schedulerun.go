package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

func (s *scheduleCommands) pause() *cobra.Command {
	var note string
	filter := filterFlags{schedules: true, wholeNamespace: true, unchanged: []client.Status{"parked", "paused"}}
	c := &cobra.Command{
		Use: "pause (ID | --matching)", Short: "Pause a schedule, or all that a filter selects",
		Long: `Pause a schedule: it creates no occurrence until "schedule resume". Occurrences that exist are delivered. With
--matching, pause all schedules that a filter selects, page by page; without a filter, all of the namespace.`,
		Example: `  timerbus schedule pause daily-report --note holidays
  timerbus schedule pause -n billing --matching --note maintenance --yes`,
		RunE: func(c *cobra.Command, _ []string) error {
			if s.matching {
				return s.pauseMatching(c, &filter, note)
			}
			api, err := s.client()
			if err != nil {
				return err
			}
			paused, err := api.PauseSchedule(c.Context(), client.PauseScheduleRequest{Namespace: s.namespace, ID: s.id, Note: note})
			switch {
			case err != nil:
				return err
			case s.json:
				return printJSON(s.stdout, paused.Schedule)
			}
			text := "paused %s in namespace %s\n"
			if !paused.InTime {
				text = "paused %s in namespace %s, but an occurrence may have been created at this moment\n"
			}
			_, err = fmt.Fprintf(s.stdout, text, printable(paused.ID), paused.Namespace)
			return err
		},
	}
	c.Flags().StringVar(&note, "note", "", "why, at most 1024 bytes")
	return s.orMatching(c, &filter, "active")
}

func (s *scheduleCommands) resume() *cobra.Command {
	filter := filterFlags{schedules: true, wholeNamespace: true}
	c := &cobra.Command{
		Use: "resume (ID | --matching)", Short: "Resume a paused schedule, or all that a filter selects",
		Long: `Resume a paused schedule, without the occurrences of the pause, or start a parked one again. With --matching, resume all
paused schedules of the namespace, page by page, or with --status parked start the parked ones again.`,
		Example: `  timerbus schedule resume daily-report
  timerbus schedule resume -n billing --matching --yes`,
		RunE: func(c *cobra.Command, _ []string) error {
			if s.matching {
				return s.resumeMatching(c, &filter)
			}
			api, err := s.client()
			if err != nil {
				return err
			}
			resumed, err := api.ResumeSchedule(c.Context(), s.selection())
			switch {
			case err != nil:
				return err
			case s.json:
				return printJSON(s.stdout, resumed)
			}
			text := "resumed %s in namespace %s\n"
			if resumed.NextAt.After(time.Now()) { // otherwise the occurrences of the pause are not left out yet
				text = "resumed %s in namespace %s: next occurrence " + when(resumed.NextAt, time.Now()) + "\n"
			}
			_, err = fmt.Fprintf(s.stdout, text, printable(resumed.ID), resumed.Namespace)
			return err
		},
	}
	return s.orMatching(c, &filter, "paused", "parked")
}

func (s *scheduleCommands) trigger() *cobra.Command {
	return s.identified(&cobra.Command{
		Use: "trigger ID", Short: "Create an occurrence now",
		Long: `Create an occurrence at the present instant. The policies of the schedule do not apply, and it may be paused. The occurrence
does not count for --count.`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := s.client()
			if err != nil {
				return err
			}
			occurrence, err := api.TriggerSchedule(c.Context(), s.selection())
			switch {
			case err != nil:
				return err
			case s.json:
				return printJSON(s.stdout, occurrence)
			}
			_, err = fmt.Fprintf(s.stdout, "created %s in namespace %s: fires %s\n",
				printable(occurrence.ID), occurrence.Namespace, when(occurrence.ExecuteAt, time.Now()))
			return err
		},
	})
}

func (s *scheduleCommands) backfill() *cobra.Command {
	var from, to string
	c := &cobra.Command{
		Use: "backfill ID --from TIME --to TIME", Short: "Create the occurrences of a past time range",
		Long: `Create the occurrences from a time on and before another time, which is not in the future. They are due now; the
policies of the schedule do not apply. An occurrence that exists, or is in history, is not created again.`,
		Example: `  timerbus schedule backfill daily-report --from 2030-01-01T00:00:00Z --to 2030-02-01T00:00:00Z`,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, flag := range []string{"from", "to"} {
				if !c.Flags().Changed(flag) {
					return usagef("backfill needs --%s", flag)
				}
			}
			request := client.BackfillScheduleRequest{Namespace: s.namespace, ID: s.id}
			var err error
			if request.From, err = instant("--from", from); err != nil {
				return err
			}
			if request.To, err = instant("--to", to); err != nil {
				return err
			}
			api, err := s.client()
			if err != nil {
				return err
			}
			line := s.progress(s.json)
			total, err := api.BackfillAll(c.Context(), request, func(so client.BackfillTotal) {
				line.show(time.Now(), func() string { return counted(so.Created, "occurrence") + " created" })
			})
			line.clear()
			if e := s.printBackfill(&total); e != nil {
				return errors.Join(err, e)
			}
			if err != nil {
				return hintedError{err, "continue with --from " + total.NextFrom.String()}
			}
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "", "first instant, such as 2030-01-31T09:00:00Z")
	c.Flags().StringVar(&to, "to", "", "first instant after the range, not in the future")
	return s.identified(c)
}

// printBackfill prints a total, unless nothing was applied.
func (s *scheduleCommands) printBackfill(total *client.BackfillTotal) (err error) {
	switch {
	case total.Requests == 0:
	case s.json:
		answer := map[string]any{"created": total.Created, "kept": total.Kept}
		if !total.NextFrom.IsZero() {
			answer["nextFrom"] = total.NextFrom
		}
		err = printJSON(s.stdout, answer)
	case total.Kept > 0:
		_, err = fmt.Fprintf(s.stdout, "%s created, %s existed\n", counted(total.Created, "occurrence"), thousands(total.Kept))
	default:
		_, err = fmt.Fprintf(s.stdout, "%s created\n", counted(total.Created, "occurrence"))
	}
	return err
}

func (s *scheduleCommands) history() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "history ID", Short: "List what a schedule has decided, newest first",
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := s.client()
			if err != nil {
				return err
			}
			h, err := api.ScheduleHistory(c.Context(), client.ScheduleHistoryRequest{Namespace: s.namespace, ID: s.id, Limit: limit})
			switch {
			case err != nil:
				return err
			case s.json:
				return printJSON(s.stdout, h)
			}
			rows := [][]string{{"AT", "DECIDED", "DECISION", "NEXT", "OCCURRENCE OR REASON"}}
			for i := range h.Decisions {
				d := &h.Decisions[i]
				next := "-"
				if !d.NextAt.IsZero() {
					next = d.NextAt.String()
				}
				why := strings.TrimSpace(d.TimerID + " " + short(d.Reason, 120))
				rows = append(rows, []string{d.At.String(), d.DecidedAt.String(), string(d.Decision), next, why})
			}
			return table(s.stdout, rows)
		},
	}
	c.Flags().IntVar(&limit, "limit", 100, "maximum number of decisions, 1 to 1000")
	return s.identified(c)
}
