package dispatcher_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestARowThatTheStoreRefusesDelaysNoOther: the other rows of the batch are delivered on time, and this one when the store
// serves its shard again.
func TestARowThatTheStoreRefusesDelaysNoOther(t *testing.T) {
	for _, op := range []string{"current", "finish"} {
		t.Run(op, func(t *testing.T) {
			inWorld(t, func(w *world) {
				n := w.start()
				n.store.refuse(op, w.ref("hot"), fmt.Errorf("its shard is hot: %w", store.ErrUnavailable))
				due := timer.SystemClock().Add(time.Second)
				var cool []string
				for i := range 20 { // some are in one batch with it
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
				w.pass(time.Second) // not so long that the message comes again, which is not a start either
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

// TestI13_ACountWhoseAnswerWasLostIsNotMadeAgain, also where it was lost for one row of several.
func TestI13_ACountWhoseAnswerWasLostIsNotMadeAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		put := w.put("a", time.Second, nil)
		check := store.Check{Ref: w.ref("a"), DueAt: put.DueAt, Revision: put.Revision, CountStart: true}
		for range 2 { // a suspect: every start is counted
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
