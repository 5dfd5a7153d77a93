package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// watched is a store of which only what watch asks is there.
type watched struct {
	store.Store

	offset time.Duration
	delay  time.Duration
	counts store.Counts
	err    error
	asked  int
}

func (s *watched) Ping(context.Context) (timer.Millis, error) {
	s.asked++
	time.Sleep(s.delay) // in a bubble: takes no time
	at := timer.SystemClock().Add(s.offset)
	time.Sleep(s.delay)
	return at, s.err
}

func (s *watched) Count(context.Context, timer.Millis) (store.Counts, error) { return s.counts, s.err }

// looked runs the watch for two rounds and returns its gauges and its log.
func looked(t *testing.T, s *watched) (gauges map[string]float64, logged string) {
	t.Helper()
	var log bytes.Buffer
	registry := prometheus.NewRegistry()
	w := newWatch(s, true, timer.SystemClock, slog.New(slog.NewTextHandler(&log, nil)), registry)
	ctx, cancel := context.WithTimeout(t.Context(), watchEvery+time.Second)
	defer cancel()
	if err := w.run(ctx); err != nil {
		t.Fatal(err)
	}
	if s.asked != 2 {
		t.Errorf("looked %d times in %v, want 2", s.asked, watchEvery+time.Second)
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
		s := &watched{counts: store.Counts{Pending: 7, Overdue: 3, Parked: 1, OldestPlannedAt: timer.SystemClock().Add(watchEvery - 90*time.Second)}}
		gauges, _ := looked(t, s)
		for name, want := range map[string]float64{"timers_pending": 7, "timers_overdue": 3, "timers_parked": 1, "timers_oldest_overdue_seconds": 90} {
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
		alarm         bool
	}{
		"the same":                    {0, 0, false},
		"within the bound":            {-250 * time.Millisecond, 0, false},
		"ahead":                       {251 * time.Millisecond, 0, true},
		"behind":                      {-time.Hour, 0, true},
		"a slow answer proves little": {300 * time.Millisecond, 100 * time.Millisecond, false},
		"a slow answer, but too far":  {time.Second, 100 * time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gauges, logged := looked(t, &watched{offset: c.offset, delay: c.delay})
				if gauges["clock_offset_seconds"] != c.offset.Seconds() {
					t.Errorf("offset %v, want %v", gauges["clock_offset_seconds"], c.offset)
				}
				if alarm := strings.Contains(logged, "clocks differ too much"); alarm != c.alarm {
					t.Errorf("alarm %t, want %t: %s", alarm, c.alarm, logged)
				}
			})
		})
	}
}

func TestWatchSurvivesAStoreThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, logged := looked(t, &watched{err: errors.New("away")})
		if !strings.Contains(logged, "clock of the store not read") || !strings.Contains(logged, "timers not counted") {
			t.Errorf("logged %s", logged)
		}
	})
}
