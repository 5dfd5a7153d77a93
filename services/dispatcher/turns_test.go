package dispatcher_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// backlog puts timers of one flow, which are due within a few seconds, in the order of their ids.
func (w *world) backlog(timers int) {
	for i := range timers {
		w.put(fmt.Sprintf("a%05d", i), time.Duration(i)*time.Millisecond, inFlow("k"))
	}
}

// misplaced returns how many calls of a backlog came more than most places before or after their own. first is the first call that counts.
func (w *world) misplaced(first, most int) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for place, c := range w.calls {
		var own int
		if _, err := fmt.Sscanf(c.id, "a%d", &own); err != nil {
			w.t.Fatal(err)
		}
		if place >= first && (place-own > most || own-place > most) {
			n++
		}
	}
	return n
}

// TestI21_ALongBacklogKeepsItsOrder: most timers are postponed several times before their turn.
func TestI21_ALongBacklogKeepsItsOrder(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 1, Per: time.Second, Burst: 1}})
		a, metric := w.metered()
		b := w.start()
		const timers = 3000 // 53 minutes
		w.backlog(timers)
		w.pass(timers * time.Second * 10 / 9)
		if called := len(w.times("a")); called < timers {
			t.Errorf("%d of %d timers were called", called, timers)
		}
		// A dispatcher reserves 64 turns at a time.
		if n := w.misplaced(0, 200); n > timers/50 {
			t.Errorf("%d of %d calls were out of order", n, timers)
		}
		if _, postponed := metric("postponed_total"); postponed > 5*timers {
			t.Errorf("one dispatcher postponed timers %v times", postponed)
		}
		a.end()
		b.end()
	})
}

// TestI21_AChangedRateAppliesToABacklog: a raised one within 10 minutes, a lower one immediately, also if it changes again soon.
func TestI21_AChangedRateAppliesToABacklog(t *testing.T) {
	for _, c := range []struct{ was, between, is int }{{1, 1, 5}, {10, 10, 2}, {1, 20, 1}} {
		t.Run(fmt.Sprint(c.was, " to ", c.between, " to ", c.is), func(t *testing.T) {
			inWorld(t, func(w *world) {
				limit := func(count int) {
					w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: count, Per: time.Second, Burst: 1}})
				}
				limit(c.was)
				n, metric := w.metered()
				const timers = 3000
				w.backlog(timers)
				w.pass(time.Minute)
				limit(c.between)
				w.pass(time.Minute)
				limit(c.is)
				w.pass(time.Minute) // the dispatcher reads the limit
				before := len(w.times("a"))
				left := time.Duration(timers-before) * time.Second / time.Duration(c.is) * 10 / 9
				w.pass(left + 15*time.Second) // the last timers may wait a little longer
				if c.is > c.was {
					w.pass(10 * time.Minute)
				}
				called := w.times("a")
				if len(called) < timers {
					t.Errorf("%d of %d timers were called, %d of them before the change", len(called), timers, before)
				}
				if most := mostIn(called[before:], time.Second); most > c.is {
					t.Errorf("%d calls in a second, want at most %d", most, c.is)
				}
				if _, postponed := metric("postponed_total"); postponed > 8*timers {
					t.Errorf("%v postponements", postponed)
				}
				n.end()
			})
		})
	}
}

// TestI21_DeletedTimersDoNotDelayLaterOnes: nearly all timers of a backlog are deleted.
func TestI21_DeletedTimersDoNotDelayLaterOnes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 1, Per: time.Second, Burst: 1}})
		n := w.start()
		w.backlog(1000)
		w.pass(10 * time.Second)
		for i := range 1000 {
			if id := fmt.Sprintf("a%05d", i); len(w.called(id)) == 0 {
				w.write(store.Delete{Ref: w.ref(id)})
			}
		}
		w.pass(20 * time.Second)
		const later = 60
		for i := range later {
			w.put(fmt.Sprint("b", i), 0, inFlow("k"))
		}
		w.pass(later*time.Second*10/9 + 5*time.Second)
		if called := len(w.times("b")); called < later {
			t.Errorf("%d of %d later timers were called", called, later)
		}
		n.end()
	})
}

// TestI18_APostponedTimerExpiresInTime: its turn would come much later.
func TestI18_APostponedTimerExpiresInTime(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 1, Per: time.Hour, Burst: 1}})
		n := w.start()
		w.put("first", 0, inFlow("k"))
		w.pass(time.Second)
		w.put("a", 0, func(s *timer.Spec) { s.FlowKey, s.ExpireAfter = "k", 20*time.Second })
		w.pass(23 * time.Second)
		w.wantStatus("a", timer.StatusDead)
		n.end()
	})
}

// TestADispatcherThatEndsReturnsItsPermits: another dispatcher uses all permits a second later.
func TestADispatcherThatEndsReturnsItsPermits(t *testing.T) {
	inWorld(t, func(w *world) {
		const limit = 4
		w.limitFlows(timer.FlowLimit{Pattern: "*", Concurrency: limit})
		w.answer = answerAfter(200*time.Millisecond, 200)
		a, b := w.start(), w.start()
		w.backlog(400)
		w.pass(8 * time.Second)
		a.end()
		w.pass(time.Second) // the interval at which b renews its permits
		before := len(w.times("a"))
		w.pass(time.Second)
		if calls := len(w.times("a")) - before; calls < limit*5*9/10 {
			t.Errorf("%d calls in a second, want nearly %d", calls, limit*5)
		}
		b.end()
	})
}

// TestADispatcherThatEndsRequestsLittle: another dispatcher uses the same flow, so its state stays.
func TestADispatcherThatEndsRequestsLittle(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 1}})
		a, b := w.start(), w.start()
		w.backlog(400)
		w.pass(8 * time.Second)
		var operations atomic.Int64
		a.store.set(func(op string, _ []store.Finish) error {
			if op == "flow" {
				operations.Add(1)
			}
			return nil
		}, nil)
		begin := timer.SystemClock()
		a.end()
		if took, n := timer.SystemClock().Sub(begin), operations.Load(); took > 500*time.Millisecond || n > 6 {
			t.Errorf("the end took %v and %d operations of the store", took, n)
		}
		b.end()
	})
}

// TestI18_ATimerThatExpiresInMemoryEndsSoon: it expires while it waits for its flow in the memory of the dispatcher.
func TestI18_ATimerThatExpiresInMemoryEndsSoon(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Concurrency: 1})
		w.answer = answerAfter(4*time.Minute, 200)
		n := w.start()
		w.put("first", 0, func(s *timer.Spec) { s.FlowKey, s.CallbackTimeout = "k", 5*time.Minute })
		w.pass(time.Second)
		for i := range 3 {
			w.put(fmt.Sprint("a", i), 0, func(s *timer.Spec) { s.FlowKey, s.ExpireAfter = "k", 3*time.Second })
		}
		w.pass(15 * time.Second)
		for i := range 3 {
			w.wantStatus(fmt.Sprint("a", i), timer.StatusDead)
		}
		n.end()
	})
}
