package dispatcher_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func (f *faulty) GetFlow(ctx context.Context, key store.FlowKey) (out store.Flow, err error) {
	err = f.around("flow", nil, func() (err error) { out, err = f.Store.GetFlow(ctx, key); return err })
	return out, err
}

func (f *faulty) SwapFlow(ctx context.Context, from int64, flow store.Flow) error {
	return f.around("flow", nil, func() error { return f.Store.SwapFlow(ctx, from, flow) })
}

// limitFlows sets the flow limits of the namespace.
func (w *world) limitFlows(limits ...timer.FlowLimit) {
	w.t.Helper()
	text, err := timer.NewFlowLimits(limits)
	w.must(err)
	w.settle(func(s *store.Settings) { s.Flows = text })
}

func inFlow(key string) func(*timer.Spec) { return func(s *timer.Spec) { s.FlowKey = key } }

// times returns when the receiver was called for timers whose ids begin with prefix, in order.
func (w *world) times(prefix string) []timer.Millis {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []timer.Millis
	for _, c := range w.calls {
		if len(c.id) >= len(prefix) && c.id[:len(prefix)] == prefix {
			all = append(all, c.at)
		}
	}
	slices.Sort(all)
	return all
}

// mostIn returns the largest number of times in a window of the length per.
func mostIn(times []timer.Millis, per time.Duration) int {
	largest, from := 0, 0
	for i, at := range times {
		for at.Sub(times[from]) >= per {
			from++
		}
		largest = max(largest, i-from+1)
	}
	return largest
}

// TestI21_ARateIsNeverExceeded: two dispatchers deliver a backlog of one flow, one of them is killed and replaced.
func TestI21_ARateIsNeverExceeded(t *testing.T) {
	for _, rate := range []timer.FlowRate{{Count: 20, Per: time.Second, Burst: 1}, {Count: 100, Per: 10 * time.Second, Burst: 5}} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.limitFlows(timer.FlowLimit{Pattern: "tenant-*", Rate: rate})
				w.answer = answerAfter(30*time.Millisecond, 200)
				a, metric := w.metered()
				b := w.start()
				const timers = 500
				for i := range timers {
					w.put(fmt.Sprint("a", i), time.Second, inFlow("tenant-1"))
				}
				due := timer.SystemClock().Add(time.Second)
				needed := time.Duration(timers/rate.Count) * rate.Per
				w.pass(needed / 3)
				b.kill()
				w.pass(2 * time.Second)
				c := w.start()
				w.pass(needed*2/3 + needed/9 + 12*time.Second)
				times := w.times("a")
				if got := mostIn(times, rate.Per); got > rate.Count+rate.Burst-1 {
					t.Errorf("%d calls in a window of %v, want at most %d", got, rate.Per, rate.Count+rate.Burst-1)
				}
				// Nine tenths of the limit, except for 2 s after the kill. The last timers may wait a little longer.
				share := timers * 95 / 100
				if took := times[share-1].Sub(due); took > time.Duration(share)*rate.Per/time.Duration(rate.Count)*10/9+2*time.Second {
					t.Errorf("%d calls in %v, which is too slow for %+v", share, took, rate)
				}
				delivered := map[string]bool{}
				for _, call := range w.calls {
					delivered[call.id] = true
					if call.timer.Attempts != 0 {
						t.Errorf("%s used %d attempts while it waited", call.id, call.timer.Attempts)
					}
				}
				if len(delivered) < timers {
					t.Errorf("%d of %d timers were called", len(delivered), timers)
				}
				_, postponed := metric("postponed_total")
				_, requests := metric("flow_requests_total")
				t.Logf("%d calls, %v postponements and %v requests of one process", len(times), postponed, requests)
				if postponed > 2.5*timers {
					t.Errorf("%v postponements of %d timers", postponed, timers)
				}
				a.end()
				c.end()
			})
		})
	}
}

