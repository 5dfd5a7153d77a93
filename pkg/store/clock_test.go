package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const clockBound = 250 * time.Millisecond

// clocks are the clocks of a machine and of a store. A test sets them.
type clocks struct {
	store.Cluster

	machine store.Machine
	mu      sync.Mutex
	// wall, monotonic and there are how far each clock is ahead of the synctest bubble's.
	wall, monotonic, there time.Duration
	// within is the resolution of the store's clock; 0: 1 ms.
	within time.Duration
	// ask is the time from the request until the store reads its clock, and answer the time from then until the answer
	// arrives.
	ask, answer time.Duration
	err         error
	reads       int
}

func (c *clocks) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func (c *clocks) both() (time.Time, time.Duration) {
	wall, elapsed := c.machine()
	c.mu.Lock()
	defer c.mu.Unlock()
	return wall.Add(c.wall), elapsed + c.monotonic
}

func (c *clocks) Time(ctx context.Context) (store.Instant, error) {
	c.mu.Lock()
	ask, answer, err, within := c.ask, c.answer, c.err, max(c.within, time.Millisecond)
	c.reads++
	c.mu.Unlock()
	if !pass(ctx, ask) {
		return store.Instant{}, ctx.Err()
	}
	now := c.present()
	if !pass(ctx, answer) {
		return store.Instant{}, ctx.Err()
	}
	return store.Instant{At: now - now%timer.Millis(within.Milliseconds()), Within: within}, err
}

// present returns the store's time.
func (c *clocks) present() timer.Millis {
	c.mu.Lock()
	defer c.mu.Unlock()
	return timer.SystemClock().Add(c.there)
}

func (c *clocks) readings() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads
}

func pass(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// withClock runs a test with a clock that is read every 500 ms.
func withClock(t *testing.T, shared bool, test func(t *testing.T, c *clocks, clock *store.Clock, log *bytes.Buffer)) {
	t.Helper()
	withClockEvery(t, shared, 500*time.Millisecond, func(*clocks) {}, test)
}

func withClockEvery(
	t *testing.T, shared bool, every time.Duration, begin func(c *clocks),
	test func(t *testing.T, c *clocks, clock *store.Clock, log *bytes.Buffer),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &clocks{machine: store.ThisMachine()}
		begin(c)
		var log bytes.Buffer
		clock := store.NewClock(store.ClockConfig{
			Bound: clockBound, Shared: shared, Machine: c.both, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if clock.Trusted() {
			t.Error("a clock that was not read is trusted")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			clock.Run(ctx, every, func(ctx context.Context) {
				limited, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				_, _, _ = clock.Read(limited, c)
			})
		})
		synctest.Wait()
		test(t, c, clock, &log)
		cancel()
		running.Wait()
	})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// wantError checks the difference between the clock and the store's.
func (c *clocks) wantError(t *testing.T, clock *store.Clock, most time.Duration) {
	t.Helper()
	if off := clock.Now().Sub(c.present()); off.Abs() > most {
		t.Errorf("the clock is %v from the store's, want at most %v", off, most)
	}
}

func TestI15_AStepOfTheStoresClockIsFollowedWithinASecond(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, 200 * time.Millisecond, -200 * time.Millisecond} {
		t.Run(step.String(), func(t *testing.T) {
			withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
				time.Sleep(10*time.Second + time.Millisecond)
				if !clock.Trusted() {
					t.Fatal("not trusted before the step")
				}
				stepped, replan := clock.Stepped(), clock.NextPlan(t.Context())
				c.set(func() { c.there = step })
				time.Sleep(500 * time.Millisecond)
				c.wantError(t, clock, time.Millisecond)
				if !closed(stepped) || !closed(replan) {
					t.Error("the step is not reported")
				}
				if clock.Trusted() {
					t.Error("trusted although no second reading has confirmed the correction")
				}
				time.Sleep(250 * time.Millisecond)
				if by, why := clock.Doubt(); why != "" {
					t.Errorf("not trusted 750 ms after the step, by %v: %s", by, why)
				}
				if closed(clock.Lost()) || closed(clock.NextPlan(t.Context())) {
					t.Error("one step was reported twice, or made the process give its work up")
				}
			})
		})
	}
}

