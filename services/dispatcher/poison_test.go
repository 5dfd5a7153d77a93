package dispatcher_test

import (
	"context"
	"fmt"
	"slices"
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

// poisoned runs one process at a time, and starts another when it was killed, until d has passed. The
// receiver of "poison" kills its caller; the others take as long as innocent says.
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
				w.poisoned(12*time.Minute, func(ctx context.Context, _ call) dispatcher.Answer {
					return after(ctx, takes, 200)
				})
				parked := w.wantStatus("poison", timer.StatusParked)
				if parked.Starts != 5 || parked.LastError == "" {
					t.Errorf("parked: %+v", parked)
				}
				// Once as a first delivery, and five counted.
				if n := len(w.called("poison")); n != 6 {
					t.Errorf("poison was called %d times, want 6", n)
				}
				if got := w.events("poison"); !slices.Equal(got, []string{"parked"}) {
					t.Errorf("events %v", got)
				}
				left, err := w.store.Unannounced(t.Context(), w.shardIDs(), timer.Never, 10)
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

func TestI13_ASuspectIsDeliveredApart(t *testing.T) {
	inWorld(t, func(w *world) {
		running, most := map[string]bool{}, 0
		w.answer = func(ctx context.Context, c call) dispatcher.Answer {
			w.mu.Lock()
			running[c.id] = true
			if running["suspect"] {
				most = max(most, len(running))
			}
			w.mu.Unlock()
			a := after(ctx, time.Second, 200)
			w.mu.Lock()
			delete(running, c.id)
			w.mu.Unlock()
			return a
		}
		n := w.start()
		for i := range 20 {
			w.put(fmt.Sprint(i), time.Duration(i)*200*time.Millisecond, nil)
		}
		w.put("suspect", time.Second, nil)
		w.count("suspect", 2)
		w.pass(30 * time.Second)
		if most != 1 {
			t.Fatalf("%d deliveries at once with the suspect, want it alone", most)
		}
		for i := range 20 {
			w.wantStatus(fmt.Sprint(i), timer.StatusDone)
		}
		w.wantStatus("suspect", timer.StatusDone)
		n.end()
	})
}

func TestI13_ALongSuspectHoldsNobodyUp(t *testing.T) {
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

func TestI13_SuspectsNearTheirLastStartAreApartFromEachOtherEvenLeased(t *testing.T) {
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
		if w.depth() != 0 {
			t.Fatal("the message is not acknowledged")
		}
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
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, 8*time.Second, 200) }
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
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, time.Second, 200) }
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
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, 5*time.Second, 200) }
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
