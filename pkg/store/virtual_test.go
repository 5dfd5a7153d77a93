package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// withVirtual runs a test with a virtual clock that was read. step moves it forward.
func withVirtual(t *testing.T, test func(t *testing.T, c *clocks, clock *store.Clock, step func(time.Duration))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &clocks{machine: store.ThisMachine()}
		clock := store.NewClock(store.ClockConfig{Bound: clockBound, Virtual: true, Machine: c.both})
		if err := clock.Start(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		test(t, c, clock, func(by time.Duration) { c.set(func() { c.wall += by; c.there += by }) })
	})
}

func TestAVirtualClockFollowsAStepOfAnySize(t *testing.T) {
	withVirtual(t, func(t *testing.T, c *clocks, clock *store.Clock, step func(time.Duration)) {
		replan := clock.NextPlan(t.Context())
		for _, by := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 2 * time.Second, 30 * 24 * time.Hour} {
			time.Sleep(100 * time.Millisecond)
			stepped := clock.Stepped()
			step(by)
			if now := clock.Now(); now != c.present() {
				t.Errorf("after a step of %v: %v, want %v", by, now, c.present())
			}
			if !closed(stepped) || !clock.Trusted() {
				t.Errorf("after a step of %v: woken %v, trusted %v", by, closed(stepped), clock.Trusted())
			}
			stepped = clock.Stepped()
			for range 3 {
				if _, _, err := clock.Read(t.Context(), c); err != nil {
					t.Errorf("after a step of %v: %v", by, err)
				}
			}
			if now := clock.Now(); now != c.present() || closed(stepped) {
				t.Errorf("after a step of %v and a reading: %v, want %v; woken %v", by, now, c.present(), closed(stepped))
			}
		}
		if closed(replan) {
			t.Error("a step forward made the sessions plan again")
		}
	})
}

// The answer of a reading that a step overtook has an earlier time.
func TestAVirtualClockDoesNotGoBackAfterAReading(t *testing.T) {
	for _, by := range []time.Duration{40 * time.Millisecond, time.Hour} {
		withVirtual(t, func(t *testing.T, c *clocks, clock *store.Clock, step func(time.Duration)) {
			c.set(func() { c.answer = 20 * time.Millisecond })
			var wait sync.WaitGroup
			wait.Go(func() { _, _, _ = clock.Read(t.Context(), c) }) // it may fail
			time.Sleep(10 * time.Millisecond)
			step(by)
			after := clock.Now()
			wait.Wait()
			if now := clock.Now(); now != c.present() || now < after {
				t.Errorf("after a step of %v: %v, then %v, want %v", by, after, now, c.present())
			}
		})
	}
}

// Two goroutines follow two steps, and the one that has read the clocks before the second step ends last.
func TestAVirtualClockDoesNotGoBackToAnEarlierStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clocks{machine: store.ThisMachine()}
		between := func() {}
		clock := store.NewClock(store.ClockConfig{Bound: clockBound, Virtual: true, Machine: func() (time.Time, time.Duration) {
			wall, elapsed := c.both()
			f := between
			between = func() {}
			f()
			return wall, elapsed
		}})
		if err := clock.Start(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		step := func(by time.Duration) { c.set(func() { c.wall += by; c.there += by }) }
		step(time.Second)
		between = func() { step(time.Hour); clock.Now() }
		if now := clock.Now(); now != c.present() {
			t.Errorf("%v, want %v", now, c.present())
		}
	})
}

// epoch is a cluster whose clock showed 1970 when the machine's monotonic clock showed 0, and is ahead of that.
type epoch struct {
	store.Cluster

	machine store.Machine
	ahead   *atomic.Int64
}

func (e epoch) Time(context.Context) (store.Instant, error) {
	_, elapsed := e.machine()
	return store.Instant{At: timer.FromTime(time.UnixMilli(0).Add(elapsed + time.Duration(e.ahead.Load()))), Within: time.Millisecond}, nil
}

func TestAVirtualClockNeverGoesBack(t *testing.T) {
	t.Parallel()
	const steps, readers = 2000, 4
	var ahead atomic.Int64
	machine := store.ThisMachine()
	clock := store.NewClock(store.ClockConfig{Bound: clockBound, Virtual: true, Machine: func() (time.Time, time.Duration) {
		_, elapsed := machine()
		return time.UnixMilli(0).Add(elapsed + time.Duration(ahead.Load())), elapsed
	}})
	if err := clock.Start(t.Context(), epoch{machine: machine, ahead: &ahead}); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var done atomic.Bool
	for range readers {
		wait.Go(func() {
			for last := clock.Now(); !done.Load(); {
				now := clock.Now()
				if now < last {
					t.Errorf("%v after %v", now, last)
					return
				}
				last = now
			}
		})
	}
	for range steps {
		ahead.Add(int64(time.Second))
		if now := clock.Now(); now < timer.Millis(time.Duration(ahead.Load()).Milliseconds()) {
			t.Errorf("%v after a step to %v", now, time.Duration(ahead.Load()))
		}
	}
	done.Store(true)
	wait.Wait()
}
