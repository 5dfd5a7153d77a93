package bustest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

func queueChecks() []Check {
	return []Check{
		{"Queue/EachMessageGoesToOneMember", 4, queueShared},
		{"Queue/AnyMemberTakesWhatOthersCannot", 1, queueAnyMember},
		{"Queue/AcknowledgedOneByOne", 1, queueOneByOne},
		{"Queue/NackComesAgainAfterItsDelay", 1, queueNack},
		{"Queue/UnansweredComesAgainAfterAckWait", 1, queueAckWait},
		{"Queue/ExtendStartsAckWaitAnew", 1, queueExtend},
		{"Queue/DeadMembersMessagesComeAgain", 1, queueCrash},
		{"Queue/LeavingMemberGivesBack", 1, queueLeave},
		{"Queue/LateAckDoesNothing", 1, queueLateAck},
		{"Queue/FirstOfAckAndNackCounts", 1, queueFirstCounts},
		{"Queue/WindowSaturatesAndGoesOn", 1, queueWindow},
		{"Queue/WindowHoldsOverPartitions", 4, queueWindowOverPartitions},
		{"Queue/HeldMessagesStopNoOtherPartition", 4, queueHeldPartition},
		{"Queue/BytesSaturateAndGoOn", 1, func(w *world) { bytesSaturate(w, queue) }},
		{"Queue/LargerThanTheBoundPasses", 1, func(w *world) { largerPasses(w, queue) }},
		{"Queue/LargeBehindSmallIsDelivered", 1, func(w *world) { largeBehindSmall(w, queue) }},
		{"Queue/DeliverErrorEndsTheSession", 1, queueDeliverError},
		{"Queue/OpenFailureIsTriedAgain", 1, queueOpenFailure},
		{"Queue/OpenFailuresBackOff", 1, func(w *world) { openBacksOff(w, queue) }},
		{"Queue/SurvivesReconnect", 1, queueReconnect},
	}
}

func queueShared(w *world) {
	one, two := w.join(), w.join()
	a, b := one.consume(queue, behaviour{ack: true}), two.consume(queue, behaviour{ack: true})
	// A bus without delivery counts may count messages that were in transit when the second member joined as
	// delivered before.
	w.await("both members have a session", func() bool { return len(a.owns()) > 0 && len(b.owns()) > 0 })
	for p := range 4 {
		one.publish(bus.Due, shard.Partition(p), numbers(p*25+1, p*25+25)...)
	}
	w.await("100 messages arrive", func() bool { return len(a.all)+len(b.all) >= 100 })
	one.awaitFloor(bus.Due, queue.Group, 0, nil, 0)
	w.never("a message is repeated", func() bool { return len(a.all)+len(b.all) > 100 })
	seen := map[string]bool{}
	for _, d := range append(a.all, b.all...) {
		seen[string(d.Body)] = true
		if d.Deliveries != 1 && d.Deliveries != 0 {
			w.Fatalf("%q has delivery count %d at its first delivery", d.Body, d.Deliveries)
		}
	}
	if len(seen) != 100 {
		w.Fatalf("%d different messages arrived, want 100", len(seen))
	}
}

func queueAnyMember(w *world) {
	spec := queue
	spec.MaxInFlight = 1
	stuck, free := w.join().consume(spec, behaviour{}), w.join()
	w.await("the first member has a session", func() bool { return len(stuck.owns()) > 0 })
	free.publish(bus.Due, 0, "1")
	stuck.expect("1")
	c := free.consume(spec, behaviour{ack: true})
	free.publish(bus.Due, 0, numbers(2, 9)...)
	w.await("the other member receives the remaining messages", func() bool { return len(c.all) == 8 })
}

func queueOneByOne(w *world) {
	m := w.join()
	m.publish(bus.Due, 0, numbers(1, 4)...)
	c := m.consume(queue, behaviour{})
	c.expect(numbers(1, 4)...)
	c.ack("2", "4")
	c.last("1")[0].Nack(0)
	c.last("3")[0].Nack(0)
	w.await("1 and 3 are redelivered", func() bool { return c.delivery("1", 2) != nil && c.delivery("3", 2) != nil })
	for _, d := range c.last("1", "3") {
		if d.Deliveries != 2 && d.Deliveries != 0 {
			w.Fatalf("%q has delivery count %d, want 2", d.Body, d.Deliveries)
		}
	}
	c.ack("1", "3")
	m.awaitFloor(bus.Due, queue.Group, 0, nil, 0)
	w.never("an acknowledged message is redelivered", func() bool { return len(c.all) > 6 })
}