// TestI21_AConcurrencyIsNeverExceeded: two dispatchers deliver a backlog of one flow, one of them is killed. Its permits return within 5 s.
func TestI21_AConcurrencyIsNeverExceeded(t *testing.T) {
	for _, took := range []time.Duration{200 * time.Millisecond, 3 * time.Second} {
		t.Run(took.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				const limit = 4
				w.limitFlows(timer.FlowLimit{Pattern: "*", Concurrency: limit})
				var running, most atomic.Int64
				w.answer = func(ctx context.Context, c call) dispatcher.Answer {
					now := running.Add(1)
					defer running.Add(-1)
					most.Store(max(most.Load(), now))
					select {
					case <-c.node.killed:
						return dispatcher.Answer{Err: context.Canceled}
					case <-time.After(took):
						return dispatcher.Answer{Status: 200}
					case <-ctx.Done():
						return dispatcher.Answer{Err: ctx.Err()}
					}
				}
				a, b := w.start(), w.start()
				const timers = 200
				for i := range timers {
					w.put(fmt.Sprint("a", i), time.Second, inFlow("tenant-1"))
				}
				needed := timers / limit * took
				w.pass(time.Second + needed/3)
				before := len(w.times("a"))
				b.kill()
				w.pass(5 * time.Second)
				if took < time.Second {
					if got := int(running.Load()); got != limit {
						t.Errorf("%d calls are running 5 s after a dispatcher was killed, want %d", got, limit)
					}
				}
				w.pass(needed*2/3 + needed/9 + 3*time.Second)
				if got := most.Load(); got > limit {
					t.Errorf("%d calls at the same time, want at most %d", got, limit)
				}
				done := 0
				for i := range timers {
					if got := w.get(fmt.Sprint("a", i)); got.Status == timer.StatusDone {
						done++
					} else if got.Attempts != 0 {
						t.Errorf("%s used %d attempts while it waited", got.ID, got.Attempts)
					}
				}
				if done < timers {
					t.Errorf("%d of %d timers are done, %d were called before the kill", done, timers, before)
				}
				a.end()
			})
		})
	}
}

// TestI21_PermitsThatAreNotRenewedEndTheirCalls: a dispatcher that cannot renew its permits has no call when they end.
func TestI21_PermitsThatAreNotRenewedEndTheirCalls(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Concurrency: 1})
		var running atomic.Int64
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer {
			running.Add(1)
			defer running.Add(-1)
			return after(ctx, time.Minute, 200)
		}
		n := w.start()
		w.put("a", 0, func(s *timer.Spec) { s.FlowKey, s.CallbackTimeout = "k", 2*time.Minute })
		w.pass(30 * time.Second)
		if running.Load() != 1 {
			t.Fatal("the call does not run")
		}
		n.store.set(func(op string, _ []store.Finish) error {
			if op == "flow" {
				return store.ErrUnavailable
			}
			return nil
		}, nil)
		w.pass(4 * time.Second)
		if running.Load() != 0 {
			t.Error("the call runs although its permit has ended")
		}
		n.store.set(nil, nil)
		w.pass(80 * time.Second)
		if got := w.wantStatus("a", timer.StatusDone); got.Attempts != 1 {
			t.Errorf("%d attempts, want 1", got.Attempts)
		}
		n.end()
	})
}

// TestI21_OldestPlannedTimesFirst: of a backlog, timers are called in the order of their planned times.
func TestI21_OldestPlannedTimesFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 1}})
		const timers = 300
		for i := range timers {
			w.put(fmt.Sprintf("a%03d", i), time.Duration(i)*5*time.Millisecond, inFlow("k"))
		}
		n := w.start()
		w.pass(36 * time.Second)
		if len(w.calls) != timers {
			t.Fatalf("%d calls, want %d", len(w.calls), timers)
		}
		largest := 0
		for at, c := range w.calls {
			var planned int
			_, _ = fmt.Sscanf(c.id, "a%d", &planned)
			largest = max(largest, planned-at, at-planned)
		}
		t.Logf("a timer was called at most %d places from its place by planned time", largest)
		if largest > 50 {
			t.Errorf("a timer was called %d places from its place by planned time, want at most 50", largest)
		}
		n.end()
	})
}

