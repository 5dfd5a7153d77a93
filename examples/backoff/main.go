// Command backoff shows the retries of a receiver that is down for a while. The timer's policy retries a failed callback
// with growing delays, and the timer's history contains every attempt.
//
// It imports Timerbus like a user's program. main.go is the whole example.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

const (
	// failures is how many callbacks the receiver answers with 503.
	failures = 3
	first    = 200 * time.Millisecond
)

func main() { program.Main(run) }

func run(ctx context.Context, out io.Writer) (err error) {
	service, stop, err := program.InMemory(ctx, timerbus.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	var calls atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) <= failures {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer receiver.Close()
	_, err = service.Client().CreateTimer(ctx, client.CreateTimerRequest{
		ID: "send-invoice", ExecuteIn: "0s", CallbackURL: receiver.URL,
		RetryPolicy: client.RetryPolicyInput{
			MaxAttempts: client.Set(5), InitialInterval: client.Set(first.String()),
			BackoffMultiplier: client.Set(2.0), MaxInterval: client.Set("1s"),
		},
	})
	if err != nil {
		return err
	}
	for {
		t, err := service.Client().GetTimer(ctx, client.TimerSelection{TimerID: "send-invoice"})
		if err != nil {
			return err
		}
		if t.Status == "done" || t.Status == "dead" {
			fmt.Fprintf(out, "%s after %d attempts\n", t.Status, t.Attempts)
			return tell(ctx, service.Client(), out)
		}
		pause := time.NewTimer(50 * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tell prints the history, oldest first, and checks the delays: 200 ms, 400 ms, 800 ms. Jitter makes each up to a tenth
// shorter or longer, so that timers that failed together are not retried together.
func tell(ctx context.Context, c *client.Client, out io.Writer) error {
	history, err := c.TimerHistory(ctx, client.HistoryRequest{TimerID: "send-invoice"})
	if err != nil {
		return err
	}
	slices.Reverse(history.Attempts)
	var ended time.Time
	wait := first
	for i := range history.Attempts {
		a := &history.Attempts[i]
		fmt.Fprintf(out, "attempt %d: %d %s\n", a.Attempt, a.StatusCode, http.StatusText(a.StatusCode))
		if i > 0 {
			if pause := a.StartedAt.Sub(ended); pause < wait*9/10 {
				return fmt.Errorf("attempt %d came after %v, too early", a.Attempt, pause)
			}
			wait *= 2
		}
		ended = a.FinishedAt.Time
	}
	return nil
}