func queueNack(w *world) {
	const delay = 400 * time.Millisecond
	m := w.join()
	c := m.consume(queue, behaviour{})
	m.publish(bus.Due, 0, "1")
	c.expect("1")
	at := time.Now()
	c.last("1")[0].Nack(delay)
	c.expect("1", "1")
	if waited := c.arrived("1", 2).Sub(at); waited < delay-w.sys.Early {
		w.Fatalf("redelivered %v after Nack(%v)", waited, delay)
	}
	if d := c.last("1")[0]; d.Deliveries == 1 {
		w.Fatalf("the delivery count is still 1")
	}
}

func queueAckWait(w *world) {
	m := w.join()
	c := m.consume(queue, behaviour{})
	published := time.Now() // the bus counts from the delivery, which the test learns of later
	m.publish(bus.Due, 0, "1")
	c.expect("1")
	c.expectWithin(w.sys.AckWait, "1", "1")
	w.mu.Lock()
	waited := c.arrived("1", 2).Sub(published)
	w.mu.Unlock()
	if waited < w.sys.AckWait-w.sys.Early {
		w.Fatalf("redelivered after %v, want %v", waited, w.sys.AckWait)
	}
	if d := c.last("1")[0]; d.Deliveries == 1 {
		w.Fatalf("the delivery count is still 1")
	}
}

func queueExtend(w *world) {
	m := w.join()
	c := m.consume(queue, behaviour{})
	m.publish(bus.Due, 0, "1")
	c.expect("1")
	var extended time.Time // before the call: the bus may count from any moment of it
	for range 2 {
		if w.holds(w.sys.AckWait*3/5, func() bool { return len(c.all) > 1 }) {
			w.Fatalf("redelivered although AckWait was extended")
		}
		extended = time.Now()
		c.last("1")[0].Extend()
	}
	c.expectWithin(w.sys.AckWait, "1", "1")
	w.mu.Lock()
	waited := c.arrived("1", 2).Sub(extended)
	w.mu.Unlock()
	if waited < w.sys.AckWait-w.sys.Early {
		w.Fatalf("redelivered %v after the last Extend, want %v", waited, w.sys.AckWait)
	}
}

func queueCrash(w *world) {
	victim, heir := w.join(), w.join()
	a := victim.consume(queue, behaviour{})
	heir.publish(bus.Due, 0, numbers(1, 3)...)
	a.expect(numbers(1, 3)...)
	victim.Crash()
	b := heir.consume(queue, behaviour{ack: true})
	w.awaitWithin(w.sys.AckWait, "the dead member's messages are redelivered", func() bool {
		return b.delivery("1", 1) != nil && b.delivery("2", 1) != nil && b.delivery("3", 1) != nil
	})
	for _, d := range b.last("1", "2", "3") {
		if d.Deliveries == 1 {
			w.Fatalf("%q has delivery count 1 at its second delivery", d.Body)
		}
	}
	heir.awaitFloor(bus.Due, queue.Group, 0, nil, 0)
}

func queueLeave(w *world) {
	m, other := w.join(), w.join()
	a := m.consume(queue, behaviour{})
	m.publish(bus.Due, 0, numbers(1, 3)...)
	a.expect(numbers(1, 3)...)
	a.ack("2")
	left := time.Now()
	a.stop()
	b := other.consume(queue, behaviour{ack: true})
	w.await("unacknowledged messages are redelivered", func() bool { return len(b.all) == 2 })
	if b.delivery("1", 1) == nil || b.delivery("3", 1) == nil {
		w.Fatalf("%q were redelivered, want 1 and 3", b.bodies())
	}
	if waited := time.Since(left); waited > w.sys.AckWait*9/10 {
		w.Fatalf("took %v: a leaving member must return its messages immediately", waited)
	}
}

func queueLateAck(w *world) {
	m := w.join()
	a := m.consume(queue, behaviour{})
	m.publish(bus.Due, 0, "1")
	a.expect("1")
	a.stop()
	b := m.consume(queue, behaviour{})
	b.expect("1")
	a.ack("1")
	w.always("a late acknowledgement has no effect", func() error {
		if f := m.floor(bus.Due, queue.Group, 0); f.Depth != 1 || f.Floor == f.End {
			return errors.New("the message is gone")
		}
		return nil
	})
}

