package bustest

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

func publishChecks() []Check {
	return []Check{
		{"Publish/PositionsRiseInOrder", 2, publishPositions},
		{"Publish/NothingIsNil", 1, publishNothing},
		{"Publish/HintsHaveNoPosition", 1, publishHints},
		{"Publish/RepeatedIDIsDropped", 1, publishRepeated},
		{"Publish/EmptyIDIsNeverDropped", 1, publishEmptyID},
		{"Publish/EverythingArrives", 2, publishRoundTrip},
		{"Publish/KeepsNothingOfTheCaller", 1, publishCopies},
		{"Publish/LargestMessagePasses", 1, publishLargest},
		{"Publish/TooLargeIsNamed", 1, publishTooLarge},
		{"Publish/EachErrorIsTrue", 1, publishPartial},
		{"Publish/BadTopicOrPartition", 2, publishBad},
		{"Publish/EndedContext", 1, publishEnded},
		{"Publish/PrefixesAreApart", 1, publishPrefixes},
	}
}

// specOf returns the spec whose mode matches the topic.
func specOf(topic bus.Topic) bus.Spec {
	switch topic.Kind() {
	case bus.KindHints:
		return live
	case bus.KindQueue:
		return queue
	default:
		return ordered
	}
}

func publishPositions(w *world) {
	m := w.join()
	for _, topic := range []bus.Topic{bus.Commands, bus.Due, bus.Fired, bus.Results, bus.Dead} {
		last := make([]bus.Position, 2)
		for round := range 3 {
			batch := []bus.Message{{Partition: 0, Body: []byte("a")}, {Partition: 1, Body: []byte("b")}, {Partition: 0, Body: []byte("c")}}
			positions, err := m.Bus.Publish(w.Context(), topic, batch...)
			if err != nil || len(positions) != len(batch) {
				w.Fatalf("publish to %s: %d positions, %v", topic, len(positions), err)
			}
			for i, p := range positions {
				before := last[batch[i].Partition]
				if p.Partition != batch[i].Partition || p.Offset < 1 || !before.Before(p) {
					w.Fatalf("%s round %d message %d has position %+v after %+v", topic, round, i, p, before)
				}
				if before.Offset != 0 && before.Epoch != p.Epoch {
					w.Fatalf("%s changed its epoch from %d to %d", topic, before.Epoch, p.Epoch)
				}
				last[p.Partition] = p
			}
		}
	}
}

func publishNothing(w *world) {
	m := w.join()
	for _, topic := range bus.Topics() {
		if positions, err := m.Bus.Publish(w.Context(), topic); err != nil || positions != nil {
			w.Fatalf("publishing no messages to %s returned %v, %v", topic, positions, err)
		}
	}
}

func publishHints(w *world) {
	m := w.join()
	for _, p := range m.publish(bus.Shards, 0, "1", "2") {
		if p != (bus.Position{}) {
			w.Fatalf("a hint has position %+v, want zero", p)
		}
	}
}

func publishRepeated(w *world) {
	m := w.join()
	for _, topic := range []bus.Topic{bus.Commands, bus.Due} {
		spec := specOf(topic)
		c := m.consume(spec, behaviour{ack: true})
		first := publishID(m, topic, "id-1", "id-2", "id-1")
		if p := first[2]; p != first[0] && p != (bus.Position{}) {
			w.Fatalf("%s: a repetition within one call has position %+v, the first one's is %+v", topic, p, first[0])
		}
		c.expect("id-1", "id-2")
		m.awaitFloor(topic, spec.Group, 0, nil, 0)
		again := publishID(m, topic, "id-1", "id-3")
		if p := again[0]; p != first[0] && p != (bus.Position{}) {
			w.Fatalf("%s: a repetition has position %+v, the first one's is %+v", topic, p, first[0])
		}
		if !first[1].Before(again[1]) {
			w.Fatalf("%s: position %+v after a repetition, want one after %+v", topic, again[1], first[1])
		}
		c.expect("id-1", "id-2", "id-3")
		c.stop()
	}
}

func publishID(m *member, topic bus.Topic, ids ...string) []bus.Position {
	m.w.Helper()
	var messages []bus.Message
	for _, id := range ids {
		messages = append(messages, bus.Message{ID: id, Body: []byte(id)})
	}
	positions, err := m.Bus.Publish(m.w.Context(), topic, messages...)
	if err != nil {
		m.w.Fatalf("publish to %s: %v", topic, err)
	}
	return positions
}

func publishEmptyID(w *world) {
	m := w.join()
	c := m.consume(queue, behaviour{ack: true})
	m.publish(bus.Due, 0, "1", "1")
	m.publish(bus.Due, 0, "1")
	c.expect("1", "1", "1")
}

func publishRoundTrip(w *world) {
	m := w.join()
	for _, topic := range []bus.Topic{bus.Commands, bus.Shards, bus.Due} {
		c := m.consume(specOf(topic), behaviour{ack: true})
		if topic.Kind() != bus.KindQueue {
			c.awaitOpen(2)
		}
		sent := bus.Message{
			Partition: 1,
			Key:       "tenant a/ü \"1\"",
			ID:        "unique-" + string(topic),
			Headers:   map[string]string{"ce-type": "timer.created", "traceparent": "00-1-2-01", "Mixed-Case": "x y"},
			Body:      []byte{0, 1, 2, 0xff, '\n'},
		}
		before := time.Now()
		positions, err := m.Bus.Publish(w.Context(), topic, sent)
		if err != nil {
			w.Fatalf("publish to %s: %v", topic, err)
		}
		w.await("the message arrives", func() bool { return len(c.all) == 1 })
		got := c.all[0]
		if got.Partition != sent.Partition || got.Key != sent.Key || string(got.Body) != string(sent.Body) ||
			!maps.Equal(got.Headers, sent.Headers) {
			w.Fatalf("%s delivered %+v, want %+v", topic, got.Message, sent)
		}
		if topic.Kind() != bus.KindHints && got.Position != positions[0] {
			w.Fatalf("%s delivered position %+v, Publish returned %+v", topic, got.Position, positions[0])
		}
		if off := got.Time.Sub(before); !got.Time.IsZero() && (off < -time.Minute || off > time.Minute) {
			w.Fatalf("%s delivered time %v, sent at %v", topic, got.Time, before)
		}
		c.stop()
	}
}

