package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// scheduleCommands are the commands about schedules, with the flags they share.
type scheduleCommands struct {
	*program
	remote

	namespace, id string
	matching      bool // the command is about all schedules that a filter selects, not about one
}

func (p *program) scheduleCommand() *cobra.Command {
	s := &scheduleCommands{program: p}
	c := group("schedule", "Create, show, change and delete schedules, which create timers",
		s.create(), s.get(), s.update(), s.delete(), s.list(), s.pause(), s.resume(), s.trigger(), s.backfill(), s.preview(), s.history(),
		s.batchCreate(), s.batchDelete())
	s.remote.flags(c)
	c.PersistentFlags().StringVarP(&s.namespace, "namespace", "n", "default", "namespace")
	s.completeNamespaces(c)
	return c
}

// identified makes a command take one schedule: ID as an argument, or by --id.
func (s *scheduleCommands) identified(c *cobra.Command) *cobra.Command {
	c.ValidArgsFunction = s.offerIDs
	return takesID(c, &s.id, "schedule")
}

func (s *scheduleCommands) orMatching(c *cobra.Command, filter *filterFlags, statuses ...string) *cobra.Command {
	return orMatching(c, filter, &s.matching, &s.namespace, s.identified, statuses...)
}

func (s *scheduleCommands) selection() client.ScheduleSelection {
	return client.ScheduleSelection{Namespace: s.namespace, ID: s.id}
}

func (s *scheduleCommands) get() *cobra.Command {
	return s.identified(&cobra.Command{
		Use: "get ID", Short: "Show a schedule",
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := s.client()
			if err != nil {
				return err
			}
			got, err := api.GetSchedule(c.Context(), s.selection())
			switch {
			case err != nil:
				return err
			case s.json:
				return printJSON(s.stdout, got)
			default:
				return table(s.stdout, describeSchedule(&got, time.Now()))
			}
		},
	})
}

// describeSchedule returns the rows of `schedule get`.
func describeSchedule(s *client.Schedule, now time.Time) [][]string {
	rows := [][]string{
		{"id", s.ID},
		{"namespace", s.Namespace},
		{"status", string(s.Status)},
		{"next at", when(s.NextAt, now)},
		{"created", createdOf(s)},
		{"version", strconv.Itoa(s.Version)},
	}
	optional := func(name, value string) {
		if value != "" && value != "0" {
			rows = append(rows, []string{name, value})
		}
	}
	if !s.Pause.At.IsZero() {
		rows = append(rows, []string{"paused at", s.Pause.At.String()})
		optional("paused by", s.Pause.By)
		optional("note", s.Pause.Note)
	}
	for i := range s.Specs {
		rows = append(rows, []string{"spec", describeSpec(&s.Specs[i])})
	}
	rows = append(rows, []string{"time zone", s.TimeZone})
	if !s.Start.IsZero() {
		rows = append(rows, []string{"start", s.Start.String()})
	}
	if !s.End.IsZero() {
		rows = append(rows, []string{"end", s.End.String()})
	}
	for i := range s.Exclude {
		rows = append(rows, []string{"exclude", describeExclusion(&s.Exclude[i])})
	}
	rows = append(rows, [][]string{
		{"skipped local times", string(s.Gap)},
		{"repeated local times", string(s.Repeated)},
		{"overlap", string(s.Overlap)},
		{"catch up", strings.TrimSpace(string(s.CatchUp) + " " + s.CatchUpWindow)},
	}...)
	optional("pause on dead", strconv.Itoa(s.PauseOnDead))
	rows = append(rows, describeTemplate(&s.Timer)...)
	for _, id := range s.Recent {
		rows = append(rows, []string{"recent", id})
	}
	return append(rows, []string{"created at", s.CreatedAt.String()}, []string{"updated at", s.UpdatedAt.String()})
}

// createdOf formats how many occurrences a schedule has created.
func createdOf(s *client.Schedule) string {
	if s.Count == 0 {
		return strconv.Itoa(s.Created)
	}
	return fmt.Sprintf("%d of %d", s.Created, s.Count)
}

