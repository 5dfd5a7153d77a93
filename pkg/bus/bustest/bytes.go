package bustest

import (
	"strings"

	"github.com/timerbus/timerbus/pkg/bus"
)

// paddedSize is the approximate size of a padded message in bytes.
const paddedSize = 40 << 10

// largeBehindSmall publishes small messages and then a large one, which still fits within the bounds.
func largeBehindSmall(w *world, spec bus.Spec) {
	spec.MaxInFlight = 10
	m := w.join()
	c := m.consume(spec, behaviour{})
	for _, body := range numbers(1, 9) {
		m.publish(spec.Topic, 0, body)
	}
	c.expect(numbers(1, 9)...)
	m.publishPadded(spec.Topic, "10")
	c.expect(numbers(1, 10)...)
}

// publishPadded publishes large messages with short bodies.
func (m *member) publishPadded(topic bus.Topic, bodies ...string) {
	m.w.Helper()
	messages := make([]bus.Message, len(bodies))
	for i, body := range bodies {
		messages[i] = bus.Message{Headers: map[string]string{"pad": strings.Repeat("x", paddedSize)}, Body: []byte(body)}
	}
	if _, err := m.Bus.Publish(m.w.Context(), topic, messages...); err != nil {
		m.w.Fatalf("publish to %s: %v", topic, err)
	}
}

// bytesSaturate has room for two and a half messages. The engine may or may not deliver the third message, which
// passes the bound.
func bytesSaturate(w *world, spec bus.Spec) {
	spec.MaxBytes = 5 * paddedSize / 2
	m := w.join()
	m.publishPadded(spec.Topic, numbers(1, 10)...)
	c := m.consume(spec, behaviour{})
	for acked := 0; acked < 10; {
		open := func() int { return len(c.all) - acked }
		w.await("messages are delivered below the bound", func() bool { return open() >= min(2, 10-acked) })
		w.never("a fourth message is delivered with three above the bound", func() bool { return open() > 3 })
		w.mu.Lock()
		held := c.all[acked:]
		w.mu.Unlock()
		for _, d := range held {
			d.Ack()
		}
		acked += len(held)
	}
	c.expect(numbers(1, 10)...)
	m.awaitFloor(spec.Topic, spec.Group, 0, nil, 0)
}

func largerPasses(w *world, spec bus.Spec) {
	spec.MaxBytes = paddedSize / 40
	m := w.join()
	m.publishPadded(spec.Topic, numbers(1, 3)...)
	c := m.consume(spec, behaviour{})
	for i, body := range numbers(1, 3) {
		c.expect(numbers(1, i+1)...)
		w.never("another message is delivered above the bound", func() bool { return len(c.all) > i+1 })
		c.ack(body)
	}
	m.awaitFloor(spec.Topic, spec.Group, 0, nil, 0)
}
