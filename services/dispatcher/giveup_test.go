package dispatcher_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// cuttable is a dispatcher whose connection to the store can be cut.
type cuttable struct {
	*node

	faults *faultstore.Faults
	joins  atomic.Int64
}

// joining is a bus that counts its calls of Consume.
type joining struct {
	bus.Bus

	joins *atomic.Int64
}

func (j *joining) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	j.joins.Add(1)
	return j.Bus.Consume(ctx, spec, open)
}

// startCuttable starts a dispatcher, with a Reach if early is set. change may be nil.
func (w *world) startCuttable(early bool, change func(*dispatcher.Config), faults ...faultstore.Plan) *cuttable {
	c := &cuttable{faults: faultstore.New(nil)}
	for _, plan := range faults {
		c.faults.Follow(plan)
	}
	handle := c.faults.Wrap(w.db.Open())
	var reach *store.Reach
	if early {
		reach = store.NewReach(handle, slog.New(slog.DiscardHandler))
		handle = reach
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = reach.Run(ctx) }()
		w.t.Cleanup(func() { cancel(); <-ended })
	}
	c.node = w.start(func(config *dispatcher.Config) {
		if change != nil {
			change(config)
		}
		config.Store, config.Reach, config.Directory = handle, reach, store.NewDirectory(handle)
		config.Bus = &joining{config.Bus, &c.joins}
	})
	return c
}

// stream creates a timer that becomes due every 50 ms, for the duration d.
func (w *world) stream(d time.Duration, made *[]timer.Timer) {
	for range int(d / (50 * time.Millisecond)) {
		*made = append(*made, w.put(fmt.Sprintf("timer-%d", len(*made)), time.Second, nil))
		w.pass(50 * time.Millisecond)
	}
}

// latest returns by how much the latest first call was late, counted from the timer's due time or from, if that is
// later. repeated is the number of repeated calls.
func (w *world) latest(made []timer.Timer, from timer.Millis) (latest time.Duration, repeated int) {
	w.t.Helper()
	for _, t := range made {
		calls := w.called(t.ID)
		if len(calls) == 0 {
			w.t.Errorf("timer %s was not called", t.ID)
			continue
		}
		latest = max(latest, calls[0].at.Sub(max(t.DueAt, from)))
		repeated += len(calls) - 1
	}
	return latest, repeated
}

// TestI17_ADispatcherThatIsCutOffReturnsItsMessages: another dispatcher delivers them after two seconds.
func TestI17_ADispatcherThatIsCutOffReturnsItsMessages(t *testing.T) {
	for name, cut := range faultstore.Cuts() {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				// Callbacks take 300 ms, so that some have begun when the cut begins.
				w.answer = answerAfter(300*time.Millisecond, 200)
				a, b := w.startCuttable(true, nil), w.startCuttable(true, nil)
				var made []timer.Timer
				w.stream(10*time.Second, &made)
				a.faults.Follow(cut)
				w.stream(40*time.Second, &made)
				a.faults.Follow(nil)
				w.stream(10*time.Second, &made)
				w.pass(20 * time.Second)
				late, repeated := w.latest(made, 0)
				t.Logf("the latest of %d timers by %v, %d repeated", len(made), late, repeated)
				if late > 3*time.Second {
					t.Errorf("a timer was called %v late, want at most 3s", late)
				}
				if repeated > 10 {
					t.Errorf("%d repeated calls, want those that had begun at most", repeated)
				}
				if a.joins.Load() != 2 || b.joins.Load() != 1 {
					t.Errorf("they joined %d and %d times, want 2 and 1", a.joins.Load(), b.joins.Load())
				}
				w.wantDepth(0)
			})
		})
	}
}