func TestI15_AStepOfTheWallClockChangesNothing(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
				time.Sleep(time.Second)
				c.set(func() { c.wall, c.ask = step, 10*time.Millisecond })
				// The process cannot know which of the two clocks was set, so it reads the store's clock.
				if clock.Trusted() {
					t.Error("trusted although the clocks of the machine disagree")
				}
				c.wantError(t, clock, time.Millisecond)
				if !clock.AwaitTrust(t.Context()) {
					t.Fatal("never trusted again")
				}
				c.wantError(t, clock, 11*time.Millisecond)
				if closed(clock.Stepped()) {
					t.Error("reported as a step")
				}
			})
		})
	}
}

// TestI8_AClockThatJumpedIsNotTrustedUntilItIsRead: the machine was suspended, or its monotonic clock is broken.
func TestI8_AClockThatJumpedIsNotTrustedUntilItIsRead(t *testing.T) {
	for _, jump := range []time.Duration{10 * time.Second, -10 * time.Second} {
		t.Run(jump.String(), func(t *testing.T) {
			withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, log *bytes.Buffer) {
				time.Sleep(20 * time.Second)
				lost := clock.Lost()
				c.set(func() { c.monotonic, c.err = jump, store.ErrUnavailable })
				if clock.Trusted() {
					t.Error("trusted immediately after the jump")
				}
				time.Sleep(400 * time.Millisecond)
				if closed(lost) {
					t.Error("lost after 400 ms")
				}
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				if !closed(lost) {
					t.Error("not lost after 500 ms")
				}
				if why := clock.Distrusted(); !strings.Contains(why, "may differ by 10s from the store's, more than 125ms") {
					t.Errorf("degraded: %q", why)
				}
				next := make(chan time.Time, 1)
				go func() { clock.NextPlan(t.Context()); next <- time.Now() }()
				synctest.Wait()
				c.set(func() { c.err = nil })
				again := time.Now()
				if after := (<-next).Sub(again); after > 400*time.Millisecond {
					t.Errorf("taken up again after %v", after)
				}
				c.wantError(t, clock, time.Millisecond)
				if clock.Distrusted() != "" || closed(clock.Lost()) {
					t.Error("still degraded")
				}
				if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), "clock: not trusted") ||
					!strings.Contains(log.String(), "clock: trusted again") {
					t.Errorf("want one line at the begin and one at the end:\n%s", log)
				}
			})
		})
	}
}

// TestI8_AReadingDuringASuspensionIsNotUsed: the machine's monotonic clock stops while the answer is on its way, so the
// answer seems to be new.
func TestI8_AReadingDuringASuspensionIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clocks{machine: store.ThisMachine(), answer: 10 * time.Second}
		clock := store.NewClock(store.ClockConfig{Bound: clockBound, Shared: true, Machine: c.both})
		go func() {
			time.Sleep(5 * time.Second)
			c.set(func() { c.monotonic = -c.answer })
		}()
		if _, took, err := clock.Read(t.Context(), c); err == nil || clock.Trusted() {
			t.Errorf("an answer after %v was used, and it is 10 s old", took)
		}
		c.set(func() { c.answer = 0 })
		if _, _, err := clock.Read(t.Context(), c); err != nil || !clock.Trusted() {
			t.Errorf("the next reading: %v", err)
		}
		c.wantError(t, clock, time.Millisecond)
	})
}

