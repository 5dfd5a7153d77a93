package bustest

import (
	"context"
	"errors"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

func orderedChecks() []Check {
	return []Check{
		{"Ordered/KeepsOrder", 3, orderedOrder},
		{"Ordered/ContinuesAfterTheCommitted", 1, orderedContinues},
		{"Ordered/GapIsRedelivered", 1, orderedGap},
		{"Ordered/CommitFollowsThePrefix", 1, orderedProgress},
		{"Ordered/NothingIsCommittedBeforeItsAck", 1, orderedNoEarlyCommit},
		{"Ordered/CrashRepeatsTheUncommitted", 1, orderedCrash},
		{"Ordered/AckInCloseIsCommitted", 1, orderedAckInClose},
		{"Ordered/LateAckAfterRevokeDoesNothing", 1, orderedLateAck},
		{"Ordered/LateAckAfterLossDoesNothing", 1, orderedZombieAck},
		{"Ordered/NackRestarts", 1, orderedNack},
		{"Ordered/FirstOfAckAndNackCounts", 1, orderedFirstCounts},
		{"Ordered/WindowSaturatesAndGoesOn", 1, orderedWindow},
		{"Ordered/BytesSaturateAndGoOn", 1, func(w *world) { bytesSaturate(w, ordered) }},
		{"Ordered/LargerThanTheBoundPasses", 1, func(w *world) { largerPasses(w, ordered) }},
		{"Ordered/LargeBehindSmallIsDelivered", 1, func(w *world) { largeBehindSmall(w, ordered) }},
		{"Ordered/GroupsAreApart", 1, orderedGroups},
		{"Ordered/OrderHoldsAcrossTakeOver", 1, orderedTakeOverOrder},
	}
}

func orderedOrder(w *world) {
	m := w.join()
	c := m.consume(ordered, behaviour{ack: true})
	for _, body := range numbers(1, 50) {
		for p := range 3 {
			m.publish(bus.Commands, shard.Partition(p), body)
		}
	}
	w.await("150 messages arrive", func() bool { return len(c.all) == 150 })
	for _, s := range c.sessions {
		last := bus.Position{Partition: s.p}
		for i, d := range s.got {
			if d.Partition != s.p || string(d.Body) != numbers(i+1, i+1)[0] || !last.Before(d.Position) {
				w.Fatalf("partition %d: delivery %d is %q of partition %d at %+v", s.p, i+1, d.Body, d.Partition, d.Position)
			}
			last = d.Position
		}
	}
}

func orderedContinues(w *world) {
	m := w.join()
	m.publish(bus.Commands, 0, numbers(1, 3)...)
	c := m.consume(ordered, behaviour{ack: true})
	c.expect(numbers(1, 3)...)
	c.stop()
	m.publish(bus.Commands, 0, "4")
	c = w.join().consume(ordered, behaviour{ack: true})
	c.expect("4")
	w.never("a committed message is repeated", func() bool { return len(c.all) != 1 })
}

func orderedGap(w *world) {
	m := w.join()
	m.publish(bus.Commands, 0, numbers(1, 7)...)
	c := m.consume(ordered, behaviour{})
	c.expect(numbers(1, 7)...)
	c.ack("5", "2", "1", "6")
	c.stop()
	m.publish(bus.Commands, 0, "8")
	c = m.consume(ordered, behaviour{ack: true})
	c.expect(numbers(3, 8)...)
}

func orderedProgress(w *world) {
	m := w.join()
	positions := m.publish(bus.Commands, 0, numbers(1, 5)...)
	c := m.consume(ordered, behaviour{})
	c.expect(numbers(1, 5)...)
	c.ack("5", "3", "2")
	w.always("nothing is committed over the gap", func() error {
		return floorIs(m.floor(bus.Commands, ordered.Group, 0), &positions[0], 5)
	})
	c.ack("1")
	m.awaitFloor(bus.Commands, ordered.Group, 0, &positions[3], 2)
	c.ack("4")
	m.awaitFloor(bus.Commands, ordered.Group, 0, nil, 0)
}

func orderedNoEarlyCommit(w *world) {
	m := w.join()
	positions := m.publish(bus.Commands, 0, numbers(1, 3)...)
	c := m.consume(ordered, behaviour{})
	c.expect(numbers(1, 3)...)
	w.always("nothing is committed before an acknowledgement", func() error {
		return floorIs(m.floor(bus.Commands, ordered.Group, 0), &positions[0], 3)
	})
	c.stop()
	c = m.consume(ordered, behaviour{})
	c.expect(numbers(1, 3)...)
}

func orderedCrash(w *world) {
	first, second := w.join(), w.join()
	positions := second.publish(bus.Commands, 0, numbers(1, 4)...)
	c := first.consume(ordered, behaviour{})
	c.expect(numbers(1, 4)...)
	c.ack("1")
	second.awaitFloor(bus.Commands, ordered.Group, 0, &positions[1], 3)
	first.Crash()
	c = second.consume(ordered, behaviour{})
	c.expectWithin(w.sys.LeaseTTL, numbers(2, 4)...)
}

func orderedAckInClose(w *world) {
	m := w.join()
	m.publish(bus.Commands, 0, numbers(1, 3)...)
	var c *consumer
	c = m.consume(ordered, behaviour{close: func(context.Context, shard.Partition, error) { c.ack("1", "2") }})
	c.expect(numbers(1, 3)...)
	c.stop()
	m.consume(ordered, behaviour{}).expect("3")
}

func orderedLateAck(w *world) {
	m := w.join()
	positions := m.publish(bus.Commands, 0, numbers(1, 3)...)
	c := m.consume(ordered, behaviour{})
	c.expect(numbers(1, 3)...)
	c.stop()
	c.ack(numbers(1, 3)...)
	w.always("an acknowledgement after the revoke has no effect", func() error {
		return floorIs(m.floor(bus.Commands, ordered.Group, 0), &positions[0], 3)
	})
	next := m.consume(ordered, behaviour{})
	next.expect(numbers(1, 3)...)
	c.ack(numbers(1, 3)...)
	next.stop()
	m.consume(ordered, behaviour{}).expect(numbers(1, 3)...)
}

func orderedZombieAck(w *world) {
	zombie, heir := w.join(), w.join()
	positions := heir.publish(bus.Commands, 0, numbers(1, 3)...)
	lost := zombie.consume(ordered, behaviour{})
	lost.expect(numbers(1, 3)...)
	zombie.Isolate()
	c := heir.consume(ordered, behaviour{})
	c.expectWithin(w.sys.LeaseTTL, numbers(1, 3)...)
	lost.ack(numbers(1, 3)...)
	zombie.Heal()
	lost.ack(numbers(1, 3)...)
	w.await("the zombie's session is closed", func() bool { return len(lost.sessions) > 0 && lost.sessions[0].closedAt > 0 })
	if cause := lost.causeOf(0); !errors.Is(cause, bus.ErrLost) {
		w.Fatalf("the zombie's Close has cause %v, want ErrLost", cause)
	}
	w.always("a zombie's acknowledgement has no effect", func() error {
		return floorIs(heir.floor(bus.Commands, ordered.Group, 0), &positions[0], 3)
	})
}

func orderedNack(w *world) {
	const delay = 300 * time.Millisecond
	m := w.join()
	m.publish(bus.Commands, 0, numbers(1, 5)...)
	c := m.consume(ordered, behaviour{})
	c.expect(numbers(1, 5)...)
	c.ack("1", "4")
	old := c.last("2")[0]
	at := time.Now()
	c.last("3")[0].Nack(delay)
	c.expect("1", "2", "3", "4", "5", "2", "3", "4", "5")
	w.mu.Lock()
	back := c.arrived("2", 2)
	w.mu.Unlock()
	if waited := back.Sub(at); waited < delay-w.sys.Early {
		w.Fatalf("the partition restarted %v after Nack(%v)", waited, delay)
	}
	old.Ack() // void: it is from before the restart
	c.ack("3", "4", "5")
	w.never("anything else is delivered", func() bool { return len(c.all) != 9 })
	c.ack("2")
	m.awaitFloor(bus.Commands, ordered.Group, 0, nil, 0)
	c.last("5")[0].Nack(0)
	w.never("a Nack after the Ack counts", func() bool { return len(c.all) != 9 })
}

func orderedFirstCounts(w *world) {
	m := w.join()
	positions := m.publish(bus.Commands, 0, "1", "2")
	c := m.consume(ordered, behaviour{})
	c.expect("1", "2")
	d := c.last("1")[0]
	d.Nack(0)
	d.Ack()
	c.expect("1", "2", "1", "2")
	w.always("an Ack after the Nack has no effect", func() error {
		return floorIs(m.floor(bus.Commands, ordered.Group, 0), &positions[0], 2)
	})
}

func orderedWindow(w *world) {
	m := w.join()
	m.publish(bus.Commands, 0, numbers(1, 10)...)
	spec := ordered
	spec.MaxInFlight = 4
	c := m.consume(spec, behaviour{})
	c.expect(numbers(1, 4)...)
	w.never("a fifth is delivered with four in flight", func() bool { return len(c.all) > 4 })
	c.ack("2")
	c.expect(numbers(1, 5)...)
	w.never("a sixth is delivered", func() bool { return len(c.all) > 5 })
	c.ack("1", "3", "4", "5")
	c.expect(numbers(1, 9)...)
	c.ack("6", "7", "8", "9")
	c.expect(numbers(1, 10)...)
}

func orderedGroups(w *world) {
	m := w.join()
	m.publish(bus.Commands, 0, numbers(1, 3)...)
	other := ordered
	other.Group = "audit"
	one, two := m.consume(ordered, behaviour{ack: true}), m.consume(other, behaviour{})
	one.expect(numbers(1, 3)...)
	two.expect(numbers(1, 3)...)
	m.awaitFloor(bus.Commands, ordered.Group, 0, nil, 0)
	if f := m.floor(bus.Commands, other.Group, 0); f.Depth != 3 {
		w.Fatalf("the other group's depth is %d, want 3: %+v", f.Depth, f)
	}
}

// orderedTakeOverOrder verifies that the next owner gets the dead owner's unacknowledged deliveries before later
// messages. An engine that relies on redelivery by timeout cannot ensure this.
func orderedTakeOverOrder(w *world) {
	first, second := w.join(), w.join()
	spec := ordered
	spec.MaxInFlight = 3
	second.publish(bus.Commands, 0, numbers(1, 8)...)
	c := first.consume(spec, behaviour{})
	c.expect(numbers(1, 3)...)
	first.Crash()
	c = second.consume(ordered, behaviour{ack: true})
	c.expectWithin(w.sys.LeaseTTL, numbers(1, 8)...)
}
