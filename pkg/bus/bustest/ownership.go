package bustest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// ownershipChecks run for both modes in which partitions have owners.
func ownershipChecks() []Check {
	var checks []Check
	for _, mode := range []struct {
		name string
		spec bus.Spec
	}{{"Ordered", ordered}, {"Live", live}} {
		add := func(name string, partitions int, check func(*world, bus.Spec)) {
			checks = append(checks, Check{mode.name + "/" + name, partitions, func(w *world) { check(w, mode.spec) }})
		}
		add("OneOwnerPerPartition", 6, oneOwner)
		add("PartitionsAreSharedOnJoin", 4, sharedOnJoin)
		add("PartitionsAreTakenOverOnCrash", 4, takenOverOnCrash)
		add("PartitionsReturnOnLeave", 4, returnOnLeave)
		add("HandOverAwaitsClose", 2, handOverAwaitsClose)
		add("ContextEndsBeforeClose", 2, contextEndsBeforeClose)
		add("OpenFailureIsTriedAgain", 1, openFailure)
		add("OpenFailuresBackOff", 1, openBacksOff)
		add("DeliverErrorEndsTheSession", 1, deliverError)
		add("ReconnectOpensAgain", 2, reconnect)
	}
	return checks
}

// disjoint fails the check if two sessions of one partition were open at the same time. Lost sessions do not count,
// because a new owner cannot wait for them.
func disjoint(w *world, consumers ...*consumer) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*session
	for _, c := range consumers {
		all = append(all, c.sessions...)
	}
	slices.SortFunc(all, func(a, b *session) int { return a.openAt - b.openAt })
	open := map[shard.Partition]*session{}
	for _, s := range all {
		if before := open[s.p]; before != nil && !errors.Is(before.cause, bus.ErrLost) &&
			(before.closedAt == 0 || before.closedAt > s.openAt) {
			w.Fatalf("partition %d was opened at %d while a session from %d to %d owned it",
				s.p, s.openAt, before.openAt, before.closedAt)
		}
		open[s.p] = s
	}
}

// awaitSplit waits until the consumers own all partitions, each partition has one owner, and each consumer has its
// share.
func awaitSplit(w *world, partitions int, consumers ...*consumer) {
	w.Helper()
	w.awaitWithin(2*w.sys.LeaseTTL, fmt.Sprintf("%d partitions are shared by %d members", partitions, len(consumers)), func() bool {
		seen := map[shard.Partition]bool{}
		for _, c := range consumers {
			owned := c.owns()
			if len(owned) < partitions/len(consumers) {
				return false
			}
			for _, p := range owned {
				if seen[p] {
					return false
				}
				seen[p] = true
			}
		}
		return len(seen) == partitions
	})
}

func oneOwner(w *world, spec bus.Spec) {
	a := w.join().consume(spec, behaviour{})
	awaitSplit(w, 6, a)
	b := w.join().consume(spec, behaviour{})
	c := w.join().consume(spec, behaviour{})
	awaitSplit(w, 6, a, b, c)
	b.stop()
	awaitSplit(w, 6, a, c)
	b2 := w.join().consume(spec, behaviour{})
	awaitSplit(w, 6, a, b2, c)
	a.stop()
	c.stop()
	awaitSplit(w, 6, b2)
	disjoint(w, a, b, b2, c)
}

func sharedOnJoin(w *world, spec bus.Spec) {
	a := w.join().consume(spec, behaviour{})
	awaitSplit(w, 4, a)
	b := w.join().consume(spec, behaviour{})
	awaitSplit(w, 4, a, b)
	disjoint(w, a, b)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range a.sessions {
		if s.closedAt > 0 && !errors.Is(s.cause, bus.ErrRevoked) {
			w.Fatalf("a partition that moved was closed with %v, want ErrRevoked", s.cause)
		}
	}
}

func takenOverOnCrash(w *world, spec bus.Spec) {
	victim, heir := w.join(), w.join()
	a, b := victim.consume(spec, behaviour{}), heir.consume(spec, behaviour{})
	awaitSplit(w, 4, a, b)
	victim.Crash()
	awaitSplit(w, 4, b)
}

func returnOnLeave(w *world, spec bus.Spec) {
	a, b := w.join().consume(spec, behaviour{}), w.join().consume(spec, behaviour{})
	awaitSplit(w, 4, a, b)
	a.stop()
	awaitSplit(w, 4, b)
	for _, s := range a.sessions {
		if s.closedAt == 0 {
			w.Fatalf("Consume returned before Close of partition %d had", s.p)
		}
	}
	disjoint(w, a, b)
}

