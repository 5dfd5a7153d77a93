package dispatcher_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestARowThatTheStoreRefusesDelaysNoOther: the other rows of the batch are delivered on time, and this row when the
// store serves its shard again.
func TestARowThatTheStoreRefusesDelaysNoOther(t *testing.T) {
	for _, op := range []string{"current", "finish"} {
		t.Run(op, func(t *testing.T) {
			inWorld(t, func(w *world) {
				n := w.start()
				n.store.refuse(op, w.ref("hot"), fmt.Errorf("its shard is hot: %w", store.ErrUnavailable))
				due := timer.SystemClock().Add(time.Second)
				var cool []string
				for i := range 20 { // some are in one batch with "hot"
					cool = append(cool, fmt.Sprint("cool ", i))
				}
				for _, id := range append(cool, "hot") {
					w.put(id, time.Second, nil)
				}
				w.pass(2 * time.Second)
				for _, id := range cool {
					w.wantStatus(id, timer.StatusDone)
					w.wantCalls(id, 1)
				}
				w.pass(time.Second) // shorter than AckWait, so that the message is not redelivered, and no start
				n.store.refuse("", store.Ref{}, nil)
				w.pass(4 * time.Second)
				w.wantStatus("hot", timer.StatusDone)
				w.wantCalls("hot", 1)
				for _, c := range w.calls {
					if late := c.at.Sub(due); c.id != "hot" && late > 100*time.Millisecond {
						t.Errorf("%s was called %v late", c.id, late)
					}
				}
				n.end()
			})
		})
	}
}

// TestI13_ACountWhoseAnswerWasLostIsNotMadeAgain, also if the answer was lost for only one of several rows.
func TestI13_ACountWhoseAnswerWasLostIsNotMadeAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		put := w.put("a", time.Second, nil)
		check := store.Check{Ref: w.ref("a"), DueAt: put.DueAt, Revision: put.Revision, CountStart: true}
		for range 2 { // a quarantined timer: every start is counted
			_, err := w.store.Current(t.Context(), []store.Check{check})
			w.must(err)
		}
		n := w.start()
		n.store.refuse("counted", w.ref("a"), fmt.Errorf("lost: %w", store.ErrOutcomeUnknown))
		w.pass(3 * time.Second)
		n.store.refuse("", store.Ref{}, nil)
		w.pass(5 * time.Second)
		w.wantStatus("a", timer.StatusDone)
		w.wantCalls("a", 1)
		if asked := n.store.asked(); asked != 1 {
			t.Errorf("the start was counted %d times, want once", asked)
		}
		n.end()
	})
}

// TestI10_ARefusedReadOfADeadHostsTimerAcknowledgesNothing: a timer of a dead host uses an attempt, and its row is read
// again for that. If the store refuses this read, nothing is known about the row.
func TestI10_ARefusedReadOfADeadHostsTimerAcknowledgesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"away": func(context.Context) dispatcher.Answer { return dispatcher.Answer{Err: context.DeadlineExceeded} },
		})
		n := w.start()
		for i := range 20 { // opens the circuit
			w.put(fmt.Sprint("away", i), 0, to("away"))
		}
		w.pass(time.Second)
		n.store.refuse("reread", w.ref("hot"), fmt.Errorf("its shard is hot: %w", store.ErrUnavailable))
		w.put("hot", 0, func(s *timer.Spec) {
			to("away")(s)
			s.Retry.InitialInterval = 5 * time.Second
		})
		w.pass(time.Second)
		if n.store.hotRead() < 2 {
			t.Fatal("the row was not read again")
		}
		n.store.refuse("", store.Ref{}, nil)
		w.pass(3 * time.Second) // the backoff between reads is at most 2 s
		if hot := w.get("hot"); hot.Attempts != 1 {
			t.Errorf("%d attempts are used, want 1", hot.Attempts)
		}
		n.end()
	})
}

// TestAnEventThatCannotBeEncodedSaysNothingAboutItsHost: its timer is dead without a call, so the circuit counts on.
func TestAnEventThatCannotBeEncodedSaysNothingAboutItsHost(t *testing.T) {
	inWorld(t, func(w *world) {
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"away": func(context.Context) dispatcher.Answer { return dispatcher.Answer{Err: context.DeadlineExceeded} },
		})
		n := w.start()
		for i := range 19 {
			w.put(fmt.Sprint("away", i), 0, to("away"))
		}
		w.pass(time.Second)
		w.put("broken", 0, func(s *timer.Spec) {
			to("away")(s)
			s.Deliver, s.Payload = timer.DeliverBoth, []byte(`{`)
		})
		w.pass(time.Second)
		w.wantStatus("broken", timer.StatusDead)
		w.wantCalls("broken", 0)
		w.put("last", 0, to("away")) // opens the circuit
		w.pass(time.Second)
		w.put("next", 0, to("away"))
		w.pass(time.Second)
		w.wantCalls("last", 1)
		w.wantCalls("next", 0)
		n.end()
	})
}
