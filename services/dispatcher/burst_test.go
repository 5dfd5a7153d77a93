package dispatcher_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// burst creates timers that are due together and call one host. It lets time pass until all are done or limit is over,
// and returns how long after their due time the last one was done.
func (w *world) burst(timers int, limit time.Duration, change func(*timer.Spec)) time.Duration {
	w.t.Helper()
	for i := range timers {
		w.put(fmt.Sprint(i), time.Second, change)
	}
	due := timer.SystemClock().Add(time.Second)
	w.pass(time.Second)
	for done := 0; timer.SystemClock().Sub(due) < limit; {
		w.pass(100 * time.Millisecond)
		for done < timers && w.get(fmt.Sprint(done)).Status == timer.StatusDone {
			done++
		}
		if done == timers {
			return timer.SystemClock().Sub(due)
		}
	}
	w.t.Fatalf("not all of %d timers are done %v after their due time", timers, limit)
	return 0
}

// 2,000 timers, 64 at a time, half a second each: the host needs 15.6 s.
func TestABurstToOneHostTakesAsLongAsTheHostNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		targetOf func(store.DueRow) timer.Target
		reads    float64 // per fire, at most
	}{
		"events with targets": {nil, 1},
		// The hints of postponed rows carry the target.
		"rows of earlier releases": {func(row store.DueRow) timer.Target {
			if timer.Revision(row.Generation) == row.Revision {
				return 0
			}
			return row.Target
		}, 2},
		// Each postponement costs one read, and the first postponements are short.
		"schedulers of earlier releases": {func(store.DueRow) timer.Target { return 0 }, 6},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.answer = answerAfter(500*time.Millisecond, 200)
				w.targetOf = c.targetOf
				n := w.start()
				const timers = 2000
				took := w.burst(timers, 2*time.Minute, to("busy"))
				reads := float64(n.store.rowsRead()) / timers
				t.Logf("took %v, %.3f row reads per fire", took, reads)
				if took > 17*time.Second {
					t.Errorf("the last timer was done after %v, want 15.6 s and a little", took)
				}
				if reads < 1 || reads > c.reads {
					t.Errorf("%.3f row reads per fire, want at most %v", reads, c.reads)
				}
				n.end()
			})
		})
	}
}

// A host counts as slow if its calls take long, not if this process cannot read rows.
func TestAPauseOfTheStoreIsNotHeldAgainstAHost(t *testing.T) {
	for _, begins := range []time.Duration{55 * time.Millisecond, 115 * time.Millisecond, 175 * time.Millisecond} {
		pauseStore(t, begins)
	}
}

// pauseStore stops the store for half a second during a burst, starting begins after the burst's due time.
func pauseStore(t *testing.T, begins time.Duration) {
	t.Helper()
	inWorld(t, func(w *world) {
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"quick":  func(ctx context.Context) dispatcher.Answer { return after(ctx, 20*time.Millisecond, 200) },
			"steady": func(ctx context.Context) dispatcher.Answer { return after(ctx, 600*time.Millisecond, 200) },
		})
		n, metric := w.metered()
		// Another host answers every 10 ms. It has permits for all its timers, except for a while after the pause.
		for i := range 150 {
			w.put(fmt.Sprint("steady", i), 500*time.Millisecond+time.Duration(i)*10*time.Millisecond, to("steady"))
		}
		from := time.Now().Add(time.Second + begins)
		until := from.Add(500 * time.Millisecond)
		n.store.set(func(string, []store.Finish) error {
			if now := time.Now(); now.After(from) && now.Before(until) {
				time.Sleep(until.Sub(now))
			}
			return nil
		}, nil)
		// With fewer than 1,500 timers, the queue is too short for the limits of silent hosts.
		took := w.burst(2000, 2*time.Minute, to("quick"))
		if _, postponed := metric("postponed_total"); postponed != 0 || took > 2*time.Second {
			t.Errorf("pause after %v: %v timers were postponed, and the last one was done after %v", begins, postponed, took)
		}
		n.end()
	})
}

// Releases before decision 0036 publish events without a target, and stores may have rows without one. Their rows are
// read once to learn the target, and a second time if their host has no free permit then.
func TestAnEventWithoutATargetIsReadToLearnIt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.targetOf = func(store.DueRow) timer.Target { return 0 }
		w.answer = answerAfter(100*time.Millisecond, 200)
		w.settle(func(s *store.Settings) { s.HostConcurrency = 2 })
		n := w.start()
		for i := range 5 {
			w.put(fmt.Sprint(i), 0, nil)
		}
		w.pass(time.Second)
		for i := range 5 {
			w.wantStatus(fmt.Sprint(i), timer.StatusDone)
		}
		if reads := n.store.rowsRead(); reads != 5+3 {
			t.Errorf("%d row reads, want one of each timer and another of the three that waited", reads)
		}
		n.end()
	})
}