// TestI21_OtherTimersDoNotWaitForASaturatedFlow compares the lateness of timers without a flow key.
func TestI21_OtherTimersDoNotWaitForASaturatedFlow(t *testing.T) {
	lateness := func(saturated bool) (sum time.Duration) {
		inWorld(t, func(w *world) {
			w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 1}, Concurrency: 3})
			n := w.start()
			if saturated {
				for i := range 3000 {
					w.put(fmt.Sprint("flow", i), time.Duration(i)*time.Millisecond, inFlow("k"))
				}
			}
			planned := map[string]timer.Millis{}
			for i := range 500 {
				id := fmt.Sprint("other", i)
				planned[id] = w.put(id, time.Duration(i)*10*time.Millisecond, nil).ExecuteAt
			}
			w.pass(6 * time.Second)
			for _, c := range w.calls {
				if at, ok := planned[c.id]; ok {
					sum += c.at.Sub(at)
					delete(planned, c.id)
				}
			}
			if len(planned) > 0 {
				t.Errorf("%d timers without a flow key were not called", len(planned))
			}
			n.end()
		})
		return sum / 500
	}
	alone, beside := lateness(false), lateness(true)
	t.Logf("mean lateness %v, beside a saturated flow %v", alone, beside)
	if beside > alone+alone/10+time.Millisecond {
		t.Errorf("mean lateness %v beside a saturated flow, %v without", beside, alone)
	}
}

// TestAFlowWithoutALimitIsNotLimited: a limit that was removed does not apply to existing timers.
func TestAFlowWithoutALimitIsNotLimited(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "other", Concurrency: 1})
		n := w.start()
		for i := range 20 {
			w.put(fmt.Sprint(i), 0, inFlow("k"))
		}
		w.pass(time.Second)
		for i := range 20 {
			w.wantStatus(fmt.Sprint(i), timer.StatusDone)
		}
		n.end()
	})
}

// TestAnUnusedFlowLeavesNoState: the state of a flow is removed when it is no longer used.
func TestAnUnusedFlowLeavesNoState(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 2}, Concurrency: 2})
		n := w.start()
		for i := range 20 {
			w.put(fmt.Sprint(i), 0, inFlow("k"))
		}
		w.pass(10 * time.Second)
		for i := range 20 {
			w.wantStatus(fmt.Sprint(i), timer.StatusDone)
		}
		flows, err := w.store.ListFlows(t.Context(), "n", "", 10)
		if err != nil || len(flows) != 0 {
			t.Errorf("flows %v, %v, want none", flows, err)
		}
		n.end()
	})
}

// TestI21_ANewLimitAppliesToItsTimers: a dispatcher whose settings are older than a limit reads them.
func TestI21_ANewLimitAppliesToItsTimers(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		w.pass(time.Second)
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 2, Per: time.Second, Burst: 1}})
		for i := range 20 {
			w.put(fmt.Sprint("a", i), 0, inFlow("k"))
		}
		w.pass(3 * time.Second)
		if got := len(w.times("a")); got < 5 || got > 7 {
			t.Errorf("%d calls in 3 s, want 6", got)
		}
		n.end()
	})
}

// slowly makes the calls of a store take a random time of at most most, seldom ten times as long.
func (w *world) slowly(n *node, most time.Duration) {
	n.store.set(func(string, []store.Finish) error {
		wait := time.Duration(w.random() % uint64(most))
		if w.random()%100 == 0 {
			wait *= 10
		}
		time.Sleep(wait)
		return nil
	}, nil)
}

