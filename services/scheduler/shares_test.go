package scheduler_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// besideABacklog publishes a backlog of 2,000 timers of namespace n to a dispatcher that takes 200 per second. It
// returns the largest lateness of the timers of a small namespace during that time.
func besideABacklog(t *testing.T) (worst time.Duration) {
	t.Helper()
	inWorldOf(t, 4, func(w *world) {
		w.namespace("small")
		w.pace = 5 * time.Millisecond
		w.many(2000, -time.Minute, false)
		n := w.start("a", func(c *scheduler.Config) { c.MaxArmed, c.MaxInFlight, c.QueueAhead = 256, 64, 16 })
		due := map[timer.UUID]timer.Millis{}
		for i := range 40 {
			// Half of them get no hint: a poll must find them.
			x := w.put("small", fmt.Sprint(i), 3*time.Second, i%2 == 0)
			due[x.UUID] = x.DueAt
			w.pass(100 * time.Millisecond)
		}
		w.pass(20 * time.Second)
		count := 0
		for _, f := range w.take() {
			if at, ok := due[f.UUID]; ok {
				worst = max(worst, f.at.Sub(at))
				delete(due, f.UUID)
			}
			count++
		}
		if len(due) > 0 || count < 2040 {
			t.Errorf("%d timers of the small namespace are missing, and %d of 2,040 in all were published", len(due), count)
		}
		n.end()
	})
	return worst
}

func TestI16_ABacklogDelaysASmallNamespaceByLessThanAQuarterSecond(t *testing.T) {
	if worst := besideABacklog(t); worst > 250*time.Millisecond {
		t.Errorf("timers of the small namespace are late by up to %v", worst)
	}
}

// floorless is a bus that refuses requests for floors while failing is set, and does not answer the next one if hang is
// set.
type floorless struct {
	bus.Bus
	failing, hang atomic.Bool
	requests      atomic.Int64
}

func (f *floorless) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	f.requests.Add(1)
	if f.hang.CompareAndSwap(true, false) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if f.failing.Load() {
		return nil, bus.ErrUnavailable
	}
	return f.Bus.Floor(ctx, topic, group)
}

// TestI16_ABacklogGoesOnAfterRequestsForFloorsFailed: dispatchers finish 1,000 events per second. Credit comes from
// requests for the floor.
func TestI16_ABacklogGoesOnAfterRequestsForFloorsFailed(t *testing.T) {
	for name, fail := range map[string]func(*floorless){
		"for a second":       func(f *floorless) { f.failing.Store(true) },
		"one without answer": func(f *floorless) { f.hang.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorldOf(t, 64, func(w *world) {
				w.pace = time.Millisecond
				w.many(15_000, -time.Minute, false)
				var f *floorless
				n := w.start("a", func(c *scheduler.Config) {
					f = &floorless{Bus: c.Bus}
					c.Bus = f
				})
				w.pass(3*time.Second + 5*time.Millisecond)
				fail(f)
				w.pass(time.Second)
				f.failing.Store(false)
				w.pass(time.Second) // the backoffs are 250, 500 and 1,000 ms
				w.take()
				w.pass(5 * time.Second)
				if got := len(w.take()); got < 4500 {
					t.Errorf("%d timers are published in 5 s, want 5,000", got)
				}
				n.end()
			})
		})
	}
}

// TestI16_TheFloorIsRequestedOftenOnlyIfCreditIsLow: one event is in flight.
func TestI16_TheFloorIsRequestedOftenOnlyIfCreditIsLow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set(holding)
		var f *floorless
		n := w.start("a", func(c *scheduler.Config) {
			f = &floorless{Bus: c.Bus}
			c.Bus = f
		})
		w.many(1, time.Second, true)
		w.pass(10 * time.Second)
		if len(w.take()) == 0 {
			t.Error("the timer is not published")
		}
		f.requests.Store(0)
		w.pass(10 * time.Second)
		if got := f.requests.Load(); got > 40 { // two for each sweep of a partition
			t.Errorf("%d requests for the floor in 10 s", got)
		}
		w.set(finishing)
		n.end()
	})
}