// TestI8_AClockThatNeedsCorrectionsAllTheTimeIsNotTrusted: the monotonic clock is too fast or has stopped.
func TestI8_AClockThatNeedsCorrectionsAllTheTimeIsNotTrusted(t *testing.T) {
	for name, rate := range map[string]float64{"fast": 0.6, "stopped": -1} {
		t.Run(name, func(t *testing.T) {
			withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
				begin := time.Now()
				go func() {
					for t.Context().Err() == nil && time.Since(begin) < 5*time.Second {
						time.Sleep(10 * time.Millisecond)
						c.set(func() {
							c.monotonic = time.Duration(rate * float64(time.Since(begin)))
							c.wall = c.monotonic // the two clocks of the machine agree
						})
					}
				}()
				<-clock.Lost()
				if after := time.Since(begin); after > 1500*time.Millisecond {
					t.Errorf("lost after %v", after)
				}
				clock.Next(t.Context())
				if after := time.Since(begin); after < 5*time.Second || after > 6*time.Second {
					t.Errorf("trusted again after %v, and the clock was wrong for 5 s", after)
				}
			})
		})
	}
}

func TestI8_SlowAnswersAreCertainOnlyTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clocks{machine: store.ThisMachine(), ask: 150 * time.Millisecond, answer: 150 * time.Millisecond}
		clock := store.NewClock(store.ClockConfig{Bound: clockBound, Machine: c.both})
		read := func() {
			t.Helper()
			if _, _, err := clock.Read(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		read()
		if by, why := clock.Doubt(); why == "" || by < 150*time.Millisecond {
			t.Errorf("after an answer that took 300 ms the error is %v, %q", by, why)
		}
		c.ask, c.answer = 290*time.Millisecond, 0
		read()
		c.ask, c.answer = 0, 290*time.Millisecond
		read()
		if by, why := clock.Doubt(); why != "" {
			t.Errorf("two slow answers that leave 10 ms: the error is %v, %s", by, why)
		}
		c.wantError(t, clock, 12*time.Millisecond)
		// The possible error grows by 0.2 ms each second. Slow answers do not increase it further.
		c.ask, c.answer = 2*time.Second, 2*time.Second
		for range 120 {
			time.Sleep(time.Second)
			read()
		}
		if by, why := clock.Doubt(); why != "" || by < 120*time.Millisecond {
			t.Errorf("after 10 min of slow answers the error is %v, %q", by, why)
		}
		time.Sleep(time.Minute)
		want := "the store's clock was last read 1m0s ago, by an answer that took 4s; one within 250ms is needed"
		if _, why := clock.Doubt(); why != want {
			t.Errorf("after 11 min without a fast answer: %q, want %q", why, want)
		}
	})
}

// TestI8_ASlowStoreIsTrustedAfterAStepAndInSpiteOfDrift: round trips of 140 ms are long, but half of one is below the limit.
func TestI8_ASlowStoreIsTrustedAfterAStepAndInSpiteOfDrift(t *testing.T) {
	withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
		c.set(func() { c.ask, c.answer = 70*time.Millisecond, 70*time.Millisecond })
		wantTrust := func(when string) {
			t.Helper()
			if by, why := clock.Doubt(); why != "" {
				t.Errorf("%s: not trusted, off by %v: %s", when, by, why)
			}
		}
		time.Sleep(time.Minute)
		wantTrust("before")
		c.set(func() { c.there = time.Hour })
		time.Sleep(time.Minute)
		wantTrust("after a step")
		for minute := range 120 {
			time.Sleep(time.Minute)
			c.set(func() { c.there += 3 * time.Millisecond }) // 50 ppm
			wantTrust(fmt.Sprintf("after %d min of drift", minute+1))
		}
	})
}

func TestI15_TheClockAdvancesWhileTheStoreIsAway(t *testing.T) {
	withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
		c.set(func() { c.there = time.Hour })
		time.Sleep(time.Second)
		c.set(func() { c.err = errors.New("away") })
		time.Sleep(time.Minute)
		c.wantError(t, clock, time.Millisecond)
		if !clock.Trusted() {
			t.Error("not trusted after a minute")
		}
	})
}

