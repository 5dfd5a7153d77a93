package dispatcher_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func to(host string) func(*timer.Spec) {
	return func(s *timer.Spec) { s.CallbackURL = "http://" + host + ".test/" }
}

// byHost makes the receiver answer depending on the host in the URL.
func (w *world) byHost(hosts map[string]func(ctx context.Context) dispatcher.Answer) {
	w.answer = func(ctx context.Context, c call) dispatcher.Answer {
		for host, answer := range hosts {
			if strings.Contains(c.timer.CallbackURL, host) {
				return answer(ctx)
			}
		}
		return dispatcher.Answer{Status: 200}
	}
}

func TestI11_AHangingHostHoldsUpNobodyElse(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls atomic.Int64
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"hangs": func(ctx context.Context) dispatcher.Answer {
				calls.Add(1)
				return after(ctx, 10*time.Second, 200)
			},
			"brisk": func(ctx context.Context) dispatcher.Answer { return after(ctx, 5*time.Millisecond, 200) },
		})
		w.settle(func(s *store.Settings) { s.HostConcurrency = 4 })
		n := w.start(func(c *dispatcher.Config) { c.Concurrency = 16 })
		for i := range 100 {
			w.put(fmt.Sprint("hangs", i), 0, to("hangs"))
		}
		// These become due after all of the above, one every 20 ms.
		for i := range 200 {
			w.put(fmt.Sprint("brisk", i), time.Duration(20*i)*time.Millisecond, to("brisk"))
		}
		w.pass(5 * time.Second)
		for i := range 200 {
			id := fmt.Sprint("brisk", i)
			w.wantCalls(id, 1)
			c := w.called(id)[0]
			// Until the host has been silent for silentAfter, the timers that wait for it use all of MaxInFlight.
			limit := 50 * time.Millisecond
			if i < 20 {
				limit = 400 * time.Millisecond
			}
			if late := c.at.Sub(c.timer.ExecuteAt); late > limit {
				t.Fatalf("%s was delivered %v late", id, late)
			}
		}
		if calls.Load() != 4 {
			t.Fatalf("%d calls to the host that hangs, want its 4 places", calls.Load())
		}
		if d := w.depth(); d > 4 {
			t.Fatalf("%d messages are held for it", d)
		}
		for i := range 100 {
			if now := w.wantStatus(fmt.Sprint("hangs", i), timer.StatusScheduled); now.Attempts != 0 {
				t.Fatalf("waiting used up an attempt: %+v", now)
			}
		}
		w.pass(20 * time.Minute)
		for i := range 100 {
			id := fmt.Sprint("hangs", i)
			w.wantStatus(id, timer.StatusDone)
			w.wantCalls(id, 1)
		}
		n.end()
	})
}

// If a host is down for a long time, its timers end by their policy although nearly none of them is called. So their
// users learn of it, and no timer waits forever.
func TestI11_ADeadHostsTimersEndByTheirPolicy(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls atomic.Int64
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"away": func(context.Context) dispatcher.Answer {
				calls.Add(1)
				return dispatcher.Answer{Err: context.DeadlineExceeded}
			},
		})
		n, metric := w.metered()
		const timers = 100
		for i := range timers {
			w.put(fmt.Sprint("away", i), time.Duration(i)*10*time.Millisecond, func(s *timer.Spec) {
				to("away")(s)
				s.Payload, s.Retry.MaxAttempts = []byte(`{"order":17}`), 4
			})
		}
		used := func() (most timer.Attempt) {
			for i := range timers {
				most = max(most, w.get(fmt.Sprint("away", i)).Attempts)
			}
			return most
		}
		w.pass(25 * time.Second)
		// A short outage uses one attempt of the timers that were called.
		if most, called := used(), calls.Load(); most > 1 || called > 23 {
			t.Errorf("after 25 s, %d calls were made and %d attempts used", called, most)
		}
		w.pass(15 * time.Minute)
		for i := range timers {
			id := fmt.Sprint("away", i)
			dead := w.wantStatus(id, timer.StatusDead)
			if dead.Attempts != 4 || !strings.Contains(dead.LastError, "away.test") && dead.LastError != "no complete answer within 30s" {
				t.Fatalf("%s: %d attempts, %q", id, dead.Attempts, dead.LastError)
			}
			if got := w.events(id); !slices.Equal(got, []string{"result", "result", "result", "result", "dead"}) {
				t.Fatalf("%s: events %v", id, got)
			}
		}
		if _, dead := metric("dead_total"); dead != timers {
			t.Errorf("dead_total is %v", dead)
		}
		if called := calls.Load(); called > 20+16*6 {
			t.Errorf("%d calls to a host that is down in 16 minutes", called)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, h := range w.heard {
			if h.topic == bus.Dead && !strings.Contains(string(h.Data), `{"order":17}`) {
				t.Fatalf("a dead event without its payload: %s", h.Data)
			}
		}
		n.end()
	})
}

