package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// watched is a store with only the methods that watch uses.
type watched struct {
	store.Store

	mu     sync.Mutex
	offset time.Duration // guarded by mu, as is delay
	delay  time.Duration
	counts store.Counts
	err    error
	// counted is the number of calls of Count, and counting is how long each takes.
	counted  int
	counting time.Duration
	// If hangs is set, Count returns when its context ends; timeHangs does the same for Time.
	hangs, timeHangs atomic.Bool
}

func (s *watched) Time(ctx context.Context) (store.Instant, error) {
	if s.timeHangs.Load() {
		<-ctx.Done()
		return store.Instant{}, ctx.Err()
	}
	s.mu.Lock()
	delay := s.delay
	s.mu.Unlock()
	time.Sleep(delay) // in a bubble: takes no time
	s.mu.Lock()
	at := timer.SystemClock().Add(s.offset)
	s.mu.Unlock()
	time.Sleep(delay)
	return store.Instant{At: at, Within: time.Millisecond}, s.err
}

func (s *watched) setOffset(offset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset = offset
}

func (s *watched) Count(ctx context.Context, _ timer.Millis) (store.Counts, error) {
	s.counted++
	time.Sleep(s.counting)
	if s.hangs.Load() {
		<-ctx.Done()
		return store.Counts{}, ctx.Err()
	}
	return s.counts, s.err
}

// looked runs the watch for two rounds and returns its gauges and its log.
func looked(t *testing.T, s *watched) (gauges map[string]float64, logged string) {
	t.Helper()
	var log bytes.Buffer
	registry := prometheus.NewRegistry()
	w := newStoreWatch(s, true, store.NewClock(store.ClockConfig{Bound: clockBound}), timer.SystemClock, slog.New(slog.NewTextHandler(&log, nil)), registry)
	ctx, cancel := context.WithTimeout(t.Context(), watchInterval+time.Second)
	defer cancel()
	if err := w.run(ctx); err != nil {
		t.Fatal(err)
	}
	if s.counted != 2 {
		t.Errorf("counted %d times in %v, want 2", s.counted, watchInterval+time.Second)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	gauges = map[string]float64{}
	for _, f := range families {
		gauges[strings.TrimPrefix(f.GetName(), "timerbus_")] = f.GetMetric()[0].GetGauge().GetValue()
	}
	return gauges, log.String()
}

func TestWatchCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &watched{counts: store.Counts{Pending: 7, Overdue: 3, Parked: 1, Paused: 4, Dead: 2, OldestPlannedAt: timer.SystemClock().Add(watchInterval - 90*time.Second)}}
		gauges, _ := looked(t, s)
		for name, want := range map[string]float64{"timers_pending": 7, "timers_overdue": 3, "timers_parked": 1, "timers_paused": 4, "timers_dead": 2, "timers_oldest_overdue_seconds": 90} {
			if gauges[name] != want {
				t.Errorf("%s = %v, want %v", name, gauges[name], want)
			}
		}
		s = &watched{counts: store.Counts{OldestPlannedAt: timer.Never}}
		if gauges, _ = looked(t, s); gauges["timers_oldest_overdue_seconds"] != 0 {
			t.Errorf("nothing overdue, but %v", gauges)
		}
	})
}

func TestWatchComparesClocks(t *testing.T) {
	for name, c := range map[string]struct {
		offset, delay time.Duration
		// far: there is a warning, and the process uses the store's clock.
		far bool
	}{
		"the same":                    {0, 0, false},
		"within the bound":            {-250 * time.Millisecond, 0, false},
		"ahead":                       {252 * time.Millisecond, 0, true},
		"behind":                      {-time.Hour, 0, true},
		"a slow answer proves little": {300 * time.Millisecond, 100 * time.Millisecond, false},
		"a slow answer, but too far":  {time.Second, 100 * time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gauges, logged := looked(t, &watched{offset: c.offset, delay: c.delay})
				if got := gauges["clock_offset_seconds"]; math.Abs(got-c.offset.Seconds()) > c.delay.Seconds()+0.001 {
					t.Errorf("offset %v, want %v", got, c.offset)
				}
				if took := gauges["clock_read_seconds"]; took != 2*c.delay.Seconds() {
					t.Errorf("clock_read_seconds = %v, want %v", took, 2*c.delay.Seconds())
				}
				if n := strings.Count(logged, "wall clock differs"); (n == 1) != c.far || n > 1 {
					t.Errorf("%d warnings within %v: %s", n, watchInterval, logged)
				}
			})
		})
	}
}

// TestWatchSaysHowOldTheGaugesAre: a gauge that could not be read keeps its last value, so an alarm on the gauge alone
// would never fire.
func TestWatchSaysHowOldTheGaugesAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &watched{counts: store.Counts{Pending: 7, OldestPlannedAt: timer.Never}}
		w := startWatch(t, s)
		synctest.Wait()
		time.Sleep(10 * time.Second)
		if age := w.gauge("gauges_age_seconds"); age != 10 {
			t.Errorf("10 s after they were read the gauges are %v s old", age)
		}
		s.hangs.Store(true)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if age := w.gauge("gauges_age_seconds"); age != 190 {
			t.Errorf("190 s after they were last read the gauges are %v s old", age)
		}
		if pending := w.gauge("timers_pending"); pending != 7 {
			t.Errorf("timers_pending = %v, want the last value, 7", pending)
		}
		const recovery = "store gauges recovered"
		// The first read that fails starts 15 s after the start and ends 5 s later; 170 s remain.
		if n := strings.Count(w.log.String(), "level=WARN"); n != 3 {
			t.Errorf("%d warnings in 3 minutes, want one at the beginning and one a minute:\n%s", n, w.log)
		}
		s.hangs.Store(false)
		time.Sleep(watchInterval)
		synctest.Wait()
		if age := w.gauge("gauges_age_seconds"); age >= watchInterval.Seconds() {
			t.Errorf("read again, the gauges are %v s old", age)
		}
		if n := strings.Count(w.log.String(), recovery); n != 1 || !strings.Contains(w.log.String(), "failures=") {
			t.Errorf("the recovery is logged %d times:\n%s", n, w.log)
		}
	})
}