// TestI15_AClockThatIsNotSharedFollowsTheWallClockImmediately: the store's clock is the machine's wall clock.
func TestI15_AClockThatIsNotSharedFollowsTheWallClockImmediately(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			withClock(t, false, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
				time.Sleep(time.Second)
				stepped, replan := clock.Stepped(), clock.NextPlan(t.Context())
				c.set(func() { c.wall, c.there = step, step })
				c.wantError(t, clock, time.Millisecond)
				if !clock.Trusted() || !closed(stepped) || !closed(replan) {
					t.Errorf("trusted %v, stepped %v, replan %v", clock.Trusted(), closed(stepped), closed(replan))
				}
				time.Sleep(time.Second)
				if closed(clock.Stepped()) {
					t.Error("reported twice")
				}
			})
		})
	}
}

// TestI7_AClockThatIsNotSharedIsNeverAheadOfTheWallClock: not even by the millisecond to which stores truncate times.
func TestI7_AClockThatIsNotSharedIsNeverAheadOfTheWallClock(t *testing.T) {
	withClock(t, false, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
		for _, step := range []time.Duration{0, time.Hour, -time.Hour} {
			c.set(func() { c.wall, c.there = step, step })
			for range 20_000 { // 2 s
				if now, want := clock.Now(), timer.SystemClock().Add(step); now != want {
					t.Fatalf("after a step of %v the clock is %v ahead of the wall clock", step, now.Sub(want))
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
}

// TestI8_WithoutOtherProcessesNothingIsGivenUp: deliveries stop, but the process keeps its work, because no other
// process could take it over.
func TestI8_WithoutOtherProcessesNothingIsGivenUp(t *testing.T) {
	withClock(t, false, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
		c.set(func() { c.err = store.ErrUnavailable })
		time.Sleep(11 * time.Minute)
		if closed(clock.Lost()) || !strings.Contains(clock.Distrusted(), "the store's clock was last read ") {
			t.Errorf("given up %v, degraded %q", closed(clock.Lost()), clock.Distrusted())
		}
	})
}

// TestI8_StoredTimesWaitUntilTheClockIsTrustedOrLost: a due time from a wrong clock would stay wrong.
func TestI8_StoredTimesWaitUntilTheClockIsTrustedOrLost(t *testing.T) {
	withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
		settled := func(most time.Duration) {
			t.Helper()
			begin := time.Now()
			off := clock.Settled().Sub(c.present())
			if took := time.Since(begin); took > most || off.Abs() > time.Millisecond {
				t.Errorf("after %v the time was off by %v, want within %v", took, off, most)
			}
		}
		// Readings begin at multiples of 50 ms. The clocks are set between two of them.
		betweenReadings := func() { time.Sleep(37 * time.Millisecond) }
		time.Sleep(time.Second)
		betweenReadings()
		settled(0)
		c.set(func() { c.monotonic = time.Minute })
		settled(300 * time.Millisecond)
		betweenReadings()
		c.set(func() { c.wall = time.Hour })
		settled(0)
		betweenReadings()
		c.set(func() { c.monotonic, c.err = 0, store.ErrUnavailable })
		begin := time.Now()
		clock.Settled()
		if took := time.Since(begin); took != 500*time.Millisecond {
			t.Errorf("waited %v, want until the clock is lost", took)
		}
		clock.Settled()
		if took := time.Since(begin); took != 500*time.Millisecond {
			t.Errorf("waited %v although the clock is lost", took)
		}
		ended := store.NewClock(store.ClockConfig{Bound: clockBound, Shared: true})
		over, cancel := context.WithCancel(t.Context())
		cancel()
		ended.Run(over, time.Second, func(context.Context) {})
		ended.Settled() // no reading follows, because Run has returned
	})
}

func TestI15_TheClockIsNotReadMoreOftenThanNecessary(t *testing.T) {
	withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
		time.Sleep(10*time.Second + time.Millisecond)
		if n := c.readings(); n != 21 {
			t.Errorf("read %d times in 10 s, want 21", n)
		}
		c.set(func() { c.wall, c.err, c.reads = time.Hour, store.ErrUnavailable, 0 })
		for range 10_000 {
			_ = clock.Now() // each call requests a reading
			time.Sleep(time.Millisecond)
		}
		if n := c.readings(); n > 102 {
			t.Errorf("read %d times in 10 s although the store is away", n)
		}
	})
}

