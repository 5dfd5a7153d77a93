package e2e_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/pkg/client"
)

const (
	inFlight     = 1000
	callbackHost = 20 // receivers, each with a different host and port
)

// TestKillWithCallbacksInFlight kills the calling process with kill -9 while 1,000 callbacks are in flight. After the
// restart every timer is delivered. Timers that are delivered twice were in flight, and have the same webhook-id.
func TestKillWithCallbacksInFlight(t *testing.T) {
	t.Parallel()
	w := startOwn(t)
	killInFlight(t, w, func() {
		if err := w.Kill(); err != nil {
			t.Fatal(err)
		}
	}, func() {
		if err := w.Start(within(t, patience)); err != nil {
			t.Fatal(err)
		}
	})
}

// The same with the dispatcher as a separate process, of which there is only one.
func TestKillADispatcherWithCallbacksInFlight(t *testing.T) {
	c := startCluster(t, 1, 1, 1)
	dispatcher := c.member("dispatcher-1")
	killInFlight(t, c.world, func() {
		if err := dispatcher.Kill(); err != nil {
			t.Fatal(err)
		}
	}, func() {
		if err := dispatcher.Start(within(t, patience)); err != nil {
			t.Fatal(err)
		}
	})
}

// inFlightCalls are the calls that the receivers got.
type inFlightCalls struct {
	mu       sync.Mutex
	ids      map[string]map[string]int // calls by timer and webhook-id
	answered map[string]int
	killed   atomic.Bool
	hanging  atomic.Int64
}

func (f *inFlightCalls) answer(c receiver.Call) receiver.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ids[c.TimerID] == nil {
		f.ids[c.TimerID] = map[string]int{}
	}
	f.ids[c.TimerID][c.WebhookID]++
	if !f.killed.Load() {
		f.hanging.Add(1)
		return receiver.Answer{Hang: true}
	}
	f.answered[c.TimerID]++
	return receiver.Answer{}
}

func (f *inFlightCalls) all() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.answered)
}

func killInFlight(t *testing.T, w *world, kill, start func()) {
	t.Helper()
	f := &inFlightCalls{ids: map[string]map[string]int{}, answered: map[string]int{}}
	var urls []string
	for range callbackHost {
		r, err := receiver.Start(f.answer)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		urls = append(urls, r.URL)
	}
	due := time.Now().Add(3 * time.Second)
	var batch []client.CreateTimerRequest
	for i := range inFlight {
		batch = append(batch, client.CreateTimerRequest{
			Namespace: w.namespace, ID: fmt.Sprint("f/", i), ExecuteAt: client.At(due), CallbackURL: urls[i%len(urls)],
			RetryPolicy: quick(4),
		})
	}
	for from := 0; from < len(batch); from += 100 {
		if _, err := w.api.BatchCreateTimers(t.Context(), batch[from:from+100]); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := due.Add(patience); f.hanging.Load() < inFlight; pause(t.Context(), time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d callbacks are in flight, want %d", f.hanging.Load(), inFlight)
		}
	}
	f.killed.Store(true)
	kill()
	began := time.Now()
	start()
	for deadline := time.Now().Add(killGrace + patience); f.all() < inFlight; pause(t.Context(), 10*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d delivered after the kill", f.all(), inFlight)
		}
	}
	took := time.Since(began)
	// Unacknowledged messages would be redelivered within this time.
	pause(t.Context(), 6*time.Second)
	f.mu.Lock()
	defer f.mu.Unlock()
	duplicates, again, foreign := 0, 0, 0
	for id, calls := range f.ids {
		if len(calls) != 1 {
			foreign++
		}
		total := 0
		for _, n := range calls {
			total += n
		}
		duplicates += total - 1
		again += max(0, f.answered[id]-1)
	}
	t.Logf("%d callbacks in flight at the kill; all delivered %v after it; %d duplicates, %d of them of answered ones; "+
		"%d timers with more than one webhook-id", inFlight, took.Round(time.Millisecond), duplicates, again, foreign)
	if duplicates > inFlight || again > 0 || foreign > 0 {
		t.Error("a promise is broken")
	}
	for i := range inFlight {
		w.reaches(t, fmt.Sprint("f/", i), isStatus("done"))
	}
}
