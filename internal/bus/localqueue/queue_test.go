package localqueue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/bus/localqueue"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// below is the bus below, which records what it gets. Its Consume opens no session.
type below struct {
	bus.Bus

	mu    sync.Mutex
	calls []string
	err   error // of Consume and Ready
}

func (b *below) called(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, fmt.Sprintf(format, args...))
}

func (b *below) Partitions() int { return 4 }

func (b *below) Publish(_ context.Context, topic bus.Topic, m ...bus.Message) ([]bus.Position, error) {
	b.called("publish %s", topic)
	return make([]bus.Position, len(m)), nil
}

func (b *below) Consume(ctx context.Context, spec bus.Spec, _ bus.OpenSession) error {
	b.called("consume %s", spec.Topic)
	if b.err != nil {
		return b.err
	}
	<-ctx.Done()
	return nil
}

func (b *below) Floor(_ context.Context, topic bus.Topic, _ string) (bus.Floors, error) {
	b.called("floor %s", topic)
	return make(bus.Floors, 4), nil
}

func (b *below) Ready(topic bus.Topic, _ string) error {
	b.called("ready %s", topic)
	return b.err
}

// world is a queue with one consumer, whose sessions record what they get.
type world struct {
	*localqueue.Bus

	t     *testing.T
	below *below
	stop  func()

	mu sync.Mutex
	// got has all deliveries, oldest first; open and closed count the sessions by partition.
	got          []*bus.Delivery
	open, closed map[shard.Partition]int
	// refuse is the error of open, and fail that of Deliver.
	refuse, fail error
	// closing, if not nil, is received from by Close.
	closing chan struct{}
	causes  []error
}

type session struct {
	*world

	partition shard.Partition
}

func newWorld(t *testing.T, spec bus.Spec, alone bool) *world {
	t.Helper()
	b := &below{}
	w := &world{
		Bus: localqueue.New(b, slog.New(slog.DiscardHandler), alone), t: t, below: b,
		open: map[shard.Partition]int{}, closed: map[shard.Partition]int{},
	}
	w.consume(spec)
	return w
}

func (w *world) consume(spec bus.Spec) {
	spec.Topic, spec.Group, spec.Mode = bus.Due, bus.GroupDispatchers, bus.Queue
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() {
		done <- w.Consume(ctx, spec, func(_ context.Context, p shard.Partition) (bus.Session, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.refuse != nil {
				return nil, w.refuse
			}
			w.open[p]++
			return session{w, p}, nil
		})
	}()
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
}

func (s session) Deliver(_ context.Context, d *bus.Delivery) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	s.got = append(s.got, d)
	return nil
}

func (s session) Close(ctx context.Context, cause error) error {
	s.mu.Lock()
	s.closed[s.partition]++
	s.causes = append(s.causes, cause)
	closing := s.closing
	s.mu.Unlock()
	if closing == nil || errors.Is(cause, bus.ErrLost) {
		return nil
	}
	select {
	case <-closing:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *world) publish(p shard.Partition, keys ...string) []bus.Position {
	w.t.Helper()
	messages := make([]bus.Message, len(keys))
	for i, key := range keys {
		messages[i] = bus.Message{Partition: p, Key: key, Body: []byte(key)}
	}
	positions, err := w.Publish(w.t.Context(), bus.Due, messages...)
	if err != nil {
		w.t.Fatal(err)
	}
	return positions
}

// delivered returns the deliveries since the last call, as key/deliveries.
func (w *world) delivered() (names []string) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.got {
		names = append(names, fmt.Sprintf("%s/%d", d.Body, d.Deliveries))
	}
	return names
}

func (w *world) take() []*bus.Delivery {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.got
	w.got = nil
	return got
}

func (w *world) wantDelivered(want ...string) []*bus.Delivery {
	w.t.Helper()
	if got := w.delivered(); !slices.Equal(got, want) {
		w.t.Fatalf("delivered %v, want %v", got, want)
	}
	return w.take()
}

func (w *world) floor(p shard.Partition) bus.Floor {
	w.t.Helper()
	floors, err := w.Floor(w.t.Context(), bus.Due, bus.GroupDispatchers)
	if err != nil {
		w.t.Fatal(err)
	}
	return floors[p]
}