// TestI21_ASlowStoreExceedsNoLimit: slots and permits may end between the row check and the request.
func TestI21_ASlowStoreExceedsNoLimit(t *testing.T) {
	const most = 20 * time.Millisecond
	for _, redelivered := range []bool{false, true} {
		t.Run(fmt.Sprint("redelivered=", redelivered), func(t *testing.T) {
			inWorld(t, func(w *world) {
				rate := timer.FlowRate{Count: 60, Per: 2 * time.Second, Burst: 1}
				w.limitFlows(timer.FlowLimit{Pattern: "rate", Rate: rate}, timer.FlowLimit{Pattern: "conc", Concurrency: 4})
				const took = 500 * time.Millisecond
				var running, largest atomic.Int64
				w.answer = func(ctx context.Context, c call) dispatcher.Answer {
					if c.timer.FlowKey != "conc" {
						return dispatcher.Answer{Status: 200}
					}
					now := running.Add(1)
					defer running.Add(-1)
					largest.Store(max(largest.Load(), now))
					return after(ctx, took, 200)
				}
				var nodes []*node
				for range 2 {
					n := w.start(func(c *dispatcher.Config) { c.Redelivered = func(*bus.Delivery) bool { return redelivered } })
					w.slowly(n, most)
					nodes = append(nodes, n)
				}
				const timers, calls = 600, 160 // 20 s each
				for i := range timers {
					w.put(fmt.Sprint("rate", i), time.Second, inFlow("rate"))
					if i < calls {
						w.put(fmt.Sprint("conc", i), time.Second, inFlow("conc"))
					}
				}
				due := timer.SystemClock().Add(time.Second)
				w.pass(40 * time.Second)
				times, conc := w.times("rate"), w.times("conc")
				if got := mostIn(times, rate.Per); got > rate.Count {
					t.Errorf("%d calls in a window of %v, want at most %d", got, rate.Per, rate.Count)
				}
				if got := largest.Load(); got > 4 {
					t.Errorf("%d calls at the same time, want at most 4", got)
				}
				if len(times) < timers || len(conc) < calls {
					t.Fatalf("%d and %d calls", len(times), len(conc))
				}
				t.Logf("rate: %.1f %%, concurrency: %.1f %% of the limit", 100*20/times[timers*95/100-1].Sub(due).Seconds()*.95,
					100*20/conc[calls-1].Sub(due).Seconds())
				for _, n := range nodes {
					n.end()
				}
			})
		})
	}
}

// delayChecks makes the answers to reads that count a start take d: for redelivered events, these are the row checks.
func (n *node) delayChecks(d time.Duration, fails func(op string) error) {
	counted := 0
	n.store.set(func(op string, _ []store.Finish) error { return fails(op) }, func(op string, _ []store.Finish) error {
		n.store.mu.Lock()
		counts := n.store.counts
		n.store.mu.Unlock()
		if op == "current" && counts > counted {
			counted = counts
			time.Sleep(d)
		}
		return nil
	})
}

func fromQueueAgain(c *dispatcher.Config) { c.Redelivered = func(*bus.Delivery) bool { return true } }

// TestI21_ASlotThatEndsBeforeTheRequestIsNotUsed: the second read of the row takes longer than the slot lasts.
func TestI21_ASlotThatEndsBeforeTheRequestIsNotUsed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 2, Per: time.Second, Burst: 1}}) // the tolerance is 50 ms
		n := w.start(fromQueueAgain)
		n.delayChecks(200*time.Millisecond, func(string) error { return nil })
		w.put("a", 0, inFlow("k"))
		w.pass(900 * time.Millisecond)
		w.wantCalls("a", 0)
		n.store.set(nil, nil)
		w.pass(4 * time.Second)
		w.wantCalls("a", 1)
		if got := w.called("a")[0].timer; got.Attempts != 0 || got.Starts > 1 {
			t.Errorf("%d attempts and %d starts before the call", got.Attempts, got.Starts)
		}
		n.end()
	})
}

// TestI21_APermitThatEndsBeforeTheRequestIsNotUsed: while a row is read for the second time, the permit ends, and another dispatcher
// leases it.
func TestI21_APermitThatEndsBeforeTheRequestIsNotUsed(t *testing.T) {
	for name, renewed := range map[string]bool{"not renewed": false, "renewed later": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.limitFlows(timer.FlowLimit{Pattern: "*", Concurrency: 1})
				var running, most atomic.Int64
				w.answer = func(ctx context.Context, _ call) dispatcher.Answer {
					most.Store(max(most.Load(), running.Add(1)))
					defer running.Add(-1)
					return after(ctx, 20*time.Second, 200)
				}
				a := w.start(fromQueueAgain)
				began := timer.SystemClock()
				a.delayChecks(8*time.Second, func(op string) error {
					since := timer.SystemClock().Sub(began)
					if op == "flow" && since > 500*time.Millisecond && (since < 6*time.Second || !renewed) {
						return store.ErrUnavailable
					}
					return nil
				})
				w.put("a", 0, inFlow("k"))
				w.pass(time.Second)
				b := w.start(fromQueueAgain)
				w.put("b", 0, inFlow("k"))
				w.pass(18 * time.Second)
				if got := most.Load(); got != 1 {
					t.Errorf("%d calls at the same time, want 1", got)
				}
				w.wantCalls("b", 1)
				a.end()
				b.end()
			})
		})
	}
}