func queueFirstCounts(w *world) {
	m := w.join()
	c := m.consume(queue, behaviour{})
	m.publish(bus.Due, 0, "1", "2")
	c.expect("1", "2")
	one, two := c.last("1")[0], c.last("2")[0]
	one.Ack()
	one.Nack(0)
	two.Nack(0)
	two.Ack()
	w.await("2 is redelivered", func() bool { return c.delivery("2", 2) != nil })
	w.never("1 is redelivered", func() bool { return len(c.all) > 3 })
	c.ack("2")
	m.awaitFloor(bus.Due, queue.Group, 0, nil, 0)
}

func queueWindow(w *world) {
	m := w.join()
	m.publish(bus.Due, 0, numbers(1, 10)...)
	spec := queue
	spec.MaxInFlight = 4
	c := m.consume(spec, behaviour{})
	c.expect(numbers(1, 4)...)
	w.never("a fifth is delivered with four in flight", func() bool { return len(c.all) > 4 })
	c.ack("2")
	c.expect(numbers(1, 5)...)
	c.ack("1", "3", "4", "5")
	c.expect(numbers(1, 9)...)
	c.ack("6", "7", "8", "9")
	c.expect(numbers(1, 10)...)
}

// queueWindowOverPartitions has more messages in each partition than a session may have in flight.
func queueWindowOverPartitions(w *world) {
	const window, each = 8, 12
	m := w.join()
	spec := queue
	spec.MaxInFlight = window
	c := m.consume(spec, behaviour{})
	w.await("a session opens", func() bool { return len(c.owns()) > 0 })
	for p := range 4 {
		m.publish(bus.Due, shard.Partition(p), numbers(p*each+1, (p+1)*each)...)
	}
	acked := map[*bus.Delivery]bool{}
	inFlight := func(s *session) (held []*bus.Delivery) {
		for _, d := range s.got {
			if !acked[d] {
				held = append(held, d)
			}
		}
		return held
	}
	for len(acked) < 4*each {
		w.await("messages are delivered below the bound", func() bool {
			return slices.ContainsFunc(c.sessions, func(s *session) bool {
				return len(inFlight(s)) >= min(window, 4*each-len(acked)) || len(inFlight(s)) > 0 && w.sys.QueueByPartition
			})
		})
		w.never("more messages are in flight than the bound", func() bool {
			return slices.ContainsFunc(c.sessions, func(s *session) bool { return len(inFlight(s)) > window })
		})
		w.mu.Lock()
		var held []*bus.Delivery
		for _, s := range c.sessions {
			held = append(held, inFlight(s)...)
		}
		for _, d := range held {
			acked[d] = true
		}
		w.mu.Unlock()
		for _, d := range held {
			d.Ack()
		}
	}
	for p := range shard.Partition(4) {
		m.awaitFloor(bus.Due, queue.Group, p, nil, 0)
	}
}

// queueHeldPartition leaves messages of one partition unacknowledged, fewer than may be in flight.
func queueHeldPartition(w *world) {
	m := w.join()
	spec := queue
	spec.MaxInFlight = 8
	c := m.consume(spec, behaviour{})
	m.publish(bus.Due, 0, numbers(1, 4)...)
	c.expect(numbers(1, 4)...)
	for p := range shard.Partition(3) {
		m.publish(bus.Due, p+1, fmt.Sprint(p+5))
	}
	c.expectAll(numbers(1, 7)...)
}

func queueDeliverError(w *world) {
	refused := false
	m := w.join()
	c := m.consume(queue, behaviour{ack: true, deliver: func(context.Context, *bus.Delivery) error {
		if !refused {
			refused = true
			return errTest
		}
		return nil
	}})
	m.publish(bus.Due, 0, "1")
	w.await("a second session opens", func() bool { return len(c.sessions) == 2 })
	if cause := c.causeOf(0); !errors.Is(cause, bus.ErrLost) {
		w.Fatalf("the session whose Deliver failed was closed with %v, want ErrLost", cause)
	}
	c.expectWithin(w.sys.AckWait, "1")
}

func queueOpenFailure(w *world) { openFailure(w, queue) }

func queueReconnect(w *world) {
	publisher, m := w.join(), w.join()
	c := m.consume(queue, behaviour{ack: true})
	publisher.publish(bus.Due, 0, "1")
	c.expect("1")
	m.Break()
	publisher.publish(bus.Due, 0, "2")
	w.awaitWithin(w.sys.AckWait, "the message published during the outage is delivered", func() bool { return c.delivery("2", 1) != nil })
	w.poll("everything is acknowledged", func() error {
		f, err := publisher.Bus.Floor(w.Context(), bus.Due, queue.Group)
		if err != nil {
			return err
		}
		return floorIs(f[0], nil, 0)
	})
}