func (w *world) wantFloor(p shard.Partition, offset int64, depth, waiting int) {
	w.t.Helper()
	synctest.Wait()
	if f := w.floor(p); f.Floor.Offset != offset || f.Depth != depth || f.Waiting != waiting {
		w.t.Fatalf("partition %d: floor %d, depth %d, waiting %d; want %d, %d, %d", p, f.Floor.Offset, f.Depth, f.Waiting, offset, depth, waiting)
	}
}

func run(t *testing.T, spec bus.Spec, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, spec, false)
		test(w)
		w.mu.Lock()
		w.closing = nil
		w.mu.Unlock()
		w.stop()
	})
}

func TestAcknowledgementsMoveTheFloorOfTheirPartition(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		at := w.publish(1, "a", "b")
		w.publish(2, "c")
		got := w.wantDelivered("a/1", "b/1", "c/1")
		if at[1] != got[1].Position {
			t.Errorf("b is delivered at %v, and was published at %v", got[1].Position, at[1])
		}
		w.wantFloor(1, 1, 3, 0)
		got[1].Ack()
		w.wantFloor(1, 1, 2, 0)
		got[0].Ack()
		got[0].Ack() // no effect
		w.wantFloor(1, 4, 1, 0)
		w.wantFloor(2, 3, 1, 0)
		w.wantFloor(3, 4, 1, 0)
		time.Sleep(bus.AckWait)
		w.wantDelivered("c/2")
	})
}

func TestNackAndExtendMoveTheNextDelivery(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		w.publish(0, "later", "now", "extended")
		got := w.wantDelivered("later/1", "now/1", "extended/1")
		got[0].Nack(7 * time.Second)
		got[1].Nack(0)
		w.wantDelivered("now/2")[0].Ack()
		time.Sleep(3 * time.Second)
		got[2].Extend()
		got[2].Nack(bus.AckWait)
		got[2].Ack() // too late
		time.Sleep(4*time.Second - time.Millisecond)
		w.wantDelivered()
		time.Sleep(time.Millisecond)
		w.wantDelivered("later/2")[0].Ack()
		time.Sleep(time.Second)
		w.wantDelivered("extended/2")[0].Ack()
		w.wantFloor(0, 4, 0, 0)
	})
}

func TestAnAcknowledgementOfAnEarlierDeliveryHasNoEffect(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		w.publish(0, "a")
		first := w.wantDelivered("a/1")[0]
		time.Sleep(bus.AckWait)
		second := w.wantDelivered("a/2")[0]
		first.Ack()
		w.wantFloor(0, 1, 1, 0)
		second.Ack()
		w.wantFloor(0, 2, 0, 0)
	})
}

func TestTheBoundsApplyToAllPartitionsTogether(t *testing.T) {
	for name, spec := range map[string]bus.Spec{"messages": {MaxInFlight: 3}, "bytes": {MaxBytes: 50}} {
		t.Run(name, func(t *testing.T) {
			run(t, spec, func(w *world) {
				const twenty = "aaaaaaaaaa" // and the key
				w.publish(0, twenty, twenty)
				w.publish(1, twenty, twenty)
				got := w.wantDelivered(twenty+"/1", twenty+"/1", twenty+"/1")
				w.wantFloor(0, 1, 4, 1)
				got[0].Ack()
				w.wantDelivered(twenty + "/1")
			})
		})
	}
}

