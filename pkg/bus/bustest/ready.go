package bustest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// recovery is how long a member may take to become ready after the last failure: the backoff before its next attempt,
// and how long a session must last after failures.
const recovery = 6 * time.Second

func readyChecks() []Check {
	var checks []Check
	for _, mode := range []struct {
		name string
		spec bus.Spec
	}{{"Ordered", ordered}, {"Live", live}, {"Queue", queue}} {
		add := func(name string, partitions int, check func(*world, bus.Spec)) {
			checks = append(checks, Check{"Ready/" + name + mode.name, partitions, func(w *world) { check(w, mode.spec) }})
		}
		add("OnlyWhileConsuming", 2, readyWhileConsuming)
		add("NotWhileOpenFails", 2, readyOpenFails)
		add("NotWhileCutOff", 1, readyCutOff)
		if mode.spec.Mode != bus.Queue {
			add("WithoutPartitions", 1, readyWithoutPartitions)
		}
	}
	return append(checks, Check{"Ready/NotWhileDeliverFails", 1, readyDeliverFails})
}

// isReady returns the error of Ready, for poll and always.
func (m *member) isReady(spec bus.Spec) error { return m.Bus.Ready(spec.Topic, spec.Group) }

// isNotReady requires an error of the kinds that the contract names.
func (m *member) isNotReady(spec bus.Spec, kinds ...error) error {
	err := m.isReady(spec)
	if err == nil {
		return errors.New("the call of Ready returned nil")
	}
	for _, kind := range kinds {
		if !errors.Is(err, kind) {
			return fmt.Errorf("the call of Ready returned %w, want an error that wraps %w", err, kind)
		}
	}
	return nil
}

func readyWhileConsuming(w *world, spec bus.Spec) {
	m, idle := w.join(), w.join()
	if err := m.isNotReady(spec, bus.ErrUnavailable); err != nil {
		w.Fatalf("before Consume: %v", err)
	}
	opened, release := make(chan struct{}, 2), make(chan struct{})
	c := m.consume(spec, behaviour{open: func(context.Context, shard.Partition) error {
		opened <- struct{}{}
		<-release
		return nil
	}})
	<-opened
	err := m.isNotReady(spec, bus.ErrUnavailable)
	close(release)
	if err != nil {
		w.Fatalf("while the first session opens: %v", err)
	}
	w.poll("the member is ready", func() error { return m.isReady(spec) })
	if err := idle.isNotReady(spec, bus.ErrUnavailable); err != nil {
		w.Fatalf("a handle that does not consume: %v", err)
	}
	other := spec
	other.Group = "other"
	if err := m.isNotReady(other, bus.ErrUnavailable); err != nil {
		w.Fatalf("a group that is not consumed: %v", err)
	}
	c.stop()
	if err := m.isNotReady(spec, bus.ErrUnavailable); err != nil {
		w.Fatalf("after Consume: %v", err)
	}
	if err := m.Bus.Close(); err != nil {
		w.Fatalf("close: %v", err)
	}
	if err := m.isNotReady(spec, bus.ErrClosed); err != nil {
		w.Fatalf("after Close: %v", err)
	}
}

func readyOpenFails(w *world, spec bus.Spec) {
	var works atomic.Bool
	m := w.join()
	m.consume(spec, behaviour{open: func(_ context.Context, p shard.Partition) error {
		if p == 0 && !works.Load() {
			return errTest
		}
		return nil
	}})
	w.poll("the failure of open is the reason", func() error { return m.isNotReady(spec, bus.ErrUnavailable, errTest) })
	w.always("not ready while open fails", func() error { return m.isNotReady(spec, bus.ErrUnavailable, errTest) })
	works.Store(true)
	w.pollWithin(recovery, "the member is ready", func() error { return m.isReady(spec) })
}

// readyDeliverFails has a series of sessions that open and fail at their first delivery: none of them is progress.
func readyDeliverFails(w *world) {
	var works atomic.Bool
	m := w.join()
	c := m.consume(ordered, behaviour{ack: true, deliver: func(context.Context, *bus.Delivery) error {
		if !works.Load() {
			return errTest
		}
		return nil
	}})
	c.awaitOpen(1)
	m.publish(bus.Commands, 0, "1")
	w.poll("the failure of Deliver is the reason", func() error { return m.isNotReady(ordered, bus.ErrUnavailable, errTest) })
	w.always("not ready while Deliver fails", func() error { return m.isNotReady(ordered, bus.ErrUnavailable, errTest) })
	works.Store(true)
	c.expectWithin(recovery, "1")
	w.pollWithin(recovery, "the member is ready", func() error { return m.isReady(ordered) })
}

func readyWithoutPartitions(w *world, spec bus.Spec) {
	a, b := w.join(), w.join()
	a.consume(spec, behaviour{})
	w.poll("the member with the partition is ready", func() error { return a.isReady(spec) })
	b.consume(spec, behaviour{})
	w.poll("both members are ready", func() error { return errors.Join(a.isReady(spec), b.isReady(spec)) })
	w.always("both members stay ready", func() error { return errors.Join(a.isReady(spec), b.isReady(spec)) })
}

func readyCutOff(w *world, spec bus.Spec) {
	m := w.join()
	m.consume(spec, behaviour{})
	w.poll("the member is ready", func() error { return m.isReady(spec) })
	m.Isolate()
	w.Cleanup(m.Heal)
	w.pollWithin(2*w.sys.LeaseTTL, "the member is not ready", func() error { return m.isNotReady(spec, bus.ErrUnavailable) })
	m.Heal()
	w.pollWithin(2*w.sys.LeaseTTL+recovery, "the member is ready again", func() error { return m.isReady(spec) })
}
