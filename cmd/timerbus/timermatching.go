package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/client"
)

// filterFlags select the timers or schedules of a command.
type filterFlags struct {
	namespace, status, correlationID, cursor string
	dueFrom, dueBefore                       string // of schedules: the next occurrence
	pageSize                                 int
	dryRun, yes                              bool
	callbackHost, lastError                  string // of timers whose last attempt failed
	hostGiven                                bool   // an empty callbackHost selects timers without a URL
	wholeNamespace                           bool   // a filter without a criterion is accepted
	schedules                                bool   // the filter selects schedules

	// unchanged are statuses that a list without a status contains, and that the command does not change.
	unchanged []client.Status

	from, before client.Instant // parsed by check
}

func (f *filterFlags) add(c *cobra.Command, statuses ...string) {
	c.Flags().StringVar(&f.status, "status", "", "only "+f.noun()+"s that are "+strings.Join(statuses, ", "))
	if f.schedules {
		c.Flags().StringVar(&f.dueFrom, "next-from", "",
			"only schedules whose next occurrence is at this time or later, such as 2030-01-31T09:00:00Z")
		c.Flags().StringVar(&f.dueBefore, "next-before", "", "only schedules whose next occurrence is before this time")
	} else {
		c.Flags().StringVar(&f.correlationID, "correlation-id", "", "only timers with this correlation id")
		c.Flags().StringVar(&f.dueFrom, "due-from", "", "only timers due from this time on, such as 2030-01-31T09:00:00Z")
		c.Flags().StringVar(&f.dueBefore, "due-before", "", "only timers due before this time")
	}
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "count the selected "+f.noun()+"s, and do not change them")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask for confirmation")
	c.Flags().IntVar(&f.pageSize, "page-size", 500, f.noun()+"s per request, 1 to 1000")
	c.Flags().StringVar(&f.cursor, "cursor", "", "continue where an earlier call stopped")
	completeWith(c, "status", statuses...)
}

// addFailed adds the flags that select timers by their last attempt.
func (f *filterFlags) addFailed(c *cobra.Command) {
	c.Flags().StringVar(&f.callbackHost, "callback-host", "",
		`only timers that call this host, such as hooks.example.com:8443; "" for those without a URL`)
	c.Flags().StringVar(&f.lastError, "last-error", "", "only timers with exactly this last error")
}

// host returns the callback host for a request; nil for any.
func (f *filterFlags) host() *string {
	if !f.hostGiven {
		return nil
	}
	return &f.callbackHost
}

// failed reports whether the timers are selected by their last attempt, which lists cannot do.
func (f *filterFlags) failed() bool { return f.hostGiven || f.lastError != "" }

// noun names what the filter selects.
func (f *filterFlags) noun() string {
	if f.schedules {
		return "schedule"
	}
	return "timer"
}

// given returns the first flag of the filter that was given, or "".
func (f *filterFlags) given(c *cobra.Command) string {
	for _, flag := range []string{
		"status", "correlation-id", "due-from", "due-before", "next-from", "next-before", "callback-host", "last-error",
		"dry-run", "page-size", "cursor",
	} {
		if c.Flags().Changed(flag) {
			return flag
		}
	}
	return ""
}

func (f *filterFlags) check(c *cobra.Command, namespace string) (err error) {
	f.namespace = namespace
	f.hostGiven = c.Flags().Changed("callback-host")
	if !f.wholeNamespace && f.status == "" && f.correlationID == "" && f.dueFrom == "" && f.dueBefore == "" {
		if f.schedules {
			return usagef("%s by filter needs --status, --next-from or --next-before", c.Name())
		}
		return usagef("%s by filter needs --status, --correlation-id, --due-from or --due-before", c.Name())
	}
	if f.pageSize < 1 || f.pageSize > 1000 {
		return usagef("--page-size: %d is not accepted: want 1 to 1000", f.pageSize)
	}
	from, before := "--due-from", "--due-before"
	if f.schedules {
		from, before = "--next-from", "--next-before"
	}
	if f.from, err = instant(from, f.dueFrom); err != nil {
		return err
	}
	f.before, err = instant(before, f.dueBefore)
	return err
}

// String describes the selected timers.
func (f *filterFlags) String() string {
	words := []string{"in namespace " + f.namespace}
	add := func(what, value string) {
		if value != "" {
			words = append(words, what+" "+value)
		}
	}
	add("with status", f.status)
	add("with correlation id", f.correlationID)
	due := "due "
	if f.schedules {
		due = "with the next occurrence "
	}
	add(due+"from", f.dueFrom)
	add(due+"before", f.dueBefore)
	if f.hostGiven {
		add("with callback host", cmp.Or(f.callbackHost, "(none)"))
	}
	add("with last error", f.lastError)
	return printable(strings.Join(words, ", "))
}