func TestWithdrawRemovesTheEventsOfAPartition(t *testing.T) {
	run(t, bus.Spec{MaxInFlight: 2}, func(w *world) {
		w.closing = make(chan struct{})
		w.publish(1, "begun")
		w.publish(2, "other")
		w.publish(1, "waits", "waits too")
		got := w.wantDelivered("begun/1", "other/1")
		withdrawn := make(chan struct{})
		go func() {
			w.Withdraw(w.t.Context(), 1, bus.ErrRevoked)
			close(withdrawn)
		}()
		w.wantFloor(1, 1, 2, 0)
		select {
		case <-withdrawn:
			t.Fatal("Withdraw does not wait for the session")
		default:
		}
		got[0].Ack()
		w.wantFloor(1, 5, 1, 0)
		close(w.closing)
		<-withdrawn
		if !slices.Equal(w.causes, []error{bus.ErrRevoked}) {
			t.Errorf("the session was closed with %v", w.causes)
		}
		// A new owner of the partition publishes again.
		w.publish(1, "next")
		w.wantDelivered("next/1")
		if w.open[1] != 2 {
			t.Errorf("%d sessions of the partition were opened, want 2", w.open[1])
		}
		got[1].Ack()
		w.wantFloor(2, 6, 1, 0)
	})
}

func TestWithdrawAfterALossDoesNotWait(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		w.closing = make(chan struct{})
		w.publish(1, "begun")
		got := w.wantDelivered("begun/1")
		w.Withdraw(w.t.Context(), 1, bus.ErrLost)
		w.wantFloor(1, 2, 0, 0)
		got[0].Ack() // no effect
		w.wantFloor(1, 2, 0, 0)
		time.Sleep(2 * bus.AckWait)
		w.wantDelivered()
	})
}

// TestWithdrawOfAProcessThatIsAloneDoesNotWait, because no other process can deliver the events.
func TestWithdrawOfAProcessThatIsAloneDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, bus.Spec{}, true)
		w.closing = make(chan struct{})
		w.publish(1, "begun")
		w.wantDelivered("begun/1")
		began := time.Now()
		w.Withdraw(t.Context(), 1, bus.ErrStopping)
		w.wantFloor(1, 2, 0, 0)
		if took := time.Since(began); took > 0 || !errors.Is(w.causes[0], bus.ErrLost) || !errors.Is(w.causes[0], bus.ErrStopping) {
			t.Errorf("Withdraw took %v, and closed the session with %v", took, w.causes)
		}
		w.stop()
	})
}

// TestNothingIsDeliveredWhileAPartitionIsWithdrawn: the deadline of a message that was not begun ends before the session is closed.
func TestNothingIsDeliveredWhileAPartitionIsWithdrawn(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		w.closing = make(chan struct{})
		w.publish(1, "held")
		w.wantDelivered("held/1")
		withdrawn := make(chan struct{})
		for range 2 { // the second waits for the first
			go func() {
				w.Withdraw(w.t.Context(), 1, bus.ErrRevoked)
				withdrawn <- struct{}{}
			}()
		}
		time.Sleep(2 * bus.AckWait)
		w.wantDelivered()
		select {
		case <-withdrawn:
			t.Error("a Withdraw does not wait for the session")
		default:
		}
		close(w.closing)
		<-withdrawn
		<-withdrawn
		w.wantFloor(1, 2, 0, 0)
		w.publish(1, "next")
		w.wantDelivered("next/1")
	})
}

// TestAMessageThatStaysDoesNotKeepThoseAfterIt: the memory of the queue is that of its unacknowledged messages.
func TestAMessageThatStaysDoesNotKeepThoseAfterIt(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		w.publish(1, "stays")
		stays := w.wantDelivered("stays/1")[0]
		for range 1000 {
			w.publish(1, "passes")
			w.take()[0].Ack()
			stays.Extend()
		}
		w.wantFloor(1, 1, 1, 0)
		if n := w.Kept(1); n > 2 {
			t.Errorf("the queue keeps %d messages, of which 1 is not acknowledged", n)
		}
		stays.Ack()
		w.wantFloor(1, 1002, 0, 0)
	})
}

func TestWithdrawWithoutASession(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		w.Withdraw(w.t.Context(), 3, bus.ErrRevoked)
		w.publish(3, "a")
		w.wantDelivered("a/1")
	})
}

// TestTheEndOfConsumeReturnsTheMessages: the next Consume of the process gets them.
func TestTheEndOfConsumeReturnsTheMessages(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		w.publish(0, "held", "acknowledged")
		got := w.wantDelivered("held/1", "acknowledged/1")
		got[1].Ack()
		w.stop()
		if !slices.Equal(w.causes, []error{bus.ErrStopping}) {
			t.Errorf("the session was closed with %v", w.causes)
		}
		got[0].Ack() // no effect
		w.wantFloor(0, 1, 1, 1)
		w.consume(bus.Spec{})
		w.wantDelivered("held/2")
	})
}

