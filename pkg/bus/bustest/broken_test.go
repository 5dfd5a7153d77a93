package bustest_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/membus"
)

// verdict is a bustest.T that records failures instead of failing the test.
type verdict struct {
	ctx context.Context

	mu       sync.Mutex
	messages []string
	cleanups []func()
}

func (v *verdict) Helper()                  {}
func (v *verdict) Logf(string, ...any)      {}
func (v *verdict) Context() context.Context { return v.ctx }

func (v *verdict) Errorf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.messages = append(v.messages, fmt.Sprintf(format, args...))
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	runtime.Goexit()
}

func (v *verdict) Cleanup(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cleanups = append(v.cleanups, f)
}

func (v *verdict) Failed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.messages) > 0
}

// judge runs one check in a bubble and returns its failure messages.
func judge(t *testing.T, check func(bustest.T)) []string {
	var v *verdict
	synctest.Test(t, func(t *testing.T) {
		v = &verdict{ctx: t.Context()}
		done := make(chan struct{})
		go func() {
			defer close(done)
			check(v)
		}()
		<-done
		for _, f := range slices.Backward(v.cleanups) {
			f()
		}
	})
	return v.messages
}

// requireFailures requires that each of the named checks fails. The names matter: if only an unrelated check fails by
// chance, the check that should detect the fault does not work.
func requireFailures(t *testing.T, checks map[string]func(bustest.T), names []string) {
	t.Helper()
	for _, name := range names {
		check := checks[name]
		if check == nil {
			t.Errorf("no such check: %q", name)
			continue
		}
		complaints := judge(t, check)
		if len(complaints) == 0 {
			t.Errorf("%s passes a broken bus", name)
		}
		t.Logf("%s: %s", name, strings.Join(complaints, "; "))
	}
}

// caught requires that each of the named checks fails on the broken bus.
func caught(t *testing.T, breakIt func(*membus.Member, *membus.Broker) bustest.Member, names ...string) {
	t.Helper()
	factory := func(_ bustest.T, partitions int) bustest.System {
		b := membus.New(membus.Options{Partitions: partitions})
		join := func(bustest.T) bustest.Member { return breakIt(b.Join("m"), b) }
		return bustest.System{
			Join: join, Stranger: join, StrangerTopics: []string{"theirs.due"},
			Remove: func(_ bustest.T, topic bus.Topic, before bus.Position) { b.Remove(topic, before) },
			Small: func(bustest.T) bustest.Member {
				small := membus.New(membus.Options{Partitions: 1, LogLimit: 20})
				return breakIt(small.Join("m"), small)
			},
			LeaseTTL: time.Second, Settle: 3 * time.Second, Patience: 3 * time.Second,
		}
	}
	checks := map[string]func(bustest.T){}
	for _, c := range bustest.Checks() {
		checks[c.Name] = func(t bustest.T) { c.Run(t, factory) }
	}
	requireFailures(t, checks, names)
}

func TestSuiteCatchesCommitOverAGap(t *testing.T) {
	caught(t, acks(func(s *brokenSession, d *bus.Delivery) {
		for _, earlier := range s.got {
			if !d.Position.Before(earlier.Position) {
				earlier.Acker.Ack()
			}
		}
	}), "Ordered/GapIsRedelivered", "Ordered/CommitFollowsThePrefix")
}

func TestSuiteCatchesNeverCommit(t *testing.T) {
	caught(t, acks(func(*brokenSession, *bus.Delivery) {}),
		"Ordered/ContinuesAfterTheCommitted", "Ordered/CommitFollowsThePrefix", "Queue/AcknowledgedOneByOne")
}

func TestSuiteCatchesCommitBeforeAck(t *testing.T) {
	caught(t, decorated(&brokenBus{deliver: func(s *brokenSession, ctx context.Context, d *bus.Delivery) error {
		d.Acker.Ack()
		return s.Session.Deliver(ctx, d)
	}}), "Ordered/NothingIsCommittedBeforeItsAck", "Ordered/GapIsRedelivered", "Queue/DeadMembersMessagesComeAgain")
}

