package ingest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/services/ingest"
)

// placeless is a bus without positions, such as one over a Pub/Sub.
type placeless struct{ bus.Bus }

func (b placeless) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return b.Bus.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		s, err := open(ctx, p)
		return placelessSession{s}, err
	})
}

type placelessSession struct{ bus.Session }

func (s placelessSession) Deliver(ctx context.Context, d *bus.Delivery) error {
	d.Position = bus.Position{}
	return s.Session.Deliver(ctx, d)
}

// withoutPlaces makes ingest consume commands from such a bus, although the store could store positions.
func withoutPlaces(c *ingest.Config) { c.Bus = placeless{c.Bus} }

// TestCommandsWithoutPlacesAreAllApplied: without positions no command counts as a replay.
func TestCommandsWithoutPlacesAreAllApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, withoutPlaces)
		results := w.listen(bus.Results)
		for _, id := range []string{"1", "2", "3"} {
			w.command(id, event.TypeCreate, `{"id":"a`+id+`","executeIn":"1h"}`)
			if a := results.next(t); a.CommandID != id || a.Earlier || a.timerField(t, "id") != "a"+id {
				t.Errorf("command %s answered %s", id, a.event.Data)
			}
		}
		w.wantPending(0)
	})
}

// TestReplayWithoutPlacesAppliesAgain kills the process between commit and acknowledgement. The command is applied a
// second time, and never lost.
func TestReplayWithoutPlacesAppliesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, withoutPlaces)
		results := w.listen(bus.Results)
		w.killAfterWrite()
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		synctest.Wait()
		before, err := w.row("a")
		if err != nil {
			t.Fatalf("not in the store: %v", err)
		}
		results.empty(t)

		w.store.set(nil)
		w.now.Add(1) // because the next process draws the same random numbers
		w.restart(withoutPlaces)
		time.Sleep(2 * time.Second) // the dead owner's lease expires
		a := results.next(t)
		row, err := w.row("a")
		if err != nil || a.Earlier || row.Generation == before.Generation || a.timerField(t, "generation") != row.Generation.String() {
			t.Errorf("answered %s; row %+v, %v", a.event.Data, row, err)
		}
	})
}

// TestRefusalsWithoutPlacesAreToldApart: the refusal of an unreadable command has the id of its message, so refusals
// differ.
func TestRefusalsWithoutPlacesAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, withoutPlaces)
		dead := w.listen(bus.Dead)
		for _, id := range []string{"m-1", "m-2"} {
			m := bus.Message{Partition: 1, ID: id, Headers: map[string]string{"colour": "red"}, Body: []byte("nonsense")}
			if _, err := w.broker.Join("client").Publish(t.Context(), bus.Commands, m); err != nil {
				t.Fatal(err)
			}
			if a := dead.next(t); a.CommandID != "commands/"+id || a.on.ID != "" {
				t.Errorf("refused as %s in message %s", a.CommandID, a.on.ID)
			}
		}
		w.wantPending(0)
	})
}