// TestI21_CallsWithoutPermitsEndWhileTheClockIsUncertain: permits cannot be renewed then.
func TestI21_CallsWithoutPermitsEndWhileTheClockIsUncertain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Concurrency: 1})
		var running atomic.Int64
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer {
			running.Add(1)
			defer running.Add(-1)
			return after(ctx, time.Minute, 200)
		}
		n, clocks := w.startClocked()
		w.put("a", 0, func(s *timer.Spec) { s.FlowKey, s.CallbackTimeout = "k", 2*time.Minute })
		w.pass(10 * time.Second)
		if running.Load() != 1 {
			t.Fatal("the call does not run")
		}
		clocks.SetAway(true)
		clocks.Set(faultstore.Ahead{Monotonic: time.Minute})
		w.pass(4 * time.Second)
		if running.Load() != 0 {
			t.Error("the call runs although its permit has ended")
		}
		clocks.SetAway(false)
		n.end()
	})
}

// TestSaturatedDispatchersSharePermits: the second one gets its share although the first one always has timers that wait.
func TestSaturatedDispatchersSharePermits(t *testing.T) {
	inWorld(t, func(w *world) {
		const limit = 4
		w.limitFlows(timer.FlowLimit{Pattern: "*", Concurrency: limit})
		w.answer = answerAfter(500*time.Millisecond, 200)
		a := w.start()
		for i := range 200 {
			w.put(fmt.Sprint("a", i), 0, inFlow("k"))
		}
		w.pass(3 * time.Second)
		b := w.start()
		for i := range 40 {
			w.put(fmt.Sprint("b", i), 0, inFlow("k"))
		}
		w.pass(12 * time.Second)
		of := map[*node]int{}
		since := timer.SystemClock().Add(-4 * time.Second)
		for _, c := range w.calls {
			if c.at >= since {
				of[c.node]++
			}
		}
		if all := of[a] + of[b]; of[b] < 12 || of[a] < 12 || all < 28 {
			t.Errorf("%d and %d calls of the two dispatchers in 4 s, want about 16 each", of[a], of[b])
		}
		a.end()
		b.end()
	})
}

// TestI21_SlowConnectionsStopNoFlow: connections take longer than slots last, so slots are requested that last longer.
func TestI21_SlowConnectionsStopNoFlow(t *testing.T) {
	for _, timers := range []int{1, 40} {
		t.Run(fmt.Sprint(timers), func(t *testing.T) {
			inWorld(t, func(w *world) {
				rate := timer.FlowRate{Count: 4, Per: 2 * time.Second, Burst: 1} // the tolerance is 100 ms
				w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: rate})
				w.connect = 700 * time.Millisecond
				n := w.start()
				for i := range timers {
					w.put(fmt.Sprint("a", i), 0, inFlow("k"))
				}
				w.pass(10*time.Second + time.Duration(timers)*time.Second)
				for i := range timers {
					w.wantStatus(fmt.Sprint("a", i), timer.StatusDone)
				}
				if got := mostIn(w.times("a"), rate.Per); got > rate.Count {
					t.Errorf("%d calls in a window of %v, want at most %d", got, rate.Per, rate.Count)
				}
				n.end()
			})
		})
	}
}

