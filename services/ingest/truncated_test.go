package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// TestNewCommandsOfATruncatedTopicAreApplied truncates the topic while ingest is stopped. The positions of new commands
// are then not after the stored one.
func TestNewCommandsOfATruncatedTopicAreApplied(t *testing.T) {
	for lost := 1; lost <= 2; lost++ {
		t.Run(fmt.Sprint(lost), func(t *testing.T) { testTruncatedTopic(t, lost) })
	}
}

func testTruncatedTopic(t *testing.T, lost int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		for _, id := range []string{"1", "2", "3"} {
			w.command(id, event.TypeCreate, `{"id":"a`+id+`","executeIn":"1h"}`)
			results.next(t)
		}
		w.stop()
		w.broker.TruncateLog(bus.Commands, lost)
		w.restart(func(c *ingest.Config) { c.Clock = timer.SystemClock }) // the bus uses the same clock
		time.Sleep(2 * time.Second)
		for _, id := range []string{"4", "5"} {
			w.command(id, event.TypeCreate, `{"id":"a`+id+`","executeIn":"1h"}`)
			if a := results.next(t); a.CommandID != id || a.Earlier {
				t.Errorf("want %s applied, got %s", id, a.event.Data)
			}
		}
		w.wantPending(0)
	})
}

// TestReplaysOfATopicWithALaggingLeaderAreNotApplied starts ingest when the topic's new leader reports an end that is
// too early.
func TestReplaysOfATopicWithALaggingLeaderAreNotApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results := w.listen(bus.Results)
		w.killAfterWrite()
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		synctest.Wait()
		w.store.set(nil)
		time.Sleep(2 * time.Second)
		w.restart(func(c *ingest.Config) { c.Bus, c.Clock = &lagging{Bus: w.member}, timer.SystemClock })
		if a := results.next(t); a.CommandID != "1" || !a.Earlier {
			t.Errorf("the replay answered %s", a.event.Data)
		}
		w.command("2", event.TypeUpdate, `{"id":"a","payload":1}`)
		if a := results.next(t); a.CommandID != "2" || a.Earlier {
			t.Errorf("the command behind it answered %s", a.event.Data)
		}
	})
}

// lagging reports an empty topic.
type lagging struct{ bus.Bus }

func (l *lagging) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	floors, err := l.Bus.Floor(ctx, topic, group)
	for p := range floors {
		floors[p].End.Offset, floors[p].Floor.Offset = 1, 1
	}
	return floors, err
}