// The same if each postponement is shorter than the first interval of the policy.
func TestI11_APatientPolicyEndsTheTimersOfADeadHostToo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"away": func(context.Context) dispatcher.Answer { return dispatcher.Answer{Err: context.DeadlineExceeded} },
		})
		n := w.start()
		const timers = 120 // more than are called in four minutes
		for i := range timers {
			w.put(fmt.Sprint("away", i), time.Duration(i)*10*time.Millisecond, func(s *timer.Spec) {
				to("away")(s)
				s.Retry.MaxAttempts, s.Retry.InitialInterval = 2, 5*time.Minute
			})
		}
		w.pass(4 * time.Minute)
		waiting := 0
		for i := range timers {
			if w.get(fmt.Sprint("away", i)).Attempts == 0 {
				waiting++
			}
		}
		if waiting < timers/2 {
			t.Errorf("after 4 minutes, %d timers have used no attempt", waiting)
		}
		w.pass(16 * time.Minute)
		for i := range timers {
			w.wantStatus(fmt.Sprint("away", i), timer.StatusDead)
		}
		n.end()
	})
}

func TestI11_ADeadHostsTimersAreDeliveredOnceItAnswers(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		down.Store(true)
		var calls atomic.Int64
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"dead": func(context.Context) dispatcher.Answer {
				calls.Add(1)
				if down.Load() {
					return dispatcher.Answer{Err: context.DeadlineExceeded}
				}
				return dispatcher.Answer{Status: 200}
			},
		})
		n := w.start()
		const timers = 300
		for i := range timers {
			w.put(fmt.Sprint("dead", i), time.Duration(i)*10*time.Millisecond, to("dead"))
		}
		w.put("other", time.Second, to("other"))
		w.pass(2 * time.Minute)
		w.wantStatus("other", timer.StatusDone)
		// The first 20, and then at most one every 10 s.
		if n := calls.Load(); n < 20 || n > 20+12 {
			t.Fatalf("%d calls to a host that is down in two minutes", n)
		}
		down.Store(false)
		w.pass(3 * time.Minute)
		for i := range timers {
			w.wantStatus(fmt.Sprint("dead", i), timer.StatusDone)
		}
		n.end()
	})
}

// A host that answers is not silent: its error for one receiver must not affect the other receivers.
func TestErrorsOfAHostOpenNoCircuit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"grumpy": func(context.Context) dispatcher.Answer { return dispatcher.Answer{Status: 503} },
		})
		n := w.start()
		for i := range 100 {
			w.put(fmt.Sprint("grumpy", i), 0, to("grumpy"))
		}
		w.pass(time.Second)
		for i := range 100 {
			w.wantCalls(fmt.Sprint("grumpy", i), 1)
		}
		n.end()
	})
}

// The setting of a namespace applies from the first event of a dispatcher on. A change applies after one refresh.
func TestANamespaceSetsItsCallsToAHost(t *testing.T) {
	inWorld(t, func(w *world) {
		var running, most atomic.Int64
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			return after(ctx, 50*time.Millisecond, 200)
		}
		w.settle(func(s *store.Settings) { s.HostConcurrency = 3 })
		for i := range 200 {
			w.put(fmt.Sprint("few", i), 0, to("host"))
		}
		n := w.start()
		w.pass(10 * time.Second)
		if most.Swap(0) != 3 {
			t.Errorf("the setting of 3 is not kept")
		}
		w.settle(func(s *store.Settings) { s.HostConcurrency = 100 })
		w.pass(40 * time.Second)
		for i := range 200 {
			w.wantStatus(fmt.Sprint("few", i), timer.StatusDone)
			w.put(fmt.Sprint("many", i), 0, to("host"))
		}
		w.pass(time.Second)
		if most.Load() != 100 {
			t.Errorf("%d calls at the same time after the change, want 100", most.Load())
		}
		n.end()
	})
}