// TestI21_AQuarantinedTimerOfAQuietFlowIsDelivered: nothing else requests slots and permits of its flow.
func TestI21_AQuarantinedTimerOfAQuietFlowIsDelivered(t *testing.T) {
	for name, limit := range map[string]timer.FlowLimit{
		"rate":        {Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 1}},
		"concurrency": {Pattern: "*", Concurrency: 4},
		"both":        {Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Minute, Burst: 1}, Concurrency: 1},
	} {
		for _, starts := range []int{1, 4} { // 4: it runs isolated
			t.Run(fmt.Sprint(name, starts), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.limitFlows(limit)
					made := w.put("a", 0, inFlow("k"))
					for range starts { // as after a kill
						_, err := w.store.Current(t.Context(), []store.Check{{Ref: w.ref("a"), DueAt: made.DueAt, Revision: made.Revision, CountStart: true}})
						w.must(err)
					}
					var once atomic.Bool
					n, metric := w.metered(func(c *dispatcher.Config) {
						c.Redelivered = func(*bus.Delivery) bool { return once.CompareAndSwap(false, true) }
					})
					for i := range 20 {
						w.put(fmt.Sprint("other", i), time.Duration(i)*100*time.Millisecond, nil)
					}
					w.pass(5 * time.Second)
					w.wantStatus("a", timer.StatusDone)
					if _, postponed := metric("postponed_total"); postponed > 0 {
						t.Errorf("%v postponements", postponed)
					}
					n.end()
				})
			})
		}
	}
}

// TestI15_AStepBackStopsNoFlow: a busy flow goes on when the store's clock is set back.
func TestI15_AStepBackStopsNoFlow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 1}})
		n, clocks := w.startClocked()
		clocks.Set(faultstore.Ahead{Store: 10 * time.Minute})
		w.pass(10 * time.Second)
		for i := range 900 {
			w.put(fmt.Sprint("a", i), time.Duration(i)*100*time.Millisecond, inFlow("k"))
		}
		w.pass(10 * time.Second)
		clocks.Set(faultstore.Ahead{})
		w.pass(10 * time.Second)
		before := len(w.times("a"))
		w.pass(20 * time.Second)
		if got := len(w.times("a")) - before; got < 150 {
			t.Errorf("%d calls in 20 s after the step, want almost 190", got)
		}
		n.end()
	})
}

// TestI21_A401WithoutASlotUsesNoAttempt: the repetition with a new token needs a slot of its own, and is made later.
func TestI21_A401WithoutASlotUsesNoAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 1}})
		i := &identity{}
		n := w.authenticated(i)
		once := func(s *timer.Spec) { s.FlowKey, s.Retry.MaxAttempts = "k", 1 }
		w.put("first", 0, once)
		w.pass(time.Minute)
		i.set(func() { i.revoked = 1 })
		w.put("a", 0, once)
		w.pass(10 * time.Second)
		if got := w.wantStatus("a", timer.StatusDone); got.Attempts != 1 {
			t.Errorf("%d attempts, want 1", got.Attempts)
		}
		i.wantSent(t, "a", "Bearer t1", "Bearer t2")
		// A receiver that refuses every token gets the timer no more often than its attempts allow.
		i.set(func() { i.deny = true })
		w.pass(time.Minute)
		w.put("denied", 0, once)
		w.pass(time.Minute)
		w.wantStatus("denied", timer.StatusDead)
		n.end()
	})
}

// TestI21_AFlowAndItsHostAreBothSaturated: a timer whose turn in its flow has come keeps it while it waits for its host, and its place at the
// host while its flow has no slot. So the flow is delivered, and rows are not read again and again.
func TestI21_AFlowAndItsHostAreBothSaturated(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 1}})
		w.settle(func(s *store.Settings) { s.HostConcurrency = 4 })
		w.answer = answerAfter(200*time.Millisecond, 200)
		n, metric := w.metered()
		w.slowly(n, 4*time.Millisecond)
		same := func(s *timer.Spec) { s.CallbackURL = "http://one.test/" }
		// The host serves 20 a second. 18 a second arrive without a flow, and 4 a second with one.
		for i := range 40 * 18 {
			w.put(fmt.Sprint("other", i), time.Duration(i)*time.Second/18, same)
		}
		for i := range 40 * 4 {
			w.put(fmt.Sprint("flow", i), time.Duration(i)*time.Second/4, func(s *timer.Spec) { same(s); s.FlowKey = "k" })
		}
		w.pass(20 * time.Second)
		before := len(w.times("flow"))
		w.pass(20 * time.Second)
		flows, calls := len(w.times("flow"))-before, len(w.times(""))
		_, read := metric("rows_read_total")
		t.Logf("%d calls of the flow in the second half, %d calls, %v rows read", flows, calls, read)
		if flows < 40 {
			t.Errorf("%d calls of the flow in 20 s, want at least 40", flows)
		}
		if read > 2*float64(calls) {
			t.Errorf("%v rows read for %d calls", read, calls)
		}
		n.end()
	})
}

