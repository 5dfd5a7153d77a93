package membus_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// trace collects events in the order in which they happen.
type trace struct {
	mu    sync.Mutex
	lines []string
}

func (t *trace) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

func (t *trace) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	t.lines = nil
	return lines
}

// session records its deliveries and acknowledges them immediately if ack is set.
type session struct {
	trace *trace
	who   string
	p     shard.Partition
	ack   bool
}

func (s *session) Deliver(_ context.Context, d *bus.Delivery) error {
	s.trace.add("%s got %s (%d)", s.who, d.Body, d.Deliveries)
	if s.ack {
		d.Ack()
	}
	return nil
}

func (s *session) Close(_ context.Context, cause error) error {
	s.trace.add("%s closed %d: %v", s.who, s.p, cause)
	return nil
}

// consume runs a Consume named who until the end of the test.
func consume(t *testing.T, tr *trace, m *membus.Member, spec bus.Spec, who string, ack bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = m.Consume(ctx, spec, func(_ context.Context, p shard.Partition) (bus.Session, error) {
			tr.add("%s opened %d", who, p)
			return &session{trace: tr, who: who, p: p, ack: ack}, nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func publish(t *testing.T, m *membus.Member, topic bus.Topic, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if _, err := m.Publish(t.Context(), topic, bus.Message{Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
}

func want(t *testing.T, tr *trace, lines ...string) {
	t.Helper()
	synctest.Wait()
	if got := tr.take(); fmt.Sprint(got) != fmt.Sprint(lines) {
		t.Fatalf("\n got %q\nwant %q", got, lines)
	}
}

var (
	commands = bus.Spec{Topic: bus.Commands, Group: "ingest", Mode: bus.Ordered}
	shards   = bus.Spec{Topic: bus.Shards, Group: "scheduler", Mode: bus.Live}
	due      = bus.Spec{Topic: bus.Due, Group: "dispatcher", Mode: bus.Queue}
)

func TestCrashedMembersPartitionWaitsForItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := membus.New(membus.Options{Partitions: 1})
		tr := &trace{}
		first, second := b.Join("a"), b.Join("b")
		consume(t, tr, first, commands, "a", false)
		want(t, tr, "a opened 0")
		publish(t, second, bus.Commands, "1")
		want(t, tr, "a got 1 (0)")
		first.Crash()
		consume(t, tr, second, commands, "b", true)
		time.Sleep(time.Second - time.Millisecond)
		want(t, tr)
		time.Sleep(time.Millisecond)
		want(t, tr, "b opened 0", "b got 1 (0)")
	})
}

func TestZombieIsToldOnThaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := membus.New(membus.Options{Partitions: 1})
		tr := &trace{}
		first, second := b.Join("a"), b.Join("b")
		consume(t, tr, first, shards, "a", false)
		want(t, tr, "a opened 0")
		first.Freeze()
		consume(t, tr, second, shards, "b", false)
		time.Sleep(time.Minute)
		want(t, tr, "b opened 0")
		if b.Owner(bus.Shards, "scheduler", 0) != second {
			t.Fatal("the zombie is still the owner")
		}
		b.Move(bus.Shards, "scheduler", 0, second)
		first.Thaw()
		want(t, tr, "a closed 0: "+bus.ErrLost.Error())
	})
}

func TestMoveHandsOverInGoodOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := membus.New(membus.Options{Partitions: 1})
		tr := &trace{}
		members := []*membus.Member{b.Join("a"), b.Join("b")}
		consume(t, tr, members[0], commands, "m0", true)
		consume(t, tr, members[1], commands, "m1", true)
		synctest.Wait()
		tr.take()
		from, to := 0, 1
		if b.Owner(bus.Commands, "ingest", 0) == members[1] {
			from, to = 1, 0
		}
		b.Move(bus.Commands, "ingest", 0, members[to])
		want(t, tr, fmt.Sprintf("m%d closed 0: %v", from, bus.ErrRevoked), fmt.Sprintf("m%d opened 0", to))
		b.Lose(bus.Commands, "ingest", 0)
		synctest.Wait()
		if got := tr.take(); len(got) != 2 {
			t.Fatalf("after a loss: %q", got)
		}
		b.Zombify(bus.Commands, "ingest", 0)
		want(t, tr, fmt.Sprintf("m%d opened 0", from))
	})
}

func TestHintFates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := membus.New(membus.Options{Partitions: 1})
		tr := &trace{}
		m := b.Join("a")
		consume(t, tr, m, shards, "a", false)
		want(t, tr, "a opened 0")
		b.SetFaults(membus.Faults{Hint: func(_ *membus.Member, msg bus.Message) []time.Duration {
			switch string(msg.Body) {
			case "lost":
				return nil
			case "twice":
				return []time.Duration{0, time.Second}
			default:
				return []time.Duration{100 * time.Millisecond}
			}
		}})
		publish(t, m, bus.Shards, "late", "lost", "twice")
		want(t, tr, "a got twice (0)")
		time.Sleep(2 * time.Second)
		want(t, tr, "a got late (0)", "a got twice (0)")
	})
}

func TestQueueSurvivesRedeliverPurgeAndRecreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := membus.New(membus.Options{Partitions: 2})
		tr := &trace{}
		m := b.Join("a")
		consume(t, tr, m, due, "a", false)
		publish(t, m, bus.Due, "1", "2")
		want(t, tr, "a opened 0", "a got 1 (1)", "a got 2 (1)")
		n := b.Redeliver(bus.Due, func(msg bus.Message) bool { return string(msg.Body) == "2" })
		if n != 1 {
			t.Fatalf("redelivered %d messages, want 1", n)
		}
		want(t, tr, "a got 2 (2)")
		b.Purge(bus.Due)
		floors, err := m.Floor(t.Context(), bus.Due, due.Group)
		if err != nil || floors[1].Floor != floors[1].End || floors[1].End.Offset != 3 || floors[1].Depth != 0 {
			t.Fatalf("floor after a purge: %+v, %v", floors, err)
		}
		time.Sleep(time.Minute)
		want(t, tr)
		b.Recreate(bus.Due)
		want(t, tr, "a closed 0: "+bus.ErrLost.Error(), "a opened 0")
		publish(t, m, bus.Due, "3")
		want(t, tr, "a got 3 (1)")
		floors, err = m.Floor(t.Context(), bus.Due, due.Group)
		if err != nil || floors[0].Floor.Epoch != 2 || floors[0].Floor.Offset != 1 || floors[0].Depth != 1 {
			t.Fatalf("floor after a loss of the queue: %+v, %v", floors, err)
		}
	})
}

func TestPublishFaultTakesAPrefix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := membus.New(membus.Options{})
		m := b.Join("a")
		b.SetFaults(membus.Faults{Publish: func(*membus.Member, bus.Topic, []bus.Message) membus.PublishFault {
			return membus.PublishFault{Err: bus.ErrOutcomeUnknown, Taken: 1}
		}})
		if _, err := m.Publish(t.Context(), bus.Due, bus.Message{}, bus.Message{}); err == nil {
			t.Fatal("the fault did nothing")
		}
		floors, err := m.Floor(t.Context(), bus.Due, due.Group)
		if err != nil || floors[0].Depth != 1 {
			t.Fatalf("floor %+v, %v; want one message", floors, err)
		}
	})
}
