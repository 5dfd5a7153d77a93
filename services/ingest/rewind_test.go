package ingest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/services/ingest"
)

// TestNewCommandsAtLostPositionsAreApplied: the topic has lost its end with the machine's power, and the store
// remembers positions beyond it. What comes next gets these positions, and nobody has applied it.
func TestNewCommandsAtLostPositionsAreApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		for _, id := range []string{"1", "2", "3"} {
			w.command(id, event.TypeCreate, `{"id":"a`+id+`","executeIn":"1h"}`)
			results.next(t)
		}
		w.stop()
		w.broker.TruncateLog(bus.Commands, 2)
		w.member = w.broker.Join("ingest")
		w.build()
		w.run()
		synctest.Wait() // it has seen the end, and does not believe it yet
		w.command("4", event.TypeCreate, `{"id":"a4","executeIn":"1h"}`)
		w.command("5", event.TypeCreate, `{"id":"a5","executeIn":"1h"}`)
		time.Sleep(15 * time.Second)
		for _, id := range []string{"4", "5"} {
			if a := results.next(t); a.CommandID != id || a.Earlier {
				t.Errorf("want %s applied, got %s", id, a.event.Data)
			}
		}
		if n := w.pending(); n != 0 {
			t.Errorf("%d commands not acknowledged", n)
		}
	})
}

// TestATopicThatSeemsToEndTooEarlyIsNotBelievedAtOnce: a new leader of a replicated topic tells its end before it
// knows all of it.
func TestATopicThatSeemsToEndTooEarlyIsNotBelievedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		results.next(t)
		w.stop()
		w.member = w.broker.Join("ingest")
		lagging := &lagging{Bus: w.member, until: time.Now().Add(5 * time.Second)}
		w.build(func(c *ingest.Config) { c.Bus = lagging })
		w.run()
		time.Sleep(20 * time.Second)
		if at, err := w.store.Position(t.Context(), string(bus.Commands), 1); err != nil || at.Offset != 1 {
			t.Errorf("the position is %+v, %v, want offset 1", at, err)
		}
		if n := lagging.asked.Load(); n < 2 {
			t.Errorf("the end was asked for %d times: this proves nothing", n)
		}
	})
}

// lagging tells for a while that the topic is empty.
type lagging struct {
	bus.Bus
	until time.Time
	asked atomic.Int32
}

func (l *lagging) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	floors, err := l.Bus.Floor(ctx, topic, group)
	l.asked.Add(1)
	if time.Now().Before(l.until) {
		for p := range floors {
			floors[p].End.Offset, floors[p].Floor.Offset = 1, 1
		}
	}
	return floors, err
}