// count counts the selected timers, up to most.
func (f *filterFlags) count(ctx context.Context, api *client.Client, most int, line *progress) (n int, err error) {
	request := client.ListTimersRequest{
		Namespace: f.namespace, Status: client.Status(f.status), CorrelationID: f.correlationID,
		DueFrom: f.from, DueBefore: f.before, Limit: min(1000, most),
	}
	defer line.clear()
	if f.schedules {
		return countAll(f, line, most, api.AllSchedules(ctx, client.ListSchedulesRequest{
			Namespace: f.namespace, Status: client.ScheduleStatus(f.status), NextFrom: f.from, NextBefore: f.before, Limit: request.Limit,
		}), func(s *client.Schedule) bool { return !slices.Contains(f.unchanged, client.Status(s.Status)) })
	}
	changes := func(t *client.Timer) bool { return !slices.Contains(f.unchanged, t.Status) }
	return countAll(f, line, most, api.AllTimers(ctx, request), changes)
}

// countAll counts the elements of a list that a command changes, up to most.
func countAll[T any](f *filterFlags, line *progress, most int, all iter.Seq2[T, error], changes func(*T) bool) (n int, err error) {
	for one, err := range all {
		if err != nil {
			return n, err
		}
		if !changes(&one) {
			continue
		}
		n++
		line.show(time.Now(), func() string { return counted(n, f.noun()) + " counted" })
		if n == most {
			break
		}
	}
	return n, nil
}

// orMatching makes a command take one timer or schedule, or with --matching all that a filter selects.
func orMatching(
	c *cobra.Command, filter *filterFlags, matching *bool, namespace *string,
	identified func(*cobra.Command) *cobra.Command, statuses ...string,
) *cobra.Command {
	begin := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !*matching {
			if flag := filter.given(c); flag != "" {
				return usagef("--%s selects many %ss and requires --matching", flag, filter.noun())
			}
			return begin(c, args)
		}
		for _, flag := range []string{"id", "if-generation", "if-version", "pending"} {
			if c.Flags().Changed(flag) {
				return usagef("--matching and --%s exclude each other", flag)
			}
		}
		if err := filter.check(c, *namespace); err != nil {
			return err
		}
		return begin(c, args)
	}
	c.Flags().BoolVar(matching, "matching", false, "all "+filter.noun()+"s that the filter selects")
	filter.add(c, statuses...)
	identified(c)
	one := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if *matching {
			return exactly()(c, args)
		}
		return one(c, args)
	}
	return c
}

// askBelow is the maximum number of timers that confirm counts before it asks for confirmation.
const askBelow = 10_000

// change is an operation on all timers that a filter selects.
type change struct {
	*program

	filter *filterFlags
	json   bool
	verb   string // "delete"
	done   string // "deleted"
	why    string // reason for skipped timers; empty if they were deleted or changed
	walk   func(context.Context, func(client.MatchingTotal)) (client.MatchingTotal, error)
	// try is walk that changes nothing; nil if timers cannot be selected by their last attempt.
	try func(context.Context, func(client.MatchingTotal)) (client.MatchingTotal, error)
}

// count counts the timers that would be changed, up to most.
func (m *change) count(ctx context.Context, api *client.Client, most int, line *progress) (int, error) {
	if m.try == nil || !m.filter.failed() {
		return m.filter.count(ctx, api, most, line)
	}
	defer line.clear()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	total, err := m.try(ctx, func(so client.MatchingTotal) {
		line.show(time.Now(), func() string { return counted(so.Applied, m.filter.noun()) + " counted" })
		if so.Applied >= most {
			stop()
		}
	})
	if total.Applied >= most {
		return most, nil
	}
	return total.Applied, err
}

func (m *change) run(ctx context.Context, api *client.Client) error {
	line := m.progress(m.json)
	if m.filter.dryRun {
		return m.dryRun(ctx, api, line)
	}
	if err := m.confirm(ctx, api); err != nil {
		return err
	}
	line.begun = time.Now()
	total, err := m.walk(ctx, func(so client.MatchingTotal) {
		line.show(time.Now(), func() string {
			return fmt.Sprintf("%s %s, %s skipped, %s", counted(so.Applied, m.filter.noun()), m.done,
				thousands(so.Skipped), line.rate(so.Matched, time.Now()))
		})
	})
	line.clear()
	if e := m.printTotal(&total); e != nil {
		return errors.Join(err, e)
	}
	var again []string
	if total.Cursor != "" {
		again = append(again, "--cursor "+total.Cursor)
	}
	if !total.StartAt.IsZero() {
		again = append(again, "--start-at "+total.StartAt.Format(time.RFC3339Nano))
	}
	if err == nil || len(again) == 0 {
		return err
	}
	return hintedError{err, "continue with " + strings.Join(again, " ")}
}