func TestANilClockIsAlwaysTrusted(t *testing.T) {
	var c *store.Clock
	by, why := c.Doubt()
	if !c.Trusted() || by != 0 || why != "" || c.Distrusted() != "" || !c.AwaitTrust(t.Context()) ||
		c.Lost() != nil || c.Next(t.Context()) != nil || c.NextPlan(t.Context()) != nil || c.Stepped() != nil {
		t.Error("a nil clock is not always trusted")
	}
}

func TestI15_ACorrectionIsTheSmallestThatAgreesWithTheReading(t *testing.T) {
	noon := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		// The store's clock showed noon + there at some moment between asked and answered.
		asked, answered, there time.Duration
		// want is the clock's time at answered, minus noon.
		want time.Duration
		step bool
	}{
		"agrees":                     {time.Second, time.Second, time.Second, time.Second, false},
		"agrees within its error":    {time.Second, 1200 * time.Millisecond, 1100 * time.Millisecond, 1200 * time.Millisecond, false},
		"ahead by a little":          {time.Second, time.Second, 1100 * time.Millisecond, 1100 * time.Millisecond, false},
		"behind by half the bound":   {time.Second, time.Second, 876 * time.Millisecond, 876 * time.Millisecond, false},
		"behind by more":             {time.Second, time.Second, 870 * time.Millisecond, 870 * time.Millisecond, true},
		"an hour behind":             {time.Hour, time.Hour, 0, 0, true},
		"an hour ahead":              {time.Hour, time.Hour, 2 * time.Hour, 2 * time.Hour, true},
		"a slow answer, behind":      {time.Second, 3 * time.Second, 0, 2 * time.Second, true},
		"a slow answer, far ahead":   {time.Second, 3 * time.Second, time.Hour, time.Hour, true},
		"a slow answer says nothing": {time.Second, 3 * time.Second, 1001 * time.Millisecond, 3 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			var elapsed time.Duration
			told := shown{at: timer.FromTime(noon)}
			clock := store.NewClock(store.ClockConfig{
				Bound: clockBound, Shared: true, Machine: func() (time.Time, time.Duration) { return noon.Add(elapsed), elapsed },
			})
			read := func() {
				if _, _, err := clock.Read(t.Context(), &told); err != nil {
					t.Fatal(err)
				}
			}
			read()
			elapsed = c.asked
			told.at, told.then = timer.FromTime(noon.Add(c.there)), func() { elapsed = c.answered }
			stepped := clock.Stepped()
			read()
			if got := clock.Now().Sub(timer.FromTime(noon)); (got - c.want).Abs() > 5*time.Millisecond {
				t.Errorf("the clock shows %v, want %v", got, c.want)
			}
			if closed(stepped) != c.step {
				t.Errorf("reported as a step: %v, want %v", closed(stepped), c.step)
			}
		})
	}
}

// shown is a store whose time the test sets.
type shown struct {
	store.Cluster

	at   timer.Millis
	then func()
}

func (s *shown) Time(context.Context) (store.Instant, error) {
	if s.then != nil {
		s.then()
	}
	return store.Instant{At: s.at, Within: time.Millisecond}, nil
}

