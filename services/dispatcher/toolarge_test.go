package dispatcher_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// tooLarge makes the bus refuse messages with a payload on a topic as too large.
func (w *world) tooLarge(topics ...bus.Topic) {
	w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, messages []bus.Message) (f membus.PublishFault) {
		large := func(m bus.Message) bool { return strings.Contains(string(m.Body), largePayload) }
		if slices.Contains(topics, topic) && slices.ContainsFunc(messages, large) {
			f.Err = bus.ErrTooLarge
		}
		return f
	}})
}

const largePayload = `{"large":true}`

func bothLarge(s *timer.Spec) { s.Deliver, s.Payload = timer.DeliverBoth, []byte(largePayload) }

// A timer whose event can never be published must not end as done.
func TestAnEventTooLargeForTheBusIsNotDone(t *testing.T) {
	for name, answer := range map[string]dispatcher.Answer{
		"done":        {Status: 200},
		"rescheduled": {Status: 200, Body: []byte(`{"ok":true,"nextExecuteAt":"2000-01-01T00:00:30Z"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.answer = func(context.Context, call) dispatcher.Answer { return answer }
				n := w.start()
				w.tooLarge(bus.Fired)
				w.put("a", 0, bothLarge)
				w.pass(time.Second)
				dead := w.wantStatus("a", timer.StatusDead)
				if dead.LastStatus != 200 || !strings.Contains(dead.LastError, "fired event") || !strings.Contains(dead.LastError, "too large") {
					t.Errorf("dead with status %d and %q", dead.LastStatus, dead.LastError)
				}
				w.wantCalls("a", 1)
				if got := w.events("a"); !slices.Equal(got, []string{"result", "dead"}) {
					t.Errorf("events %v", got)
				}
				n.end()
			})
		})
	}
}

// If callback and event both fail, the result of the callback decides, so that the receiver still gets its callback.
func TestAFailedCallbackIsRetriedWhateverItsEvent(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(_ context.Context, c call) dispatcher.Answer {
			if c.attempt == 1 {
				return dispatcher.Answer{Status: 503}
			}
			return dispatcher.Answer{Status: 200}
		}
		n := w.start()
		w.tooLarge(bus.Fired)
		w.put("a", 0, bothLarge)
		w.pass(time.Second)
		if now := w.wantStatus("a", timer.StatusRetrying); now.LastStatus != 503 {
			t.Errorf("retried after %d", now.LastStatus)
		}
		w.pass(time.Minute)
		if dead := w.wantStatus("a", timer.StatusDead); !strings.Contains(dead.LastError, "too large") {
			t.Errorf("dead: %q", dead.LastError)
		}
		n.end()
	})
}

// The bus is unavailable at first, and reports only later that the event is too large.
func TestAnEventThatTurnsOutTooLargeIsNotDone(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		var tried atomic.Int64
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if topic != bus.Fired {
				return f
			}
			if f.Err = bus.ErrUnavailable; tried.Add(1) > 2 {
				f.Err = bus.ErrTooLarge
			}
			return f
		}})
		w.put("a", 0, bothLarge)
		w.pass(2 * time.Second)
		if dead := w.wantStatus("a", timer.StatusDead); !strings.Contains(dead.LastError, "too large") {
			t.Errorf("dead: %q", dead.LastError)
		}
		if got := w.events("a"); !slices.Equal(got, []string{"result", "dead"}) {
			t.Errorf("events %v", got)
		}
		n.end()
	})
}

// A dead event that is too large for the bus is published without its payload, which get and list still return.
func TestADeadEventTooLargeForTheBusGoesWithoutItsPayload(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 410} }
		n := w.start()
		w.tooLarge(bus.Dead)
		w.put("large", 0, bothLarge)
		w.put("small", 0, nil)
		w.pass(time.Second)
		for _, id := range []string{"large", "small"} {
			w.wantStatus(id, timer.StatusDead)
			if got := w.events(id); got[len(got)-1] != "dead" {
				t.Errorf("%s: events %v", id, got)
			}
		}
		left, err := w.store.Outbox(t.Context(), w.shardIDs(), timer.Never, 10)
		w.must(err)
		if len(left) != 0 {
			t.Errorf("still marked: %+v", left)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, h := range w.heard {
			if h.Type == event.TypeDead && h.Subject == event.Subject("n", "large") && strings.Contains(string(h.Data), largePayload) {
				t.Errorf("the event has its payload: %s", h.Data)
			}
		}
		n.end()
	})
}
