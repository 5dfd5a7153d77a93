package dispatcher_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// recovery is a world in which many deliveries are in flight when an outage begins, while other timers become due.
type recovery struct {
	*world

	change func(*dispatcher.Config)
	// perTick is the number of timers that become due every 10 ms.
	perTick int
	nodes   []*cuttable
	made    []timer.Timer
	healed  timer.Millis
}

// inFlight is the number of running deliveries when an outage begins.
func inFlight() int {
	if testing.Short() {
		return 2_500
	}
	return 10_000
}

// inRecovery runs a test with n processes.
func inRecovery(t *testing.T, n, perTick int, takes time.Duration, change func(*dispatcher.Config), test func(r *recovery)) {
	t.Helper()
	inWorld(t, func(w *world) {
		w.limit = 2 * inFlight()
		w.settle(func(s *store.Settings) { s.HostConcurrency = 2 * inFlight() })
		w.answer = answerAfter(takes, 200)
		r := &recovery{world: w, perTick: perTick, change: change}
		r.start(n)
		test(r)
	})
}

func (r *recovery) start(n int) {
	r.nodes = nil
	for range n {
		r.nodes = append(r.nodes, r.startCuttable(true, r.change))
	}
}

// restart kills all processes and starts the same number of new ones.
func (r *recovery) restart() {
	for _, n := range r.nodes {
		n.faults.Follow(faultstore.Cuts()["refused"])
		n.kill()
	}
	r.start(len(r.nodes))
}

// each calls do for every process.
func (r *recovery) each(do func(*cuttable)) {
	for _, n := range r.nodes {
		do(n)
	}
}

// endSessions ends all sessions. The messages are redelivered immediately, to the process whose next session opens
// first.
func (r *recovery) endSessions() {
	r.t.Helper()
	r.broker.LoseSessions(bus.Due)
	if n := r.broker.Redeliver(bus.Due, nil); n < inFlight() {
		r.t.Errorf("%d messages were redelivered, want at least %d", n, inFlight())
	}
	synctest.Wait()
}

// run lets time pass while timers become due.
func (r *recovery) run(d time.Duration) {
	for i := range int(d / (10 * time.Millisecond)) {
		for range r.perTick {
			t := r.put(fmt.Sprint("new-", len(r.made)), 0, func(s *timer.Spec) { s.CallbackURL = "http://other.test/" })
			r.made = append(r.made, t)
			r.published[published{t.UUID, t.Revision}] = true
			r.publish(store.DueRow{
				Ref: r.ref(t.ID), Revision: t.Revision, Generation: t.Generation, Attempt: 1, DueAt: t.DueAt, Target: t.Target(),
			})
		}
		time.Sleep(10 * time.Millisecond)
		if i%20 == 19 {
			r.release() // rows that were written again
		}
	}
	synctest.Wait()
}

// fill starts inFlight deliveries.
func (r *recovery) fill() {
	r.t.Helper()
	for i := range inFlight() {
		r.put(fmt.Sprint("old-", i), 0, nil)
	}
	r.run(200 * time.Millisecond)
	running := 0
	for _, c := range r.calls {
		if strings.HasPrefix(c.id, "old-") {
			running++
		}
	}
	if running != inFlight() {
		r.t.Fatalf("%d deliveries are in flight, want %d", running, inFlight())
	}
}

