package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// timerCommands are the commands about timers, with the flags they share.
type timerCommands struct {
	*program
	remote

	namespace string
}

func (p *program) timerCommand() *cobra.Command {
	t := &timerCommands{program: p}
	c := group("timer", "Create, look at, change and delete timers",
		t.create(), t.get(), t.update(), t.delete(), t.list(), t.history())
	t.remote.flags(c)
	c.PersistentFlags().StringVarP(&t.namespace, "namespace", "n", "default", "namespace")
	return c
}

// timerFlags are the fields of a timer.
type timerFlags struct {
	at, in, callback, payload, deliver, correlationID string
	timeout                                           time.Duration
	retry                                             retryFlags
}

func (f *timerFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.at, "at", "", "when to fire, such as 2030-01-31T09:00:00Z")
	c.Flags().StringVar(&f.in, "in", "", "when to fire, from now, such as 15m")
	c.Flags().StringVar(&f.callback, "callback", "", "URL to call")
	c.Flags().StringVar(&f.payload, "payload", "", "JSON to deliver; @file reads a file, - reads the input")
	c.Flags().StringVar(&f.deliver, "deliver", "", "callback, event or both (default: callback if there is a URL, else event)")
	c.Flags().StringVar(&f.correlationID, "correlation-id", "", "carried on everything about the timer")
	c.Flags().DurationVar(&f.timeout, "callback-timeout", 0, "bounds one attempt, 1s to 5m (default: the namespace's)")
	f.retry.add(c)
}

func (f *timerFlags) instant() (client.Instant, error) {
	if f.at == "" {
		return client.Instant{}, nil
	}
	at, err := timer.ParseMillis(f.at)
	if err != nil {
		return client.Instant{}, usagef("--at: %w", err)
	}
	return client.At(at.Time()), nil
}

// payloadJSON reads what --payload names.
func (t *timerCommands) payloadJSON(given string) (json.RawMessage, error) {
	raw := []byte(given)
	var err error
	switch {
	case given == "":
		return nil, nil //nolint:nilnil // no payload is not an error
	case given == "-":
		raw, err = io.ReadAll(io.LimitReader(t.stdin, timer.MaxPayload+1))
	case strings.HasPrefix(given, "@"):
		raw, err = os.ReadFile(given[1:])
	}
	if err != nil {
		return nil, usagef("--payload: %w", err)
	}
	if !json.Valid(raw) {
		return nil, usagef(`--payload: %s is not accepted: want JSON, such as '{"order":17}' or '"text"'`, strconv.Quote(short(string(raw), 80)))
	}
	return raw, nil
}

func (t *timerCommands) create() *cobra.Command {
	var f timerFlags
	var onConflict string
	c := &cobra.Command{
		Use: "create ID (--in DURATION | --at TIME)", Short: "Create a timer, or replace the one with its id", Args: exactly("ID"),
		Example: `  timerbus timer create order-17 --in 15m --callback https://shop.example/expire --payload '{"order":17}'`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := one(c, "at", "in"); err != nil {
				return err
			}
			api, err := t.client()
			if err != nil {
				return err
			}
			request := client.CreateTimerRequest{
				Namespace: t.namespace, ID: args[0], ExecuteIn: f.in, CallbackURL: f.callback,
				Deliver: client.Deliver(f.deliver), CorrelationID: f.correlationID, OnConflict: client.OnConflict(onConflict),
			}
			if request.ExecuteAt, err = f.instant(); err != nil {
				return err
			}
			if request.Payload, err = t.payloadJSON(f.payload); err != nil {
				return err
			}
			if c.Flags().Changed("callback-timeout") {
				request.CallbackTimeout = f.timeout.String()
			}
			request.RetryPolicy, _ = f.retry.input(c)
			written, err := api.CreateTimer(c.Context(), request)
			return t.wrote("created", written, err)
		},
	}
	f.add(c)
	c.Flags().StringVar(&onConflict, "on-conflict", "", "replace, keep or fail (default replace)")
	return c
}

// clearable are the fields that --clear knows, and the flags they exclude.
func clearable() []string {
	return []string{"callback", "callback-timeout", "correlation-id", "deliver", "payload", "retry"}
}

