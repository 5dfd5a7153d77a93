package bustest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// CrashCheck is one clause of the contract about crashes of the bus's server.
type CrashCheck struct {
	Name string
	// Partitions is the partition count of the bus under test.
	Partitions int
	check      func(w *world, sys *CrashSystem)
}

// Run runs the check on a fresh bus.
func (c CrashCheck) Run(t T, factory CrashFactory) {
	t.Helper()
	sys := factory(t, c.Partitions)
	c.check(newWorld(t, sys.System), &sys)
}

// CrashChecks lists the checks that RunCrash runs.
func CrashChecks() []CrashCheck {
	return []CrashCheck{
		{"Crash/FloorReachesTheEndWithoutNewMessages", 2, crashFloor},
		{"Crash/FloorReachesTheEndOverAGap", 2, crashFloorOfAGap},
		{"Crash/FloorReachesTheEndForANewMember", 2, crashFloorOfANewMember},
		{"Crash/PositionsAreNotAssignedTwice", 1, crashPositions},
		{"Crash/NewMessagesAreDelivered", 2, crashTaken},
	}
}

// manualConsumer acknowledges deliveries only while acks is true.
type manualConsumer struct {
	*consumer
	acks *atomic.Bool
}

func (m *member) consumeManually(spec bus.Spec) manualConsumer {
	var acks atomic.Bool
	c := m.consume(spec, behaviour{deliver: func(_ context.Context, d *bus.Delivery) error {
		if acks.Load() {
			d.Ack()
		}
		return nil
	}})
	return manualConsumer{c, &acks}
}

// crash crashes the server after it has lost messages and restored acknowledged ones. Messages 1 to 4, in partition
// 0, were published before Remember and acknowledged after it, except those in held. Messages 5 and 6, in partition
// 1, were published and acknowledged after Remember.
func (w *world) crash(sys *CrashSystem, m *member, c manualConsumer, held ...string) {
	w.Helper()
	acked := slices.DeleteFunc(numbers(1, 4), func(body string) bool { return slices.Contains(held, body) })
	m.publish(bus.Due, 0, numbers(1, 4)...)
	c.expectAll(numbers(1, 4)...)
	sys.Remember()
	c.ack(acked...)
	m.publish(bus.Due, 1, numbers(5, 6)...)
	c.expectAll(numbers(1, 6)...)
	c.ack("5", "6")
	w.poll("the acknowledgements arrive", func() error {
		depth := m.floor(bus.Due, queue.Group, 0).Depth
		if sys.QueueByPartition {
			depth += m.floor(bus.Due, queue.Group, 1).Depth
		}
		if depth != len(held) {
			return fmt.Errorf("depth %d, want %d", depth, len(held))
		}
		return nil
	})
	sys.Crash()
}

// settled waits until the floors of a queue without new messages are at its end.
func (w *world) settled(m *member) {
	w.Helper()
	w.pollWithin(w.sys.AckWait, "the floor reaches the end without new messages", func() error {
		floors, err := m.Bus.Floor(w.Context(), bus.Due, queue.Group)
		if err != nil {
			return err
		}
		var failed error
		for _, f := range floors {
			failed = errors.Join(failed, floorIs(f, nil, 0))
		}
		return failed
	})
}

func crashFloor(w *world, sys *CrashSystem) {
	m := w.join()
	c := m.consumeManually(queue)
	w.crash(sys, m, c)
	c.acks.Store(true)
	w.settled(m)
	w.settled(w.join())
}

func crashFloorOfAGap(w *world, sys *CrashSystem) {
	m := w.join()
	c := m.consumeManually(queue)
	w.crash(sys, m, c, "2")
	c.acks.Store(true)
	w.settled(m)
}

func crashFloorOfANewMember(w *world, sys *CrashSystem) {
	m := w.join()
	w.crash(sys, m, m.consumeManually(queue))
	m.Crash()
	heir := w.join()
	heir.consume(queue, behaviour{ack: true})
	w.settled(heir)
}

func crashPositions(w *world, sys *CrashSystem) {
	m := w.join()
	c := m.consumeManually(queue)
	w.await("the session opens", func() bool { return len(c.owns()) > 0 })
	m.publish(bus.Due, 0, "1")
	c.expect("1")
	sys.Remember()
	taken := m.publish(bus.Due, 0, numbers(2, 9)...)
	last := taken[len(taken)-1]
	end := m.floor(bus.Due, queue.Group, 0).End
	c.acks.Store(true)
	sys.Crash()
	w.settled(m)
	// The floor is at the end, so all positions from before the crash must be below it.
	if f := m.floor(bus.Due, queue.Group, 0); !last.Before(f.Floor) || f.Floor.Before(end) {
		w.Fatalf("the floor is %+v, the last message accepted before the crash was at %+v, the end then was %+v", f, last, end)
	}
	next := m.publishAgain(bus.Due, 0, "10")
	if !last.Before(next) {
		w.Fatalf("a message has position %+v after the crash, an earlier one had %+v", next, last)
	}
	w.settled(m)
	if f := m.floor(bus.Due, queue.Group, 0); !next.Before(f.Floor) {
		w.Fatalf("the floor is %+v, want one after %+v, the position of the last acknowledged message", f, next)
	}
}

func crashTaken(w *world, sys *CrashSystem) {
	m, other := w.join(), w.join()
	c := m.consumeManually(queue)
	w.crash(sys, m, c, "2")
	c.acks.Store(true)
	// Publish more messages than the crash lost, so that the end passes their offsets.
	for _, body := range numbers(11, 20) {
		other.publishAgain(bus.Due, 0, body)
	}
	w.awaitWithin(w.sys.AckWait, "messages published after the crash are delivered", func() bool {
		for _, body := range numbers(11, 20) {
			if c.delivery(body, 1) == nil {
				return false
			}
		}
		return true
	})
	w.settled(m)
}

// publishAgain publishes a message until the bus accepts it.
func (m *member) publishAgain(topic bus.Topic, p shard.Partition, body string) bus.Position {
	m.w.Helper()
	var at bus.Position
	m.w.poll("the bus accepts a message", func() error {
		positions, err := m.Bus.Publish(m.w.Context(), topic, bus.Message{Partition: p, Key: "key", Body: []byte(body)})
		if err == nil {
			at = positions[0]
		}
		return err
	})
	return at
}
