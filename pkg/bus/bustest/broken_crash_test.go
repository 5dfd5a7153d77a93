package bustest_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// crashes is the state that the members of a broken bus share.
type crashes struct {
	mu      sync.Mutex
	crashed bool
	end     int64        // end of the queue before the crash
	back    bus.Position // position of an acknowledged message that the crash restored
	taken   bool         // a message was published after the crash
}

// caughtCrashing is caught for crash checks.
func caughtCrashing(t *testing.T, breakIt func(*crashes, *membus.Member) bus.Bus, names ...string) {
	t.Helper()
	factory := func(t bustest.T, partitions int) bustest.CrashSystem {
		b := membus.New(membus.Options{Partitions: partitions})
		onlooker := b.Join("onlooker")
		floor := func() bus.Floor {
			floors, err := onlooker.Floor(t.Context(), bus.Due, "")
			if err != nil {
				t.Fatalf("floor: %v", err)
			}
			return floors[0]
		}
		shared := &crashes{}
		var remembered bus.Floor
		return bustest.CrashSystem{
			System: bustest.System{
				Join:     func(bustest.T) bustest.Member { m := b.Join("m"); return intact(breakIt(shared, m), m) },
				LeaseTTL: time.Second, Settle: 3 * time.Second, Patience: 3 * time.Second,
			},
			Remember: func() { remembered = floor() },
			Crash: func() {
				end := floor().End.Offset
				shared.mu.Lock()
				shared.crashed, shared.end, shared.back = true, end, remembered.Floor
				shared.mu.Unlock()
				b.CrashQueue(bus.Due, int(end-remembered.End.Offset), math.MaxInt)
			},
		}
	}
	checks := map[string]func(bustest.T){}
	for _, c := range bustest.CrashChecks() {
		checks[c.Name] = func(t bustest.T) { c.Run(t, factory) }
	}
	requireFailures(t, checks, names)
}

// stuckFloor leaves the floor at the messages that the crash restored until a new message is published.
type stuckFloor struct {
	*membus.Member
	*crashes
}

func (b *stuckFloor) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	b.mu.Lock()
	b.taken = b.crashed
	b.mu.Unlock()
	return b.Member.Publish(ctx, topic, messages...)
}

func (b *stuckFloor) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	floors, err := b.Member.Floor(ctx, topic, group)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.crashed && !b.taken {
		for p := range floors {
			floors[p].Floor = b.back
			floors[p].Floor.Partition = shard.Partition(p)
		}
	}
	return floors, err
}

func TestSuiteCatchesFloorStuckAtRestoredMessages(t *testing.T) {
	caughtCrashing(t, func(c *crashes, m *membus.Member) bus.Bus { return &stuckFloor{m, c} },
		"Crash/FloorReachesTheEndWithoutNewMessages", "Crash/FloorReachesTheEndForANewMember")
}

// sameEpoch assigns the positions of lost messages again.
type sameEpoch struct{ *membus.Member }

func (b *sameEpoch) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	positions, err := b.Member.Publish(ctx, topic, messages...)
	for i := range positions {
		positions[i].Epoch = 1
	}
	return positions, err
}

func (b *sameEpoch) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	floors, err := b.Member.Floor(ctx, topic, group)
	for i := range floors {
		floors[i].Floor.Epoch, floors[i].End.Epoch = 1, 1
	}
	return floors, err
}

func TestSuiteCatchesPositionsAssignedTwice(t *testing.T) {
	caughtCrashing(t, func(_ *crashes, m *membus.Member) bus.Bus { return &sameEpoch{m} },
		"Crash/PositionsAreNotAssignedTwice")
}

// skipping does not deliver new messages at offsets that it had delivered before the crash.
type skipping struct {
	*membus.Member
	*crashes
}

func (b *skipping) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return b.Member.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		s, err := open(ctx, p)
		return &skippingSession{s, b}, err
	})
}

type skippingSession struct {
	bus.Session
	bus *skipping
}

func (s *skippingSession) Deliver(ctx context.Context, d *bus.Delivery) error {
	s.bus.mu.Lock()
	skip := s.bus.crashed && d.Position.Offset < s.bus.end && d.Deliveries == 1
	s.bus.mu.Unlock()
	if skip {
		d.Ack()
		return nil
	}
	return s.Session.Deliver(ctx, d)
}

func TestSuiteCatchesNewMessagesSkippedAfterACrash(t *testing.T) {
	caughtCrashing(t, func(c *crashes, m *membus.Member) bus.Bus { return &skipping{m, c} },
		"Crash/NewMessagesAreDelivered")
}