// The target in the row decides which host is called, even if the event has a different one.
func TestTheLimitIsThatOfTheHostInTheRow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.targetOf = func(store.DueRow) timer.Target { return timer.TargetOf("http://elsewhere.test") }
		now, most := map[string]int{}, map[string]int{}
		add := func(host string, n int) {
			w.mu.Lock()
			defer w.mu.Unlock()
			now[host] += n
			most[host] = max(most[host], now[host])
		}
		w.answer = func(ctx context.Context, c call) dispatcher.Answer {
			add("all", 1)
			defer add("all", -1)
			add(c.timer.CallbackURL, 1)
			defer add(c.timer.CallbackURL, -1)
			return after(ctx, 100*time.Millisecond, 200)
		}
		w.settle(func(s *store.Settings) { s.HostConcurrency = 4 })
		n := w.start()
		for i := range 30 {
			w.put(fmt.Sprint(i), 0, to([]string{"a", "b", "c"}[i%3]))
		}
		w.pass(3 * time.Second)
		for i := range 30 {
			w.wantStatus(fmt.Sprint(i), timer.StatusDone)
		}
		for host, calls := range most {
			if host != "all" && calls > 4 || host == "all" && calls <= 4 {
				t.Errorf("%d calls at once to %s, want at most 4 to each host and more to all", calls, host)
			}
		}
		n.end()
	})
}

// Until hanging hosts are found to be slow, the timers that wait for them must not use all of MaxInFlight.
func TestI11_HangingHostsLeaveRoomForOthersAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"hangs": func(ctx context.Context) dispatcher.Answer { return after(ctx, 10*time.Second, 200) },
			"brisk": func(ctx context.Context) dispatcher.Answer { return after(ctx, 10*time.Millisecond, 200) },
		})
		n := w.start()
		n.store.set(func(op string, _ []store.Finish) error {
			if op == "current" {
				time.Sleep(10 * time.Millisecond)
			}
			return nil
		}, nil)
		for i := range 5000 {
			w.put(fmt.Sprint("hangs", i), time.Second, to(fmt.Sprint("hangs", i%5)))
		}
		const brisk = 9000
		for i := range brisk {
			w.put(fmt.Sprint("brisk", i), time.Second, to(fmt.Sprint("brisk", i%45)))
		}
		w.pass(3 * time.Second)
		calls, worst := 0, time.Duration(0)
		w.mu.Lock()
		for _, c := range w.calls {
			if strings.HasPrefix(c.id, "brisk") {
				calls++
				worst = max(worst, c.at.Sub(c.timer.ExecuteAt))
			}
		}
		w.mu.Unlock()
		// Without the hanging hosts it is 360 ms.
		if calls != brisk || worst > 800*time.Millisecond {
			t.Errorf("%d of %d were called, the last one %v late", calls, brisk, worst)
		}
		n.cancel()
	})
}

// TestAHostThatWasSlowGetsItsBurst: the duration of calls an hour ago must not affect a burst now.
func TestAHostThatWasSlowGetsItsBurst(t *testing.T) {
	inWorld(t, func(w *world) {
		takes := 5 * time.Second
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, takes, 200) }
		n := w.start()
		for i := range 300 {
			w.put(fmt.Sprint("slow/", i), time.Second, to("busy"))
		}
		w.pass(4 * time.Minute)
		for i := range 300 {
			w.wantStatus(fmt.Sprint("slow/", i), timer.StatusDone)
		}
		time.Sleep(time.Hour) // without w.pass: nothing is due
		takes = 20 * time.Millisecond
		due := timer.SystemClock().Add(time.Second)
		for i := range 1000 {
			w.put(fmt.Sprint("quick/", i), time.Second, to("busy"))
		}
		w.pass(3 * time.Minute)
		w.mu.Lock()
		var last timer.Millis
		for _, c := range w.calls {
			last = max(last, c.at)
		}
		w.mu.Unlock()
		if late := last.Sub(due); late > 2*time.Second {
			t.Errorf("the last timer was called %v late", late)
		}
		n.end()
	})
}