// TestTargets: a namespace sees its calls and its waiting timers of each host, those with an open circuit first.
func TestTargets(t *testing.T) {
	inWorld(t, func(w *world) {
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"hangs": func(ctx context.Context) dispatcher.Answer { return after(ctx, 10*time.Second, 200) },
			"silent": func(context.Context) dispatcher.Answer {
				return dispatcher.Answer{Err: errors.New("connection refused")}
			},
		})
		w.settle(func(s *store.Settings) { s.HostConcurrency = 4 })
		n := w.start()
		if got := n.service.Targets("n", 10); len(got) != 0 {
			t.Errorf("before the first delivery: %+v", got)
		}
		for i := range 6 {
			w.put(fmt.Sprint("hangs", i), 0, to("hangs"))
		}
		for i := range 25 {
			w.put(fmt.Sprint("silent", i), 0, to("silent"))
		}
		w.put("brisk", 0, to("brisk"))
		w.pass(time.Second)
		want := []api.Target{
			{Target: "http://silent.test:80", Concurrency: 4, CircuitOpen: true},
			{Target: "http://hangs.test:80", Concurrency: 4, Running: 4, Waiting: 2},
			{Target: "http://brisk.test:80", Concurrency: 4},
		}
		got := n.service.Targets("n", 10)
		if !slices.Equal(got, want) {
			t.Errorf("targets %+v, want %+v", got, want)
		}
		if got := n.service.Targets("n", 1); !slices.Equal(got, want[:1]) {
			t.Errorf("the first target: %+v", got)
		}
		if got := n.service.Targets("other", 10); len(got) != 0 {
			t.Errorf("another namespace sees %+v", got)
		}
		n.end()
	})
}

func TestI7_WhoWaitedForItsHostIsCheckedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(400*time.Millisecond, 200)
		w.settle(func(s *store.Settings) { s.HostConcurrency = 1 })
		n := w.start()
		w.put("first", 0, to("host"))
		w.pass(50 * time.Millisecond)
		w.put("deleted", 0, to("host"))
		w.put("kept", 0, to("host"))
		w.pass(100 * time.Millisecond)
		w.wantCalls("deleted", 0)
		w.wantCalls("kept", 0)
		w.write(store.Delete{Ref: w.ref("deleted")})
		w.pass(2 * time.Second)
		w.wantCalls("deleted", 0)
		w.wantCalls("kept", 1)
		n.end()
	})
}

// TestI13_ARefusedRedeliveryIsCountedWhenItStarts: the refusal is no start. Its postponement causes a new event, which
// the bus delivers as a first delivery.
func TestI13_ARefusedRedeliveryIsCountedWhenItStarts(t *testing.T) {
	inWorld(t, func(w *world) {
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"hangs": func(ctx context.Context) dispatcher.Answer { return after(ctx, 20*time.Second, 200) },
			"brisk": func(context.Context) dispatcher.Answer { return dispatcher.Answer{Status: 200} },
		})
		w.settle(func(s *store.Settings) { s.HostConcurrency = 1 })
		again := true
		n := w.start(func(c *dispatcher.Config) {
			c.Redelivered = func(*bus.Delivery) bool { return again }
		})
		w.put("first", 0, to("hangs"))
		w.pass(50 * time.Millisecond)
		w.put("refused", 0, to("hangs"))
		for i := range 400 { // other hosts answer, so this host is silent and not the process paused
			w.put(fmt.Sprint("brisk", i), time.Duration(10*i)*time.Millisecond, to("brisk"))
		}
		w.pass(8 * time.Second)
		again = false
		w.pass(7 * time.Second)
		w.wantCalls("refused", 0)
		if now := w.wantStatus("refused", timer.StatusScheduled); now.Starts != 0 || !now.Revision.MaybeStarted() {
			t.Fatalf("%d starts are counted, and the revision says %t, want none and true", now.Starts, now.Revision.MaybeStarted())
		}
		for range 1800 {
			if len(w.called("refused")) > 0 {
				break
			}
			w.pass(100 * time.Millisecond)
		}
		w.wantCalls("refused", 1)
		if now := w.get("refused"); now.Starts != 1 {
			t.Fatalf("%d starts are counted when it has started, want 1", now.Starts)
		}
		w.pass(time.Minute)
		w.wantStatus("refused", timer.StatusDone)
		n.end()
	})
}

