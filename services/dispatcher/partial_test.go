package dispatcher_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// picky is a bus that refuses every message with a word in its body, and reports an error for each of them.
type picky struct {
	bus.Bus
	word string
}

func (p *picky) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	partial := &bus.PartialError{Errs: make([]error, len(messages))}
	var good []bus.Message
	for i, m := range messages {
		if bytes.Contains(m.Body, []byte(p.word)) {
			partial.Errs[i] = bus.ErrOutcomeUnknown
		} else {
			good = append(good, m)
		}
	}
	positions, err := p.Bus.Publish(ctx, topic, good...)
	if err != nil || len(good) == len(messages) {
		return positions, err
	}
	return nil, fmt.Errorf("publish to %s: %w", topic, partial)
}

func TestAnEventThatIsRefusedDoesNotHoldUpItsBatch(t *testing.T) {
	for topic, way := range map[string]func(*timer.Spec){
		"":       func(s *timer.Spec) { s.CallbackURL, s.Deliver = "", timer.DeliverEvent },
		"orders": onto("orders", ""),
	} {
		inWorld(t, func(w *world) {
			if topic != "" {
				w.allow("*")
				w.tap(topic)
			}
			n := w.start(func(c *dispatcher.Config) { c.Bus = &picky{Bus: c.Bus, word: "refuse-me"} })
			for i := range 20 {
				w.put(fmt.Sprintf("good-%d", i), 0, way)
			}
			w.put("refuse-me", 0, way)
			w.pass(time.Second)
			for i := range 20 {
				w.wantStatus(fmt.Sprintf("good-%d", i), timer.StatusDone)
			}
			if now := w.get("refuse-me"); now.Status == timer.StatusDone {
				t.Errorf("topic %q: the refused event is done: %+v", topic, now)
			}
			n.kill()
			<-n.done
		})
	}
}