func describeTemplate(t *client.CreateTimerRequest) [][]string {
	var rows [][]string
	for _, row := range [][]string{
		{"deliver", string(t.Deliver)},
		{"callback", t.CallbackURL},
		{"timeout", t.CallbackTimeout},
		{"window", t.Window},
		{"expire after", t.ExpireAfter},
		{"on done", t.OnDone},
		{"on dead", t.OnDead},
		{"flow key", t.FlowKey},
		{"topic", t.Topic},
		{"key", t.Key},
		{"payload", short(string(t.Payload), 200)},
		{"correlation id", t.CorrelationID},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	rows = append(rows, describeRequest(&t.Request)...)
	rows = append(rows, describeHeaders(t.Headers)...)
	if attempts, ok := t.RetryPolicy.MaxAttempts.Value(); ok {
		rows = append(rows, []string{"attempts", strconv.Itoa(attempts)})
	}
	return rows
}

func (s *scheduleCommands) list() *cobra.Command {
	var status, nextFrom, nextBefore, cursor string
	var limit int
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "List a namespace's schedules", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			request := client.ListSchedulesRequest{
				Namespace: s.namespace, Status: client.ScheduleStatus(status), Limit: limit, Cursor: cursor,
			}
			var err error
			if request.NextFrom, err = instant("--next-from", nextFrom); err != nil {
				return err
			}
			if request.NextBefore, err = instant("--next-before", nextBefore); err != nil {
				return err
			}
			api, err := s.client()
			if err != nil {
				return err
			}
			return s.printList(c.Context(), api, request, all)
		},
	}
	c.Flags().StringVar(&status, "status", "", "active, paused or parked (default: all three)")
	completeWith(c, "status", "active", "paused", "parked")
	c.Flags().StringVar(&nextFrom, "next-from", "",
		"only those whose next occurrence is at this time or later, such as 2030-01-31T09:00:00Z")
	c.Flags().StringVar(&nextBefore, "next-before", "", "only those whose next occurrence is before this time")
	c.Flags().IntVar(&limit, "limit", 100, "schedules on a page, 1 to 1000")
	c.Flags().StringVar(&cursor, "cursor", "", "continue where an earlier page ended")
	c.Flags().BoolVar(&all, "all", false, "all pages")
	return c
}

func (s *scheduleCommands) printList(ctx context.Context, api *client.Client, request client.ListSchedulesRequest, all bool) error {
	page, err := api.ListSchedules(ctx, request)
	if err != nil {
		return err
	}
	for all && page.NextCursor != "" {
		request.Cursor = page.NextCursor
		more, err := api.ListSchedules(ctx, request)
		if err != nil {
			return err
		}
		page.Schedules, page.NextCursor = slices.Concat(page.Schedules, more.Schedules), more.NextCursor
	}
	if s.json {
		return printJSON(s.stdout, page)
	}
	now := time.Now()
	rows := [][]string{{"ID", "STATUS", "NEXT", "CREATED", "SPECS", "TIME ZONE"}}
	for i := range page.Schedules {
		one := &page.Schedules[i]
		specs := make([]string, len(one.Specs))
		for j := range one.Specs {
			specs[j] = describeSpec(&one.Specs[j])
		}
		rows = append(rows, []string{
			one.ID, string(one.Status), when(one.NextAt, now), createdOf(one), short(strings.Join(specs, "; "), 60), one.TimeZone,
		})
	}
	if err := table(s.stdout, rows); err != nil {
		return err
	}
	if page.NextCursor != "" {
		_, err = fmt.Fprintf(s.stderr, "there are more schedules: add --all, or --cursor %s\n", page.NextCursor)
	}
	return err
}

func (s *scheduleCommands) delete() *cobra.Command {
	var pending string
	var ifVersion int
	filter := filterFlags{schedules: true}
	c := &cobra.Command{
		Use: "delete (ID | --matching)", Short: "Delete a schedule, or all that a filter selects",
		Long: `Delete a schedule: it creates no occurrence any more. The occurrences that it has created stay. With --pending delete,
those of its last 16 occurrences that are not finished are deleted, too. With --matching, delete all schedules that a
filter selects, page by page; their occurrences stay.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if s.matching {
				return s.deleteMatching(c, &filter)
			}
			request := client.DeleteScheduleRequest{Namespace: s.namespace, ID: s.id, IfVersion: ifVersion}
			if err := setPending(pending, &request.Pending); err != nil {
				return err
			}
			if err := positive(c, "if-version", ifVersion); err != nil {
				return err
			}
			api, err := s.client()
			if err != nil {
				return err
			}
			inTime, err := api.DeleteSchedule(c.Context(), request)
			switch {
			case err != nil:
				return err
			case s.json:
				return printJSON(s.stdout, map[string]any{"deleted": s.id, "inTime": inTime})
			case inTime:
				_, err = fmt.Fprintf(s.stdout, "deleted %s in namespace %s: no occurrence follows\n", printable(s.id), s.namespace)
			default:
				_, err = fmt.Fprintf(s.stdout, "deleted %s in namespace %s, but an occurrence may have been created at this moment\n",
					printable(s.id), s.namespace)
			}
			return err
		},
	}
	addPending(c, &pending, &ifVersion)
	return s.orMatching(c, &filter, "active", "paused", "parked")
}

// addPending adds the flags of a change and of a deletion of a schedule.
func addPending(c *cobra.Command, pending *string, ifVersion *int) {
	c.Flags().StringVar(pending, "pending", "", "its last 16 occurrences, if they are not finished: keep or delete (default keep)")
	c.Flags().IntVar(ifVersion, "if-version", 0, "only if the schedule still has this version")
	completeWith(c, "pending", client.PendingKeep, client.PendingDelete)
}

// setPending checks the value of --pending. A delete and an update have different types for it.
func setPending[T ~string](given string, to *T) error {
	switch given {
	case "", client.PendingKeep, client.PendingDelete:
		*to = T(given)
		return nil
	default:
		return usagef("--pending: %q is not accepted: want keep or delete", given)
	}
}

// positive checks the number of a flag, if it is given.
func positive(c *cobra.Command, flag string, n int) error {
	if c.Flags().Changed(flag) && n < 1 {
		return usagef("--%s: %d is not accepted: want at least 1", flag, n)
	}
	return nil
}
