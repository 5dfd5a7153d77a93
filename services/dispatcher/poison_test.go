package dispatcher_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func (w *world) shardIDs() []shard.ID {
	var ids []shard.ID
	for _, s := range w.shards {
		ids = append(ids, s.Claim.Shard)
	}
	return ids
}

// poisoned runs one process at a time, and starts the next one when it was killed, until d has passed. The receiver of
// "poison" kills its caller; innocent answers the others.
func (w *world) poisoned(d time.Duration, innocent func(ctx context.Context, c call) dispatcher.Answer) {
	w.t.Helper()
	w.mu.Lock()
	w.answer = func(ctx context.Context, c call) dispatcher.Answer {
		if c.id == "poison" {
			c.node.kill()
			<-ctx.Done()
			return dispatcher.Answer{Err: ctx.Err()}
		}
		return innocent(ctx, c)
	}
	w.mu.Unlock()
	quick := func(c *dispatcher.Config) { c.Drain = time.Millisecond }
	n := w.start(quick)
	for end := timer.SystemClock().Add(d); timer.SystemClock() < end; w.pass(50 * time.Millisecond) {
		if n.dead() {
			<-n.done
			n = w.start(quick)
		}
	}
	n.end()
}

func TestI13_APoisonTimerIsParkedAndHarmsNobody(t *testing.T) {
	for name, takes := range map[string]time.Duration{
		"quick": 0, "short of a lease": 1500 * time.Millisecond, "leased": 10 * time.Second, "long": 2 * time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				const innocents = 30
				for i := range innocents {
					w.put(fmt.Sprint(i), time.Duration(i)*100*time.Millisecond, func(s *timer.Spec) {
						s.CallbackTimeout = timer.MaxCallbackTimeout
					})
				}
				w.put("poison", 500*time.Millisecond, nil)
				w.poisoned(20*time.Minute, func(ctx context.Context, _ call) dispatcher.Answer {
					return after(ctx, takes, 200)
				})
				parked := w.wantStatus("poison", timer.StatusParked)
				if parked.Starts != 5 || parked.LastError == "" {
					t.Errorf("parked: %+v", parked)
				}
				// Once as a first delivery, and five counted starts.
				if n := len(w.called("poison")); n != 6 {
					t.Errorf("poison was called %d times, want 6", n)
				}
				if got := w.events("poison"); !slices.Equal(got, []string{"parked"}) {
					t.Errorf("events %v", got)
				}
				left, err := w.store.Outbox(t.Context(), w.shardIDs(), timer.Never, 10)
				w.must(err)
				if len(left) != 0 {
					t.Errorf("still marked: %+v", left)
				}
				most := 0
				for i := range innocents {
					w.wantStatus(fmt.Sprint(i), timer.StatusDone)
					for _, c := range w.called(fmt.Sprint(i)) {
						most = max(most, c.timer.Starts)
					}
				}
				if most >= 4 {
					t.Errorf("an innocent was begun with %d starts", most)
				}
				t.Logf("an innocent had %d starts at most", most)
			})
		})
	}
}

