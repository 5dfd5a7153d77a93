package bustest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/membus"
)

// crooked breaks user topics: each non-nil function replaces a correct step of membus.
type crooked struct {
	*membus.Member
	rename  func(m *membus.Member, topic bus.Topic) bus.Topic
	publish func(m *membus.Member, topic bus.Topic, messages []bus.Message) []bus.Message
	make    func(m *membus.Member, topic bus.Topic) error
}

func crookedly(with crooked) func(*membus.Member, *membus.Broker) bustest.Member {
	return func(m *membus.Member, _ *membus.Broker) bustest.Member {
		broken := with
		broken.Member = m
		return intact(&broken, m)
	}
}

func (c *crooked) named(topic bus.Topic) bus.Topic {
	if _, own := topic.OwnName(); own && c.rename != nil {
		return c.rename(c.Member, topic)
	}
	return topic
}

func (c *crooked) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if _, own := topic.OwnName(); own && c.publish != nil {
		messages = c.publish(c.Member, topic, messages)
	}
	return c.Member.Publish(ctx, c.named(topic), messages...)
}

func (c *crooked) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	spec.Topic = c.named(spec.Topic)
	if spec.Topic == bus.Due {
		spec.Mode = bus.Queue
	}
	return c.Member.Consume(ctx, spec, open)
}

func (c *crooked) MakeTopic(ctx context.Context, topic bus.Topic) error {
	if c.make != nil {
		return c.make(c.Member, topic)
	}
	if topic = c.named(topic); topic == bus.Due {
		return nil
	}
	return c.Member.MakeTopic(ctx, topic)
}

func TestSuiteCatchesTopicsThatPublishMakes(t *testing.T) {
	caught(t, crookedly(crooked{publish: func(m *membus.Member, topic bus.Topic, messages []bus.Message) []bus.Message {
		_ = m.MakeTopic(t.Context(), topic) // Publish itself must refuse a bad name
		return messages
	}}), "Own/NobodyMadeIt")
}

func TestSuiteCatchesTopicsMadeAnew(t *testing.T) {
	caught(t, func(m *membus.Member, b *membus.Broker) bustest.Member {
		return intact(&crooked{Member: m, make: func(m *membus.Member, topic bus.Topic) error {
			err := m.MakeTopic(t.Context(), topic)
			b.Recreate(topic)
			return err
		}}, m)
	}, "Own/MakingTwiceKeepsWhatItHolds")
}

func TestSuiteCatchesKeysThatStray(t *testing.T) {
	caught(t, crookedly(crooked{publish: func(_ *membus.Member, _ bus.Topic, messages []bus.Message) []bus.Message {
		strayed := make([]bus.Message, len(messages))
		for i, m := range messages {
			m.Key += string(m.Body)
			strayed[i] = m
		}
		return strayed
	}}), "Own/KeyChoosesPartitionAndKeepsOrder", "Own/EverythingArrives")
}

func TestSuiteCatchesAPrefixBeforeAUsersTopic(t *testing.T) {
	caught(t, crookedly(crooked{rename: func(m *membus.Member, topic bus.Topic) bus.Topic {
		name, _ := topic.OwnName()
		return bus.Own(fmt.Sprintf("%x.%s", m.String(), name))
	}}), "Own/PrefixesMeet")
}

func TestSuiteCatchesAUsersTopicTakenForTheQueue(t *testing.T) {
	caught(t, crookedly(crooked{rename: func(_ *membus.Member, topic bus.Topic) bus.Topic {
		if name, _ := topic.OwnName(); name == string(bus.Due) {
			return bus.Due
		}
		return topic
	}}), "Own/NamedLikeTheQueueIsAnother")
}

func TestSuiteCatchesAnotherClustersTopicTakenForAUsers(t *testing.T) {
	// In memory the name is valid.
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(m, m) }, "Own/AnotherClustersTopicIsRefused")
}

func TestSuiteCatchesOwnTopicsThatNeverCommit(t *testing.T) {
	caught(t, acks(func(*brokenSession, *bus.Delivery) {}), "Own/ContinuesAfterTheCommitted", "Own/GroupsAreApart")
}

func TestSuiteCatchesOwnTopicsCommittedBeforeAck(t *testing.T) {
	caught(t, decorated(&brokenBus{deliver: func(s *brokenSession, ctx context.Context, d *bus.Delivery) error {
		d.Acker.Ack()
		return s.Session.Deliver(ctx, d)
	}}), "Own/ContinuesAfterTheCommitted", "Own/CrashRepeatsTheUncommitted")
}

func TestSuiteCatchesGroupsThatShareAUsersTopic(t *testing.T) {
	caught(t, specs(func(_ *membus.Member, spec bus.Spec) bus.Spec {
		spec.Group = "one for all"
		return spec
	}), "Own/GroupsAreApart")
}

func TestSuiteCatchesNamesThatAreChanged(t *testing.T) {
	caught(t, crookedly(crooked{rename: func(_ *membus.Member, topic bus.Topic) bus.Topic {
		name, _ := topic.OwnName()
		return bus.Own(fmt.Sprintf("%.20x", name))
	}}), "Own/BadNameIsRefused")
}

// silent reports success for messages to user topics, which it does not have.
type silent struct{ bus.Bus }

func (s *silent) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if _, own := topic.OwnName(); own {
		return make([]bus.Position, len(messages)), nil
	}
	return s.Bus.Publish(ctx, topic, messages...)
}

func TestSuiteCatchesOwnTopicsDroppedInSilence(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(&silent{Bus: m}, m) },
		"Own/WithoutMakerIsRefused")
}

// greedy consumes user topics in any mode, and returns a floor for them.
type greedy struct{ *membus.Member }

func (g *greedy) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	if spec.Mode != bus.Ordered {
		return nil
	}
	return g.Member.Consume(ctx, spec, open)
}

func (g *greedy) Floor(context.Context, bus.Topic, string) (bus.Floors, error) { return nil, nil }

func TestSuiteCatchesOwnTopicsInOtherModes(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(&greedy{m}, m) },
		"Own/OnlyOrderedAndWithoutFloor")
}