func TestAFailedSessionIsOpenedAgain(t *testing.T) {
	errFails := errors.New("fails")
	run(t, bus.Spec{}, func(w *world) {
		w.mu.Lock()
		w.refuse = errFails
		w.mu.Unlock()
		w.publish(0, "a")
		synctest.Wait()
		if err := w.Ready(bus.Due, bus.GroupDispatchers); !errors.Is(err, errFails) {
			t.Errorf("Ready: %v", err)
		}
		w.mu.Lock()
		w.refuse, w.fail = nil, errFails
		w.mu.Unlock()
		time.Sleep(time.Second)
		synctest.Wait()
		if w.open[0] == 0 || w.open[0] != w.closed[0] || !errors.Is(w.causes[0], bus.ErrLost) {
			t.Errorf("%d sessions opened, %d closed, with %v", w.open[0], w.closed[0], w.causes)
		}
		w.mu.Lock()
		w.fail = nil
		w.mu.Unlock()
		// The other partitions do not wait for the pause.
		w.publish(1, "b")
		w.wantDelivered("b/1")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := w.take(); len(got) != 1 || string(got[0].Body) != "a" {
			t.Errorf("%d deliveries after the failures, want that of a", len(got))
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if err := w.Ready(bus.Due, bus.GroupDispatchers); err != nil {
			t.Errorf("Ready after the failures: %v", err)
		}
	})
}

func TestOtherTopicsGoToTheBusBelow(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		synctest.Wait()
		ctx, cancel := context.WithCancel(w.t.Context())
		_, err1 := w.Publish(ctx, bus.Fired, bus.Message{})
		_, err2 := w.Floor(ctx, bus.Commands, bus.GroupIngest)
		err3 := w.Ready(bus.Shards, bus.GroupSchedulers)
		cancel()
		err4 := w.Consume(ctx, bus.Spec{Topic: bus.Shards, Group: bus.GroupSchedulers, Mode: bus.Live}, nil)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Error(err)
		}
		// The due queue of the bus below is consumed, too.
		want := []string{"consume due", "publish fired", "floor commands", "ready shards", "consume shards"}
		if !slices.Equal(w.below.calls, want) {
			t.Errorf("the bus below got %q, want %q", w.below.calls, want)
		}
		if inner, ok := bus.As[*below](w.Bus); !ok || inner != w.below {
			t.Error("the capabilities of the bus below are hidden")
		}
	})
}

func TestARefusedPublish(t *testing.T) {
	run(t, bus.Spec{}, func(w *world) {
		if _, err := w.Publish(w.t.Context(), bus.Due, bus.Message{Partition: 4}); err == nil {
			t.Error("a partition that does not exist was accepted")
		}
		if _, err := w.Publish(w.t.Context(), bus.Due, bus.Message{Body: make([]byte, 2<<20)}); !errors.Is(err, bus.ErrTooLarge) {
			t.Errorf("2 MiB: %v", err)
		}
		ctx, cancel := context.WithCancel(w.t.Context())
		cancel()
		if _, err := w.Publish(ctx, bus.Due, bus.Message{}); !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("an ended context: %v", err)
		}
		w.wantFloor(0, 1, 0, 0)
	})
}

func TestAFailureOfTheBusBelowEndsConsume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &below{err: bus.ErrClosed}
		q := localqueue.New(b, slog.New(slog.DiscardHandler), false)
		spec := bus.Spec{Topic: bus.Due, Group: bus.GroupDispatchers, Mode: bus.Queue}
		if err := q.Consume(t.Context(), spec, nil); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Consume: %v", err)
		}
		if err := q.Consume(t.Context(), bus.Spec{Topic: bus.Due, Mode: bus.Live}, nil); !errors.Is(err, bus.ErrUnsupported) {
			t.Errorf("a wrong mode: %v", err)
		}
	})
}