// TestI13_ARedeliveryThatAStopCancelsIsCountedWhenItStartsAgain: the stop subtracts the start, but the event after it is
// delivered for the first time, and must not hide the redelivery.
func TestI13_ARedeliveryThatAStopCancelsIsCountedWhenItStartsAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Hour, 200)
		redelivered := true
		n := w.start(func(c *dispatcher.Config) {
			c.Redelivered = func(*bus.Delivery) bool { return redelivered }
		})
		w.put("a", 0, func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout })
		w.pass(500 * time.Millisecond)
		if now := w.get("a"); now.Starts != 1 {
			t.Fatalf("%d starts are counted during the delivery, want 1", now.Starts)
		}
		n.end()
		now := w.wantStatus("a", timer.StatusScheduled)
		if now.Starts != 0 || !now.Revision.MaybeStarted() || now.Revision.Postponements() != 1 {
			t.Fatalf("%d starts are counted after the stop, and the revision says %t and %d postponements, want none, true and 1",
				now.Starts, now.Revision.MaybeStarted(), now.Revision.Postponements())
		}
		redelivered = false
		n = w.start()
		w.pass(500 * time.Millisecond)
		w.wantCalls("a", 2)
		if now := w.get("a"); now.Starts != 1 {
			t.Fatalf("%d starts are counted when it has started again, want 1", now.Starts)
		}
		n.end()
	})
}

// TestI13_APoisonTimerThatItsHostRefusesIsParked: after the first crash, two long calls have the permits of the host
// when the timer is delivered again. The postponement must not hide the first start.
func TestI13_APoisonTimerThatItsHostRefusesIsParked(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) { s.HostConcurrency = 2 })
		w.put("poison", 0, to("host"))
		w.put("long1", 500*time.Millisecond, to("host"))
		w.put("long2", 500*time.Millisecond, to("host"))
		for i := range 400 { // other hosts answer, so this host is silent and not the process paused
			w.put(fmt.Sprint("brisk", i), time.Duration(50*i)*time.Millisecond, to("brisk"))
		}
		w.poisoned(10*time.Minute, func(ctx context.Context, c call) dispatcher.Answer {
			if strings.HasPrefix(c.id, "long") {
				return after(ctx, 20*time.Second, 200)
			}
			return dispatcher.Answer{Status: 200}
		})
		w.wantStatus("poison", timer.StatusParked)
		w.wantCalls("poison", 6)
		for i, c := range w.called("poison") {
			if refused := c.timer.Revision.MaybeStarted(); refused != (i > 0) {
				t.Errorf("call %d: the host has refused the timer before: %t, want %t", i, refused, i > 0)
			}
		}
		for _, id := range []string{"long1", "long2", "brisk399"} {
			w.wantStatus(id, timer.StatusDone)
			w.wantCalls(id, 1)
		}
	})
}

// While one call tries whether a host answers again, a quarantined timer that calls the same host waits for the result, and no
// other delivery waits for the quarantined timer.
func TestI13_AQuarantinedTimerWhoseHostIsBeingTriedHoldsNobodyUp(t *testing.T) {
	for starts, redelivered := range map[int]bool{2: false, 1: true} {
		inWorld(t, func(w *world) {
			w.byHost(map[string]func(context.Context) dispatcher.Answer{
				"dead": func(ctx context.Context) dispatcher.Answer { return after(ctx, time.Hour, 200) },
			})
			n := w.start(func(c *dispatcher.Config) {
				c.CircuitAfter = 3
				c.Redelivered = func(*bus.Delivery) bool { return redelivered }
			})
			timeout := func(d time.Duration) func(*timer.Spec) {
				return func(s *timer.Spec) { to("dead")(s); s.CallbackTimeout, s.Retry.MaxAttempts = d, 1 }
			}
			for i := range 3 {
				w.put(fmt.Sprint("opens", i), 0, timeout(time.Second))
			}
			w.pass(12 * time.Second)
			w.put("tries", 0, timeout(time.Minute))
			w.pass(50 * time.Millisecond)
			w.wantCalls("tries", 1)
			w.put("suspect", 0, timeout(time.Minute))
			w.count("suspect", starts)
			for i := range 30 {
				w.put(fmt.Sprint("brisk", i), time.Duration(i)*time.Second, to("brisk"))
			}
			w.pass(32 * time.Second)
			for i := range 30 {
				id := fmt.Sprint("brisk", i)
				w.wantCalls(id, 1)
				if c := w.called(id)[0]; c.at.Sub(c.timer.ExecuteAt) > 50*time.Millisecond {
					t.Errorf("%d starts: %s was delivered %v late", starts, id, c.at.Sub(c.timer.ExecuteAt))
				}
			}
			w.wantCalls("suspect", 0)
			n.end()
		})
	}
}