// gate returns a close function that waits until release is called, at the latest until the end of the check.
func gate(w *world) (release func(), wait func(context.Context, shard.Partition, error)) {
	open := make(chan struct{})
	release = sync.OnceFunc(func() { close(open) })
	w.Cleanup(release)
	return release, func(ctx context.Context, _ shard.Partition, _ error) {
		select {
		case <-open:
		case <-ctx.Done():
		}
	}
}

func handOverAwaitsClose(w *world, spec bus.Spec) {
	release, wait := gate(w)
	a := w.join().consume(spec, behaviour{close: wait})
	awaitSplit(w, 2, a)
	b := w.join().consume(spec, behaviour{})
	closing := func() bool {
		return slices.ContainsFunc(a.sessions, func(s *session) bool { return s.closingAt > 0 })
	}
	w.await("a partition is revoked", closing)
	w.never("the next owner opens while Close runs", func() bool { return len(b.sessions) > 0 })
	release()
	awaitSplit(w, 2, a, b)
	disjoint(w, a, b)
}

func contextEndsBeforeClose(w *world, spec bus.Spec) {
	a := w.join().consume(spec, behaviour{})
	awaitSplit(w, 2, a)
	b := w.join().consume(spec, behaviour{})
	awaitSplit(w, 2, a, b)
	a.stop()
	for _, s := range a.sessions {
		if s.ctxCause == nil || !errors.Is(s.ctxCause, s.cause) {
			w.Fatalf("Close with cause %v saw the context's cause %v", s.cause, s.ctxCause)
		}
		if !errors.Is(s.cause, bus.ErrRevoked) && !errors.Is(s.cause, bus.ErrStopping) {
			w.Fatalf("Close has cause %v, want ErrRevoked or ErrStopping", s.cause)
		}
	}
}

var errTest = errors.New("rejected by the test")

func openFailure(w *world, spec bus.Spec) {
	tries := 0
	c := w.join().consume(spec, behaviour{open: func(context.Context, shard.Partition) error {
		if tries++; tries < 3 {
			return errTest
		}
		return nil
	}})
	w.awaitWithin(3*w.sys.LeaseTTL, "the third open succeeds", func() bool { return len(c.owns()) == 1 })
}

// openBacksOff counts calls of open. Backoffs that start at 100 ms and double allow six calls within three seconds.
func openBacksOff(w *world, spec bus.Spec) {
	var calls atomic.Int64
	w.join().consume(spec, behaviour{open: func(context.Context, shard.Partition) error {
		calls.Add(1)
		return errTest
	}})
	w.awaitWithin(2*w.sys.LeaseTTL, "open is called again after a failure", func() bool { return calls.Load() > 1 })
	if w.holds(3*time.Second, func() bool { return calls.Load() > 10 }) {
		w.Fatalf("open was called %d times within 3 s of failures, want 10 at most", calls.Load())
	}
}

func deliverError(w *world, spec bus.Spec) {
	refused := false
	m := w.join()
	c := m.consume(spec, behaviour{deliver: func(context.Context, *bus.Delivery) error {
		if !refused {
			refused = true
			return errTest
		}
		return nil
	}})
	c.awaitOpen(1)
	m.publish(spec.Topic, 0, "1")
	w.awaitWithin(2*w.sys.LeaseTTL, "a second session opens", func() bool { return len(c.sessions) == 2 })
	if cause := c.causeOf(0); !errors.Is(cause, bus.ErrLost) {
		w.Fatalf("the session whose Deliver failed was closed with %v, want ErrLost", cause)
	}
	if spec.Mode == bus.Ordered {
		c.expect("1")
	}
}

func reconnect(w *world, spec bus.Spec) {
	publisher, m := w.join(), w.join()
	c := m.consume(spec, behaviour{ack: true})
	c.awaitOpen(2)
	m.Break()
	publisher.publish(bus.Commands, 0, "while broken")
	// Whether or not the sessions survived, the member must work again as before.
	w.poll("the member publishes again", func() error {
		_, err := m.Bus.Publish(w.Context(), bus.Commands, bus.Message{Partition: 1, Body: []byte("after")})
		return err
	})
	if spec.Mode == bus.Ordered {
		w.awaitWithin(2*w.sys.LeaseTTL, "messages published during and after the outage are delivered", func() bool {
			return c.delivery("while broken", 1) != nil && c.delivery("after", 1) != nil
		})
		return
	}
	w.poll("a hint arrives again", func() error {
		publisher.publish(spec.Topic, 0, "hint")
		if !w.holds(w.sys.Settle/10, func() bool { return len(c.all) > 0 }) {
			return errors.New("none arrived")
		}
		return nil
	})
}
