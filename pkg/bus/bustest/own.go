package bustest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

func ownChecks() []Check {
	return []Check{
		{"Own/WithoutMakerIsRefused", 1, ownNoMaker},
		{"Own/NobodyMadeIt", 1, ownMissing},
		{"Own/MakingTwiceKeepsWhatItHolds", 1, ownMadeTwice},
		{"Own/KeyChoosesPartitionAndKeepsOrder", 3, ownKeys},
		{"Own/EverythingArrives", 2, ownRoundTrip},
		{"Own/ContinuesAfterTheCommitted", 1, ownContinues},
		{"Own/CrashRepeatsTheUncommitted", 2, ownCrash},
		{"Own/GroupsAreApart", 1, ownGroups},
		{"Own/PrefixesMeet", 1, ownPrefixes},
		{"Own/NamedLikeTheQueueIsAnother", 1, ownNamedDue},
		{"Own/AnotherClustersTopicIsRefused", 1, ownStrangers},
		{"Own/BadNameIsRefused", 1, ownBadName},
		{"Own/OnlyOrderedAndWithoutFloor", 1, ownOnlyOrdered},
	}
}

// ownTopic returns a user topic that no other check uses.
func (w *world) ownTopic(name string) bus.Topic { return bus.Own(w.sys.OwnPrefix + name) }

// made creates a topic. It returns false on a bus that cannot create topics; ownNoMaker checks such a bus.
func (m *member) made(topic bus.Topic) bool {
	m.w.Helper()
	maker, ok := m.Bus.(bus.TopicMaker)
	if !ok {
		m.w.Logf("this bus cannot create topics")
		return false
	}
	if err := maker.MakeTopic(m.w.Context(), topic); err != nil {
		m.w.Fatalf("create %s: %v", topic, err)
	}
	return true
}

func ownSpec(topic bus.Topic) bus.Spec {
	return bus.Spec{Topic: topic, Group: "readers", Mode: bus.Ordered}
}

// refusal calls Publish and Consume, and returns their errors by the name of the call.
func (m *member) refusal(topic bus.Topic) map[string]error {
	m.w.Helper()
	_, published := m.Bus.Publish(m.w.Context(), topic, bus.Message{Body: []byte("1")})
	ctx, cancel := context.WithTimeout(m.w.Context(), m.w.sys.Patience)
	defer cancel()
	// If the topic unexpectedly exists, Consume ends at its first session, without an error.
	consumed := m.Bus.Consume(ctx, ownSpec(topic), func(context.Context, shard.Partition) (bus.Session, error) {
		cancel()
		return nil, errTest
	})
	return map[string]error{"Publish": published, "Consume": consumed}
}

func ownNoMaker(w *world) {
	m := w.join()
	if _, ok := m.Bus.(bus.TopicMaker); ok {
		return
	}
	for call, err := range m.refusal(w.ownTopic("orders")) {
		if !errors.Is(err, bus.ErrUnsupported) && !errors.Is(err, bus.ErrNoTopic) {
			w.Errorf("%s of a bus that cannot create topics returned %v, want ErrUnsupported or ErrNoTopic", call, err)
		}
	}
}

func ownMissing(w *world) {
	m := w.join()
	if _, ok := m.Bus.(bus.TopicMaker); !ok {
		return
	}
	topic := w.ownTopic("missing")
	for range 2 { // the first round must not have created the topic
		for call, err := range m.refusal(topic) {
			if !errors.Is(err, bus.ErrNoTopic) || !errors.Is(err, bus.ErrUnavailable) {
				w.Errorf("%s without the topic returned %v, want ErrNoTopic and ErrUnavailable", call, err)
			}
		}
	}
	if w.Failed() || !m.made(topic) {
		return
	}
	m.publish(topic, 0, "1")
	m.consume(ownSpec(topic), behaviour{ack: true}).expect("1")
}

func ownMadeTwice(w *world) {
	m, other := w.join(), w.join()
	topic := w.ownTopic("orders.timeouts")
	if !m.made(topic) {
		return
	}
	m.publish(topic, 0, "1")
	m.made(topic)
	other.made(topic)
	m.publish(topic, 0, "2")
	m.consume(ownSpec(topic), behaviour{ack: true}).expect("1", "2")
}