// TestWatchCountsThoughTheClockCannotBeRead: each request has its own timeout.
func TestWatchCountsThoughTheClockCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &watched{counts: store.Counts{Pending: 7, OldestPlannedAt: timer.Never}}
		s.timeHangs.Store(true)
		w := startWatch(t, s)
		time.Sleep(watchTimeout)
		synctest.Wait()
		if pending := w.gauge("timers_pending"); pending != 7 {
			t.Errorf("timers_pending = %v, want 7", pending)
		}
		time.Sleep(time.Minute)
		if age := w.gauge("gauges_age_seconds"); age < 60 {
			t.Errorf("the clock's gauge was never read, and the gauges are %v s old", age)
		}
	})
}

// running is a watch with its output.
type running struct {
	t        *testing.T
	registry *prometheus.Registry
	log      *bytes.Buffer
	clock    *store.Clock
}

// startWatch runs a watch until the bubble ends.
func startWatch(t *testing.T, s *watched) *running {
	t.Helper()
	r := &running{t, prometheus.NewRegistry(), &bytes.Buffer{}, store.NewClock(store.ClockConfig{Bound: clockBound, Shared: true})}
	w := newStoreWatch(s, true, r.clock, timer.SystemClock, slog.New(slog.NewTextHandler(r.log, nil)), r.registry)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *running) gauge(name string) float64 {
	r.t.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "timerbus_"+name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	r.t.Fatalf("there is no gauge %s", name)
	return 0
}

// TestI15_TheClockIsReadTwiceASecond bounds how long a process can use a time that is wrong by an hour.
func TestI15_TheClockIsReadTwiceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &watched{counts: store.Counts{OldestPlannedAt: timer.Never}}
		s.hangs.Store(true) // a slow count does not delay the clock reads
		w := startWatch(t, s)
		synctest.Wait()
		if trusted := w.gauge("clock_trusted"); trusted != 1 {
			t.Errorf("clock_trusted = %v, want 1", trusted)
		}
		stepped := w.clock.Stepped()
		s.setOffset(-time.Hour)
		time.Sleep(readClockEvery)
		synctest.Wait()
		select {
		case <-stepped:
		default:
			t.Error("not set back after half a second")
		}
		if off := w.clock.Now().Sub(timer.SystemClock()); (off + time.Hour).Abs() > time.Millisecond {
			t.Errorf("the clock is %v from the machine's, want -1h", off)
		}
		if trusted, by := w.gauge("clock_trusted"), w.gauge("clock_error_seconds"); trusted != 0 || by < 3599 {
			t.Errorf("clock_trusted = %v and clock_error_seconds = %v before the correction was confirmed", trusted, by)
		}
		time.Sleep(300 * time.Millisecond)
		if trusted, by := w.gauge("clock_trusted"), w.gauge("clock_error_seconds"); trusted != 1 || by > 0.01 {
			t.Errorf("clock_trusted = %v and clock_error_seconds = %v after it", trusted, by)
		}
	})
}

// TestI8_AStoreThatIsSlowForMinutesStopsNothing also checks that /readyz reports how slow the store is once the clock
// is no longer trusted.
func TestI8_AStoreThatIsSlowForMinutesStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &watched{counts: store.Counts{OldestPlannedAt: timer.Never}}
		w := startWatch(t, s)
		time.Sleep(time.Second)
		s.mu.Lock()
		s.delay = 200 * time.Millisecond
		s.mu.Unlock()
		for minute := range 10 {
			time.Sleep(time.Minute)
			if w.gauge("clock_trusted") != 1 || w.clock.Distrusted() != "" {
				t.Fatalf("not trusted after %d min: %s", minute+1, w.clock.Distrusted())
			}
		}
		time.Sleep(time.Minute)
		const want = "by an answer that took 400ms; one within 250ms is needed"
		if why := w.clock.Distrusted(); w.gauge("clock_trusted") != 0 || !strings.HasSuffix(why, want) {
			t.Errorf("after 11 min: %q, want …%q", why, want)
		}
		s.mu.Lock()
		s.delay = 100 * time.Millisecond
		s.mu.Unlock()
		time.Sleep(2 * time.Second)
		if w.gauge("clock_trusted") != 1 || w.clock.Distrusted() != "" {
			t.Errorf("not trusted after answers within 200 ms: %s", w.clock.Distrusted())
		}
	})
}

func TestWatchSurvivesAStoreThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, logged := looked(t, &watched{err: errors.New("away")})
		if !strings.Contains(logged, "store gauges failing, retrying") || !strings.Contains(logged, "away") {
			t.Errorf("logged %s", logged)
		}
	})
}

// TestWatchCountsLessOftenWhatTakesLonger: the gauges of a large store are not read all the time.
func TestWatchCountsLessOftenWhatTakesLonger(t *testing.T) {
	for took, want := range map[time.Duration]int{
		10 * time.Millisecond:  4,
		200 * time.Millisecond: 3, // every 20 s
		time.Second:            2, // every 45 s
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &watched{counting: took}
			startWatch(t, s)
			time.Sleep(time.Minute - time.Second)
			synctest.Wait()
			if n := s.counted; n != want {
				t.Errorf("counts that take %v are made %d times in a minute, want %d", took, n, want)
			}
		})
	}
}
