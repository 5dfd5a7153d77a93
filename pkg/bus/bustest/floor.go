package bustest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

func floorChecks() []Check {
	return []Check{
		{"Floor/EmptyIsEnd", 2, floorEmpty},
		{"Floor/OfAGroupThatNeverConsumed", 2, floorUnknownGroup},
		{"Floor/QueueFollowsTheOldestUnacknowledged", 2, floorQueue},
		{"Floor/WaitingCountsWhatNoMemberHasTaken", 2, floorWaiting},
		{"Floor/DepthsOfQueuesAddUp", 3, floorQueues},
		{"Floor/OrderedIsPerPartition", 2, floorOrdered},
		{"Floor/NotForHints", 1, floorHints},
	}
}

func floorEmpty(w *world) {
	m := w.join()
	for _, topic := range []bus.Topic{bus.Commands, bus.Due} {
		var ends []bus.Position
		for p := range shard.Partition(2) {
			f := m.floor(topic, "anyone", p)
			if f.Floor != f.End || f.Depth != 0 || f.End.Partition != p || f.End.Offset < 1 {
				w.Fatalf("the floor of empty %s is %+v", topic, f)
			}
			ends = append(ends, f.End)
		}
		for p, end := range ends {
			if at := m.publish(topic, shard.Partition(p), "1")[0]; at.Before(end) {
				w.Fatalf("the end of %s was %+v, but the next message has position %+v", topic, end, at)
			}
		}
	}
}

func floorUnknownGroup(w *world) {
	m := w.join()
	for _, topic := range []bus.Topic{bus.Commands, bus.Due} {
		at := m.publish(topic, 1, "1", "2")
		f := m.floor(topic, "never seen", 1)
		if err := floorIs(f, &at[0], 2); err != nil || !at[1].Before(f.End) {
			w.Fatalf("%s: %v (end %+v)", topic, err, f.End)
		}
	}
}

func floorQueue(w *world) {
	m := w.join()
	var at []bus.Position
	for i, body := range numbers(1, 4) {
		at = append(at, m.publish(bus.Due, shard.Partition(i%2), body)[0])
	}
	// check waits until the floors show that exactly these messages, counted from 1, are unacknowledged.
	check := func(left ...int) {
		w.Helper()
		for p := range shard.Partition(2) {
			counted := left
			if w.sys.QueueByPartition {
				counted = slices.DeleteFunc(slices.Clone(left), func(n int) bool { return at[n-1].Partition != p })
			}
			var floor *bus.Position
			if len(counted) > 0 {
				// Positions of different partitions are not comparable; in one stream only the offset matters.
				first := at[counted[0]-1]
				first.Partition = p
				floor = &first
			}
			m.awaitFloor(bus.Due, queue.Group, p, floor, len(counted))
		}
	}
	check(1, 2, 3, 4)
	c := m.consume(queue, behaviour{})
	c.expectAll(numbers(1, 4)...)
	check(1, 2, 3, 4)
	c.ack("2")
	check(1, 3, 4)
	c.ack("1")
	check(3, 4)
	c.last("3")[0].Nack(0)
	c.expectAll("1", "2", "3", "4", "3")
	check(3, 4)
	c.ack("4")
	check(3)
	c.ack("3")
	check()
	end := m.floor(bus.Due, queue.Group, 0).End
	if next := m.publish(bus.Due, 0, "5")[0]; next.Before(end) {
		w.Fatalf("the end was %+v, but the next message has position %+v", end, next)
	}
	c.expectAll("1", "2", "3", "4", "3", "5")
	c.ack("5")
	m.awaitFloor(bus.Due, queue.Group, 0, nil, 0)
}

// floorWaiting has a member receive three of five messages.
func floorWaiting(w *world) {
	m := w.join()
	for _, body := range numbers(1, 5) {
		m.publish(bus.Due, 0, body)
	}
	waiting := func() int {
		w.Helper()
		return m.floor(bus.Due, queue.Group, 0).Waiting
	}
	want := 5
	if w.sys.WaitingUnknown {
		want = bus.WaitingUnknown
	}
	if n := waiting(); n != want {
		w.Fatalf("%d messages wait, want %d", n, want)
	}
	if w.sys.WaitingUnknown {
		return
	}
	few := queue
	few.MaxInFlight = 3
	c := m.consume(few, behaviour{})
	c.expectAll("1", "2", "3")
	await := func(want int) {
		w.Helper()
		w.poll("messages that wait", func() error {
			if n := waiting(); n != want {
				return fmt.Errorf("%d wait, want %d", n, want)
			}
			return nil
		})
	}
	await(2)
	c.ack("1")
	c.ack("2")
	c.expectAll("1", "2", "3", "4", "5")
	await(0) // a member has received the other two messages
	c.ack("3")
	c.ack("4")
	c.ack("5")
}

// floorQueues publishes six messages to three partitions. Exactly one queue must count each message, and all
// partitions of a queue must report the same depth.
func floorQueues(w *world) {
	m := w.join()
	m.publish(bus.Due, 0, "1")
	m.publish(bus.Due, 1, "2", "3")
	m.publish(bus.Due, 2, "4", "5", "6")
	depths, sum := map[int]int{}, 0
	for p := range shard.Partition(3) {
		f := m.floor(bus.Due, queue.Group, p)
		depth, seen := depths[f.Queue]
		if seen && depth != f.Depth {
			w.Fatalf("queue %d has %d messages, and %d by the floor of partition %d", f.Queue, depth, f.Depth, p)
		}
		if !seen {
			sum += f.Depth
		}
		depths[f.Queue] = f.Depth
	}
	if sum != 6 {
		w.Fatalf("all queues have %d messages, want 6 (%v)", sum, depths)
	}
}

func floorOrdered(w *world) {
	m := w.join()
	one := m.publish(bus.Commands, 0, "1")
	m.publish(bus.Commands, 1, "2")
	three := m.publish(bus.Commands, 0, "3")
	c := m.consume(ordered, behaviour{})
	w.await("all arrive", func() bool { return len(c.all) == 3 })
	c.ack("2")
	m.awaitFloor(bus.Commands, ordered.Group, 1, nil, 0)
	m.awaitFloor(bus.Commands, ordered.Group, 0, &one[0], 2)
	c.ack("1")
	m.awaitFloor(bus.Commands, ordered.Group, 0, &three[0], 1)
	c.ack("3")
	m.awaitFloor(bus.Commands, ordered.Group, 0, nil, 0)
}

func floorHints(w *world) {
	if _, err := w.join().Bus.Floor(w.Context(), bus.Shards, live.Group); !errors.Is(err, bus.ErrUnsupported) {
		w.Fatalf("Floor of hints returned %v, want ErrUnsupported", err)
	}
}
