package bustest

import (
	"context"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

func liveChecks() []Check {
	return []Check{
		{"Live/NothingFallsBetweenSubscriptionAndOpen", 2, liveNoGap},
		{"Live/NothingIsKept", 1, liveNothingKept},
		{"Live/OneOwnerSeesEachHint", 4, liveOneOwner},
		{"Live/GroupsAreApart", 1, liveGroups},
		{"Live/AckAndNackDoNothing", 1, liveAck},
	}
}

func liveNoGap(w *world) {
	publisher, owner := w.join(), w.join()
	// A hint published after the call of open may refer to a row that the owner's read in open has missed.
	c := owner.consume(live, behaviour{open: func(_ context.Context, p shard.Partition) error {
		publisher.publish(bus.Shards, p, "during open")
		return nil
	}})
	w.await("both hints arrive", func() bool { return len(c.all) == 2 })
}

func liveNothingKept(w *world) {
	m := w.join()
	m.publish(bus.Shards, 0, "before anyone")
	c := m.consume(live, behaviour{})
	c.awaitOpen(1)
	m.publish(bus.Shards, 0, "1")
	c.expect("1")
	c.stop()
	m.publish(bus.Shards, 0, "between")
	c = m.consume(live, behaviour{})
	c.awaitOpen(1)
	m.publish(bus.Shards, 0, "2")
	c.expect("2")
	w.never("anything else is delivered", func() bool { return len(c.all) != 1 })
}

func liveOneOwner(w *world) {
	one, two := w.join(), w.join()
	a, b := one.consume(live, behaviour{}), two.consume(live, behaviour{})
	a.awaitOpen(2)
	b.awaitOpen(2)
	for p := range 4 {
		one.publish(bus.Shards, shard.Partition(p), numbers(p, p)...)
	}
	w.await("four hints arrive", func() bool { return len(a.all)+len(b.all) == 4 })
	w.never("a hint arrives twice", func() bool { return len(a.all)+len(b.all) > 4 })
	for _, c := range []*consumer{a, b} {
		for _, s := range c.sessions {
			for _, d := range s.got {
				if d.Partition != s.p || string(d.Body) != numbers(int(s.p), int(s.p))[0] {
					w.Fatalf("session of partition %d got %q of partition %d", s.p, d.Body, d.Partition)
				}
			}
		}
	}
}

func liveGroups(w *world) {
	m := w.join()
	other := live
	other.Group = "observer"
	one, two := m.consume(live, behaviour{}), m.consume(other, behaviour{})
	one.awaitOpen(1)
	two.awaitOpen(1)
	m.publish(bus.Shards, 0, "1")
	one.expect("1")
	two.expect("1")
}

func liveAck(w *world) {
	m := w.join()
	c := m.consume(live, behaviour{})
	c.awaitOpen(1)
	m.publish(bus.Shards, 0, "1", "2", "3")
	c.expect("1", "2", "3")
	c.ack("1")
	c.last("2")[0].Nack(0)
	c.last("3")[0].Extend()
	w.never("a hint is repeated", func() bool { return len(c.all) != 3 })
}