func (t *timerCommands) update() *cobra.Command {
	var f timerFlags
	var clear []string
	var ifGeneration string
	c := &cobra.Command{
		Use: "update ID", Short: "Change fields of a timer; the others are kept", Args: exactly("ID"),
		Example: `  timerbus timer update order-17 --in 1h --clear payload,retry`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := atMostOne(c, "at", "in"); err != nil {
				return err
			}
			api, err := t.client()
			if err != nil {
				return err
			}
			request := client.UpdateTimerRequest{Namespace: t.namespace, TimerID: args[0], ExecuteIn: f.in, IfGeneration: ifGeneration}
			if request.ExecuteAt, err = f.instant(); err != nil {
				return err
			}
			if request.Payload, err = t.payloadJSON(f.payload); err != nil {
				return err
			}
			f.changes(c, &request)
			if err := clearFields(c, clear, &request); err != nil {
				return err
			}
			written, err := api.UpdateTimer(c.Context(), request)
			return t.wrote("updated", written, err)
		},
	}
	f.add(c)
	c.Flags().StringSliceVar(&clear, "clear", nil, "set back to the default: "+strings.Join(clearable(), ", "))
	c.Flags().StringVar(&ifGeneration, "if-generation", "", "only if the timer still has this generation")
	return c
}

// changes takes over the flags that were given.
func (f *timerFlags) changes(c *cobra.Command, request *client.UpdateTimerRequest) {
	if c.Flags().Changed("callback") {
		request.CallbackURL = client.Set(f.callback)
	}
	if c.Flags().Changed("deliver") {
		request.Deliver = client.Set(client.Deliver(f.deliver))
	}
	if c.Flags().Changed("correlation-id") {
		request.CorrelationID = client.Set(f.correlationID)
	}
	if c.Flags().Changed("callback-timeout") {
		request.CallbackTimeout = client.Set(f.timeout.String())
	}
	if policy, given := f.retry.input(c); given {
		request.RetryPolicy = client.Set(policy)
	}
}

func clearFields(c *cobra.Command, fields []string, request *client.UpdateTimerRequest) error {
	for _, field := range fields {
		switch field {
		case "callback":
			request.CallbackURL = client.Clear[string]()
		case "callback-timeout":
			request.CallbackTimeout = client.Clear[string]()
		case "correlation-id":
			request.CorrelationID = client.Clear[string]()
		case "deliver":
			request.Deliver = client.Clear[client.Deliver]()
		case "payload":
			request.Payload = json.RawMessage("null")
		case "retry":
			if !request.RetryPolicy.IsZero() {
				return usagef("--clear retry and the flags of a retry policy exclude each other")
			}
			request.RetryPolicy = client.Clear[client.RetryPolicyInput]()
		default:
			return usagef("--clear: %q is not accepted: want some of %s", field, strings.Join(clearable(), ", "))
		}
		if c.Flags().Changed(field) {
			return usagef("--clear %s and --%s exclude each other", field, field)
		}
	}
	return nil
}

// wrote reports a create or update.
func (t *timerCommands) wrote(verb string, w client.Written, err error) error {
	if err != nil {
		return err
	}
	if t.json {
		return printJSON(t.stdout, w.Timer)
	}
	_, err = fmt.Fprintf(t.stdout, "%s %s in namespace %s: fires %s\n",
		verb, printable(w.ID), w.Namespace, when(w.ExecuteAt, time.Now()))
	if err == nil && !w.InTime {
		_, err = fmt.Fprintln(t.stdout, "its earlier delivery may have gone out")
	}
	return err
}

func (t *timerCommands) get() *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Short: "Show a timer, or how it ended", Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			got, err := api.GetTimer(c.Context(), client.TimerSelection{Namespace: t.namespace, TimerID: args[0]})
			switch {
			case err != nil:
				return err
			case t.json:
				return printJSON(t.stdout, got)
			default:
				return table(t.stdout, describe(&got, time.Now()))
			}
		},
	}
}

// describe lists what there is to say about a timer.
func describe(t *client.Timer, now time.Time) [][]string {
	rows := [][]string{
		{"id", t.ID},
		{"namespace", t.Namespace},
		{"status", string(t.Status)},
		{"execute at", when(t.ExecuteAt, now)},
		{"due at", when(t.DueAt, now)},
		{"deliver", string(t.Deliver)},
		{"callback", or(t.CallbackURL, "-")},
		{"timeout", t.CallbackTimeout},
		{"payload", short(string(t.Payload), 200)},
		{"attempts", fmt.Sprintf("%d of %d", t.Attempts, t.RetryPolicy.MaxAttempts)},
		{"generation", t.Generation},
		{"correlation id", t.CorrelationID},
		{"uuid", t.UUID},
		{"created at", t.CreatedAt.String()},
		{"updated at", t.UpdatedAt.String()},
	}
	if !t.ExecutedAt.IsZero() {
		rows = append(rows, []string{"executed at", when(t.ExecutedAt, now)})
	}
	if t.LastStatusCode != 0 {
		rows = append(rows, []string{"last status", strconv.Itoa(t.LastStatusCode)})
	}
	if t.LastError != "" {
		rows = append(rows, []string{"last error", short(t.LastError, 200)})
	}
	return rows
}

