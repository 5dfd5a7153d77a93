package hints_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/hints"
)

// slowBus takes a second for each publish, and refuses publishes while refusing is set.
type slowBus struct {
	bus.Bus

	mu       sync.Mutex
	refusing bool
	batches  []int
	sent     []event.Hint
}

func (b *slowBus) Partitions() int { return 4 }

func (*slowBus) Properties() bus.Properties { return bus.Properties{} }

func (b *slowBus) Publish(_ context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	time.Sleep(time.Second) // virtual
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refusing || topic != bus.Shards {
		return nil, bus.ErrUnavailable
	}
	b.batches = append(b.batches, len(messages))
	for _, m := range messages {
		h, err := event.UnmarshalHint(m.Body)
		if err != nil {
			return nil, err
		}
		b.sent = append(b.sent, h)
	}
	return make([]bus.Position, len(messages)), nil
}

func (b *slowBus) refuse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refusing = true
}

type bench struct {
	*hints.Publisher

	bus                        *slowBus
	published, failed, dropped counter
	done                       chan struct{}
}

// counter is a Counter whose value can be read.
type counter struct {
	prometheus.Counter

	n atomic.Int64
}

func (c *counter) Add(n float64) { c.n.Add(int64(n)) }

// newBench runs a publisher with room for six hints, and two in a batch.
func newBench() *bench {
	b := &bench{bus: &slowBus{}, done: make(chan struct{})}
	b.Publisher = hints.New(hints.Config{
		Bus: b.bus, Outage: outage.New(slog.New(slog.DiscardHandler), "ingest", "operation"), Queue: 6, Batch: 2,
		Timeout: time.Minute, Published: &b.published, Failed: &b.failed, Dropped: &b.dropped,
	})
	go func() { defer close(b.done); b.Run() }()
	synctest.Wait()
	return b
}

func (b *bench) wantCounts(t *testing.T, published, failed, dropped int64) {
	t.Helper()
	got := [...]int64{b.published.n.Load(), b.failed.n.Load(), b.dropped.n.Load()}
	if want := [...]int64{published, failed, dropped}; got != want {
		t.Fatalf("published, failed, dropped: %v, want %v", got, want)
	}
}

func some(n int) []event.Hint {
	all := make([]event.Hint, n)
	for i := range all {
		all[i].Revision = timer.Revision(i + 1)
	}
	return all
}

func TestNobodyWaitsAndWhatHasNoRoomIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		began := time.Now()
		b.Add(some(8))
		if took := time.Since(began); took != 0 {
			t.Errorf("Add took %v", took)
		}
		b.Stop()
		<-b.done
		b.wantCounts(t, 6, 0, 2)
		for i, h := range b.bus.sent {
			if h.Revision != timer.Revision(i+1) {
				t.Fatalf("out of order: %v", b.bus.sent)
			}
		}
		if len(b.bus.batches) != 3 {
			t.Errorf("batches of %v, want three", b.bus.batches)
		}
	})
}

func TestAFailedPublishIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.bus.refuse()
		b.Add(some(3))
		time.Sleep(time.Minute)
		b.wantCounts(t, 0, 3, 0)
		b.Stop()
		<-b.done
	})
}

func TestStopFlushesUntilTheBusFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.bus.refuse()
		b.Stop()
		<-b.done
		b.Add(some(1)) // too late
		b.wantCounts(t, 0, 0, 1)

		b = newBench()
		b.bus.refuse()
		b.Add(some(6))
		b.Stop()
		<-b.done
		// The first batch may have begun before Stop. After Stop, one failed publish ends the publisher.
		if failed, dropped := b.failed.n.Load(), b.dropped.n.Load(); failed > 4 || failed+dropped != 6 {
			t.Fatalf("%d failed, %d dropped", failed, dropped)
		}
	})
}
