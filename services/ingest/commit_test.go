package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

type writeFunc = func(ctx context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error)

// later posts from a goroutine; the channel gets the answer.
func (w *world) later(path, body string) <-chan reply {
	done := make(chan reply, 1)
	go func() { done <- w.post(path, body) }()
	return done
}

// frozen makes every write wait until thaw is called, or until its deadline.
func (w *world) frozen() (thaw func()) {
	ice := make(chan struct{})
	w.store.set(func(ctx context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		select {
		case <-ice:
			return do()
		case <-ctx.Done():
			return nil, fmt.Errorf("frozen: %w", ctx.Err())
		}
	})
	return sync.OnceFunc(func() { close(ice) })
}

func TestI1_SuccessFollowsTheCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		thaw := w.frozen()
		answer := w.later("timers/create", `{"id":"a","executeIn":"3s"}`)
		synctest.Wait()
		select {
		case got := <-answer:
			t.Fatalf("answered %d before the commit", got.status)
		default:
		}
		thaw()
		(<-answer).must(t, http.StatusOK)
		if _, err := w.row("a"); err != nil {
			t.Errorf("answered without a row: %v", err)
		}
	})
}

func TestI1_FailedPublishIsNotAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.member.Disconnect()
		w.post("timers/create", `{"id":"a","executeIn":"3s"}`).must(t, http.StatusOK)
		synctest.Wait()
		if got := w.counter("timerbus_ingest_hints_total", "failed"); got != 1 {
			t.Errorf("hints failed = %v, want 1", got)
		}
		w.member.Connect()
	})
}

// TestI7_InTimeIsJudgedAfterTheCommit lets time pass during the commit. The timer is due a second after noon and the
// clock bound is 250 ms, so the answer changes at 750 ms.
func TestI7_InTimeIsJudgedAfterTheCommit(t *testing.T) {
	for _, c := range []struct {
		path, body     string
		inTime, toLate int
	}{
		{"timers/delete", `{"id":"a"}`, http.StatusNoContent, http.StatusAccepted},
		{"timers/update", `{"id":"a","executeIn":"1h"}`, http.StatusOK, http.StatusAccepted},
		{"timers/create", `{"id":"a","executeIn":"1h"}`, http.StatusOK, http.StatusAccepted},
		{"timers/create", `{"id":"a","executeIn":"1h","onConflict":"keep"}`, http.StatusOK, http.StatusOK},
	} {
		for took, want := range map[int64]int{749: c.inTime, 750: c.toLate, 1000: c.toLate, 60_000: c.toLate} {
			t.Run(fmt.Sprintf("%s %s, %d ms", c.path, c.body, took), func(t *testing.T) {
				w := newWorld(t)
				w.post("timers/create", `{"id":"a","executeIn":"1s"}`).must(t, http.StatusOK)
				w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
					defer w.now.Add(took)
					return do()
				})
				got := w.post(c.path, c.body).must(t, want)
				if want == http.StatusAccepted && got.field("id") != "a" {
					t.Errorf("a 202 has a body: %q", got.text)
				}
			})
		}
	}
}

// TestI7_ABatchIsJudgedAfterTheCommit is the same for each item of a batch.
func TestI7_ABatchIsJudgedAfterTheCommit(t *testing.T) {
	for took, want := range map[int64]float64{749: http.StatusNoContent, 750: http.StatusAccepted} {
		w := newWorld(t)
		w.post("timers/create", `{"id":"a","executeIn":"1s"}`).must(t, http.StatusOK)
		w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
			defer w.now.Add(took)
			return do()
		})
		got := w.post("timers/batch-delete", `{"timers":[{"id":"a"}]}`).must(t, http.StatusOK)
		if !strings.Contains(got.text, fmt.Sprintf(`"status":%v`, want)) {
			t.Errorf("a commit of %d ms answered %s, want the status %v", took, got.text, want)
		}
	}
}