func (t *timerCommands) delete() *cobra.Command {
	var ifGeneration string
	c := &cobra.Command{
		Use: "delete ID", Short: "Delete a timer", Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			inTime, err := api.DeleteTimer(c.Context(), client.DeleteTimerRequest{
				Namespace: t.namespace, TimerID: args[0], IfGeneration: ifGeneration,
			})
			switch {
			case err != nil:
				return err
			case t.json:
				return printJSON(t.stdout, map[string]any{"deleted": args[0], "inTime": inTime})
			case inTime:
				_, err = fmt.Fprintf(t.stdout, "deleted %s in namespace %s: it does not fire\n", printable(args[0]), t.namespace)
			default:
				_, err = fmt.Fprintf(t.stdout, "deleted %s in namespace %s, but its delivery may have gone out\n", printable(args[0]), t.namespace)
			}
			return err
		},
	}
	c.Flags().StringVar(&ifGeneration, "if-generation", "", "only if the timer still has this generation")
	return c
}

func (t *timerCommands) list() *cobra.Command {
	var status, correlationID, dueFrom, dueBefore, cursor string
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
			}
			from, before := timerFlags{at: dueFrom}, timerFlags{at: dueBefore}
			if request.DueFrom, err = from.instant(); err != nil {
				return usagef("--due-from: %w", err)
			}
			if request.DueBefore, err = before.instant(); err != nil {
				return usagef("--due-before: %w", err)
			}
			return t.printList(c, api, request, all)
		},
	}
	c.Flags().StringVar(&status, "status", "", "scheduled, retrying, parked, done or dead (default: the first three)")
	c.Flags().StringVar(&correlationID, "correlation-id", "", "only timers with it")
	c.Flags().StringVar(&dueFrom, "due-from", "", "only timers due from this time on")
	c.Flags().StringVar(&dueBefore, "due-before", "", "only timers due before this time")
	c.Flags().IntVar(&limit, "limit", 100, "timers on a page, 1 to 1000")
	c.Flags().StringVar(&cursor, "cursor", "", "go on where an earlier page ended")
	c.Flags().BoolVar(&all, "all", false, "all pages")
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
			one.ID, string(one.Status), when(one.DueAt, now), strconv.Itoa(one.Attempts), string(one.Deliver), short(or(one.CallbackURL, "-"), 60),
		})
	}
	if err := table(t.stdout, rows); err != nil {
		return err
	}
	if page.NextCursor != "" {
		_, err = fmt.Fprintf(t.stderr, "there are more: --all, or --cursor %s\n", page.NextCursor)
	}
	return err
}

func (t *timerCommands) history() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "history ID", Short: "List the attempts of a timer, newest first", Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			h, err := api.TimerHistory(c.Context(), client.HistoryRequest{Namespace: t.namespace, TimerID: args[0], Limit: limit})
			switch {
			case err != nil:
				return err
			case t.json:
				return printJSON(t.stdout, h)
			}
			rows := [][]string{{"FINISHED", "ATTEMPT", "OUTCOME", "TOOK", "STATUS", "NEXT", "ERROR"}}
			for i := range h.Attempts {
				rows = append(rows, attempt(&h.Attempts[i]))
			}
			return table(t.stdout, rows)
		},
	}
	c.Flags().IntVar(&limit, "limit", 100, "attempts at most, 1 to 1000")
	return c
}

func attempt(a *client.HistoryEntry) []string {
	status, next := "-", "-"
	if a.StatusCode != 0 {
		status = strconv.Itoa(a.StatusCode)
	}
	if !a.NextAt.IsZero() {
		next = a.NextAt.String()
	}
	return []string{
		a.FinishedAt.String(), strconv.Itoa(a.Attempt), string(a.Outcome),
		lateness(a.FinishedAt.Sub(a.StartedAt.Time)), status, next, short(or(a.Error, "-"), 80),
	}
}
