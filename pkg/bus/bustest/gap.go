package bustest

import (
	"errors"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

func gapChecks() []Check {
	return []Check{
		{"Gap/RemovedMessagesAreReported", 1, gapReported},
		{"Gap/AcknowledgedMessagesAreNoGap", 1, gapOfAcknowledged},
		{"Gap/SharesAddUp", 4, gapShares},
		{"Gap/FullCommandsAreRefusedAndKept", 1, commandsRefused},
	}
}

func gapReported(w *world) {
	m := w.join()
	at := m.publish(bus.Commands, 0, numbers(1, 10)...)
	c := m.consume(ordered, behaviour{})
	c.expect(numbers(1, 10)...)
	c.ack(numbers(1, 4)...)
	m.awaitFloor(bus.Commands, ordered.Group, 0, &at[4], 6)
	c.stop()
	w.sys.Remove(w.T, bus.Commands, at[7])
	c = m.consume(ordered, behaviour{})
	c.expect("8", "9", "10")
	w.mu.Lock()
	gaps := c.gaps
	w.mu.Unlock()
	if len(gaps) != 1 || gaps[0] != (bus.Gap{After: at[3], First: at[7], Messages: 3}) {
		w.Fatalf("the reported gaps are %+v, want one of 3 messages after %+v up to %+v", gaps, at[3], at[7])
	}
	// No message was acknowledged, but the gap is not reported again.
	m.awaitFloor(bus.Commands, ordered.Group, 0, &at[7], 3)
	c.stop()
	c = m.consume(ordered, behaviour{ack: true})
	c.expect("8", "9", "10")
	w.never("a gap is reported twice", func() bool { return len(c.gaps) > 0 })
}

func gapOfAcknowledged(w *world) {
	m := w.join()
	at := m.publish(bus.Commands, 0, numbers(1, 5)...)
	c := m.consume(ordered, behaviour{ack: true})
	c.expect(numbers(1, 5)...)
	m.awaitFloor(bus.Commands, ordered.Group, 0, nil, 0)
	c.stop()
	w.sys.Remove(w.T, bus.Commands, at[4])
	c = m.consume(ordered, behaviour{ack: true})
	m.publish(bus.Commands, 0, "6")
	c.expect("6")
	w.never("a gap is reported", func() bool { return len(c.gaps) > 0 })
}

// gapShares removes messages of one partition only, after all partitions have been read.
func gapShares(w *world) {
	m := w.join()
	c := m.consume(ordered, behaviour{ack: true})
	c.awaitOpen(4)
	for p := range shard.Partition(4) {
		m.publish(bus.Commands, p, "before")
	}
	w.await("the messages before the gap arrive", func() bool { return len(c.all) == 4 })
	for p := range shard.Partition(4) {
		m.awaitFloor(bus.Commands, ordered.Group, p, nil, 0)
	}
	c.stop()
	at := m.publish(bus.Commands, 0, numbers(1, 10)...)
	w.sys.Remove(w.T, bus.Commands, at[9])
	c = m.consume(ordered, behaviour{ack: true})
	c.awaitOpen(4)
	c.expect("10")
	lost := func() (n int64) {
		for _, gap := range c.gaps {
			n += gap.Messages
		}
		return n
	}
	// If partitions share a sequence, the first messages of later partitions may count as lost.
	w.await("9 to 12 messages are reported as lost", func() bool { return lost() >= 9 })
	w.never("more messages are reported as lost than were published", func() bool { return lost() > 12 })
}

// commandsRefused fills the topic of commands without a consumer, and then consumes it.
func commandsRefused(w *world) {
	if w.sys.Small == nil {
		w.Fatalf("the engine has no Small")
	}
	m := w.adopt(w.sys.Small(w.T))
	publish := func(n int) error {
		_, err := m.Bus.Publish(w.Context(), bus.Commands,
			bus.Message{Body: []byte(fmt.Sprintf("%-10240d", n))})
		return err
	}
	taken := 0
	for ; taken < 200; taken++ {
		if err := publish(taken); err != nil {
			if !errors.Is(err, bus.ErrFull) || !errors.Is(err, bus.ErrUnavailable) {
				w.Fatalf("message %d returned %v, want ErrFull and ErrUnavailable", taken, err)
			}
			break
		}
	}
	if taken == 200 || taken < 5 {
		w.Fatalf("a topic with room for less than 1 MiB accepted %d messages of 10 KiB", taken)
	}
	c := m.consume(ordered, behaviour{})
	w.await("all accepted messages are delivered", func() bool { return len(c.all) == taken })
	w.mu.Lock()
	all, gaps := c.all, c.gaps
	w.mu.Unlock()
	if len(gaps) > 0 || string(all[0].Body[:2]) != "0 " {
		w.Fatalf("the first delivery is %.10q, and the gaps are %+v", all[0].Body, gaps)
	}
	if err := publish(taken); !errors.Is(err, bus.ErrFull) {
		w.Fatalf("Publish to the full topic without an acknowledgement returned %v, want ErrFull", err)
	}
	for _, d := range all {
		d.Ack()
	}
	deadline := time.Now().Add(w.sys.Patience)
	for err := publish(taken); err != nil; err = publish(taken) {
		if !errors.Is(err, bus.ErrFull) || time.Now().After(deadline) {
			w.Fatalf("Publish after all messages were acknowledged returned %v", err)
		}
		time.Sleep(w.sys.Settle / 10)
	}
	w.await("the message that was accepted afterwards is delivered", func() bool { return len(c.all) == taken+1 })
}
