package kafkabus_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// owner records which partitions a member has, and when that last changed.
type owner struct {
	mu      sync.Mutex
	owns    map[shard.Partition]bool
	changed chan struct{}
}

func newOwner() *owner {
	return &owner{owns: map[shard.Partition]bool{}, changed: make(chan struct{}, 1)}
}

func (o *owner) note(p shard.Partition, owns bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.owns[p] = owns
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

func (o *owner) open(_ context.Context, p shard.Partition) (bus.Session, error) {
	o.note(p, true)
	return &owned{o, p}, nil
}

// await waits until the member has n partitions.
func (o *owner) await(t *testing.T, n int) {
	t.Helper()
	for deadline := time.After(patience); ; {
		o.mu.Lock()
		has := 0
		for _, owns := range o.owns {
			if owns {
				has++
			}
		}
		o.mu.Unlock()
		if has == n {
			return
		}
		select {
		case <-o.changed:
		case <-deadline:
			t.Fatalf("has %d partitions, want %d", has, n)
		}
	}
}

type owned struct {
	owner *owner
	p     shard.Partition
}

func (o *owned) Deliver(context.Context, *bus.Delivery) error { return nil }

func (o *owned) Close(context.Context, error) error {
	o.owner.note(o.p, false)
	return nil
}

// TestTakeOverTimes prints how long 16 partitions of hints are without an owner: when a member joins, leaves and is
// killed, with the default session of 6 s.
func TestTakeOverTimes(t *testing.T) {
	for _, name := range []string{"kafka", "kafka3"} {
		t.Run(name, func(t *testing.T) {
			opts := kafkabus.Options{Brokers: brokers(t, name), Prefix: prefix(), Logger: testserver.Log()}
			member := func(l *testserver.Line) (*owner, func()) {
				o := opts
				o.Client = append(slices.Clone(o.Client), kgo.Dialer(l.Dial))
				b := connect(t, o)
				t.Cleanup(l.Close)
				owner, ended := newOwner(), make(chan error, 1)
				ctx, cancel := context.WithCancel(t.Context())
				go func() { ended <- b.Consume(ctx, live, owner.open) }()
				stop := sync.OnceFunc(func() {
					cancel()
					if err := <-ended; err != nil {
						t.Error(err)
					}
				})
				t.Cleanup(stop)
				return owner, stop
			}
			first, _ := member(testserver.NewLine())
			first.await(t, 16)

			start := time.Now()
			second, leave := member(testserver.NewLine())
			second.await(t, 8)
			first.await(t, 8)
			joined := time.Since(start)

			start = time.Now()
			leave()
			first.await(t, 16)
			left := time.Since(start)

			doomed := testserver.NewLine()
			third, _ := member(doomed)
			third.await(t, 8)
			first.await(t, 8)
			start = time.Now()
			doomed.Kill()
			first.await(t, 16)
			killed := time.Since(start)

			t.Logf("join %v, clean leave %v, kill %v", joined, left, killed)
			if left > 2*time.Second || killed > session+2*time.Second {
				t.Errorf("leave took %v, want 2s at most; kill %v, want %v at most", left, killed, session+2*time.Second)
			}
		})
	}
}