func TestSuiteCatchesAckHonouredAfterRevoke(t *testing.T) {
	// A late acknowledgement hides its message from the partition's next owner, as if it was committed.
	var mu sync.Mutex
	late := map[bus.Position]bool{}
	caught(t, decorated(&brokenBus{
		ack: func(s *brokenSession, d *bus.Delivery) {
			d.Acker.Ack()
			mu.Lock()
			defer mu.Unlock()
			if s.closed {
				late[d.Position] = true
			}
		},
		deliver: func(s *brokenSession, ctx context.Context, d *bus.Delivery) error {
			mu.Lock()
			hidden := late[d.Position]
			mu.Unlock()
			if hidden {
				d.Acker.Ack()
				return nil
			}
			return s.Session.Deliver(ctx, d)
		},
		closing: func(s *brokenSession, ctx context.Context, cause error) error {
			err := s.Session.Close(ctx, cause)
			mu.Lock()
			defer mu.Unlock()
			s.closed = true
			return err
		},
	}), "Ordered/LateAckAfterRevokeDoesNothing")
}

func TestSuiteCatchesTwoOwners(t *testing.T) {
	// Each member has a separate group, so it owns every partition.
	caught(t, specs(func(m *membus.Member, spec bus.Spec) bus.Spec {
		if spec.Mode != bus.Queue {
			spec.Group += m.String()
		}
		return spec
	}), "Ordered/OneOwnerPerPartition", "Live/OneOwnerPerPartition", "Live/OneOwnerSeesEachHint",
		"Ordered/HandOverAwaitsClose", "Ordered/PartitionsAreSharedOnJoin")
}

func TestSuiteCatchesQueueThatForgetsWhatADeadMemberHeld(t *testing.T) {
	caught(t, func(m *membus.Member, b *membus.Broker) bustest.Member {
		broken := &brokenBus{Member: m}
		member := intact(broken, m)
		member.Crash = func() {
			broken.mu.Lock()
			held := broken.held
			broken.mu.Unlock()
			for _, d := range held {
				d.Acker.Ack()
			}
			m.Crash()
		}
		return member
	}, "Queue/DeadMembersMessagesComeAgain")
}

func TestSuiteCatchesLiveThatMissesBetweenSubscriptionAndOpen(t *testing.T) {
	caught(t, decorated(&brokenBus{deliver: func(s *brokenSession, ctx context.Context, d *bus.Delivery) error {
		if !d.Time.After(s.opened) {
			return nil
		}
		return s.Session.Deliver(ctx, d)
	}}), "Live/NothingFallsBetweenSubscriptionAndOpen")
}

func TestSuiteCatchesDuplicatesNotDropped(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member {
		return intact(&forgetful{Member: m}, m)
	}, "Publish/RepeatedIDIsDropped")
}

func TestSuiteCatchesMessagesSaidToBeTaken(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member {
		return intact(&boastful{Member: m}, m)
	}, "Publish/EachErrorIsTrue")
}

func TestSuiteCatchesHandOverThatDoesNotAwaitClose(t *testing.T) {
	caught(t, decorated(&brokenBus{closing: func(s *brokenSession, ctx context.Context, cause error) error {
		go func() { _ = s.Session.Close(context.WithoutCancel(ctx), cause) }() // the bubble waits for the goroutine
		return nil
	}}), "Ordered/HandOverAwaitsClose", "Live/HandOverAwaitsClose", "Ordered/AckInCloseIsCommitted")
}

func TestSuiteCatchesKeysOutOfOrder(t *testing.T) {
	// Consecutive deliveries are swapped in pairs.
	caught(t, decorated(&brokenBus{deliver: func(s *brokenSession, ctx context.Context, d *bus.Delivery) error {
		if s.swapped == nil {
			s.swapped = d
			return nil
		}
		first := s.swapped
		s.swapped = nil
		if err := s.Session.Deliver(ctx, d); err != nil {
			return err
		}
		return s.Session.Deliver(ctx, first)
	}}), "Ordered/KeepsOrder")
}

// renamed is a handle with a prefix that no other handle has.
type renamed struct {
	*membus.Member

	prefix string
}

func (r renamed) Properties() bus.Properties { return bus.Properties{Prefix: r.prefix} }

func TestSuiteCatchesHandlesWithOtherProperties(t *testing.T) {
	handles := 0
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member {
		handles++
		return bustest.Member{Bus: renamed{m, fmt.Sprint("prefix", handles)}, Crash: m.Crash}
	}, "Lifecycle/HandlesHaveTheSameProperties")
}

func TestSuiteCatchesWindowWithoutBound(t *testing.T) {
	caught(t, specs(func(_ *membus.Member, spec bus.Spec) bus.Spec {
		spec.MaxInFlight = 0
		return spec
	}), "Ordered/WindowSaturatesAndGoesOn", "Queue/WindowSaturatesAndGoesOn")
}

func TestSuiteCatchesWindowOfEachPartition(t *testing.T) {
	caught(t, specs(func(m *membus.Member, spec bus.Spec) bus.Spec {
		spec.MaxInFlight *= m.Partitions()
		return spec
	}), "Queue/WindowHoldsOverPartitions")
}

