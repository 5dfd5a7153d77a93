package testclock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

const space = "billing"

// world is a driver, its store, and a simple service that finishes due timers.
type world struct {
	*testing.T

	clock     *Clock
	now       timer.Clock
	store     store.Store
	driver    *Driver
	revisions *timer.Revisions

	mu    sync.Mutex
	fired []string // id and lateness
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, clock: New()}
		w.store = memstore.NewDatabaseAt(w.clock.Now).Open()
		process := store.NewClock(store.ClockConfig{Bound: 250 * time.Millisecond, Virtual: true, Machine: w.clock.Machine})
		if err := process.Start(t.Context(), w.store); err != nil {
			t.Fatal(err)
		}
		w.now = process.Now
		w.revisions = timer.NewRevisions(w.now, rand.Uint64)
		if _, err := w.store.CreateNamespace(t.Context(), store.Namespace{
			Name: space, Shards: shard.Block{Count: 4}, Settings: store.DefaultSettings(),
		}); err != nil {
			t.Fatal(err)
		}
		var err error
		if w.driver, err = NewDriver(w.clock, w.store, w.now); err != nil {
			t.Fatal(err)
		}
		test(w)
	})
}

func (w *world) ref(id string) store.Ref {
	w.Helper()
	ns, err := w.store.GetNamespace(w.Context(), space)
	if err != nil {
		w.Fatal(err)
	}
	return store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(space, id)}
}

func (w *world) write(op store.Op) {
	w.Helper()
	written, err := w.store.Write(w.Context(), w.now(), []store.Op{op})
	if err != nil || written[0].Err != nil {
		w.Fatal(err, written)
	}
}

func (w *world) put(id string, after time.Duration) {
	w.Helper()
	w.write(store.Put{
		Ref: w.ref(id), Namespace: space, ID: id, Revision: w.revisions.Next(),
		Spec: timer.Spec{
			ExecuteAt: w.now().Add(after), Deliver: timer.DeliverEvent, CallbackTimeout: time.Second, Retry: timer.DefaultRetryPolicy(),
		},
	})
}

func (w *world) row(id string) timer.Timer {
	w.Helper()
	row, err := w.store.Get(w.Context(), w.now(), w.ref(id))
	if err != nil {
		w.Fatal(err)
	}
	return row
}

// finish writes an outcome.
func (w *world) finish(id string, kind store.FinishKind, nextAt timer.Millis) {
	w.Helper()
	row := w.row(id)
	errs, err := w.store.Finish(w.Context(), w.now(), []store.Finish{{
		Ref: w.ref(id), DueAt: row.DueAt, Kind: kind, If: store.Guard{Revision: row.Revision}, Next: w.revisions.Next(), NextAt: nextAt,
		Record: store.Record{Attempt: row.Attempts + 1, FinishedAt: w.now()},
	}})
	if err := errors.Join(append(errs, err)...); err != nil {
		w.Fatal(err)
	}
}

// serve finishes timers as they become due: with answer, or as done if answer is nil.
func (w *world) serve(ids []string, answer func(id string)) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		for timer.Sleep(ctx, 3*time.Millisecond) {
			for _, id := range ids {
				row, err := w.store.Get(ctx, w.now(), w.ref(id))
				if err != nil && !errors.Is(err, store.ErrNotFound) { // the history of a timer expires, too
					w.Error(err)
				}
				if err != nil || row.Status.Finished() || row.Status.Held() || row.DueAt > w.now() {
					continue
				}
				w.mu.Lock()
				w.fired = append(w.fired, fmt.Sprintf("%s %v late", id, w.now().Sub(row.DueAt) > 10*time.Millisecond))
				w.mu.Unlock()
				if answer == nil {
					w.finish(id, store.FinishDone, 0)
				} else {
					answer(id)
				}
			}
		}
	})
	return func() { cancel(); wait.Wait() }
}

func (w *world) advance(by time.Duration) State {
	w.Helper()
	state, err := w.driver.Advance(w.Context(), by, time.Minute)
	if err != nil {
		w.Fatal(err)
	}
	return state
}

func TestAdvanceStopsAtEachDueTime(t *testing.T) {
	inWorld(t, func(w *world) {
		ids := []string{"third", "first", "second", "later", "near"}
		for i, after := range []time.Duration{72 * time.Hour, time.Hour, time.Hour + 40*time.Millisecond, 31 * 24 * time.Hour, time.Millisecond} {
			w.put(ids[i], after)
		}
		began, now := time.Now(), w.now()
		stop := w.serve(ids, nil)
		state := w.advance(30 * 24 * time.Hour)
		stop()
		want := []string{"near false late", "first false late", "second false late", "third false late"}
		if !slices.Equal(w.fired, want) {
			t.Errorf("fired %q, want %q", w.fired, want)
		}
		if over := state.Now.Sub(now.Add(30 * 24 * time.Hour)); over < 0 || over > 50*time.Millisecond {
			t.Errorf("the clock shows %v after 30 days from %v", state.Now, now)
		}
		if state.NextDueAt != w.row("later").DueAt {
			t.Errorf("next due %v", state.NextDueAt)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestATimerThatIsDueAtTheTargetFiresBeforeTheEndOfTheCall(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put("a", time.Hour)
		due := w.row("a").DueAt
		stop := w.serve([]string{"a"}, nil)
		defer stop()
		if _, err := w.driver.Set(w.Context(), due, time.Minute); err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.fired) != 1 {
			t.Errorf("fired %q at the end of the call", w.fired)
		}
	})
}

// A timer whose outcome is a retry or a new time fires at each of its times.
func TestAdvanceFiresWhatOutcomesPlan(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put("a", time.Hour)
		stop := w.serve([]string{"a"}, func(id string) { w.finish(id, store.FinishRescheduled, w.now().Add(24*time.Hour)) })
		w.advance(30 * 24 * time.Hour)
		stop()
		if len(w.fired) != 30 || slices.Contains(w.fired, "a true late") {
			t.Errorf("fired %d times: %q", len(w.fired), w.fired)
		}
	})
}