// TestI13_QuarantinedTimersRunInGroups: groups get smaller with the number of starts, and other timers are not delayed. The last
// two starts are made alone.
func TestI13_QuarantinedTimersRunInGroups(t *testing.T) {
	const quarantined = 64
	for starts, c := range map[int]struct {
		redelivered bool
		group       int
		late        time.Duration // of other timers
	}{
		1: {redelivered: true, group: 32}, // grows when a quarantined timer has a result
		2: {group: 4},
		// The running deliveries end first, then the quarantined timer runs alone: twice 600 ms, and the time between deliveries.
		3: {group: 1, late: 1400 * time.Millisecond},
	} {
		t.Run(fmt.Sprint("after ", starts), func(t *testing.T) {
			inWorld(t, func(w *world) {
				running, others, most, beside, results := 0, 0, 0, 0, 0
				w.answer = func(ctx context.Context, c call) dispatcher.Answer {
					count := &others
					if strings.HasPrefix(c.id, "suspect") {
						count = &running
					}
					w.mu.Lock()
					*count++
					if results == 0 || starts > 1 {
						most = max(most, running)
					}
					if running > 0 {
						beside = max(beside, others)
					}
					w.mu.Unlock()
					a := after(ctx, 600*time.Millisecond, 200)
					w.mu.Lock()
					*count--
					if count == &running {
						results++
					}
					w.mu.Unlock()
					return a
				}
				n := w.start(func(cfg *dispatcher.Config) {
					cfg.Redelivered = func(*bus.Delivery) bool { return c.redelivered }
				})
				for i := range quarantined {
					id := fmt.Sprint("suspect", i)
					w.put(id, time.Second, nil)
					w.count(id, starts)
				}
				for i := range 20 {
					// Another host, because quarantined timers hold permits of theirs while their rows are read for the first time.
					w.put(fmt.Sprint("other", i), time.Second+time.Duration(i)*50*time.Millisecond, func(s *timer.Spec) {
						s.CallbackURL = "http://other.test/"
					})
				}
				w.pass(time.Second + time.Duration(quarantined/c.group)*1300*time.Millisecond)
				if most != c.group {
					t.Errorf("%d quarantined timers ran at once, want %d", most, c.group)
				}
				if alone := c.group == 1; alone != (beside == 0) {
					t.Errorf("%d other deliveries ran concurrently with quarantined timers", beside)
				}
				for i := range quarantined {
					w.wantStatus(fmt.Sprint("suspect", i), timer.StatusDone)
				}
				for i := range 20 {
					id := fmt.Sprint("other", i)
					w.wantCalls(id, 1)
					if c2 := w.called(id)[0]; c2.at.Sub(c2.timer.ExecuteAt) > c.late+50*time.Millisecond {
						t.Errorf("%s was delivered %v late, want at most %v", id, c2.at.Sub(c2.timer.ExecuteAt), c.late)
					}
				}
				n.end()
			})
		})
	}
}

func TestI13_ALongQuarantinedTimerHoldsNobodyUp(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, c call) dispatcher.Answer {
			if c.id[0] == 's' {
				return after(ctx, 20*time.Second, 200)
			}
			return dispatcher.Answer{Status: 200}
		}
		n := w.start()
		for _, id := range []string{"s1", "s2", "s3"} {
			w.put(id, 0, nil)
			w.count(id, 2)
		}
		w.put("other", time.Second, nil)
		w.pass(4 * time.Second)
		w.wantStatus("other", timer.StatusDone)
		w.pass(3 * time.Minute)
		for _, id := range []string{"s1", "s2", "s3"} {
			w.wantStatus(id, timer.StatusDone)
			w.wantCalls(id, 1)
		}
		n.end()
	})
}

func TestI13_QuarantinedTimersNearTheirLastStartAreApartFromEachOtherEvenLeased(t *testing.T) {
	for starts, want := range map[int]int{2: 3, 3: 1, 4: 1} {
		inWorld(t, func(w *world) {
			running, most := 0, 0
			w.answer = func(ctx context.Context, _ call) dispatcher.Answer {
				w.mu.Lock()
				running++
				most = max(most, running)
				w.mu.Unlock()
				a := after(ctx, 20*time.Second, 200)
				w.mu.Lock()
				running--
				w.mu.Unlock()
				return a
			}
			n := w.start()
			for _, id := range []string{"a", "b", "c"} {
				w.put(id, 0, nil)
				w.count(id, starts)
			}
			w.pass(3 * time.Minute)
			if most != want {
				t.Errorf("with %d starts, %d ran at once, want %d", starts, most, want)
			}
			for _, id := range []string{"a", "b", "c"} {
				w.wantStatus(id, timer.StatusDone)
			}
			n.end()
		})
	}
}