func ownKeys(w *world) {
	m := w.join()
	topic := w.ownTopic("keyed")
	if !m.made(topic) {
		return
	}
	const rounds = 20
	keys := []string{"a", "b", "c", "d", "e"}
	at := map[string]bus.Position{}
	for i := range rounds {
		var batch []bus.Message
		for n, key := range keys {
			// The bus chooses the partition and ignores this one.
			batch = append(batch, bus.Message{Partition: shard.Partition(i*7 + n - 1), Key: key, Body: []byte(fmt.Sprint(key, i))})
		}
		positions, err := m.Bus.Publish(w.Context(), topic, batch...)
		if err != nil || len(positions) != len(batch) {
			w.Fatalf("publish: %d positions, %v", len(positions), err)
		}
		for n, key := range keys {
			before, p := at[key], positions[n]
			if i > 0 && (p.Partition != before.Partition || !before.Before(p)) {
				w.Fatalf("key %q went to %+v after %+v", key, p, before)
			}
			at[key] = p
		}
	}
	c := m.consume(ownSpec(topic), behaviour{ack: true})
	w.await("all arrive", func() bool { return len(c.all) == rounds*len(keys) })
	w.mu.Lock()
	defer w.mu.Unlock()
	got := map[string]int{}
	for _, d := range c.all {
		if want := fmt.Sprint(d.Key, got[d.Key]); string(d.Body) != want {
			w.Fatalf("key %q delivered %q, want %q", d.Key, d.Body, want)
		}
		got[d.Key]++
		if d.Position.Partition != at[d.Key].Partition || d.Partition != d.Position.Partition {
			w.Fatalf("key %q delivered from partition %d at %+v, published to %d", d.Key, d.Partition, d.Position, at[d.Key].Partition)
		}
	}
}

func ownRoundTrip(w *world) {
	m := w.join()
	topic := w.ownTopic("arrives")
	if !m.made(topic) {
		return
	}
	sent := bus.Message{
		Key:     "tenant a/ü \"1\"",
		ID:      "unique-1",
		Headers: map[string]string{"ce-type": "timer.fired", "Mixed-Case": "x y"},
		Body:    []byte{0, 1, 0xff, '\n'},
	}
	positions, err := m.Bus.Publish(w.Context(), topic, sent, bus.Message{Body: []byte("without a key")})
	if err != nil {
		w.Fatalf("publish: %v", err)
	}
	c := m.consume(ownSpec(topic), behaviour{ack: true})
	w.await("both arrive", func() bool { return len(c.all) == 2 })
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(c.all, func(d *bus.Delivery) bool { return d.Key != "" })
	if i < 0 {
		w.Fatalf("no delivery has a key")
	}
	got := c.all[i]
	if got.Key != sent.Key || string(got.Body) != string(sent.Body) || !maps.Equal(got.Headers, sent.Headers) {
		w.Fatalf("delivered %+v, want %+v", got.Message, sent)
	}
	if got.Position != positions[0] || c.all[1-i].Position != positions[1] {
		w.Fatalf("delivered at %+v and %+v, Publish returned %+v", got.Position, c.all[1-i].Position, positions)
	}
}

func ownContinues(w *world) {
	m := w.join()
	topic := w.ownTopic("continues")
	if !m.made(topic) {
		return
	}
	m.publish(topic, 0, numbers(1, 3)...)
	c := m.consume(ownSpec(topic), behaviour{})
	c.expect(numbers(1, 3)...)
	c.ack("1", "2")
	c.stop()
	m.publish(topic, 0, "4")
	c = w.join().consume(ownSpec(topic), behaviour{ack: true})
	c.expect("3", "4")
	w.never("a committed message is repeated", func() bool { return len(c.all) != 2 })
}

func ownCrash(w *world) {
	first, second := w.join(), w.join()
	topic := w.ownTopic("crash")
	if !second.made(topic) {
		return
	}
	second.publish(topic, 0, numbers(1, 3)...)
	first.consume(ownSpec(topic), behaviour{}).expect(numbers(1, 3)...)
	first.Crash()
	second.consume(ownSpec(topic), behaviour{ack: true}).expectWithin(w.sys.LeaseTTL, numbers(1, 3)...)
}

