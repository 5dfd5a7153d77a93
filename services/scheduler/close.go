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
func (o *session) Close(ctx context.Context, cause error) error {
	o.loop.Wait()
	o.closing = true
	if errors.Is(cause, bus.ErrLost) {
		o.cancel()
	}
	// The workers send their last results to done, which has room for all of them.
	stop := context.AfterFunc(ctx, o.cancel)
	o.workers.Wait()
	stop()
	if o.config.LocalQueue != nil {
		// The watermarks do not move for events that are withdrawn, so the next owner reads their rows.
		waiting, cancel := ctx, context.CancelFunc(func() {})
		if deadline, ok := ctx.Deadline(); ok {
			waiting, cancel = context.WithDeadline(ctx, deadline.Add(-releaseTime))
		}
		o.config.LocalQueue.Withdraw(waiting, o.partition, cause)
		cancel()
	}
	var err error
	if !errors.Is(cause, bus.ErrLost) {
		err = o.release(ctx)
	}
	o.cancel()
	o.metrics.hide(&o.reported)
	o.metrics.partitions.Dec()
	o.budget.RemovePartition()
	if errors.Is(cause, bus.ErrLost) {
		o.outage.Failed(consumeOperation, cause, "partition", int(o.partition))
	}
	o.log.Debug("partition closed", "cause", cause)
	return err
}

func (o *session) release(ctx context.Context) error {
	for len(o.results) > 0 {
		apply := <-o.results
		apply(o.config.Clock())
	}
	now := o.config.Clock()
	var failure error
	// A clock that is not trusted may be ahead by more than the slack (I6).
	if items := o.state.Advances(now); len(items) > 0 && o.config.StoreClock.Trusted() {
		answers, err := o.config.Store.Advance(ctx, now, items)
		if err == nil {
			o.state.Advanced(items, answers)
		} else {
			// P alone also shows the next owner which timers may have been published.
			failure = fmt.Errorf("advance watermarks before release: %w", err)
		}
	}
	if _, err := o.config.Store.Release(ctx, now, o.state.ClaimReleases()); err != nil {
		return errors.Join(failure, fmt.Errorf("release claims: %w", err))
	}
	return failure
}