// A lease moves the due time of its row into the future. The clock must not move to the end of the lease, where the timer would be
// delivered a second time.
func TestAdvanceWaitsForARunningCallback(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put("slow", 0)
		w.finish("slow", store.FinishLeased, w.now().Add(15*time.Second))
		var ended time.Time
		var wait sync.WaitGroup
		wait.Go(func() { w.advance(time.Hour); ended = time.Now() })
		began := time.Now()
		time.Sleep(10 * time.Second) // in the bubble
		synctest.Wait()
		if now, most := w.now(), timer.FromTime(began.Add(10*time.Second)); now > most {
			t.Errorf("the clock shows %v while a callback is running, want at most %v", now, most)
		}
		w.finish("slow", store.FinishRescheduled, w.now().Add(30*time.Minute))
		stop := w.serve([]string{"slow"}, nil)
		wait.Wait()
		stop()
		if ended.Sub(began) > 11*time.Second || !slices.Equal(w.fired, []string{"slow false late"}) {
			t.Errorf("ended after %v, fired %q", ended.Sub(began), w.fired)
		}
	})
}

func TestPausedAndParkedTimersDoNotStopTheClock(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put("paused", time.Hour)
		w.put("parked", 0)
		w.write(store.Pause{Ref: w.ref("paused"), Revision: w.revisions.Next()})
		w.finish("parked", store.FinishParked, 0)
		if state := w.advance(24 * time.Hour); state.NextDueAt != timer.Never {
			t.Errorf("next due %v", state.NextDueAt)
		}
	})
}

func TestATimerThatIsNeverFinishedEndsTheCallByItsTimeout(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put("stuck", time.Hour)
		due, target := w.row("stuck").DueAt, w.now().Add(2*time.Hour)
		began := time.Now()
		_, err := w.driver.Set(w.Context(), target, 3*time.Second)
		var quiet *NotQuietError
		if !errors.As(err, &quiet) || quiet.Target != target || quiet.NextDueAt != due || quiet.Now < due || quiet.Now > due.Add(4*time.Second) {
			t.Errorf("%v (%+v)", err, quiet)
		}
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("took %v", took)
		}
		// The next call continues.
		w.finish("stuck", store.FinishDone, 0)
		if state, err := w.driver.Set(w.Context(), target, time.Second); err != nil || state.Now < target {
			t.Errorf("%+v, %v", state, err)
		}
	})
}

func TestOneCallAtATimeMovesTheClock(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put("stuck", 0)
		var wait sync.WaitGroup
		var first error
		wait.Go(func() { _, first = w.driver.Advance(w.Context(), time.Hour, time.Minute) })
		time.Sleep(time.Second)
		if _, err := w.driver.Advance(w.Context(), time.Hour, time.Minute); !errors.Is(err, ErrBusy) {
			t.Errorf("a second call: %v", err)
		}
		began := time.Now()
		w.driver.Stop()
		wait.Wait()
		if !errors.Is(first, ErrStopped) || time.Since(began) > time.Second {
			t.Errorf("after Stop: %v in %v", first, time.Since(began))
		}
	})
}

func TestTheClockMovesForwardOnly(t *testing.T) {
	inWorld(t, func(w *world) {
		w.advance(time.Hour)
		now := w.now()
		for name, c := range map[string]struct {
			move func() error
			want []string
		}{
			"back":      {func() error { _, err := w.driver.Set(w.Context(), now-1, time.Second); return err }, []string{"time", (now - 1).String(), now.String()}},
			"negative":  {func() error { _, err := w.driver.Advance(w.Context(), -time.Hour, time.Second); return err }, []string{"by", "-1h"}},
			"centuries": {func() error { _, err := w.driver.Advance(w.Context(), 2*maxOffset, time.Second); return err }, []string{"by", "1752000h", "at most"}},
		} {
			err := c.move()
			if _, ok := errors.AsType[*timer.InvalidError](err); !ok {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: %v does not name %s", name, err, part)
				}
			}
		}
		if w.now() != now {
			t.Errorf("the clock has moved from %v to %v", now, w.now())
		}
		if state := w.advance(0); state.Now != now {
			t.Errorf("advance by 0: %v", state.Now)
		}
	})
}

// An outage of the store is no reason to move the clock.
func TestTheClockWaitsForTheStore(t *testing.T) {
	inWorld(t, func(w *world) {
		down := faultstore.New(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.FailBefore}, "Inspect"))
		d, err := NewDriver(w.clock, down.Wrap(w.store), w.now)
		if err != nil {
			t.Fatal(err)
		}
		now := w.now()
		_, err = d.Advance(w.Context(), time.Hour, time.Second)
		var quiet *NotQuietError
		if !errors.As(err, &quiet) || !errors.Is(err, store.ErrUnavailable) || w.now() > now.Add(2*time.Second) {
			t.Errorf("%v at %v", err, w.now())
		}
	})
}

// shared is a store without store.Exclusive.
type shared struct{ store.Store }

func TestTheClockOfASharedDatabaseCannotBeMoved(t *testing.T) {
	inWorld(t, func(w *world) {
		if _, err := NewDriver(w.clock, shared{w.store}, w.now); err == nil || !strings.Contains(err.Error(), "embedded database") {
			t.Error(err)
		}
	})
}