func ownGroups(w *world) {
	m := w.join()
	topic := w.ownTopic("grouped")
	if !m.made(topic) {
		return
	}
	a := m.consume(ownSpec(topic), behaviour{ack: true})
	other := ownSpec(topic)
	other.Group = "other"
	b := m.consume(other, behaviour{ack: true})
	m.publish(topic, 0, numbers(1, 3)...)
	a.expect(numbers(1, 3)...)
	b.expect(numbers(1, 3)...)
	a.stop()
	m.publish(topic, 0, "4")
	b.expect(numbers(1, 4)...)
	m.consume(ownSpec(topic), behaviour{ack: true}).expect("4")
}

func ownPrefixes(w *world) {
	m, stranger := w.join(), w.adopt(w.sys.Stranger(w.T))
	topic := w.ownTopic("shared")
	if !m.made(topic) {
		return
	}
	m.publish(topic, 0, "1")
	stranger.publish(topic, 0, "2")
	// The clusters' groups have the same name but are different groups: each group gets every message.
	m.consume(ownSpec(topic), behaviour{ack: true}).expect("1", "2")
	stranger.consume(ownSpec(topic), behaviour{ack: true}).expect("1", "2")
}

func ownNamedDue(w *world) {
	m := w.join()
	own := bus.Own(string(bus.Due)) // without OwnPrefix: other checks and runs may use the topic
	if !m.made(own) {
		return
	}
	m.publish(bus.Due, 0, "queued")
	body := fmt.Sprintf("own-%d", time.Now().UnixNano())
	m.publish(own, 0, body)
	m.consume(queue, behaviour{ack: true}).expect("queued")
	spec := ownSpec(own)
	spec.Group = body
	c := m.consume(spec, behaviour{ack: true})
	w.await("the message to the user topic arrives", func() bool { return c.delivery(body, 1) != nil })
	w.never("the queue's message is in it", func() bool { return c.delivery("queued", 1) != nil })
}

// ownStrangers verifies that the internal topics and the commands of another cluster cannot be used as user topics.
func ownStrangers(w *world) {
	m := w.join()
	maker, ok := m.Bus.(bus.TopicMaker)
	if !ok {
		return
	}
	w.adopt(w.sys.Stranger(w.T)) // creates the other cluster's topics
	for _, name := range w.sys.StrangerTopics {
		errs := m.refusal(bus.Own(name))
		errs["MakeTopic"] = maker.MakeTopic(w.Context(), bus.Own(name))
		for call, err := range errs {
			if !errors.Is(err, bus.ErrUnsupported) || errors.Is(err, bus.ErrUnavailable) {
				w.Errorf("%s of %q, which belongs to another cluster, returned %v, want ErrUnsupported without ErrUnavailable", call, name, err)
			}
		}
	}
}

func ownBadName(w *world) {
	m := w.join()
	maker, ok := m.Bus.(bus.TopicMaker)
	if !ok {
		return
	}
	for _, name := range []string{"", " ", "a b", "a\nb", "*", "__a", strings.Repeat("a", 300)} {
		topic := bus.Own(name)
		errs := m.refusal(topic)
		errs["MakeTopic"] = maker.MakeTopic(w.Context(), topic)
		for call, err := range errs {
			if !errors.Is(err, bus.ErrUnsupported) {
				w.Errorf("%s of a topic named %.10q returned %v, want ErrUnsupported", call, name, err)
			}
		}
	}
	if err := maker.MakeTopic(w.Context(), bus.Due); !errors.Is(err, bus.ErrUnsupported) {
		w.Errorf("MakeTopic of the queue returned %v, want ErrUnsupported", err)
	}
}

func ownOnlyOrdered(w *world) {
	m := w.join()
	topic := w.ownTopic("modes")
	if !m.made(topic) {
		return
	}
	for _, mode := range []bus.Mode{bus.Live, bus.Queue} {
		err := m.Bus.Consume(w.Context(), bus.Spec{Topic: topic, Group: "readers", Mode: mode}, nil)
		if !errors.Is(err, bus.ErrUnsupported) {
			w.Errorf("Consume in mode %d returned %v, want ErrUnsupported", mode, err)
		}
	}
	if _, err := m.Bus.Floor(w.Context(), topic, "readers"); !errors.Is(err, bus.ErrUnsupported) {
		w.Errorf("its Floor returned %v, want ErrUnsupported", err)
	}
}