func (m *change) dryRun(ctx context.Context, api *client.Client, line *progress) error {
	n, err := m.count(ctx, api, int(^uint(0)>>1), line)
	switch {
	case err != nil:
		return err
	case m.json:
		return printJSON(m.stdout, map[string]any{"dryRun": true, "matched": n})
	default:
		_, err = fmt.Fprintf(m.stdout, "%s %s would be %s\n", counted(n, m.filter.noun()), m.filter, m.done)
		return err
	}
}

var errNotConfirmed = errors.New("not confirmed, nothing was changed")

// confirm asks the user at the terminal for confirmation. Without a terminal, --yes or --dry-run is required.
func (m *change) confirm(ctx context.Context, api *client.Client) error {
	if m.filter.yes {
		return nil
	}
	f, ok := m.stdin.(*os.File)
	if !ok || !process.IsTerminal(f) {
		return usagef("no terminal to confirm that all %ss %s are to be %s: add --yes, or --dry-run to count them",
			m.filter.noun(), m.filter, m.done)
	}
	n, err := m.count(ctx, api, askBelow, m.progress(m.json))
	if err != nil {
		return err
	}
	return confirmed(m.stdin, m.stderr, m.question(n))
}

func (m *change) question(n int) string {
	many := counted(n, m.filter.noun())
	if n == askBelow {
		many = "more than " + counted(n-1, m.filter.noun())
	}
	return fmt.Sprintf("%s %s %s? [y/N] ", m.verb, many, m.filter)
}

func confirmed(in io.Reader, out io.Writer, question string) error {
	fmt.Fprint(out, question)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	default:
		return errNotConfirmed
	}
}

func (m *change) printTotal(total *client.MatchingTotal) error {
	if m.json {
		return printJSON(m.stdout, map[string]any{
			"matched": total.Matched, "applied": total.Applied, "late": total.Late, "skipped": total.Skipped,
		})
	}
	text := fmt.Sprintf("%s %s", counted(total.Applied, m.filter.noun()), m.done)
	if total.Late > 0 {
		late := " (earlier deliveries of %s may have gone out)"
		if m.filter.schedules {
			late = " (%s may have created an occurrence at this moment)"
		}
		text += fmt.Sprintf(late, thousands(total.Late))
	}
	if total.Skipped > 0 {
		text += fmt.Sprintf(", %s skipped that %s", thousands(total.Skipped), cmp.Or(m.why, "were deleted or changed meanwhile"))
	}
	_, err := fmt.Fprintln(m.stdout, text)
	return err
}

func (t *timerCommands) reschedule() *cobra.Command {
	var filter filterFlags
	var at, in, shiftBy string
	c := &cobra.Command{
		Use: "reschedule (--at TIME | --in DURATION | --shift-by DURATION)", Short: "Change the time of all timers that a filter selects",
		Long: `Change the time of all timers that a filter selects; "timer update" changes one. Every timer starts again at
attempt 1. The command works page by page: it may or may not include timers that are created meanwhile. With
--in, the time of a page counts from its request.`,
		Example: `  timerbus timer reschedule -n billing --correlation-id order-17 --shift-by 1h --dry-run
  timerbus timer reschedule -n billing --status retrying --in 0s --yes`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := one(c, "at", "in", "shift-by"); err != nil {
				return err
			}
			if err := filter.check(c, t.namespace); err != nil {
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
			work := change{program: t.program, filter: &filter, json: t.json, verb: "reschedule", done: "rescheduled"}
			work.walk = func(ctx context.Context, progress func(client.MatchingTotal)) (client.MatchingTotal, error) {
				return api.RescheduleAllMatching(ctx, client.RescheduleMatchingRequest{
					Namespace: filter.namespace, Status: client.Status(filter.status), CorrelationID: filter.correlationID,
					DueFrom: filter.from, DueBefore: filter.before, Limit: filter.pageSize, Cursor: filter.cursor,
					ExecuteAt: executeAt, ExecuteIn: in, ShiftBy: shiftBy,
				}, progress)
			}
			return work.run(c.Context(), api)
		},
	}
	c.Flags().StringVar(&at, "at", "", "when to fire, such as 2030-01-31T09:00:00Z")
	c.Flags().StringVar(&in, "in", "", "when to fire, from now, such as 15m")
	c.Flags().StringVar(&shiftBy, "shift-by", "", "duration to add to executeAt, such as 1h; may be negative")
	filter.add(c, "scheduled", "retrying", "parked", "paused")
	return c
}
