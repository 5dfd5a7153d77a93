package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// consumeOperation is the name of the Consume call, which owns the partitions, in the log.
const consumeOperation = "consume hints"

// releaseTime is the time that Close keeps for the release, while it waits for deliveries.
const releaseTime = time.Second

// Close ends the session. After a revoke it waits for publishes in flight, and with a local queue for the deliveries that have begun. It
// advances the watermarks and releases the claims with P, so that the next owner publishes nothing twice. After a loss it cancels
// everything immediately: another process may own the shards already, and the fence rejects late writes.
func (s *session) Close(ctx context.Context, cause error) error {
	s.loop.Wait()
	s.closing = true
	if errors.Is(cause, bus.ErrLost) {
		s.cancel()
	}
	// The workers send their last results to done, which has room for all of them.
	stop := context.AfterFunc(ctx, s.cancel)
	s.workers.Wait()
	stop()
	if s.config.LocalQueue != nil {
		// The watermarks do not move for events that are withdrawn, so the next owner reads their rows.
		waiting, cancel := ctx, context.CancelFunc(func() {})
		if deadline, ok := ctx.Deadline(); ok {
			waiting, cancel = context.WithDeadline(ctx, deadline.Add(-releaseTime))
		}
		s.config.LocalQueue.Withdraw(waiting, s.partition, cause)
		cancel()
	}
	var err error
	if !errors.Is(cause, bus.ErrLost) {
		err = s.release(ctx)
	}
	s.cancel()
	s.metrics.hide(&s.reported)
	s.metrics.partitions.Dec()
	s.budget.RemovePartition()
	if errors.Is(cause, bus.ErrLost) {
		s.outage.Failed(consumeOperation, cause, "partition", int(s.partition))
	}
	s.log.Debug("partition closed", "cause", cause)
	return err
}

func (s *session) release(ctx context.Context) error {
	for len(s.results) > 0 {
		apply := <-s.results
		apply(s.config.Clock())
	}
	now := s.config.Clock()
	var failure error
	// A clock that is not trusted may be ahead by more than the slack (I6).
	if items := s.state.Advances(now); len(items) > 0 && s.config.StoreClock.Trusted() {
		answers, err := s.config.Store.Advance(ctx, now, items)
		if err == nil {
			s.state.Advanced(items, answers)
		} else {
			// P alone also shows the next owner which timers may have been published.
			failure = fmt.Errorf("advance watermarks before release: %w", err)
		}
	}
	if _, err := s.config.Store.Release(ctx, now, s.state.ClaimReleases()); err != nil {
		return errors.Join(failure, fmt.Errorf("release claims: %w", err))
	}
	return failure
}
