package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/services/ingest"
)

// value reads a metric without labels; NaN if it does not exist.
func (w *world) value(name string) float64 {
	w.t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		if c := f.GetMetric()[0].GetCounter(); c != nil {
			return c.GetValue()
		}
		return f.GetMetric()[0].GetGauge().GetValue()
	}
	w.t.Errorf("no metric %s", name)
	return math.NaN()
}

// ends returns the position of the next command in partition 1.
func (w *world) ends() bus.Position {
	w.t.Helper()
	floors, err := w.broker.Join("probe").Floor(w.t.Context(), bus.Commands, ingest.Group)
	if err != nil {
		w.t.Fatal(err)
	}
	return floors[1].End
}

// TestCommandsThatTheBusRemovedAreCounted: while ingest is stopped, the bus removes some of the waiting commands.
func TestCommandsThatTheBusRemovedAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := &bytes.Buffer{}
		tune := func(c *ingest.Config) { c.Logger = slog.New(slog.NewTextHandler(logs, nil)) }
		w := newWorld(t, tune)
		results := w.listen(bus.Results)
		create := func(from, to int) {
			for i := from; i <= to; i++ {
				w.command(fmt.Sprint(i), event.TypeCreate, fmt.Sprintf(`{"id":"t-%d","executeIn":"1h"}`, i))
			}
		}
		create(1, 2)
		results.next(t)
		results.next(t)
		if lost := w.value("timerbus_ingest_commands_lost_total"); lost != 0 {
			t.Fatalf("lost = %v before anything is", lost)
		}
		w.stop()
		create(3, 9)
		first := w.ends()
		create(10, 12)
		w.broker.Remove(bus.Commands, first)

		w.restart(tune)
		time.Sleep(2 * time.Second)
		for i := 10; i <= 12; i++ {
			results.next(t)
		}
		if lost := w.value("timerbus_ingest_commands_lost_total"); lost != 7 {
			t.Errorf("lost = %v, want 7", lost)
		}
		if n := strings.Count(logs.String(), "commands lost"); n != 1 || !strings.Contains(logs.String(), "commands=7 partition=1") {
			t.Errorf("%d lines, want one about 7 commands:\n%s", n, logs)
		}
	})
}

// gapped is a bus that reports a gap to the session of partition 1.
type gapped struct {
	bus.Bus
	gap bus.Gap
}

func (g *gapped) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return g.Bus.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		s, err := open(ctx, p)
		if told, ok := s.(bus.GapSession); ok && p == g.gap.First.Partition {
			told.Missed(ctx, g.gap)
		}
		return s, err
	})
}

// TestCommandsThatWereAppliedAreNotLost: the store's position is ahead of the group's, as after a lost commit.
func TestCommandsThatWereAppliedAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		for i := range 5 {
			w.command(fmt.Sprint(i), event.TypeCreate, fmt.Sprintf(`{"id":"t-%d","executeIn":"1h"}`, i))
			results.next(t)
		}
		for name, gap := range map[string]bus.Gap{
			"behind the group's position": {After: bus.Position{Partition: 1, Epoch: 1, Offset: 2}, First: bus.Position{Partition: 1, Epoch: 1, Offset: 6}, Messages: 3},
			"of a group without one":      {First: bus.Position{Partition: 1, Epoch: 1, Offset: 6}, Messages: 5},
			"of a log that is new":        {First: bus.Position{Partition: 1, Epoch: 2, Offset: 6}, Messages: 5},
		} {
			w.stop()
			w.restart(func(c *ingest.Config) { c.Bus = &gapped{c.Bus, gap} })
			time.Sleep(2 * time.Second)
			if lost := w.value("timerbus_ingest_commands_lost_total"); lost != 0 {
				t.Errorf("a gap %s: lost = %v, want 0", name, lost)
			}
		}
		w.stop()
		w.restart(func(c *ingest.Config) {
			c.Bus = &gapped{c.Bus, bus.Gap{First: bus.Position{Partition: 1, Epoch: 1, Offset: 9}, Messages: 8}}
		})
		time.Sleep(2 * time.Second)
		if lost := w.value("timerbus_ingest_commands_lost_total"); lost != 3 {
			t.Errorf("of a gap up to offset 9, 5 of which the store has applied: lost = %v, want 3", lost)
		}
	})
}

// TestTheBacklogIsShown: the gauge is NaN while the bus does not respond.
func TestTheBacklogIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		thaw := w.frozen()
		for i := range 5 {
			w.command(fmt.Sprint(i), event.TypeCreate, fmt.Sprintf(`{"id":"t-%d","executeIn":"1h"}`, i))
		}
		time.Sleep(20 * time.Second)
		const backlog = "timerbus_ingest_commands_backlog"
		if n := w.value(backlog); n != 5 {
			t.Errorf("backlog = %v, want 5", n)
		}
		w.member.Disconnect()
		time.Sleep(20 * time.Second)
		if n := w.value(backlog); !math.IsNaN(n) {
			t.Errorf("backlog = %v while the bus is away, want none", n)
		}
		w.member.Connect()
		thaw()
		time.Sleep(40 * time.Second)
		if n := w.value(backlog); n != 0 {
			t.Errorf("backlog = %v, want 0", n)
		}
	})
}
