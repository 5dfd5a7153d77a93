package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// onDisk is a store whose disk can be full. ping is the implementation of Ping.
type onDisk struct {
	broken

	full, failed bool
	ping         func(d *onDisk) error
}

func (d *onDisk) fill(full bool) { d.full = full }

func (d *onDisk) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	if d.full {
		d.failed = true
		return nil, fmt.Errorf("write: %w: %w", store.ErrUnavailable, store.ErrFull)
	}
	return d.Store.Write(ctx, now, ops)
}

func (d *onDisk) Ping(ctx context.Context) error {
	if err := d.ping(d); err != nil {
		return fmt.Errorf("ping: %w: %w", store.ErrUnavailable, err)
	}
	return d.Store.Ping(ctx)
}

func onDiskWith(ping func(d *onDisk) error) func(s *memstore.Store) store.Store {
	return func(s *memstore.Store) store.Store { return &onDisk{broken: broken{Store: s}, ping: ping} }
}

func TestSuitePassesOnADiskThatIsFull(t *testing.T) {
	v := judge(t, factoryOf(onDiskWith(func(d *onDisk) error {
		if !d.failed {
			return nil
		}
		if d.failed = d.full; d.full {
			return store.ErrFull
		}
		return nil
	})))
	for _, name := range v.failed {
		t.Errorf("%s: %s", name, v.why[name])
	}
}

func TestSuiteCatchesAPingThatOnlyReads(t *testing.T) {
	catches(t, onDiskWith(func(*onDisk) error { return nil }), "Cluster/PingTellsThatThereIsNoRoom")
}

// TestSuiteCatchesAPingThatTellsOnce: Ping reports a failure only once, although the disk is still full.
func TestSuiteCatchesAPingThatTellsOnce(t *testing.T) {
	catches(t, onDiskWith(func(d *onDisk) error {
		if d.failed {
			d.failed = false
			return store.ErrFull
		}
		return nil
	}), "Cluster/PingTellsThatThereIsNoRoom")
}

// TestSuiteCatchesAPingThatNeverRecovers: a service that is not ready gets no writes, which would end the state.
func TestSuiteCatchesAPingThatNeverRecovers(t *testing.T) {
	catches(t, onDiskWith(func(d *onDisk) error {
		if d.failed {
			return store.ErrFull
		}
		return nil
	}), "Cluster/PingTellsThatThereIsNoRoom")
}