// recovered returns the time from the end of an outage until new timers are called in time again, and until the last
// delivery that was in flight is called.
func (r *recovery) recovered() (inTime, last time.Duration) {
	r.t.Helper()
	first := map[string]timer.Millis{}
	starts, repeated := 0, 0
	for _, c := range r.calls {
		if first[c.id] == 0 {
			first[c.id] = c.at
		} else {
			repeated++
		}
		if strings.HasPrefix(c.id, "old-") {
			last = max(last, c.at.Sub(r.healed))
			starts = max(starts, c.timer.Starts)
		}
	}
	for _, t := range r.made {
		if first[t.ID] == 0 {
			r.t.Errorf("%s was not called", t.ID)
		}
		if t.DueAt >= r.healed && first[t.ID].Sub(t.DueAt) > 200*time.Millisecond {
			inTime = max(inTime, t.DueAt.Sub(r.healed))
		}
	}
	for i := range inFlight() {
		if id := fmt.Sprint("old-", i); r.get(id).Status != timer.StatusDone {
			r.t.Fatalf("%s is %s", id, r.get(id).Status)
		}
	}
	r.t.Logf("%s: timers are called in time after %v, the last of those in flight after %v; %d calls are repeated, with up to %d starts counted before",
		r.t.Name(), inTime, last, repeated, starts)
	return inTime, last
}

// TestI13_AnOutageSlowsNoDeliveries: 10,000 deliveries are in flight in two processes when an outage begins.
func TestI13_AnOutageSlowsNoDeliveries(t *testing.T) {
	const within = 5 * time.Second
	wide := func(c *dispatcher.Config) {
		c.Concurrency, c.MaxInFlight = 4*inFlight(), 2*inFlight()
		c.Drain = time.Millisecond
	}
	for name, outage := range map[string]func(r *recovery){
		"sessions end": func(r *recovery) { r.endSessions() },
		"sessions end twice": func(r *recovery) {
			r.endSessions()
			r.run(time.Second)
			r.endSessions()
		},
		"all messages come again": func(r *recovery) {
			if n := r.broker.Redeliver(bus.Due, nil); n < inFlight() {
				r.t.Errorf("%d messages were redelivered, want at least %d", n, inFlight())
			}
		},
		"the queue crashes": func(r *recovery) { r.broker.CrashQueue(bus.Due, 0, inFlight()) },
		"the bus is away": func(r *recovery) {
			r.each(func(n *cuttable) { n.member.Disconnect() })
			r.run(10 * time.Second)
			r.each(func(n *cuttable) { n.member.Connect() })
		},
		"the store is away": func(r *recovery) {
			r.each(func(n *cuttable) { n.faults.Follow(faultstore.Cuts()["silent"]) })
			r.run(30 * time.Second)
			r.each(func(n *cuttable) { n.faults.Follow(nil) })
		},
		"processes are killed": func(r *recovery) { r.restart() },
	} {
		t.Run(name, func(t *testing.T) {
			inRecovery(t, 2, 1, 1500*time.Millisecond, wide, func(r *recovery) {
				r.fill()
				outage(r)
				r.healed = timer.SystemClock()
				r.run(8 * time.Second)
				r.perTick = 0
				r.run(12 * time.Second)
				inTime, last := r.recovered()
				if inTime > within || last > within+bus.AckWait {
					t.Errorf("want %v, and %v at most", within, within+bus.AckWait)
				}
			})
		})
	}
}

// TestI13_GroupsGrowWhileNothingCrashes: ten processes are killed twice, so that all deliveries that were in flight are
// quarantined timers. The bus redelivers their messages AckWait after the second kill.
func TestI13_GroupsGrowWhileNothingCrashes(t *testing.T) {
	inRecovery(t, 10, 1, 1500*time.Millisecond, func(c *dispatcher.Config) {
		c.Drain = time.Millisecond
	}, func(r *recovery) {
		r.fill()
		r.restart()
		r.run(bus.AckWait + time.Second)
		r.restart()
		r.healed = timer.SystemClock()
		r.run(20 * time.Second)
		r.perTick = 0
		r.run(time.Minute)
		inTime, last := r.recovered()
		if inTime > bus.AckWait+time.Second || last > bus.AckWait+8*time.Second {
			t.Errorf("want %v, and %v at most", bus.AckWait+time.Second, bus.AckWait+8*time.Second)
		}
	})
}

