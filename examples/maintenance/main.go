// Command maintenance pauses the timers of a namespace while their receiver is down for maintenance. It resumes them at a rate that
// the receiver can take, and skips one that is of no use any more.
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
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

const (
	invoices = 10
	rate     = 10 // invoices per second
)

func main() { program.Main(run) }

func run(ctx context.Context, out io.Writer) (err error) {
	service, stop, err := program.InMemory(ctx, timerbus.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	timers := service.Client()

	var maintained atomic.Bool
	calls := make(chan time.Time, invoices)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) {
		if maintained.Load() {
			panic("called during the maintenance")
		}
		calls <- time.Now()
	}))
	defer receiver.Close()

	due := time.Now().Add(time.Second)
	for i := range invoices {
		if err := create(ctx, timers, fmt.Sprintf("invoice-%d", i), due, receiver.URL); err != nil {
			return err
		}
	}
	if err := create(ctx, timers, "greeting", due, receiver.URL); err != nil {
		return err
	}

	paused, err := timers.PauseAllMatching(ctx, client.PauseMatchingRequest{Namespace: "default", Note: "new version of the receiver"}, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d timers paused, earlier deliveries of %d may have begun\n", paused.Applied, paused.Late)
	maintained.Store(true)
	select {
	case <-time.After(time.Until(due) + 500*time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	t, err := timers.GetTimer(ctx, client.TimerSelection{TimerID: "invoice-0"})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "their time has passed: %s is %s: %s\n", t.ID, t.Status, t.Pause.Note)

	maintained.Store(false)
	if _, err := timers.ResumeTimer(ctx, client.ResumeTimerRequest{TimerID: "greeting", Overdue: client.OverdueSkip}); err != nil {
		return err
	}
	began := time.Now()
	resumed, err := timers.ResumeAllMatching(ctx, client.ResumeMatchingRequest{Namespace: "default", ResumeRate: rate}, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d timers resumed\n", resumed.Applied)
	var last time.Time
	for range invoices {
		select {
		case last = <-calls:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if took := last.Sub(began); took < (invoices-1)*time.Second/rate {
		return fmt.Errorf("%d invoices were delivered within %v, at a rate of %d in a second", invoices, took, rate)
	}
	fmt.Fprintf(out, "%d invoices delivered, no more than %d in a second\n", invoices, rate)
	return skipped(ctx, timers, out)
}

func create(ctx context.Context, timers *client.Client, id string, due time.Time, url string) error {
	_, err := timers.CreateTimer(ctx, client.CreateTimerRequest{ID: id, ExecuteAt: client.At(due), CallbackURL: url})
	return err
}

// skipped waits until the skipped timer has ended.
func skipped(ctx context.Context, timers *client.Client, out io.Writer) error {
	for {
		t, err := timers.GetTimer(ctx, client.TimerSelection{TimerID: "greeting"})
		if err != nil {
			return err
		}
		if t.Status == "dead" {
			fmt.Fprintf(out, "the greeting is %s: %s\n", t.Status, t.LastError)
			return nil
		}
		wait := time.NewTimer(20 * time.Millisecond)
		select {
		case <-wait.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
