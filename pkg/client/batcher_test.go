package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timertest"
)

// service answers batches after a delay, each item by its id: it refuses "bad".
type service struct {
	takes   time.Duration
	breaks  error // returned instead of an answer
	mu      sync.Mutex
	batches [][]string // ids, in order of arrival
	now     int
	most    int // maximum number of batches in flight at the same time
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	var request struct{ Timers []struct{ ID string } }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return nil, err
	}
	results := make([]string, len(request.Timers))
	ids := make([]string, len(request.Timers))
	for i, timer := range request.Timers {
		ids[i], results[i] = timer.ID, fmt.Sprintf(`{"status":200,"id":%q,"generation":"7"}`, timer.ID)
		if timer.ID == "bad" {
			results[i] = `{"status":400,"error":{"error":"INVALID_INPUT","message":"no","details":{}}}`
		}
	}
	s.enter(ids)
	defer s.leave()
	select {
	case <-time.After(s.takes): // in a bubble
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if s.breaks != nil {
		return nil, s.breaks
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"results":[` + strings.Join(results, ",") + `]}`)),
	}, nil
}

func (s *service) enter(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, ids)
	s.now++
	s.most = max(s.most, s.now)
}

func (s *service) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
}

func (s *service) sizes() (sizes []int) {
	for _, batch := range s.batches {
		sizes = append(sizes, len(batch))
	}
	return sizes
}

func batcherOn(t *testing.T, s *service, o client.BatcherOptions) *client.Batcher {
	t.Helper()
	c, err := client.New("http://timerbus", client.WithHTTPClient(&http.Client{Transport: s}), client.WithRetry(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	return client.NewBatcher(c, o)
}

// ask creates the timers concurrently and returns the errors by id.
func ask(t *testing.T, b *client.Batcher, ids ...string) map[string]error {
	t.Helper()
	var mu sync.Mutex
	failures := map[string]error{}
	var callers sync.WaitGroup
	for _, id := range ids {
		callers.Go(func() {
			w, err := b.CreateTimer(t.Context(), client.CreateTimerRequest{ID: id})
			if err == nil && w.ID != id {
				t.Errorf("%s got the answer of %q", id, w.ID)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failures[id] = err
			}
		})
	}
	callers.Wait()
	return failures
}

func ids(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("t", i))
	}
	return all
}

func closed(t *testing.T, b *client.Batcher) {
	t.Helper()
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBatcherPutsCallersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{takes: 10 * time.Millisecond}
		b := batcherOn(t, s, client.BatcherOptions{MaxItems: 10, InFlight: 2})
		defer closed(t, b)
		start := time.Now()
		if failures := ask(t, b, append(ids(34), "bad")...); len(failures) != 1 || !client.IsCode(failures["bad"], client.CodeInvalidInput) {
			t.Errorf("failures %v, want one about bad", failures)
		}
		// Three full batches, and one with the remaining items.
		if got := s.sizes(); fmt.Sprint(got) != "[10 10 10 5]" {
			t.Errorf("batches of %v", got)
		}
		if s.most != 2 {
			t.Errorf("%d at the same time, want 2", s.most)
		}
		if took := time.Since(start); took != 22*time.Millisecond {
			t.Errorf("took %v, want two rounds of 10 ms, and 2 ms in which others might have come", took)
		}
	})
}

func TestALonelyCallerWaitsNoLongerThanAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		b := batcherOn(t, s, client.BatcherOptions{MaxWait: 5 * time.Millisecond})
		defer closed(t, b)
		start := time.Now()
		if failures := ask(t, b, "a"); len(failures) > 0 {
			t.Error(failures)
		}
		if took := time.Since(start); took != 5*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}

func TestBatcherKeepsToItsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		b := batcherOn(t, s, client.BatcherOptions{MaxBytes: 1000})
		defer closed(t, b)
		var callers sync.WaitGroup
		for i := range 6 {
			callers.Go(func() {
				_, err := b.CreateTimer(t.Context(), client.CreateTimerRequest{
					ID: fmt.Sprint(i), Payload: json.RawMessage(`"` + strings.Repeat("x", 400) + `"`),
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if got := s.sizes(); fmt.Sprint(got) != "[3 3]" {
			t.Errorf("batches of %v, want three items of 420 bytes each", got)
		}
		// An item that is larger than any accepted timer does not make the batch of the others fail.
		if _, err := b.CreateTimer(t.Context(), client.CreateTimerRequest{ID: "bad", Payload: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)}); err == nil {
			t.Error("accepted")
		}
		if _, err := b.CreateTimer(t.Context(), client.CreateTimerRequest{ID: "a", Payload: json.RawMessage(`{`)}); err == nil {
			t.Error("accepted what is no JSON")
		}
	})
}

func TestABatchThatFailsFailsForAllItsCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		b := batcherOn(t, &service{breaks: broken}, client.BatcherOptions{})
		defer closed(t, b)
		failures := ask(t, b, ids(5)...)
		for id, err := range failures {
			if !errors.Is(err, broken) {
				t.Errorf("%s: %v", id, err)
			}
		}
		if len(failures) != 5 {
			t.Errorf("%d failures, want 5", len(failures))
		}
	})
}

func TestACallerWhoLeavesIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		b := batcherOn(t, s, client.BatcherOptions{MaxWait: time.Second})
		defer closed(t, b)
		leaving, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := b.CreateTimer(leaving, client.CreateTimerRequest{ID: "left"})
			left <- err
		}()
		synctest.Wait() // it is in the batch
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if failures := ask(t, b, "stayed"); len(failures) > 0 {
			t.Error(failures)
		}
		if fmt.Sprint(s.batches) != "[[stayed]]" {
			t.Errorf("sent %v", s.batches)
		}
	})
}

func TestCloseSendsWhatWasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{takes: time.Second}
		b := batcherOn(t, s, client.BatcherOptions{MaxWait: time.Hour})
		var callers sync.WaitGroup
		callers.Go(func() {
			if failures := ask(t, b, ids(7)...); len(failures) > 0 {
				t.Error(failures)
			}
		})
		synctest.Wait()
		start := time.Now()
		closed(t, b)
		if took := time.Since(start); took != time.Second {
			t.Errorf("closed after %v, want after the answer", took)
		}
		callers.Wait()
		if _, err := b.CreateTimer(t.Context(), client.CreateTimerRequest{}); !errors.Is(err, client.ErrBatcherClosed) {
			t.Errorf("after Close: %v", err)
		}
		closed(t, b) // Close may be called twice
	})
}

func TestCloseGivesUpWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := batcherOn(t, &service{takes: time.Hour}, client.BatcherOptions{InFlight: 1, MaxItems: 1})
		var callers sync.WaitGroup
		callers.Go(func() {
			for id, err := range ask(t, b, ids(3)...) {
				if !errors.Is(err, context.Canceled) && !errors.Is(err, client.ErrBatcherClosed) {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		callers.Wait()
	})
}

// Many callers use the real service: each gets its own answer, and all timers exist afterwards.
func TestBatcherOnAService(t *testing.T) {
	t.Parallel()
	bus := timertest.Start(t, timertest.InMemory())
	b := client.NewBatcher(bus.Client, client.BatcherOptions{MaxItems: 50})
	var callers sync.WaitGroup
	for i := range 500 {
		callers.Go(func() {
			r := client.CreateTimerRequest{ID: fmt.Sprint("t", i), ExecuteIn: "1h"}
			if i%10 == 0 {
				r.ExecuteIn = "soon"
			}
			w, err := b.CreateTimer(t.Context(), r)
			switch bad := i%10 == 0; {
			case bad && !client.IsCode(err, client.CodeInvalidInput):
				t.Errorf("%s, with a bad time: %v", r.ID, err)
			case !bad && (err != nil || w.ID != r.ID || w.Generation == "" || w.DueAt.IsZero()):
				t.Errorf("%s: %+v, %v", r.ID, w, err)
			}
		})
	}
	callers.Wait()
	closed(t, b)
	count := 0
	for _, err := range bus.Client.AllTimers(t.Context(), client.ListTimersRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != 450 {
		t.Errorf("%d timers, want 450", count)
	}
}
