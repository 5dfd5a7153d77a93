package dispatcher_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func TestI14_ResultsLeaveBeforeTheOutcomeAndNoticesAfter(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 410} }
		n := w.start()
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if topic != bus.Due {
				w.note("%s", topic)
			}
			return f
		}})
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op != "current" {
				w.note("%s", op)
			}
			return nil
		})
		w.put("a", 0, func(s *timer.Spec) { s.Deliver = timer.DeliverBoth })
		w.pass(time.Second)
		w.wantTrace("fired", "results", "finish", "dead", "announced")
		left, err := w.store.Unannounced(t.Context(), w.shardIDs(), timer.Never, 10)
		w.must(err)
		if len(left) != 0 {
			t.Fatalf("still marked: %+v", left)
		}
		n.end()
	})
}

func TestI14_WithoutABusNoOutcomeIsWritten(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		w.put("a", 0, nil)
		w.put("b", 0, func(s *timer.Spec) { s.Deliver = timer.DeliverBoth })
		var down atomic.Bool
		down.Store(true)
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if down.Load() && topic != bus.Due {
				f.Err = bus.ErrOutcomeUnknown
			}
			return f
		}})
		w.pass(time.Minute)
		for _, id := range []string{"a", "b"} {
			if now := w.wantStatus(id, timer.StatusScheduled); now.DueAt < timer.SystemClock() {
				t.Fatalf("the lease was not renewed: %+v", now)
			}
		}
		down.Store(false)
		w.pass(5 * time.Second)
		if a, b := w.events("a"), w.events("b"); !slices.Equal(a, []string{"result"}) || !slices.Equal(b, []string{"fired", "result"}) {
			t.Fatalf("events %v and %v", a, b)
		}
		for _, id := range []string{"a", "b"} {
			w.wantCalls(id, 1)
			w.wantStatus(id, timer.StatusDone)
		}
		n.end()
	})
}

func TestI14_ANoticeThatIsLostLeavesTheMark(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 410} }
		n := w.start()
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if topic == bus.Dead {
				f.Err = bus.ErrUnavailable
			}
			return f
		}})
		w.put("a", 0, nil)
		w.pass(time.Second)
		w.wantStatus("a", timer.StatusDead)
		left, err := w.store.Unannounced(t.Context(), w.shardIDs(), timer.Never, 10)
		w.must(err)
		if len(left) != 1 || left[0].Timer.LastStatus != 410 {
			t.Fatalf("marked: %+v", left)
		}
		if w.depth() != 0 {
			t.Fatal("the message is not acknowledged")
		}
		n.end()
	})
}
