package bustest

import (
	"errors"

	"github.com/timerbus/timerbus/pkg/bus"
)

func lifecycleChecks() []Check {
	return []Check{
		{"Lifecycle/Partitions", 7, partitions},
		{"Lifecycle/HandlesHaveTheSameProperties", 1, properties},
		{"Lifecycle/ModeMustFitTheTopic", 1, modeFits},
		{"Lifecycle/OneConsumePerGroupAndHandle", 1, oneConsume},
		{"Lifecycle/ConsumeAwaitsEveryClose", 2, consumeAwaitsClose},
		{"Lifecycle/CloseEndsConsume", 2, closeEndsConsume},
		{"Lifecycle/ClosedIsClosed", 1, closedIsClosed},
	}
}

func partitions(w *world) {
	if n := w.join().Bus.Partitions(); n != 7 {
		w.Fatalf("the bus has %d partitions, want 7", n)
	}
}

func properties(w *world) {
	first, second := w.join().Bus.Properties(), w.join().Bus.Properties()
	if first != second || first.Prefix == "" {
		w.Fatalf("two handles have the properties %+v and %+v, want the same, with a prefix", first, second)
	}
}

func modeFits(w *world) {
	m := w.join()
	fits := map[bus.Mode]bus.Kind{bus.Ordered: bus.KindLog, bus.Live: bus.KindHints, bus.Queue: bus.KindQueue}
	for _, topic := range append(bus.Topics(), "no-such-topic") {
		for mode := range bus.Queue + 2 {
			if kind := fits[mode]; kind == topic.Kind() && kind != 0 {
				continue
			}
			err := m.Bus.Consume(w.Context(), bus.Spec{Topic: topic, Group: "g", Mode: mode}, nil)
			if !errors.Is(err, bus.ErrUnsupported) {
				w.Fatalf("consuming %q in mode %d returned %v, want ErrUnsupported", topic, mode, err)
			}
		}
	}
}

func oneConsume(w *world) {
	for _, spec := range []bus.Spec{ordered, live} {
		m := w.join()
		c := m.consume(spec, behaviour{})
		c.awaitOpen(1)
		if err := m.Bus.Consume(w.Context(), spec, nil); err == nil {
			w.Fatalf("the handle consumes %s twice in one group", spec.Topic)
		}
		c.stop()
		c = m.consume(spec, behaviour{})
		c.awaitOpen(1)
		c.stop()
	}
}

func consumeAwaitsClose(w *world) {
	for _, spec := range []bus.Spec{ordered, live, queue} {
		release, wait := gate(w)
		c := w.join().consume(spec, behaviour{close: wait})
		w.await("a session opens", func() bool { return len(c.owns()) > 0 })
		c.cancel()
		w.never("Consume returns while Close runs", func() bool { return c.returned })
		release()
		c.stop()
		for _, s := range c.sessions {
			if !errors.Is(s.cause, bus.ErrStopping) {
				w.Fatalf("Close has cause %v at the end of Consume's context, want ErrStopping", s.cause)
			}
		}
	}
}

func closeEndsConsume(w *world) {
	m := w.join()
	var all []*consumer
	for _, spec := range []bus.Spec{ordered, live, queue} {
		c := m.consume(spec, behaviour{})
		w.await("a session opens", func() bool { return len(c.owns()) > 0 })
		all = append(all, c)
	}
	if err := m.Bus.Close(); err != nil {
		w.Fatalf("close: %v", err)
	}
	for _, c := range all {
		w.await("Consume returns", func() bool { return c.returned })
		if c.err != nil {
			w.Fatalf("Consume of %s returned %v after Close, want nil", c.spec.Topic, c.err)
		}
		for _, s := range c.sessions {
			if s.closedAt == 0 || !errors.Is(s.cause, bus.ErrStopping) {
				w.Fatalf("a session of %s was closed at %d with %v, want ErrStopping", c.spec.Topic, s.closedAt, s.cause)
			}
		}
	}
	// The member closed gracefully, so the next owner need not wait until a lease expires.
	next := w.join().consume(ordered, behaviour{})
	next.awaitOpen(2)
}

func closedIsClosed(w *world) {
	m := w.join()
	for range 2 {
		if err := m.Bus.Close(); err != nil {
			w.Fatalf("close: %v", err)
		}
	}
	if _, err := m.Bus.Publish(w.Context(), bus.Due, bus.Message{}); !errors.Is(err, bus.ErrClosed) {
		w.Fatalf("Publish after Close returned %v, want ErrClosed", err)
	}
	if _, err := m.Bus.Floor(w.Context(), bus.Due, queue.Group); !errors.Is(err, bus.ErrClosed) {
		w.Fatalf("Floor after Close returned %v, want ErrClosed", err)
	}
	if err := m.Bus.Consume(w.Context(), queue, nil); !errors.Is(err, bus.ErrClosed) {
		w.Fatalf("Consume after Close returned %v, want ErrClosed", err)
	}
}
