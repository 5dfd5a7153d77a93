package ingest

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// errClock refuses writes. Due times are computed by the clock and are not before its time (I6), so by a clock that is
// ahead they would be late, and by one that is behind schedulers would have read past them.
var errClock = fmt.Errorf("%w: the clock is not trusted", store.ErrUnavailable)

// writeNow is the time by which rows are written, or errClock if it is uncertain.
func (s *Service) writeNow() (timer.Millis, error) {
	now, certain := s.cfg.StoreClock.Certain(s.cfg.Clock)
	if !certain {
		return now, errClock
	}
	return now, nil
}

// clockedStore writes only while the clock is trusted.
type clockedStore struct {
	Store

	clock *store.Clock
}

func (c *clockedStore) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	if !c.clock.Trusted() {
		return nil, errClock
	}
	return c.Store.Write(ctx, now, ops)
}

func (c *clockedStore) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	if !c.clock.Trusted() {
		return nil, errClock
	}
	return c.Store.Rearm(ctx, now, items)
}

// clockedPositions is the same for topic commands.
type clockedPositions struct {
	store.Positions

	clock *store.Clock
}

func (c *clockedPositions) WriteAt(
	ctx context.Context, now timer.Millis, ops []store.Op, move store.Move,
) ([]store.Written, error) {
	if !c.clock.Trusted() {
		return nil, errClock
	}
	return c.Positions.WriteAt(ctx, now, ops, move)
}
