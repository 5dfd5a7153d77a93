package scheduler_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

func TestHintedTimersArePublishedAtTheirMillisecond(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a")
		soon, later, past := w.many(20, time.Second, true), w.many(20, 10*time.Second, true), w.many(20, -time.Hour, true)
		w.pass(11 * time.Second)
		w.wantFired(0, append(append(soon, later...), past...)...)
		n.end()
	})
}

func TestTimersFarAheadArePublishedWithoutHints(t *testing.T) {
	inWorld(t, func(w *world) {
		timers := w.many(50, time.Hour, false)
		n := w.start("a")
		w.pass(time.Hour)
		w.wantFired(0, timers...)
		n.end()
	})
}

func TestI4_WithEveryHintLostEveryTimerStillFires(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a")
		w.pass(10 * time.Second)
		first := w.many(20, time.Second, false)
		w.pass(40 * time.Second)
		w.wantFired(idleBound, first...)
		// Now the shards are active.
		second := w.many(20, time.Second, false)
		w.pass(10 * time.Second)
		w.wantFired(activeBound, second...)
		n.end()
	})
}

// The largest lateness of a timer whose hint was lost: grace plus a sweep if its shard is active; half a hint window
// more if it is idle.
const (
	activeBound = 2*time.Second + 2*time.Second
	idleBound   = activeBound + 30*time.Second
)

// TestHintsAfterAnOutageOfTheBus: hints that are published during the outage are lost.
func TestHintsAfterAnOutageOfTheBus(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		n := w.start("a", func(c *scheduler.Config) { c.Bus = &unfloored{c.Bus, &down} })
		w.pass(10 * time.Second)
		down.Store(true)
		w.pass(5 * time.Second)
		timers := w.many(20, 4*time.Second, false)
		down.Store(false)
		w.pass(30 * time.Second)
		w.wantFired(0, timers...)
		n.end()
	})
}

// unfloored is a bus that does not answer requests for the floor while it is down.
type unfloored struct {
	bus.Bus

	down *atomic.Bool
}

func (u *unfloored) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	if u.down.Load() {
		return nil, bus.ErrUnavailable
	}
	return u.Bus.Floor(ctx, topic, group)
}

// TestHintsOfALaterRelease: a hint with an additional field counts; one of a later version counts as lost.
func TestHintsOfALaterRelease(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a")
		w.pass(10 * time.Second)
		longer := w.put("n", "longer", time.Second, false)
		w.hintAs(&longer, func(today []byte) []byte { return append(today, "a later field"...) })
		w.pass(1100 * time.Millisecond)
		w.wantFired(0, longer)
		unknown := w.put("n", "unknown", time.Second, false)
		w.hintAs(&unknown, func(today []byte) []byte { return append([]byte{today[0] | 0x10}, today...) })
		w.pass(10 * time.Second)
		w.wantFired(0, unknown) // the message key is the shard
		n.end()
	})
}

func TestHandOverPublishesNothingTwice(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.start("a")
		var timers []timer.Timer
		for range 20 {
			timers = append(timers, w.many(5, 500*time.Millisecond, true)...)
			w.pass(100 * time.Millisecond)
		}
		b := w.start("b")
		w.pass(300 * time.Millisecond)
		a.end()
		w.pass(10 * time.Second)
		w.wantFired(2*time.Second, timers...)
		b.end()
	})
}

func TestHandOverWithEventsUnacknowledgedPublishesNothingTwice(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.start("a")
		w.set(holding)
		timers := w.many(20, 100*time.Millisecond, true)
		w.pass(200 * time.Millisecond)
		b := w.start("b")
		a.end()
		w.pass(2 * time.Second)
		w.wantFired(0, timers...)
		w.set(finishing)
		w.pass(10 * time.Second)
		// Only the queue repeats the unacknowledged events.
		w.wantFired(time.Minute, timers...)
		b.end()
	})
}

func TestTakeOverAfterACrashLosesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.start("a")
		timers := w.many(40, 2*time.Second, true)
		w.pass(time.Second)
		a.crash()
		b := w.start("b")
		w.pass(20 * time.Second)
		w.wantFired(5*time.Second, timers...)
		b.end()
	})
}

func TestI5_AZombieIsFencedAndStops(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.start("a")
		w.pass(5 * time.Second)
		a.member.Freeze()
		w.pass(5 * time.Second)
		b := w.start("b")
		w.pass(5 * time.Second)
		timers := w.many(40, 3*time.Second, true)
		w.pass(20 * time.Second)
		w.wantFired(5*time.Second, timers...)
		a.member.Thaw()
		w.pass(time.Minute)
		timers = w.many(40, 3*time.Second, true)
		w.pass(20 * time.Second)
		w.wantFired(5*time.Second, timers...)
		a.end()
		b.end()
	})
}

func TestNamespaceMadeAfterThePartitionWasOpened(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a")
		w.pass(time.Minute)
		w.namespace("late")
		hinted := w.put("late", "hinted", time.Second, true)
		w.pass(2 * time.Second)
		w.wantFired(0, hinted)
		w.namespace("silent")
		silent := w.put("silent", "not hinted", time.Second, false)
		w.pass(40 * time.Second)
		w.wantFired(33*time.Second, silent)
		n.end()
	})
}