// TestI8_AStoreThatShowsWholeSecondsIsTrusted: DynamoDB's clock has whole seconds. The offset of the machine's clock
// does not matter.
func TestI8_AStoreThatShowsWholeSecondsIsTrusted(t *testing.T) {
	for _, ahead := range []time.Duration{0, 400 * time.Millisecond, -700 * time.Millisecond, 1300 * time.Millisecond, -2 * time.Second} {
		t.Run(ahead.String(), func(t *testing.T) {
			withClockEvery(t, true, 15*time.Second, func(c *clocks) {
				c.wall, c.within, c.ask, c.answer = ahead, time.Second, 5*time.Millisecond, 15*time.Millisecond
			}, func(t *testing.T, c *clocks, clock *store.Clock, log *bytes.Buffer) {
				time.Sleep(3500 * time.Millisecond)
				stepped := clock.Stepped()
				log.Reset()
				for range 36_000 { // 1 h, in which the clocks diverge by 180 ms
					if by, why := clock.Doubt(); why != "" {
						t.Fatalf("not trusted, off by %v: %s", by, why)
					}
					c.wantError(t, clock, clockBound/2)
					time.Sleep(100 * time.Millisecond)
					c.set(func() { c.there += 5 * time.Microsecond })
				}
				if n := c.readings(); n > 6+240+120 {
					t.Errorf("read %d times in 1 h", n)
				}
				if closed(stepped) || log.Len() > 0 {
					t.Errorf("corrected %v, logged %s", closed(stepped), log)
				}
			})
		})
	}
}

// TestI8_AStoreThatShowsWholeSecondsIsTrustedSoon: the phase of the second at which a process starts does not matter.
func TestI8_AStoreThatShowsWholeSecondsIsTrustedSoon(t *testing.T) {
	for phase := range 50 {
		for _, ahead := range []time.Duration{0, 600 * time.Millisecond, -3 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Duration(phase) * 20 * time.Millisecond)
				c := &clocks{machine: store.ThisMachine(), within: time.Second, wall: ahead, ask: 10 * time.Millisecond, answer: 10 * time.Millisecond}
				clock := store.NewClock(store.ClockConfig{Bound: clockBound, Shared: true, Machine: c.both})
				begin := time.Now()
				if err := clock.Start(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took > 3500*time.Millisecond || c.readings() > 6 || !clock.Trusted() {
					t.Errorf("trusted after %v and %d readings: %v", took, c.readings(), clock.Trusted())
				}
				most := clockBound / 2
				if ahead == 0 {
					most = time.Millisecond // a correct wall clock is not changed
				}
				c.wantError(t, clock, most)
			})
		}
	}
}

// TestI15_AStepOfAStoreThatShowsWholeSecondsIsFollowed: within two readings, even if the step is less than a second.
func TestI15_AStepOfAStoreThatShowsWholeSecondsIsFollowed(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, 300 * time.Millisecond, -300 * time.Millisecond, 10*time.Second + 600*time.Millisecond} {
		t.Run(step.String(), func(t *testing.T) {
			withClockEvery(t, true, 15*time.Second, func(c *clocks) {
				c.within, c.ask, c.answer = time.Second, 10*time.Millisecond, 10*time.Millisecond
			}, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
				time.Sleep(time.Minute)
				c.set(func() { c.there = step })
				time.Sleep(35 * time.Second)
				if by, why := clock.Doubt(); why != "" {
					t.Errorf("not trusted, off by %v: %s", by, why)
				}
				c.wantError(t, clock, clockBound/2)
			})
		})
	}
}

// TestI8_AClockThatIsCorrectedAllTheTimeIsReadLessAndLessOften: each reading of DynamoDB costs money.
func TestI8_AClockThatIsCorrectedAllTheTimeIsReadLessAndLessOften(t *testing.T) {
	withClockEvery(t, true, 15*time.Second, func(*clocks) {}, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
		begin := time.Now()
		running := make(chan struct{})
		go func() {
			defer close(running)
			for time.Since(begin) < 10*time.Minute {
				time.Sleep(100 * time.Millisecond)
				c.set(func() { c.there += time.Second })
			}
		}()
		<-running
		if clock.Trusted() || c.readings() > 60 {
			t.Errorf("trusted: %v, read %d times in 10 min", clock.Trusted(), c.readings())
		}
	})
}