// TestI17_AnOutageOfTheStoreCostsOneRejoin: every dispatcher leaves and rejoins once, timers are not much later than
// without a Reach, and no timer is called a second time.
func TestI17_AnOutageOfTheStoreCostsOneRejoin(t *testing.T) {
	for name, cut := range faultstore.Cuts() {
		for _, lasts := range []time.Duration{1500 * time.Millisecond, 3 * time.Second, 30 * time.Second} {
			t.Run(name+" for "+lasts.String(), func(t *testing.T) {
				var late [2]time.Duration
				for i, early := range []bool{false, true} {
					inWorld(t, func(w *world) {
						w.answer = answerAfter(300*time.Millisecond, 200)
						a, b := w.startCuttable(early, nil), w.startCuttable(early, nil)
						var made []timer.Timer
						w.stream(10*time.Second, &made)
						a.faults.Follow(cut)
						b.faults.Follow(cut)
						healed := timer.SystemClock().Add(lasts)
						for range 20 * lasts / time.Second {
							w.pass(50 * time.Millisecond)
						}
						a.faults.Follow(nil)
						b.faults.Follow(nil)
						w.stream(10*time.Second, &made)
						w.pass(20 * time.Second)
						var repeated int
						late[i], repeated = w.latest(made, healed)
						if repeated > 0 {
							t.Errorf("%d repeated calls", repeated)
						}
						want := int64(1)
						if early && lasts > 2*time.Second {
							want = 2
						}
						if a.joins.Load() != want || b.joins.Load() != want {
							t.Errorf("they joined %d and %d times, want %d", a.joins.Load(), b.joins.Load(), want)
						}
					})
				}
				t.Logf("after the outage: %v as it was, %v with giving up", late[0], late[1])
				if late[1] > late[0]+time.Second {
					t.Errorf("%v late after the outage, want at most a second more than %v", late[1], late[0])
				}
			})
		}
	}
}

// wantOneCallElsewhere starts another dispatcher, which calls timer-0, and then ends the faults of the first one. That
// must not cause a second call of the timer.
func (w *world) wantOneCallElsewhere(first *cuttable, made []timer.Timer) {
	w.t.Helper()
	w.startCuttable(true, nil)
	w.pass(1500 * time.Millisecond)
	w.wantCalls("timer-0", 1)
	first.faults.Follow(nil)
	w.pass(30 * time.Second)
	if late, repeated := w.latest(made, 0); late > 3*time.Second || repeated > 0 {
		w.t.Errorf("called %v late, and %d times more", late, repeated)
	}
	w.wantStatus("timer-0", timer.StatusDone)
}

// TestI17_APostponementIsNotWrittenAfterItsMessageWasReturned: the store stops answering one of two dispatchers between
// the check of a row and the lookup of its namespace. The other dispatcher delivers the timer. If the first one wrote
// its postponement then, the timer would be delivered a second time.
func TestI17_APostponementIsNotWrittenAfterItsMessageWasReturned(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(9*time.Second, 200)
		// So the namespace is not in its cache.
		a := w.startCuttable(true, nil, faultstore.OnEvery(faultstore.Fault{Kind: faultstore.FailBefore}, "ListNamespaces"))
		a.faults.Follow(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.Freeze}, "GetNamespace", "Finish", "Ping"))
		made := []timer.Timer{w.put("timer-0", 0, nil)}
		w.pass(time.Second)
		if a.faults.Calls("Current") != 1 || a.faults.Calls("GetNamespace") != 1 {
			t.Fatal("the first dispatcher does not have the timer")
		}
		w.wantOneCallElsewhere(a, made)
	})
}

// TestI17_AnAttemptWithoutACallIsNotUsedAfterItsMessageWasReturned: the circuit of a host is open in one of two
// dispatchers, which then loses the store. The other dispatcher calls the host. If the first one used an attempt then,
// that would end the delivery.
func TestI17_AnAttemptWithoutACallIsNotUsedAfterItsMessageWasReturned(t *testing.T) {
	inWorld(t, func(w *world) {
		opened := false
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer {
			if !opened {
				return dispatcher.Answer{Err: errors.New("refused")}
			}
			return after(ctx, 9*time.Second, 200)
		}
		a := w.startCuttable(true, nil)
		for i := range 20 {
			w.put(fmt.Sprint("opens", i), 0, func(s *timer.Spec) { s.Retry.MaxAttempts = 1 })
		}
		w.pass(time.Second)
		w.mu.Lock()
		opened = true
		w.mu.Unlock()
		a.faults.Follow(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.Freeze}, "Finish", "Ping"))
		made := []timer.Timer{w.put("timer-0", 0, func(s *timer.Spec) {
			s.Retry.MaxAttempts, s.Retry.InitialInterval = 1, time.Second
		})}
		w.pass(time.Second)
		w.wantCalls("timer-0", 0)
		if a.faults.Calls("Finish") == 0 || !slices.Equal(w.events("timer-0"), []string{"result"}) {
			t.Fatal("the first dispatcher does not use an attempt")
		}
		w.wantOneCallElsewhere(a, made)
	})
}
