package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// startClocked starts a scheduler with a store clock that is read as in a node.
func (w *world) startClocked(name string, ahead time.Duration, change ...func(*scheduler.Config)) (*node, *faultstore.Clocks) {
	w.t.Helper()
	clocks := faultstore.NewClocks()
	clocks.Set(faultstore.Ahead{Store: ahead})
	clock, stop := clocks.Start(w.t.Context())
	w.t.Cleanup(stop)
	return w.start(name, append(change, func(config *scheduler.Config) {
		config.Clock, config.StoreClock = clock.Now, clock
	})...), clocks
}

func TestI15_TimersFireInTimeAfterTheClockWasSetBack(t *testing.T) {
	inWorld(t, func(w *world) {
		n, clocks := w.startClocked("a", time.Hour)
		before := w.many(20, 90*time.Minute, false)
		w.many(20, time.Hour+time.Second, true) // so the watermark is an hour ahead
		w.pass(10 * time.Second)
		if fired := len(w.take()); fired != 20 {
			t.Fatalf("%d timers fired by the fast clock", fired)
		}
		clocks.Set(faultstore.Ahead{})
		w.pass(time.Second)
		hinted, polled := w.many(20, time.Second, true), w.many(20, 10*time.Minute, false)
		w.pass(5 * time.Second)
		w.wantFired(0, hinted...)
		w.pass(10 * time.Minute)
		w.wantFired(0, polled...)
		w.pass(90 * time.Minute)
		w.wantFired(0, before...)
		n.end()
	})
}

// TestI15_AStepDelaysNoTimerByMoreThanASecond: the store's clock is set forward, back, and forward and then back, at
// different times between two sweeps. Timers that are due by the new time are published within a second.
func TestI15_AStepDelaysNoTimerByMoreThanASecond(t *testing.T) {
	for name, steps := range map[string][]time.Duration{
		"back":             {time.Hour, 0},
		"forward":          {0, time.Hour},
		"forward, a bit":   {0, 5 * time.Second},
		"back, a bit":      {5 * time.Second, 0},
		"forward and back": {0, time.Hour, 0},
	} {
		for _, paid := range []bool{false, true} {
			for phase := 100 * time.Millisecond; phase < 2*time.Second; phase += 600 * time.Millisecond {
				t.Run(fmt.Sprint(name, ", paid by shard ", paid, ", after ", phase), func(t *testing.T) {
					inWorld(t, func(w *world) {
						n, clocks := w.startClocked("a", steps[0], func(config *scheduler.Config) { config.PaidByShard = paid })
						for _, step := range steps[1:] {
							w.pass(time.Minute + phase)
							w.take()
							timers := w.many(20, step+500*time.Millisecond, false)
							clocks.Set(faultstore.Ahead{Store: step})
							w.pass(1500 * time.Millisecond)
							seen := map[timer.Revision]bool{}
							for _, f := range w.take() {
								seen[f.Revision] = true
							}
							if len(seen) != len(timers) {
								t.Errorf("%d of %d timers were published within a second of their time", len(seen), len(timers))
							}
						}
						n.end()
					})
				})
			}
		}
	}
}

func TestI15_SettingTheClockBackDelaysNoTimerByMoreThanASecond(t *testing.T) {
	inWorld(t, func(w *world) {
		a, clocks := w.startClocked("a", time.Hour)
		b := w.start("b")
		w.pass(10 * time.Second)
		clocks.Set(faultstore.Ahead{})
		w.pass(500 * time.Millisecond)
		timers := w.many(20, 100*time.Millisecond, true)
		w.pass(2 * time.Second)
		w.wantFired(400*time.Millisecond, timers...)
		a.end()
		b.end()
	})
}

// TestI12_ASchedulerWhoseClockIsAheadRepeatsNothing: by its clock, its publications were lost an hour ago.
func TestI12_ASchedulerWhoseClockIsAheadRepeatsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set(holding)
		n, clocks := w.startClocked("a", 0)
		timers := w.many(20, 100*time.Millisecond, true)
		w.pass(1900 * time.Millisecond)
		later := w.many(20, time.Second, true)
		clocks.SetAway(true)
		clocks.Set(faultstore.Ahead{Monotonic: time.Hour})
		w.pass(450 * time.Millisecond) // not yet lost
		clocks.SetAway(false)
		clocks.Set(faultstore.Ahead{})
		w.pass(1500 * time.Millisecond)
		w.wantFired(0, append(timers, later...)...)
		n.end()
	})
}

// TestI8_ASchedulerWithoutATrustedClockOwnsNothing: another process takes its partitions over, so that no timer is
// late.
func TestI8_ASchedulerWithoutATrustedClockOwnsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		a, clocks := w.startClocked("a", 0)
		b := w.start("b")
		w.pass(10 * time.Second)
		clocks.SetAway(true)
		clocks.Set(faultstore.Ahead{Monotonic: -time.Hour}) // timers planned by a would be an hour late
		timers := w.many(40, 700*time.Millisecond, true)
		w.pass(3 * time.Second)
		w.wantFired(time.Second, timers...)
		b.end() // a must not take the partitions over
		w.many(40, time.Second, true)
		w.pass(10 * time.Second)
		w.wantFired(0)
		clocks.SetAway(false)
		w.pass(time.Second)
		if fired := len(w.take()); fired != 40 {
			t.Errorf("%d of 40 timers fired within a second of the end", fired)
		}
		a.end()
	})
}
