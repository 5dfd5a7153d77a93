package scheduler_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// cuttable is a scheduler whose connection to the store can be cut.
type cuttable struct {
	*node

	faults *faultstore.Faults
	joins  atomic.Int64
	cancel context.CancelFunc
	probes sync.WaitGroup
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

// startCuttable starts a scheduler, with a Reach if early is set.
func (w *world) startCuttable(name string, early bool) *cuttable {
	c := &cuttable{faults: faultstore.New(nil)}
	ctx, cancel := context.WithCancel(w.t.Context())
	c.cancel = cancel
	c.node = w.start(name, func(config *scheduler.Config) {
		handle := c.faults.Wrap(w.db.Open())
		if early {
			config.Reach = store.NewReach(handle, slog.New(slog.DiscardHandler))
			c.probes.Go(func() { _ = config.Reach.Run(ctx) })
			handle = config.Reach
		}
		config.Store, config.Directory = handle, store.NewDirectory(handle)
		config.Bus = &joining{config.Bus, &c.joins}
	})
	return c
}

func (c *cuttable) end() {
	c.node.end()
	c.cancel()
	c.probes.Wait()
}

// stream creates a timer every 100 ms for the duration d. Every second timer gets a hint.
func (w *world) stream(d time.Duration) (timers []timer.Timer) {
	for i := range int(d / (100 * time.Millisecond)) {
		timers = append(timers, w.many(1, 10*time.Second, i%2 == 0)...)
		w.pass(100 * time.Millisecond)
	}
	return timers
}

// latest returns by how much the latest first publication was late, counted from the timer's due time or from, if that
// is later. repeated is the number of repeated events.
func (w *world) latest(timers []timer.Timer, from timer.Millis) (latest time.Duration, repeated int) {
	w.t.Helper()
	events := w.take()
	slices.SortFunc(events, func(a, b fired) int { return int(a.at - b.at) })
	first := map[timer.Revision]timer.Millis{}
	for _, f := range events {
		if _, seen := first[f.Revision]; seen {
			repeated++
		} else {
			first[f.Revision] = f.at
		}
	}
	for _, t := range timers {
		at, ok := first[t.Revision]
		if !ok {
			w.t.Errorf("timer %s was not published", t.ID)
		}
		latest = max(latest, at.Sub(max(t.DueAt, from)))
	}
	return latest, repeated
}

// TestI17_ASchedulerThatIsCutOffHandsItsPartitionsOver: the other scheduler has them after two seconds.
func TestI17_ASchedulerThatIsCutOffHandsItsPartitionsOver(t *testing.T) {
	for name, cut := range faultstore.Cuts() {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a, b := w.startCuttable("a", true), w.startCuttable("b", true)
				timers := w.stream(30 * time.Second)
				a.faults.Follow(cut)
				timers = append(timers, w.stream(40*time.Second)...)
				a.faults.Follow(nil)
				timers = append(timers, w.stream(10*time.Second)...)
				w.pass(20 * time.Second)
				late, repeated := w.latest(timers, 0)
				t.Logf("the latest of %d timers by %v, %d repeated", len(timers), late, repeated)
				if late > 3*time.Second {
					t.Errorf("a timer was published %v late, want at most 3s", late)
				}
				if a.joins.Load() != 2 || b.joins.Load() != 1 {
					t.Errorf("they joined %d and %d times, want 2 and 1", a.joins.Load(), b.joins.Load())
				}
				a.end()
				b.end()
			})
		})
	}
}

// TestI17_AnOutageOfTheStoreCostsOneRejoin: every scheduler leaves and rejoins once, and timers are not much later than
// without a Reach.
func TestI17_AnOutageOfTheStoreCostsOneRejoin(t *testing.T) {
	for name, cut := range faultstore.Cuts() {
		for _, lasts := range []time.Duration{1500 * time.Millisecond, 3 * time.Second, 30 * time.Second} {
			t.Run(name+" for "+lasts.String(), func(t *testing.T) {
				var late [2]time.Duration
				for i, early := range []bool{false, true} {
					inWorld(t, func(w *world) {
						a, b := w.startCuttable("a", early), w.startCuttable("b", early)
						timers := w.stream(30 * time.Second)
						a.faults.Follow(cut)
						b.faults.Follow(cut)
						timers = append(timers, w.stream(lasts)...)
						a.faults.Follow(nil)
						b.faults.Follow(nil)
						healed := timer.SystemClock()
						timers = append(timers, w.stream(10*time.Second)...)
						w.pass(time.Minute)
						late[i], _ = w.latest(timers, healed)
						want := int64(1)
						if early && lasts > 2*time.Second {
							want = 2
						}
						if a.joins.Load() != want || b.joins.Load() != want {
							t.Errorf("they joined %d and %d times, want %d", a.joins.Load(), b.joins.Load(), want)
						}
						a.end()
						b.end()
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

// TestAnOrderlyHandoverDelaysTimersLittle: schedulers restart one after another, with timers that are written long
// before or shortly before their due time, with or without a hint. Each call of the store takes 20 ms.
func TestAnOrderlyHandoverDelaysTimersLittle(t *testing.T) {
	inWorld(t, func(w *world) {
		start := func(name string) *cuttable {
			c := w.startCuttable(name, true)
			c.faults.Follow(func(string, int) faultstore.Fault {
				return faultstore.Fault{Kind: faultstore.Delay, For: 20 * time.Millisecond}
			})
			return c
		}
		nodes := []*cuttable{start("a"), start("b")}
		w.pass(10 * time.Second)
		var timers []timer.Timer
		for i := range 300 {
			timers = append(timers, w.many(1, 200*time.Millisecond, true)...)
			timers = append(timers, w.many(1, 10*time.Second, i%2 == 0)...)
			switch i % 50 {
			case 20:
				nodes[i/50%2].end()
			case 35:
				nodes[i/50%2] = start([]string{"a", "b"}[i/50%2])
			}
			w.pass(100 * time.Millisecond)
		}
		w.pass(20 * time.Second)
		late, repeated := w.latest(timers, 0)
		t.Logf("the latest of %d timers by %v, %d repeated", len(timers), late, repeated)
		if late > 300*time.Millisecond {
			t.Errorf("a timer was published %v late, want at most 300ms", late)
		}
		if repeated > 0 {
			t.Errorf("%d events are repeated after handovers in good order", repeated)
		}
		for _, n := range nodes {
			n.end()
		}
	})
}