func TestI12_ALostQueueIsMadeUpFor(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a", func(c *scheduler.Config) { c.MaxInFlight = 8 })
		w.set(holding)
		timers := w.many(64, time.Second, true)
		w.pass(2 * time.Second)
		if out := len(w.take()); out != partitions*8 {
			t.Fatalf("%d events are out, want the bound %d", out, partitions*8)
		}
		w.broker.Purge(bus.Due)
		w.set(finishing)
		w.pass(2 * time.Minute)
		w.wantFired(2*time.Minute, timers...)
		n.end()
	})
}

func TestI9_EventsTellWhoPublishedThem(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a")
		x := w.put("n", "x", time.Second, true)
		w.pass(2 * time.Second)
		events := w.take()
		if len(events) != 1 {
			t.Fatalf("%d events", len(events))
		}
		f := events[0]
		if f.UUID != x.UUID || f.Revision != x.Revision || f.Generation != x.Generation || f.Attempt != 1 ||
			f.DueAt != x.DueAt || f.ClaimVersion != 1 || f.Owner == (timer.UUID{}) || f.Sequence == 0 {
			t.Fatalf("event %+v does not describe timer %+v", f.Due, x)
		}
		n.end()
	})
}

func TestI14_TheOwnerPublishesDeadTimers(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a")
		w.set(ignoring)
		x := w.put("n", "x", time.Second, true)
		w.pass(1500 * time.Millisecond)
		ns, _ := w.directory.Lookup(t.Context(), "n")
		_, err := w.store.Finish(t.Context(), timer.SystemClock(), []store.Finish{{
			Ref: store.Ref{Shard: ns.Shards.Place("x"), UUID: x.UUID}, DueAt: x.DueAt, Kind: store.FinishDead,
			If: store.Guard{Generation: x.Generation},
			Record: store.Record{
				Attempt: 1, StatusCode: 410, Error: "gone", FinishedAt: timer.SystemClock(), KeepFor: time.Hour,
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		dead := w.listen(bus.Dead)
		w.pass(4 * time.Second)
		if dead.len() != 0 {
			t.Fatal("published before its dispatcher had 5 s to do so")
		}
		w.pass(10 * time.Second)
		if dead.len() != 1 {
			t.Fatalf("published %d times, want once", dead.len())
		}
		e, err := event.Decode(dead.got[0].Headers, dead.got[0].Body)
		if err != nil || e.Type != event.TypeDead || e.Subject != "n/x" {
			t.Fatalf("published %+v (%v)", e, err)
		}
		n.end()
	})
}

func TestABusThatRefusesDelaysAndLosesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a")
		timers := w.many(20, time.Second, true)
		w.broker.SetFaults(membus.Faults{Publish: func(*membus.Member, bus.Topic, []bus.Message) membus.PublishFault {
			return membus.PublishFault{Err: bus.ErrOutcomeUnknown, Taken: 1}
		}})
		w.pass(5 * time.Second)
		w.broker.SetFaults(membus.Faults{})
		w.pass(20 * time.Second)
		w.wantFired(20*time.Second, timers...)
		n.end()
	})
}

func TestRunEndsWithTheBus(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a")
		if err := n.member.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-n.stopped; err != nil {
			t.Fatalf("scheduler after the bus was closed: %v", err)
		}
	})
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	if _, err := scheduler.New(scheduler.Config{}); err == nil {
		t.Fatal("a scheduler without store and bus was created")
	}
}

// listen collects the deliveries of a public topic from now on.
func (w *world) listen(topic bus.Topic) *collector {
	w.t.Helper()
	got := new(collector)
	ctx, cancel := context.WithCancel(w.t.Context())
	stopped := make(chan struct{})
	member := w.broker.Join("listener")
	go func() {
		defer close(stopped)
		err := member.Consume(ctx, bus.Spec{Topic: topic, Group: "test", Mode: bus.Ordered},
			func(context.Context, shard.Partition) (bus.Session, error) { return got, nil })
		if err != nil && !errors.Is(err, bus.ErrClosed) {
			w.t.Errorf("consume %s: %v", topic, err)
		}
	}()
	w.t.Cleanup(func() { cancel(); <-stopped })
	return got
}

// collector is the session of every partition, so it needs a lock.
type collector struct {
	mu  sync.Mutex
	got []bus.Delivery
}

func (c *collector) Deliver(_ context.Context, d *bus.Delivery) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, *d)
	d.Ack()
	return nil
}

func (c *collector) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.got)
}

func (c *collector) Close(context.Context, error) error { return nil }

func TestCloseAdvancesAndReleasesWithTheLargestKeySent(t *testing.T) {
	inWorld(t, func(w *world) {
		early := w.put("n", "x", time.Second, false) // found by a poll, so that R passes it
		a := w.start("a")
		w.pass(4 * time.Second)
		late := w.put("n", "x", 100*time.Millisecond, true)
		w.pass(200 * time.Millisecond)
		a.end()
		ns, err := w.directory.Lookup(t.Context(), "n")
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := w.store.Claim(t.Context(), 0, store.Owner{}, []shard.ID{ns.Shards.Place("x")})
		if err != nil {
			t.Fatal(err)
		}
		sent := store.Key{DueAt: late.DueAt, UUID: late.UUID}
		if claimed[0].Published != sent {
			t.Fatalf("P is %v after the hand-over, want the last key sent, %v", claimed[0].Published, sent)
		}
		if w := claimed[0].Watermark; w.DueAt < early.DueAt || !sent.After(w) {
			t.Fatalf("W is %v, want from the first timer (%v) to before the second, younger than the slack", w, early.DueAt)
		}
	})
}
