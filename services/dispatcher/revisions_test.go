package dispatcher_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestI3_AWriteThatTheStoreLostIsNotRepeatedWithItsRevision: a failover of the store loses the dispatcher's write, so the
// same state of the timer is delivered again. The second write makes another state of it.
func TestI3_AWriteThatTheStoreLostIsNotRepeatedWithItsRevision(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(ctx context.Context, c call) dispatcher.Answer
		event  bool // the timer publishes an event, which the bus refuses
		kind   store.FinishKind
	}{
		"retry": {kind: store.FinishRetry, answer: func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 500} }},
		"reschedule": {kind: store.FinishRescheduled, answer: func(_ context.Context, c call) dispatcher.Answer {
			at := c.at.Add(time.Hour)
			return dispatcher.Answer{Status: 200, Body: []byte(`{"ok":true,"nextExecuteAt":"` + at.String() + `"}`)}
		}},
		"lease": {kind: store.FinishLeased, answer: func(ctx context.Context, _ call) dispatcher.Answer {
			return after(ctx, time.Minute, 200)
		}},
		"postponement": {kind: store.FinishPostponed, event: true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.answer = c.answer
				const revision = 1 << 40
				seen := []timer.Revision{revision}
				for range 3 {
					n := w.start(func(config *dispatcher.Config) {
						if c.event {
							config.Bus = &deaf{Bus: config.Bus}
						}
					})
					clear(w.published)
					w.write(store.Put{
						Ref: w.ref("a"), Namespace: "n", ID: "a", Revision: revision,
						Spec: timer.Spec{
							ExecuteAt: timer.SystemClock(), CallbackURL: "http://receiver.test/a", Retry: timer.DefaultRetryPolicy(),
							CallbackTimeout: timer.MaxCallbackTimeout, Deliver: deliverOf(c.event),
						},
					})
					var written timer.Revision
					n.store.set(nil, func(_ string, items []store.Finish) error {
						if written == 0 && isKind(items, c.kind) {
							written = items[0].Next
						}
						return nil
					})
					w.pass(3 * time.Second)
					if written == 0 || slices.Contains(seen, written) {
						t.Errorf("the row gets revision %s, earlier ones: %v", written, seen)
					}
					seen = append(seen, written)
					n.kill()
					<-n.done
				}
			})
		})
	}
}

func deliverOf(event bool) timer.Deliver {
	if event {
		return timer.DeliverEvent
	}
	return timer.DeliverCallback
}

// deaf is a bus that stores no fired events.
type deaf struct{ bus.Bus }

func (d *deaf) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if topic == bus.Fired {
		return nil, bus.ErrUnavailable
	}
	return d.Bus.Publish(ctx, topic, messages...)
}

// TestI3_EveryRenewalOfALeaseHasANewRevision: with the revision of an earlier lease, an event of that lease would pass
// the row check.
func TestI3_EveryRenewalOfALeaseHasANewRevision(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(30*time.Second, 500)
		n := w.start()
		seen := []timer.Revision{w.put("a", 0, nil).Revision}
		n.store.set(nil, func(_ string, items []store.Finish) error {
			for i := range items {
				if slices.Contains(seen, items[i].Next) {
					t.Errorf("write %d has revision %s, earlier ones: %v", len(seen), items[i].Next, seen)
				}
				seen = append(seen, items[i].Next)
			}
			return nil
		})
		w.pass(31 * time.Second)
		// The leases after 2, 7, 12, 17, 22 and 27 s, and the retry.
		if now := w.wantStatus("a", timer.StatusRetrying); len(seen) != 8 || now.Revision != seen[7] {
			t.Errorf("want 8 revisions, the last one in the row (%s): %v", now.Revision, seen)
		}
		n.end()
	})
}

// TestI13_TheSecondDeliveryOfAMessageIsARedelivery: its start is counted before the delivery begins.
func TestI13_TheSecondDeliveryOfAMessageIsARedelivery(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, c call) dispatcher.Answer {
			if row := w.get("a"); row.Starts != len(w.called("a"))-1 {
				t.Errorf("delivery %d begins with %d counted starts", len(w.called("a")), row.Starts)
			}
			return after(ctx, time.Second, 200)
		}
		w.put("a", 0, nil)
		for i := range 3 {
			n := w.start()
			for waited := time.Duration(0); len(w.called("a")) == i && waited < 10*time.Second; waited += step {
				w.pass(step)
			}
			w.wantCalls("a", i+1)
			n.kill()
			<-n.done
		}
	})
}