func publishCopies(w *world) {
	m := w.join()
	message := bus.Message{Body: []byte("good"), Headers: map[string]string{"h": "good"}}
	if _, err := m.Bus.Publish(w.Context(), bus.Due, message); err != nil {
		w.Fatalf("publish: %v", err)
	}
	copy(message.Body, "evil")
	message.Headers["h"] = "evil"
	c := m.consume(queue, behaviour{ack: true})
	c.expect("good")
	if h := c.last("good")[0].Headers["h"]; h != "good" {
		w.Fatalf("header is %q, want the one at the time of Publish", h)
	}
}

func publishLargest(w *world) {
	m := w.join()
	body := make([]byte, 1<<20-3-6)
	body[len(body)-1] = 'x'
	_, err := m.Bus.Publish(w.Context(), bus.Commands,
		bus.Message{Key: "key", Headers: map[string]string{"abc": "def"}, Body: body})
	if err != nil {
		w.Fatalf("1 MiB in all: %v", err)
	}
	c := m.consume(ordered, behaviour{ack: true})
	w.await("1 MiB arrives", func() bool { return len(c.all) == 1 && string(c.all[0].Body) == string(body) })
}

func publishTooLarge(w *world) {
	m := w.join()
	for _, topic := range []bus.Topic{bus.Commands, bus.Shards, bus.Due} {
		_, err := m.Bus.Publish(w.Context(), topic, bus.Message{Key: "key", Body: make([]byte, 1<<20)})
		if !errors.Is(err, bus.ErrTooLarge) {
			w.Fatalf("%s returned %v for 1 MiB and 3 bytes, want ErrTooLarge", topic, err)
		}
		m.publish(topic, 0, "small ones still pass")
	}
}

// publishPartial publishes a message that is too large among others: the error of each message must be true.
func publishPartial(w *world) {
	m := w.join()
	c := m.consume(ordered, behaviour{ack: true})
	large := make([]byte, 1<<20+1)
	messages := []bus.Message{{Body: []byte("1")}, {Body: large}, {Body: []byte("2")}, {Body: []byte("3")}}
	_, err := m.Bus.Publish(w.Context(), bus.Commands, messages...)
	if own := bus.ErrorOf(err, 1); !errors.Is(own, bus.ErrTooLarge) {
		w.Fatalf("the message that is too large has the error %v in %v, want ErrTooLarge", own, err)
	}
	for i := range messages {
		if bus.ErrorOf(err, i) == nil {
			body := string(messages[i].Body)
			w.await(body+", which was accepted, arrives", func() bool { return c.delivery(body, 1) != nil })
		}
	}
	w.never("the message that is too large arrives", func() bool { return c.delivery(string(large), 1) != nil })
}

func publishBad(w *world) {
	m := w.join()
	for _, p := range []shard.Partition{-1, 2} {
		if _, err := m.Bus.Publish(w.Context(), bus.Due, bus.Message{Partition: p}); err == nil {
			w.Fatalf("Publish to partition %d of a bus with 2 partitions succeeded", p)
		}
	}
	if _, err := m.Bus.Publish(w.Context(), "no-such-topic", bus.Message{}); !errors.Is(err, bus.ErrUnsupported) {
		w.Fatalf("Publish to an unknown topic returned %v, want ErrUnsupported", err)
	}
	m.awaitFloor(bus.Due, queue.Group, 0, nil, 0)
}

func publishEnded(w *world) {
	m := w.join()
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	_, err := m.Bus.Publish(ctx, bus.Due, bus.Message{})
	if !errors.Is(err, bus.ErrUnavailable) && !errors.Is(err, bus.ErrOutcomeUnknown) {
		w.Fatalf("Publish with an ended context returned %v, want ErrUnavailable or ErrOutcomeUnknown", err)
	}
}

func publishPrefixes(w *world) {
	m, stranger := w.join(), w.adopt(w.sys.Stranger(w.T))
	ours := map[bus.Topic]*consumer{}
	theirs := map[bus.Topic]*consumer{}
	for _, topic := range []bus.Topic{bus.Commands, bus.Shards, bus.Due} {
		ours[topic] = m.consume(specOf(topic), behaviour{ack: true})
		theirs[topic] = stranger.consume(specOf(topic), behaviour{ack: true})
		// Both own the partition, because they are in different clusters.
		ours[topic].awaitOpen(1)
		w.await("the stranger owns partition 0", func() bool { return len(theirs[topic].owns()) > 0 })
		m.publish(topic, 0, "ours")
		stranger.publish(topic, 0, "theirs")
	}
	for topic := range ours {
		ours[topic].expect("ours")
		theirs[topic].expect("theirs")
	}
	w.never("a message is delivered to the other cluster", func() bool {
		for topic := range ours {
			if len(ours[topic].all) != 1 || len(theirs[topic].all) != 1 {
				return true
			}
		}
		return false
	})
}
