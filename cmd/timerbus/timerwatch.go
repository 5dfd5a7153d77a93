package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// watcher follows the results of timers on the topics.
type watcher struct {
	*timerCommands

	bus, prefix, outcome string
	since                time.Duration
	all                  bool
	count                int
}

func (t *timerCommands) watch() *cobra.Command {
	w := &watcher{timerCommands: t}
	c := &cobra.Command{
		Use: "watch [ID]", Short: "Follow the results of timers as they happen",
		Long: `Follow the results of a namespace's timers, or of one timer: a line for each attempt, and for each timer that
is parked. They come from the bus, not from the HTTP API: --bus or TIMERBUS_BUS has its URL.

A namespace with the setting results "failures" publishes no results of attempts that are done or rescheduled, and one
with "off" publishes none: of its timers only those that are parked are shown.

A result reports one attempt, and may repeat; "timer get" and "timer history" show the state of a timer.`,
		Example: `  timerbus timer watch -n billing
  timerbus timer watch order-17 --since 1h
  timerbus timer watch --bus kafka://127.0.0.1:9092
  timerbus timer watch --all-namespaces --outcome dead --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("%q is not accepted: watch wants one ID or none", args[1])
			}
			return nil
		},
		ValidArgsFunction: t.offerIDs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				w.id = args[0]
			}
			return w.run(c.Context())
		},
	}
	// Not the flag's default, because --help shows defaults and the variable may contain a password.
	const about = "URL of the service's bus: nats://HOST:PORT,… or kafka://HOST:PORT,… " +
		"(default $" + busVariable + ", else " + defaultBus + ")"
	c.Flags().StringVar(&w.bus, "bus", "", about)
	c.Flags().StringVar(&w.bus, "nats", "", about)
	if err := c.Flags().MarkHidden("nats"); err != nil { // the flag's old name, from the time when NATS was the only bus
		panic(err)
	}
	c.Flags().StringVar(&w.prefix, "topic-prefix", "timerbus", "prefix of the cluster's topics")
	c.Flags().StringVar(&w.id, "id", "", "the timer's id, instead of the argument")
	c.Flags().StringVar(&w.outcome, "outcome", "", "only results that are "+strings.Join(outcomes(), ", "))
	durationFlag(c, &w.since, "since", 0, "start with the results of the last period, such as 10m or 1d (default: now)")
	c.Flags().BoolVar(&w.all, "all-namespaces", false, "timers of all namespaces")
	c.Flags().IntVar(&w.count, "count", 0, "end after this many results (default: Ctrl-C ends it)")
	completeWith(c, "outcome", outcomes()...)
	return c
}

const (
	busVariable = process.EnvPrefix + "BUS"
	// defaultBus is the address of the NATS server of `timerbus dev` by default.
	defaultBus = "nats://127.0.0.1:4222"
)

func outcomes() []string { return []string{"done", "rescheduled", "failed", "dead", "parked"} }

// errCounted ends the watch without an error after --count results.
var errCounted = errors.New("count reached")

func (w *watcher) run(ctx context.Context) error {
	known := w.outcome == ""
	for _, outcome := range outcomes() {
		known = known || w.outcome == outcome
	}
	switch {
	case !known:
		return usagef("--outcome: %q is not accepted: want one of %s", w.outcome, strings.Join(outcomes(), ", "))
	case w.since < 0:
		return usagef("--since: %v is not accepted: want a positive duration such as 10m", w.since)
	case w.count < 0:
		return usagef("--count: %d is not accepted: want 0 or more", w.count)
	}
	named := "--bus"
	if w.bus == "" {
		given, err := process.Secret("BUS")
		if err != nil {
			return usageError{err}
		}
		named, w.bus = busVariable, cmp.Or(given, defaultBus)
	}
	format := "text"
	if w.json {
		format = "json"
	}
	token, err := process.Secret("TOKEN")
	if err != nil {
		return usageError{err}
	}
	o := backend.FollowOptions{
		BusURL: w.bus, Token: cmp.Or(w.token, token), Prefix: w.prefix,
		Topics: []bus.Topic{bus.Results, bus.Dead},
		Logger: process.NewLogger(w.stderr, format, slog.LevelWarn),
	}
	if w.since > 0 {
		o.Since = time.Now().Add(-w.since)
	}
	if !w.json {
		fmt.Fprintf(w.stderr, "following results at %s (Ctrl-C ends it)\n", backend.Redacted(w.bus))
	}
	seen := 0
	err = backend.Follow(ctx, o, func(_ bus.Topic, m *bus.Message) error {
		shown, err := w.show(m)
		if err == nil && shown {
			if seen++; seen == w.count {
				err = errCounted
			}
		}
		return err
	})
	switch {
	case errors.Is(err, errCounted):
		return nil
	case errors.Is(err, backend.ErrURL):
		return usagef("%s: %w", named, err)
	default:
		return err
	}
}

// followed is the content of a line, from either type of event.
type followed struct {
	event.Result

	Time timer.Millis `json:"time"`
}

// show prints a message if the flags select it.
func (w *watcher) show(m *bus.Message) (shown bool, err error) {
	f, ok := follow(m)
	if !ok || !w.all && f.Namespace != w.namespace || w.id != "" && f.TimerID != w.id || w.outcome != "" && f.Outcome != w.outcome {
		return false, nil
	}
	if w.json {
		return true, printLine(w.stdout, &f)
	}
	_, err = fmt.Fprintln(w.stdout, f.line())
	return true, err
}

// follow decodes a message. Other programs may publish to the topics: messages that are not events of Timerbus, or are
// events of other types, are skipped.
func follow(m *bus.Message) (f followed, ok bool) {
	e, err := event.Decode(m.Headers, m.Body)
	if err != nil {
		return f, false
	}
	f.Time = e.Time
	switch e.Type {
	case event.TypeResult:
		err = json.Unmarshal(e.Data, &f.Result)
	case event.TypeParked:
		var n event.Notice
		err = json.Unmarshal(e.Data, &n)
		f.Result = event.Result{
			Namespace: n.Namespace, TimerID: n.TimerID, Generation: n.Generation, Attempt: n.Attempts,
			CorrelationID: n.CorrelationID, Outcome: string(n.Status), ExecuteAt: n.ExecuteAt, Error: n.Reason, StatusCode: n.StatusCode,
		}
	default: // answers to commands are skipped, and dead events, because each dead timer also has a result
		return f, false
	}
	return f, err == nil
}

func (f *followed) line() string {
	text := fmt.Sprintf("%s  %-20s attempt %d  %-11s", f.Time.Time().Format("15:04:05.000"), short(f.TimerID, 40), f.Attempt, f.Outcome)
	if f.FinishedAt != 0 {
		text += fmt.Sprintf("  took %s", lateness(f.FinishedAt.Sub(f.StartedAt)))
	}
	text += "  " + f.Namespace
	if f.NextAt != nil {
		text += "  next " + f.NextAt.String()
	}
	if f.Error != "" {
		text += "  " + short(f.Error, 120)
	}
	return printable(text)
}
