// Command reminder is a reminder that repeats until its task is done: the receiver's answer to the callback contains the
// time of the next call, and the timer is rescheduled.
//
// It imports Timerbus like a user's program. main.go is the whole example.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

const (
	snooze = 400 * time.Millisecond
	times  = 3
)

func main() { program.Main(run) }

func run(ctx context.Context, out io.Writer) (err error) {
	service, stop, err := program.InMemory(ctx, timerbus.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	calls := make(chan time.Time)
	receiver := httptest.NewServer(remind(calls))
	defer receiver.Close()
	_, err = service.Client().CreateTimer(ctx, client.CreateTimerRequest{
		ID: "water-the-plants", ExecuteIn: "200ms", CallbackURL: receiver.URL,
		Payload: json.RawMessage(`{"text": "The plants are thirsty."}`),
	})
	if err != nil {
		return err
	}
	var asked time.Time
	for n := range times {
		select {
		case at := <-calls:
			fmt.Fprintf(out, "reminder %d: The plants are thirsty.\n", n+1)
			if at.Before(asked) {
				return fmt.Errorf("reminder %d came %v before it was asked for", n+1, asked.Sub(at))
			}
			asked = at.Truncate(time.Millisecond).Add(snooze) // times of timers are milliseconds
		case <-ctx.Done():
			return ctx.Err()
		}
		if n < times-1 {
			fmt.Fprintf(out, "  not now, again in %v\n", snooze)
		}
	}
	fmt.Fprintln(out, "  done")
	return outcome(ctx, service, out)
}

// remind answers the first calls with another time. The last answer has no time, and the timer is done.
func remind(calls chan<- time.Time) http.Handler {
	count := 0 // the service makes only one call of a timer at a time
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count++
		now := time.Now()
		calls <- now
		w.Header().Set("Content-Type", "application/json")
		answer := client.CallbackResponse{}
		if count < times {
			answer.NextExecuteAt = client.At(now.Add(snooze))
		}
		// If the answer cannot be written, the service calls again.
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// outcome waits until the outcome of the last call is in the store.
func outcome(ctx context.Context, service *timerbus.Service, out io.Writer) error {
	for {
		t, err := service.Client().GetTimer(ctx, client.TimerSelection{TimerID: "water-the-plants"})
		if err != nil {
			return err
		}
		if t.Status == "done" {
			fmt.Fprintf(out, "the timer is %s\n", t.Status)
			return nil
		}
		pause := time.NewTimer(20 * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