func TestSuiteCatchesPartitionsThatWaitForOthers(t *testing.T) {
	caught(t, decorated(&brokenBus{deliver: func(s *brokenSession, ctx context.Context, d *bus.Delivery) error {
		if d.Partition != s.got[0].Partition {
			return nil
		}
		return s.Session.Deliver(ctx, d)
	}}), "Queue/HeldMessagesStopNoOtherPartition", "Queue/EachMessageGoesToOneMember")
}

func TestSuiteCatchesWindowWithoutBoundOnBytes(t *testing.T) {
	caught(t, specs(func(_ *membus.Member, spec bus.Spec) bus.Spec {
		spec.MaxBytes = 0
		return spec
	}), "Ordered/BytesSaturateAndGoOn", "Queue/BytesSaturateAndGoOn",
		"Ordered/LargerThanTheBoundPasses", "Queue/LargerThanTheBoundPasses")
}

func TestSuiteCatchesLargeMessagesHeldBackForSmallOnes(t *testing.T) {
	caught(t, decorated(&brokenBus{deliver: func(s *brokenSession, ctx context.Context, d *bus.Delivery) error {
		if len(s.got) > 1 && d.Size() > 1<<10 {
			return nil
		}
		return s.Session.Deliver(ctx, d)
	}}), "Ordered/LargeBehindSmallIsDelivered", "Queue/LargeBehindSmallIsDelivered")
}

func TestSuiteCatchesMessagesLargerThanTheBoundHeldBack(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member {
		broken := &brokenBus{Member: m}
		broken.spec = func(_ *membus.Member, spec bus.Spec) bus.Spec {
			broken.deliver = func(s *brokenSession, ctx context.Context, d *bus.Delivery) error {
				if d.Size() > spec.MaxBytes {
					return nil
				}
				return s.Session.Deliver(ctx, d)
			}
			return spec
		}
		return intact(broken, m)
	}, "Ordered/LargerThanTheBoundPasses", "Queue/LargerThanTheBoundPasses")
}

func TestSuiteCatchesGapsThatAreNotReported(t *testing.T) {
	caught(t, decorated(&brokenBus{}), // its sessions do not implement GapSession
		"Gap/RemovedMessagesAreReported", "Gap/SharesAddUp")
}

func TestSuiteCatchesGapsThatAreNone(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(&alarmist{m}, m) },
		"Gap/RemovedMessagesAreReported", "Gap/AcknowledgedMessagesAreNoGap", "Gap/SharesAddUp")
}

func TestSuiteCatchesCommandsRemovedForNewOnes(t *testing.T) {
	caught(t, func(m *membus.Member, b *membus.Broker) bustest.Member { return intact(&discarding{m, b}, m) },
		"Gap/FullCommandsAreRefusedAndKept")
}

func TestSuiteCatchesAFullTopicThatStaysFull(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(&filled{Member: m}, m) },
		"Gap/FullCommandsAreRefusedAndKept")
}

func TestSuiteCatchesPrefixesThatMeet(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(m, m) },
		"Publish/PrefixesAreApart") // caught's Stranger is on the same bus
}

// allWaiting counts messages that a member has received as waiting.
type allWaiting struct{ *membus.Member }

func (b *allWaiting) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	floors, err := b.Member.Floor(ctx, topic, group)
	for i := range floors {
		floors[i].Waiting = floors[i].Depth
	}
	return floors, err
}

// noneWaiting reports 0 waiting messages instead of WaitingUnknown.
type noneWaiting struct{ *membus.Member }

func (b *noneWaiting) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	floors, err := b.Member.Floor(ctx, topic, group)
	for i := range floors {
		floors[i].Waiting = 0
	}
	return floors, err
}

func TestSuiteCatchesMessagesThatWaitAndAreNotCounted(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(&noneWaiting{m}, m) }, "Floor/WaitingCountsWhatNoMemberHasTaken")
}

// queueByPartition reports the queue that all partitions share as a separate queue for each partition.
type queueByPartition struct{ *membus.Member }

func (b *queueByPartition) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	floors, err := b.Member.Floor(ctx, topic, group)
	for i := range floors {
		floors[i].Queue = i
	}
	return floors, err
}

func TestSuiteCatchesMessagesThatAreCountedTwice(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(&queueByPartition{m}, m) }, "Floor/DepthsOfQueuesAddUp")
}

func TestSuiteCatchesMessagesThatWaitAndAreTaken(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(&allWaiting{m}, m) }, "Floor/WaitingCountsWhatNoMemberHasTaken")
}