func TestStartReadsUntilTheClockIsTrusted(t *testing.T) {
	for name, test := range map[string]struct {
		within, wall, answer time.Duration
		most                 time.Duration
	}{
		"immediately":   {},
		"whole seconds": {within: time.Second, wall: 300 * time.Millisecond, most: 3 * time.Second},
		"slow answers":  {answer: 400 * time.Millisecond, most: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &clocks{machine: store.ThisMachine(), within: test.within, wall: test.wall, answer: test.answer}
				clock := store.NewClock(store.ClockConfig{Bound: clockBound, Shared: true, Machine: c.both})
				begin := time.Now()
				if err := clock.Start(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took > test.most || clock.Trusted() == (test.answer > 0) {
					t.Errorf("after %v trusted: %v", took, clock.Trusted())
				}
				c.err = store.ErrUnavailable
				if err := store.NewClock(store.ClockConfig{Bound: clockBound}).Start(t.Context(), c); !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("a store that is away: %v", err)
				}
			})
		})
	}
}

// TestI8_AStoreThatShowsWholeSecondsMayAnswerSlowly: answers may take up to 200 ms.
func TestI8_AStoreThatShowsWholeSecondsMayAnswerSlowly(t *testing.T) {
	for _, ms := range []int{60, 100, 120, 140, 160, 200} {
		took := time.Duration(ms) * time.Millisecond
		t.Run(took.String(), func(t *testing.T) {
			withClockEvery(t, true, 15*time.Second, func(c *clocks) {
				c.within, c.ask, c.answer = time.Second, took/2, took/2
			}, func(t *testing.T, _ *clocks, clock *store.Clock, _ *bytes.Buffer) {
				time.Sleep(10 * time.Second)
				for range 36_000 { // 1 h
					if _, why := clock.Doubt(); why != "" {
						t.Fatalf("not trusted: %s", why)
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		})
	}
}

// TestAClockIsLostAfterAnAlarmThatMeantNothing: the wall clock is corrected just before the alarm fires, and wrong
// again after it, while a reading hangs.
func TestAClockIsLostAfterAnAlarmThatMeantNothing(t *testing.T) {
	withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
		time.Sleep(10*time.Second + 10*time.Millisecond)
		c.set(func() { c.wall, c.ask = time.Hour, 10*time.Second })
		clock.Now()
		time.Sleep(450 * time.Millisecond)
		c.set(func() { c.wall = 0 })
		time.Sleep(51 * time.Millisecond)
		synctest.Wait()
		c.set(func() { c.wall = time.Hour })
		clock.Now()
		time.Sleep(time.Minute)
		if !closed(clock.Lost()) {
			t.Errorf("not lost after a minute; /readyz says %q", clock.Distrusted())
		}
	})
}

// TestI15_TrustWithoutAReadingEndsTheWait: the wall clock is set and set back while the store does not answer.
func TestI15_TrustWithoutAReadingEndsTheWait(t *testing.T) {
	for _, takes := range []time.Duration{time.Hour, 0} { // an answer of the store
		t.Run(takes.String(), func(t *testing.T) {
			withClock(t, true, func(t *testing.T, c *clocks, clock *store.Clock, _ *bytes.Buffer) {
				time.Sleep(10*time.Second + 10*time.Millisecond)
				c.set(func() { c.wall, c.ask, c.err = time.Hour, takes, store.ErrUnavailable })
				began := time.Now()
				time.AfterFunc(300*time.Millisecond, func() { c.set(func() { c.wall = 0 }) })
				if !clock.AwaitTrust(t.Context()) || time.Since(began) > 500*time.Millisecond {
					t.Errorf("waited for %v, want at most 500 ms", time.Since(began))
				}
			})
		})
	}
}
