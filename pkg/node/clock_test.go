package node

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// at is a clock that was made at noon; its monotonic clock shows what the test sets.
func at(noon timer.Millis) (c *storeClock, elapsed *time.Duration) {
	elapsed = new(time.Duration)
	c = newStoreClock()
	c.elapsed = func() time.Duration { return *elapsed }
	c.offset.Store(noon.Time().UnixNano())
	return c, elapsed
}

func TestI15_TheStoresClockIsTheProcesssClock(t *testing.T) {
	noon := timer.FromTime(time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC))
	for name, c := range map[string]struct {
		// The store's clock showed noon + there at some moment between asked and answered.
		asked, answered, there time.Duration
		// want is the clock, minus noon, at answered.
		want    time.Duration
		setBack bool
	}{
		"agrees":                     {time.Second, time.Second, time.Second, time.Second, false},
		"agrees within its error":    {time.Second, 1200 * time.Millisecond, 1100 * time.Millisecond, 1200 * time.Millisecond, false},
		"ahead by a little":          {time.Second, time.Second, 1100 * time.Millisecond, 1100 * time.Millisecond, false},
		"behind by the bound":        {time.Second, time.Second, 751 * time.Millisecond, 751 * time.Millisecond, false},
		"behind by more":             {time.Second, time.Second, 700 * time.Millisecond, 700 * time.Millisecond, true},
		"an hour behind":             {time.Hour, time.Hour, 0, 0, true},
		"an hour ahead":              {time.Hour, time.Hour, 2 * time.Hour, 2 * time.Hour, false},
		"a slow answer, behind":      {time.Second, 3 * time.Second, 0, 2 * time.Second, true},
		"a slow answer, far ahead":   {time.Second, 3 * time.Second, time.Hour, time.Hour, false},
		"a slow answer says nothing": {time.Second, 3 * time.Second, 1001 * time.Millisecond, 3 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			clock, elapsed := at(noon)
			*elapsed = c.answered
			setBack := clock.nextSetBack()
			clock.observe(c.asked, c.answered, noon.Add(c.there))
			if got := clock.now().Sub(noon); (got - c.want).Abs() > time.Millisecond {
				t.Errorf("the clock shows %v, want %v", got, c.want)
			}
			select {
			case <-setBack:
				if !c.setBack {
					t.Error("reported as set back")
				}
			default:
				if c.setBack {
					t.Error("not reported as set back")
				}
			}
			select {
			case <-clock.nextSetBack():
				t.Error("reported twice")
			default:
			}
		})
	}
}

func TestI15_TheClockCountsOnWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &watched{offset: time.Hour}
		clock := newStoreClock()
		if _, _, err := clock.read(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{errors.New("away"), fmt.Errorf("ping: %w", store.ErrFull)} {
			s.err = err
			_, _, got := clock.read(t.Context(), s)
			if full := errors.Is(err, store.ErrFull); (got == nil) != full {
				t.Errorf("after %v: %v", err, got)
			}
			time.Sleep(time.Minute)
			if off := clock.now().Sub(timer.SystemClock().Add(time.Hour)); off.Abs() > time.Millisecond {
				t.Errorf("the clock is off by %v", off)
			}
		}
	})
}

// TestI15_TheClockIsReadEverySecond bounds how long a process can use an hour that has passed.
func TestI15_TheClockIsReadEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &watched{counts: store.Counts{OldestPlannedAt: timer.Never}}
		s.hangs.Store(true) // a slow count does not delay it
		w := startWatch(t, s)
		synctest.Wait()
		setBack := w.clock.nextSetBack()
		s.setOffset(-time.Hour)
		time.Sleep(readClockEvery)
		synctest.Wait()
		select {
		case <-setBack:
		default:
			t.Error("not set back after a second")
		}
		if off := w.clock.now().Sub(timer.SystemClock()); (off + time.Hour).Abs() > time.Millisecond {
			t.Errorf("the clock is %v from the machine's, want -1h", off)
		}
	})
}