// count adds starts to a row.
func (w *world) count(id string, starts int) {
	w.t.Helper()
	for range starts {
		rows, err := w.store.Current(w.t.Context(), []store.Check{
			{Ref: w.ref(id), Revision: w.get(id).Revision, CountStart: true},
		})
		w.must(err)
		if !rows[0].Counted {
			w.t.Fatalf("%s was not counted", id)
		}
	}
}

func TestI13_EveryRowCheckParks(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		w.put("a", time.Second, nil)
		w.count("a", 5)
		w.pass(2 * time.Second)
		w.wantCalls("a", 0)
		w.wantStatus("a", timer.StatusParked)
		w.wantDepth(0)
		n.end()
	})
}

// TestI13_AnEventOfAParkedRowChangesNothing: the row waits for an operator.
func TestI13_AnEventOfAParkedRowChangesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		w.put("a", time.Second, nil)
		w.count("a", 5)
		w.pass(2 * time.Second)
		parked := w.wantStatus("a", timer.StatusParked)
		w.publish(store.DueRow{Ref: w.ref("a"), Revision: parked.Revision, Generation: parked.Generation, Attempt: 1})
		w.pass(2 * time.Second)
		if now := w.wantStatus("a", timer.StatusParked); now.Revision != parked.Revision || len(w.events("a")) != 1 {
			t.Errorf("the row was parked again: %+v, events %v", now, w.events("a"))
		}
		w.wantCalls("a", 0)
		n.end()
	})
}

func TestI13_AResultResetsTheCount(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 500} }
		n := w.start()
		w.put("a", time.Second, nil)
		w.count("a", 4)
		w.pass(2 * time.Second)
		w.wantCalls("a", 1)
		if now := w.wantStatus("a", timer.StatusRetrying); now.Starts != 0 {
			t.Fatalf("after a result: %+v", now)
		}
		n.end()
	})
}

func TestI13_ARedeliveryIsCountedOnceAndItsLeaseNotAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(8*time.Second, 200)
		n := w.start()
		w.put("a", 0, nil)
		w.pass(time.Second)
		n.kill()
		other := w.start()
		w.pass(7 * time.Second)
		w.wantCalls("a", 2)
		if now := w.get("a"); now.Starts != 1 {
			t.Fatalf("begun again: %+v", now)
		}
		w.pass(2 * time.Second)
		if now := w.get("a"); now.Starts != 1 || w.depth() != 0 {
			t.Fatalf("leased: %+v", now)
		}
		w.pass(20 * time.Second)
		w.wantStatus("a", timer.StatusDone)
		other.end()
		<-n.done
	})
}

func TestI13_ACountWhoseAnswerIsLostIsNotRepeated(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Second, 200)
		n := w.start(func(c *dispatcher.Config) { c.Redelivered = func(*bus.Delivery) bool { return true } })
		lost := 0
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op == "current" && n.store.asked() > 0 && lost < 3 {
				lost++
				return store.ErrOutcomeUnknown
			}
			return nil
		})
		w.put("a", 0, nil)
		w.pass(900 * time.Millisecond)
		if now := w.get("a"); now.Starts != 1 || lost != 3 {
			t.Fatalf("%d starts after %d lost answers, want 1 after 3", now.Starts, lost)
		}
		w.wantCalls("a", 1)
		w.pass(time.Second)
		w.wantStatus("a", timer.StatusDone)
		n.end()
	})
}

func TestI13_ACountWhoseAnswerWasLostIsNotRepeatedByTheLease(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(5*time.Second, 200)
		n := w.start(func(c *dispatcher.Config) { c.Redelivered = func(*bus.Delivery) bool { return true } })
		lost := false
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op == "current" && n.store.asked() == 1 && !lost {
				lost = true
				return store.ErrOutcomeUnknown
			}
			return nil
		})
		w.put("a", 0, nil)
		w.pass(3 * time.Second)
		if now := w.get("a"); !lost || now.Starts != 1 {
			t.Fatalf("%d starts are counted (an answer was lost: %t), want the one there was", now.Starts, lost)
		}
		w.pass(3 * time.Second)
		w.wantStatus("a", timer.StatusDone)
		n.end()
	})
}
