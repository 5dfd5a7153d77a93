package main

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// timerCommands are the commands about timers, with the flags they share.
type timerCommands struct {
	*program
	remote

	namespace, id string
	matching      bool // the command is about all timers that a filter selects, not about one
}

// identified makes a command take one timer: ID as an argument, or by --id.
func (t *timerCommands) identified(c *cobra.Command) *cobra.Command {
	c.ValidArgsFunction = t.offerIDs
	return takesID(c, &t.id, "timer")
}

func (t *timerCommands) orMatching(c *cobra.Command, filter *filterFlags, statuses ...string) *cobra.Command {
	return orMatching(c, filter, &t.matching, &t.namespace, t.identified, statuses...)
}

func (p *program) timerCommand() *cobra.Command {
	t := &timerCommands{program: p}
	c := group("timer", "Create, show, change and delete timers",
		t.create(), t.get(), t.update(), t.delete(), t.runNow(), t.retry(), t.pause(), t.resume(),
		t.list(), t.count(), t.forecast(), t.history(), t.watch(),
		t.batchCreate(), t.batchDelete(), t.reschedule(), t.purge())
	t.remote.flags(c)
	c.PersistentFlags().StringVarP(&t.namespace, "namespace", "n", "default", "namespace")
	t.completeNamespaces(c)
	return c
}

func (t *timerCommands) get() *cobra.Command {
	return t.identified(&cobra.Command{
		Use: "get ID", Short: "Show a timer or its outcome",
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			got, err := api.GetTimer(c.Context(), client.TimerSelection{Namespace: t.namespace, TimerID: t.id})
			switch {
			case err != nil:
				return err
			case t.json:
				return printJSON(t.stdout, got)
			default:
				return table(t.stdout, describe(&got, time.Now()))
			}
		},
	})
}

// describe returns the rows of `timer get`.
func describe(t *client.Timer, now time.Time) [][]string {
	rows := [][]string{
		{"id", t.ID},
		{"namespace", t.Namespace},
		{"status", string(t.Status)},
		{"execute at", when(t.ExecuteAt, now)},
	}
	rows = append(rows, describeLocal(t)...)
	rows = append(rows, [][]string{
		{"due at", when(t.DueAt, now)},
		{"deliver", string(t.Deliver)},
		{"callback", cmp.Or(t.CallbackURL, "-")},
		{"timeout", t.CallbackTimeout},
	}...)
	if t.Window != "" {
		rows = append(rows, []string{"window", t.Window})
	}
	if t.ExpireAfter != "" {
		rows = append(rows, []string{"expires at", when(t.ExpiresAt, now)})
	}
	for _, url := range [][]string{{"on done", t.OnDone}, {"on dead", t.OnDead}} {
		if url[1] != "" {
			rows = append(rows, url)
		}
	}
	if t.FlowKey != "" {
		rows = append(rows, []string{"flow key", printable(t.FlowKey)})
	}
	rows = append(rows, describeRequest(&t.Request)...)
	rows = append(rows, describeHeaders(t.Headers)...)
	if t.Topic != "" {
		rows = append(rows, []string{"topic", t.Topic}, []string{"key", printable(cmp.Or(t.Key, "-"))})
	}
	rows = append(rows, [][]string{
		{"payload", cmp.Or(short(string(t.Payload), 200), "-")},
		{"attempts", fmt.Sprintf("%d of %d", t.Attempts, t.RetryPolicy.MaxAttempts)},
		{"generation", t.Generation},
		{"correlation id", t.CorrelationID},
		{"uuid", t.UUID},
		{"created at", t.CreatedAt.String()},
		{"updated at", t.UpdatedAt.String()},
	}...)
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

// describeRequest returns no rows for the usual request.
func describeRequest(r *client.TimerRequest) [][]string {
	if r.Method == "" {
		return nil
	}
	rows := [][]string{{"request", string(r.Method) + " " + r.ContentType}}
	switch {
	case r.Body != nil:
		rows = append(rows, []string{"body", strconv.Quote(short(*r.Body, 200))})
	case r.BodyBase64 != nil:
		rows = append(rows, []string{"body", fmt.Sprintf("%d bytes, not printable", len(r.BodyBase64))})
	}
	if r.Reschedule {
		rows = append(rows, []string{"answer", "may reschedule the timer"})
	}
	return rows
}

func (t *timerCommands) history() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "history ID", Short: "List the attempts of a timer, newest first",
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := t.client()
			if err != nil {
				return err
			}
			h, err := api.TimerHistory(c.Context(), client.HistoryRequest{Namespace: t.namespace, TimerID: t.id, Limit: limit})
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
	c.Flags().IntVar(&limit, "limit", 100, "maximum number of attempts, 1 to 1000")
	return t.identified(c)
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
		lateness(a.FinishedAt.Sub(a.StartedAt.Time)), status, next, short(cmp.Or(a.Error, "-"), 80),
	}
}
