package dispatcher_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// laterVersion is the first byte of a due event written by a later release: version 1 of kind 1.
const laterVersion = 0x11

// laterRelease is the bus as seen by a dispatcher of a later release: it decodes due events of the later version, whose
// fields are at other offsets, and those of today.
type laterRelease struct{ bus.Bus }

func (l *laterRelease) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return l.Bus.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		s, err := open(ctx, p)
		return laterSession{s}, err
	})
}

type laterSession struct{ bus.Session }

func (s laterSession) Deliver(ctx context.Context, d *bus.Delivery) error {
	if len(d.Body) > 1 && d.Body[0] == laterVersion {
		today := *d
		today.Body = d.Body[2:]
		d = &today
	}
	return s.Session.Deliver(ctx, d)
}

// publishAs publishes a due event for the timer's present state, encoded by change.
func (w *world) publishAs(id string, change func(today []byte) []byte) {
	w.t.Helper()
	t := w.get(id)
	w.published[published{t.UUID, t.Revision}] = true // so the world's scheduler does not publish it
	ref := w.ref(id)
	_, err := w.client.Publish(w.t.Context(), bus.Due, bus.Message{
		Partition: shard.PartitionOf(ref.Shard, partitions), Key: ref.Shard.String(),
		Body: change(event.MarshalDue(event.Due{
			Shard: ref.Shard, UUID: t.UUID, Revision: t.Revision, Generation: t.Generation, Attempt: 1, DueAt: t.DueAt,
		})),
	})
	w.must(err)
}

func TestADueEventOfALaterVersionIsDeliveredByALaterRelease(t *testing.T) {
	inWorld(t, func(w *world) {
		registry, logs := prometheus.NewRegistry(), &bytes.Buffer{}
		today := w.start(func(c *dispatcher.Config) {
			c.Registerer, c.Logger = registry, slog.New(slog.NewTextHandler(logs, nil))
		})
		ids := []string{"a", "b", "c"}
		for _, id := range ids {
			w.put(id, 0, nil)
			w.publishAs(id, func(today []byte) []byte { return append([]byte{laterVersion, 0xff}, today...) })
		}
		w.pass(5 * time.Second)
		if d := w.depth(); d != len(ids) {
			t.Fatalf("%d due events are in the queue, want %d: today's release must leave them to a later one", d, len(ids))
		}
		for _, id := range ids {
			w.wantCalls(id, 0)
		}
		// After 1 s, 2 s and 4 s: a few returns in 5 s, and one log line.
		if n := counterOf(t, registry, "timerbus_dispatcher_unknown_total"); n < 3 || n > 15 {
			t.Errorf("returned to the queue %v times in 5 s", n)
		}
		if n := strings.Count(logs.String(), "later release"); n != 1 {
			t.Errorf("%d log lines, want 1:\n%s", n, logs)
		}
		later := w.start(func(c *dispatcher.Config) { c.Bus = &laterRelease{c.Bus} })
		// Both take from the queue, so today's release may get an event first.
		w.pass(2 * time.Minute)
		for _, id := range ids {
			w.wantCalls(id, 1)
			if calls := w.called(id); calls[0].node != later {
				t.Errorf("%s was delivered by today's release", id)
			}
		}
		w.wantDepth(0)
		later.end()
		today.end()
	})
}

func TestADueEventWithMoreFieldsIsDelivered(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		w.put("a", 0, nil)
		w.publishAs("a", func(today []byte) []byte { return append(today, "a field of a later release"...) })
		w.pass(time.Second)
		w.wantCalls("a", 1)
		w.wantDepth(0)
		n.end()
	})
}

// A message that no release can read is dropped in the end, because it would block the ack floor of the queue.
func TestAnUnknownDueEventIsDroppedInTheEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		registry := prometheus.NewRegistry()
		n := w.start(func(c *dispatcher.Config) { c.Registerer = registry })
		_, err := w.client.Publish(t.Context(), bus.Due, bus.Message{Body: []byte("nonsense")})
		w.must(err)
		time.Sleep(9 * time.Minute)
		w.wantDepth(1)
		time.Sleep(3 * time.Minute)
		w.wantDepth(0)
		if got := counterOf(t, registry, "timerbus_dispatcher_malformed_total"); got != 1 {
			t.Errorf("malformed = %v, want 1", got)
		}
		if got := counterOf(t, registry, "timerbus_dispatcher_unknown_total"); got < 5 || got > 50 {
			t.Errorf("returned to the queue %v times in 10 minutes", got)
		}
		n.end()
	})
}

// counterOf reads a counter without labels.
func counterOf(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Errorf("no metric %s", name)
	return 0
}
