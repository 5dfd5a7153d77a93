package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// pooled is a store whose calls share a connection. If timeWaits is set, Time shares it too.
type pooled struct {
	broken

	pool      chan struct{}
	timeWaits bool
}

func (p *pooled) acquire(ctx context.Context) error {
	select {
	case p.pool <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("acquire a connection: %w", ctx.Err())
	}
}

func (p *pooled) occupy() (release func()) {
	p.pool <- struct{}{}
	return func() { <-p.pool }
}

func (p *pooled) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	if err := p.acquire(ctx); err != nil {
		return timer.Timer{}, err
	}
	defer func() { <-p.pool }()
	return p.Store.Get(ctx, now, ref)
}

func (p *pooled) Time(ctx context.Context) (store.Instant, error) {
	if p.timeWaits {
		if err := p.acquire(ctx); err != nil {
			return store.Instant{}, err
		}
		defer func() { <-p.pool }()
	}
	return p.Store.Time(ctx)
}

func pooledWith(timeWaits bool) func(s *memstore.Store) store.Store {
	return func(s *memstore.Store) store.Store {
		return &pooled{broken: broken{Store: s}, pool: make(chan struct{}, 1), timeWaits: timeWaits}
	}
}

func TestSuitePassesWithAPool(t *testing.T) {
	v := judge(t, factoryOf(pooledWith(false)))
	for _, name := range v.failed {
		t.Errorf("%s: %s", name, v.why[name])
	}
}

// TestSuiteCatchesATimeThatWaitsForThePool: with such an engine, a busy store would stop processes whose clocks are
// right.
func TestSuiteCatchesATimeThatWaitsForThePool(t *testing.T) {
	catches(t, pooledWith(true), "Cluster/TimeWaitsForNoOtherCall")
}