// TestAnIdleFlowCostsNoRequests: also if the state of its rate must remain for hours. Another process removes it after them.
func TestAnIdleFlowCostsNoRequests(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: 24 * time.Hour, Burst: 1}, Concurrency: 2})
		n := w.start()
		var requests atomic.Int64
		n.store.set(func(op string, _ []store.Finish) error {
			if op == "flow" {
				requests.Add(1)
			}
			return nil
		}, nil)
		for i := range 100 {
			w.put(fmt.Sprint("a", i), 0, inFlow(fmt.Sprint("k", i)))
		}
		w.pass(5 * time.Second)
		if got := len(w.times("a")); got != 100 {
			t.Fatalf("%d calls", got)
		}
		before := requests.Load()
		w.pass(time.Minute)
		if got := requests.Load() - before; got > 0 {
			t.Errorf("%d requests in a minute for 100 idle flows", got)
		}
		n.kill()
		next := w.start()
		w.pass(30 * time.Hour)
		flows, err := w.store.ListFlows(t.Context(), "n", "", 1000)
		if err != nil || len(flows) > 0 {
			t.Errorf("%d states remain, %v", len(flows), err)
		}
		next.end()
	})
}

// TestI21_ARepeatedRequestNeedsAnotherSlot: the transport repeats a request if its idle connection was closed.
func TestI21_ARepeatedRequestNeedsAnotherSlot(t *testing.T) {
	inWorld(t, func(w *world) {
		const count = 10
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: count, Per: time.Second, Burst: 1}})
		w.repeats = 1
		n := w.start()
		for i := range 100 {
			w.put(fmt.Sprint("a", i), 0, inFlow("k"))
		}
		w.pass(5 * time.Second)
		if got := mostIn(w.times("a"), time.Second); got > count {
			t.Errorf("%d requests in a second, want at most %d", got, count)
		}
		n.end()
	})
}

// TestI21_OtherTimersDoNotWaitWhileFlowRequestsFail: the rest of the store works.
func TestI21_OtherTimersDoNotWaitWhileFlowRequestsFail(t *testing.T) {
	inWorld(t, func(w *world) {
		w.limitFlows(timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 1}})
		n, metric := w.metered()
		fail := func(op string, _ []store.Finish) error {
			if op == "flow" {
				return store.ErrUnavailable
			}
			return nil
		}
		n.store.set(fail, nil)
		for i := range 3000 {
			w.put(fmt.Sprint("flow", i), time.Duration(i)*time.Millisecond, inFlow(fmt.Sprint("k", i%5)))
		}
		planned := map[string]timer.Millis{}
		for i := range 500 {
			id := fmt.Sprint("other", i)
			planned[id] = w.put(id, time.Duration(i)*20*time.Millisecond, nil).ExecuteAt
		}
		w.pass(30 * time.Second)
		var worst time.Duration
		for id, at := range planned {
			if calls := w.called(id); len(calls) == 0 {
				t.Errorf("%s was not called", id)
			} else {
				worst = max(worst, calls[0].at.Sub(at))
			}
		}
		_, requests := metric("flow_requests_total")
		t.Logf("others are at most %v late, %v requests", worst, requests)
		if worst > time.Second {
			t.Errorf("other timers were %v late", worst)
		}
		if requests > 100 {
			t.Errorf("%v requests in 30 s for 5 flows", requests)
		}
		n.store.set(nil, nil)
		w.pass(20 * time.Second)
		if got := len(w.times("flow")); got < 500 {
			t.Errorf("%d calls of flows in 20 s after the failure, want almost 950", got)
		}
		n.end()
	})
}