// TestI13_APoisonTimerAmongManyQuarantinedTimersIsParked: the poison timer crashes its process together with 600 others, and
// later in a group that has grown.
func TestI13_APoisonTimerAmongManyQuarantinedTimersIsParked(t *testing.T) {
	inWorld(t, func(w *world) {
		const innocents = 600
		for i := range innocents {
			w.put(fmt.Sprint(i), 0, nil)
		}
		w.put("poison", 0, nil)
		started := timer.SystemClock()
		w.poisoned(5*time.Minute, func(ctx context.Context, _ call) dispatcher.Answer {
			return after(ctx, 1500*time.Millisecond, 200)
		})
		if parked := w.wantStatus("poison", timer.StatusParked); parked.Starts != 5 {
			t.Errorf("parked after %d starts, want 5", parked.Starts)
		}
		// Its first start is not counted, unless its message had been redelivered before.
		if n := len(w.called("poison")); n < 5 || n > 6 {
			t.Errorf("poison was called %d times, want 5 or 6", n)
		}
		var last time.Duration
		for i := range innocents {
			w.wantStatus(fmt.Sprint(i), timer.StatusDone)
			calls := w.called(fmt.Sprint(i))
			last = max(last, calls[len(calls)-1].at.Sub(started))
		}
		t.Logf("the last innocent was called %v after it was due", last)
	})
}

// TestI13_QuarantinedTimersDoNotLowerTheRate: a process at full load is killed twice. A second after the bus redelivers its
// messages, it makes as many calls as before.
func TestI13_QuarantinedTimersDoNotLowerTheRate(t *testing.T) {
	const (
		takes = 1500 * time.Millisecond
		full  = 1024 * 3 * time.Second / takes // calls in 3 s by a process with 1,024 messages
	)
	inRecovery(t, 1, 6, takes, func(c *dispatcher.Config) {
		c.Drain = time.Millisecond
	}, func(r *recovery) {
		r.run(5 * time.Second)
		r.restart()
		r.run(bus.AckWait + time.Second)
		r.restart()
		healed := timer.SystemClock()
		r.run(10 * time.Second)
		from, calls := healed.Add(bus.AckWait+time.Second), 0
		for _, c := range r.calls {
			if at := c.at.Sub(from); at >= 0 && at < 3*time.Second {
				calls++
			}
		}
		t.Logf("%d calls in 3 s, of %d at full rate", calls, full)
		if calls < int(full)*9/10 {
			t.Errorf("%d calls in 3 s, want 90 %% of %d", calls, full)
		}
	})
}

// TestI13_RefusedTimersAreNotQuarantined: a process that has 10,000 timers of one host is killed twice. Nearly all of them
// have never begun, because the host has 64 permits. The bus reports every message as redelivered.
func TestI13_RefusedTimersAreNotQuarantined(t *testing.T) {
	const (
		takes = 100 * time.Millisecond
		// long is the duration of one callback in 100; these are in flight at each kill.
		long = 1500 * time.Millisecond
	)
	full := time.Duration(inFlight()) * (99*takes + long) / 100 / store.DefaultHostConcurrency
	inRecovery(t, 1, 0, 0, func(c *dispatcher.Config) {
		c.Drain = time.Millisecond
		c.Redelivered = func(*bus.Delivery) bool { return true }
	}, func(r *recovery) {
		r.settle(func(s *store.Settings) { s.HostConcurrency = store.DefaultHostConcurrency })
		r.restart() // a new process reads the settings
		r.answer = func(ctx context.Context, c call) dispatcher.Answer {
			if strings.HasSuffix(c.id, "77") {
				return after(ctx, long, 200)
			}
			return after(ctx, takes, 200)
		}
		for i := range inFlight() {
			r.put(fmt.Sprint("old-", i), 0, nil)
		}
		r.run(500 * time.Millisecond)
		for range 2 {
			r.restart()
			r.broker.Redeliver(bus.Due, nil)
			r.healed = timer.SystemClock()
			r.run(2 * time.Second)
		}
		r.run(2 * time.Minute)
		if _, last := r.recovered(); last > full {
			t.Errorf("the last timer was delivered %v after the second kill, want less than the %v that all calls take at full rate", last, full)
		}
	})
}