func TestI7_WhatHadItsTimeIsNeverInTime(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"a","executeIn":"1s"}`).must(t, http.StatusOK)
	row, err := w.row("a")
	if err != nil {
		t.Fatal(err)
	}
	// A dispatcher whose clock is ahead has tried once, and the retry is an hour later.
	answers, err := w.store.Finish(t.Context(), noon+1000, []store.Finish{{
		Ref: w.ref("a"), DueAt: row.DueAt, Kind: store.FinishRetry, If: store.Guard{Revision: row.Revision},
		Next: row.Revision + 1, NextAt: noon + 3_600_000,
		Record: store.Record{Attempt: 1, StartedAt: noon + 1000, FinishedAt: noon + 1000, Error: "refused", KeepFor: time.Hour},
	}})
	if err := errors.Join(append(answers, err)...); err != nil {
		t.Fatal(err)
	}
	got := w.post("timers/update", `{"id":"a","executeIn":"2h"}`).must(t, http.StatusAccepted)
	if got.field("status") != "scheduled" || got.field("attempts") != 0.0 || got.field("lastError") != "refused" {
		t.Errorf("answered %s", got.text)
	}
	if got := w.post("timers/history", `{"id":"a"}`).must(t, http.StatusOK); len(got.field("attempts").([]any)) != 1 { //nolint:errcheck // openapi.yaml defines the type array.
		t.Errorf("history answered %s", got.text)
	}
}

func TestStoreFailures(t *testing.T) {
	for name, c := range map[string]struct {
		write  writeFunc
		status int
		code   string
		hints  int
	}{
		"unavailable": {func(context.Context, []store.Op, func() ([]store.Written, error)) ([]store.Written, error) {
			return nil, fmt.Errorf("disk full: %w", store.ErrUnavailable)
		}, http.StatusServiceUnavailable, "UNAVAILABLE", 0},
		"unknown, applied": {func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
			_, _ = do()
			return nil, fmt.Errorf("connection lost: %w", store.ErrOutcomeUnknown)
		}, http.StatusGatewayTimeout, "OUTCOME_UNKNOWN", 1},
		"this operation unavailable": {func(context.Context, []store.Op, func() ([]store.Written, error)) ([]store.Written, error) {
			return []store.Written{{Err: fmt.Errorf("the shard is hot: %w", store.ErrUnavailable)}}, nil
		}, http.StatusServiceUnavailable, "UNAVAILABLE", 0},
		"this operation unknown, applied": {func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
			_, _ = do()
			return []store.Written{{Err: fmt.Errorf("connection lost: %w", store.ErrOutcomeUnknown)}}, nil
		}, http.StatusGatewayTimeout, "OUTCOME_UNKNOWN", 1},
		"no longer waited for": {func(context.Context, []store.Op, func() ([]store.Written, error)) ([]store.Written, error) {
			return nil, context.DeadlineExceeded
		}, http.StatusGatewayTimeout, "OUTCOME_UNKNOWN", 1},
		"a fault": {func(context.Context, []store.Op, func() ([]store.Written, error)) ([]store.Written, error) {
			return nil, errors.New("nobody expected this")
		}, http.StatusInternalServerError, "INTERNAL_ERROR", 0},
		"too few answers": {func(context.Context, []store.Op, func() ([]store.Written, error)) ([]store.Written, error) {
			return nil, nil
		}, http.StatusGatewayTimeout, "OUTCOME_UNKNOWN", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				hints := w.listen(bus.Shards)
				w.store.set(c.write)
				got := w.post("timers/create", `{"id":"a","executeIn":"3s"}`).must(t, c.status)
				if got.field("error") != c.code {
					t.Errorf("answered %s", got.text)
				}
				if (c.code == "UNAVAILABLE") != (got.header.Get("Retry-After") == "1") {
					t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
				}
				synctest.Wait()
				if len(hints.got) != c.hints {
					t.Errorf("%d hints, want %d", len(hints.got), c.hints)
				}
			})
		})
	}
}

// TestDeadlines freezes the store. A request whose write has begun may be applied, a request that still waits is not.
// Late writes of the store keep their order.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) {
			c.Writers = 1
			c.StoreTimeout = time.Minute
		})
		thaw := w.frozen()
		first := w.later("timers/create", `{"id":"a","executeIn":"1h","correlationId":"first"}`)
		synctest.Wait()
		second := w.later("timers/create", `{"id":"a","executeIn":"1h","correlationId":"second"}`)
		synctest.Wait()
		time.Sleep(5 * time.Second)
		third := w.later("timers/create", `{"id":"a","executeIn":"1h","correlationId":"third"}`)
		if got := (<-first).must(t, http.StatusGatewayTimeout); got.field("error") != "OUTCOME_UNKNOWN" {
			t.Errorf("first: %s", got.text)
		}
		if got := (<-second).must(t, http.StatusServiceUnavailable); got.field("error") != "UNAVAILABLE" {
			t.Errorf("second: %s", got.text)
		}
		thaw()
		if got := (<-third).must(t, http.StatusOK); got.field("correlationId") != "third" {
			t.Errorf("third: %s", got.text)
		}
		if row, err := w.row("a"); err != nil || row.CorrelationID != "third" {
			t.Errorf("the row is %q, %v; the last request must win", row.CorrelationID, err)
		}
	})
}

func TestFullQueueIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.Writers, c.QueueOps = 1, 2 })
		thaw := w.frozen()
		var waiting []<-chan reply
		for i := range 3 { // one in the store's write, two in the queue
			waiting = append(waiting, w.later("timers/create", fmt.Sprintf(`{"id":"t%d","executeIn":"1h"}`, i)))
			synctest.Wait()
		}
		got := w.post("timers/create", `{"id":"one too many","executeIn":"1h"}`).must(t, http.StatusTooManyRequests)
		if got.field("error") != "RATE_LIMITED" || got.header.Get("Retry-After") != "1" {
			t.Errorf("answered %s, Retry-After %q", got.text, got.header.Get("Retry-After"))
		}
		thaw()
		for _, one := range waiting {
			(<-one).must(t, http.StatusOK)
		}
	})
}

// TestGroupCommit: the first request is written immediately and alone; the requests that arrive during this write are
// written together.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.Writers = 1 })
		ice := make(chan struct{})
		var mu sync.Mutex
		var sizes []int
		w.store.set(func(_ context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
			mu.Lock()
			sizes = append(sizes, len(ops))
			mu.Unlock()
			<-ice
			return do()
		})
		var answers []<-chan reply
		for i := range 21 {
			answers = append(answers, w.later("timers/create", fmt.Sprintf(`{"id":"t%d","executeIn":"1h"}`, i)))
			if i == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		close(ice)
		for _, one := range answers {
			(<-one).must(t, http.StatusOK)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(sizes) != 2 || sizes[0] != 1 || sizes[1] != 20 {
			t.Errorf("writes of %v operations, want 1 and 20", sizes)
		}
	})
}

func TestHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		hints := w.listen(bus.Shards)
		expect := func(what string, id string, dueAt timer.Millis) {
			t.Helper()
			synctest.Wait()
			if id == "" {
				if n := len(hints.got); n != 0 {
					t.Errorf("%s: %d hints, want none", what, n)
				}
				return
			}
			select {
			case m := <-hints.got:
				got, err := event.UnmarshalHint(m.Body)
				if err != nil {
					t.Fatal(err)
				}
				row, err := w.row(id)
				if err != nil {
					t.Fatal(err)
				}
				want := event.Hint{
					Shard: w.ref(id).Shard, UUID: row.UUID, Revision: row.Revision, Generation: row.Generation,
					Attempt: 1, DueAt: dueAt, UpdatedAt: row.UpdatedAt,
				}
				if got != want || m.Partition != shard.PartitionOf(want.Shard, 4) || m.Key != want.Shard.String() {
					t.Errorf("%s: hint %+v on %d with key %s\nwant %+v", what, got, m.Partition, m.Key, want)
				}
			default:
				t.Errorf("%s: no hint", what)
			}
		}
		w.post("timers/create", `{"id":"a","executeIn":"1m"}`).must(t, 200)
		expect("create at the window's end", "a", noon+60_000)
		w.post("timers/create", `{"id":"b","executeIn":"60.001s"}`).must(t, 200)
		expect("create behind the window", "", 0)
		w.post("timers/create", `{"id":"a","executeIn":"1s","onConflict":"keep"}`).must(t, 200)
		expect("keep", "", 0)
		w.post("timers/create", `{"id":"past","executeAt":"2000-01-01T00:00:00Z"}`).must(t, 200)
		expect("in the past: due now", "past", noon)
		w.post("timers/update", `{"id":"a","payload":1}`).must(t, 200)
		expect("update without a time", "a", noon+60_000)
		w.post("timers/delete", `{"id":"a"}`).must(t, 204)
		expect("delete", "", 0)

		w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
			defer w.now.Add(2)
			return do()
		})
		w.post("timers/create", `{"id":"c","executeIn":"60.001s"}`).must(t, 200)
		expect("the window is judged after the commit", "c", noon+60_001)
	})
}

func TestHintsNeverHoldUpAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.HintQueue = 1 })
		w.stop() // from now on nothing publishes, and no hint is accepted
		w.build(func(c *ingest.Config) { c.HintQueue, c.Bus = 1, deafBus{w.member} })
		w.run()
		for i := range 5 {
			w.post("timers/create", fmt.Sprintf(`{"id":"t%d","executeIn":"1s"}`, i)).must(t, 200)
			synctest.Wait()
		}
		if got := w.counter("timerbus_ingest_hints_total", "dropped"); got != 3 { // one is in flight, one waits
			t.Errorf("hints dropped = %v, want 3", got)
		}
	})
}

// deafBus never answers a publish.
type deafBus struct{ bus.Bus }

func (deafBus) Publish(ctx context.Context, _ bus.Topic, _ ...bus.Message) ([]bus.Position, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", bus.ErrOutcomeUnknown, ctx.Err())
}

func TestShutdownAnswersWhatItHasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		hints := w.listen(bus.Shards)
		thaw := w.frozen()
		answer := w.later("timers/create", `{"id":"a","executeIn":"3s"}`)
		synctest.Wait()
		ended := make(chan struct{})
		go func() { w.stop(); close(ended) }()
		synctest.Wait()
		got := w.post("timers/create", `{"id":"b","executeIn":"3s"}`).must(t, http.StatusServiceUnavailable)
		if message, _ := got.field("message").(string); got.field("error") != "UNAVAILABLE" || !strings.Contains(message, "stopping") {
			t.Errorf("answered %s", got.text)
		}
		thaw()
		(<-answer).must(t, http.StatusOK)
		<-ended
		synctest.Wait()
		if len(hints.got) != 1 {
			t.Errorf("%d hints were flushed, want 1", len(hints.got))
		}
	})
}

// counter reads a metric with one label.
func (w *world) counter(name, label string) float64 {
	w.t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && len(m.GetLabel()) == 1 && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}
