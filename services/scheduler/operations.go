package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// minSweepDelay is the minimum time between the end of the last sweep and one that a removed handover barrier or a new topic
// epoch requires.
const minSweepDelay = 250 * time.Millisecond

// String returns the name of an operation in logs and metrics.
func (e operation) String() string {
	return [...]string{"publish", "poll", "sweep", "floor", "advance", "outbox", "claim", "none"}[e]
}

// start begins an operation. The caller has checked that it does not run.
func (o *session) start(e operation, now timer.Millis) {
	switch e {
	case opPublish:
		o.publish(now)
	case opPoll:
		o.poll(now)
	case opSweep:
		o.sweep()
	case opFloor:
		o.floor()
	case opAdvance:
		o.advance(now)
	case opOutbox:
		o.publishOutbox(now)
	case opClaim:
		o.claimMissing()
	case opCount:
	}
}

// runIO runs I/O in a goroutine. The loop, or Close, calls the function that io returns, which may start the next step
// of the operation.
func (o *session) runIO(e operation, io func(ctx context.Context) func(now timer.Millis)) {
	if o.closing {
		return
	}
	o.running[e] = true
	o.workers.Go(func() {
		ctx, cancel := o.ioCtx, context.CancelFunc(func() {})
		if e != opPublish && e != opSweep && e != opClaim { // these bound each of their calls
			ctx, cancel = o.bounded(ctx)
		}
		apply := io(ctx)
		cancel()
		o.results <- func(now timer.Millis) {
			o.running[e] = false
			apply(now)
		}
	})
}

// bounded bounds a call of the store or the bus.
func (o *session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, o.config.CallTimeout)
}

// operationName returns the name of an operation on this partition in the log.
func (o *session) operationName(e operation) string {
	return fmt.Sprintf("%s in partition %d", e, o.partition)
}

// failed records a failure and returns when to try again.
func (o *session) failed(e operation, now timer.Millis, err error) timer.Millis {
	if o.ioCtx.Err() != nil {
		return timer.Never
	}
	if o.backoffs[e] == nil {
		o.backoffs[e] = newBackoff()
	}
	o.outage.Failed(o.operationName(e), err)
	o.metrics.failures.WithLabelValues(e.String()).Inc()
	o.nextRun[e] = now.Add(o.backoffs[e].NextBackOff())
	return o.nextRun[e]
}

// succeeded ends a series of failures and sets when the operation may run next.
func (o *session) succeeded(e operation, next timer.Millis) {
	o.backoffs[e] = nil
	o.outage.Succeeded(o.operationName(e))
	o.nextRun[e] = next
}

// reportUnserved records that the store did not serve some shards in an operation.
func (o *session) reportUnserved(e operation) {
	n, err := o.state.Unserved()
	if o.ioCtx.Err() == nil {
		o.reportUnservedShards(e, n, err)
	}
}

func (o *session) reportUnservedShards(e operation, n int, err error) {
	operation := o.operationName(e) + " for some shards"
	if n == 0 {
		o.outage.Succeeded(operation)
		return
	}
	o.metrics.failures.WithLabelValues(e.String()).Inc()
	o.outage.Failed(operation, err, "shards", n)
}

// publish publishes due states, and repeats until the bus has them: until then, their keys block the watermark.
func (o *session) publish(now timer.Millis) {
	credit := o.budget.Take(o.config.PublishBatch)
	batch, left := o.state.TakeDue(now, o.config.PublishBatch, credit)
	o.budget.Return(left)
	if len(batch) == 0 {
		return
	}
	messages := make([]bus.Message, len(batch))
	for i := range batch {
		messages[i] = partition.Message(&batch[i], o.partition)
		o.metrics.lateness.Observe(now.Sub(batch[i].Row.DueAt).Seconds())
	}
	o.runIO(opPublish, func(ctx context.Context) func(timer.Millis) {
		positions, err := o.publishWithRetry(ctx, messages)
		var last bus.Position
		if err == nil {
			last = positions[len(positions)-1]
		}
		o.budget.Published(credit-left, last)
		return func(now timer.Millis) {
			if err != nil {
				return
			}
			o.metrics.published.Add(float64(len(batch)))
			o.metrics.hottest.add(now, batch)
			o.state.Published(now, batch, positions)
			o.succeeded(opPublish, now)
		}
	})
}

// publishWithRetry repeats the publish, with the same IDs, until the bus has the messages or ctx ends.
func (o *session) publishWithRetry(ctx context.Context, messages []bus.Message) ([]bus.Position, error) {
	pause := newBackoff()
	for {
		call, cancel := o.bounded(ctx)
		positions, err := o.config.Bus.Publish(call, bus.Due, messages...)
		cancel()
		if err == nil {
			return positions, nil
		}
		if ctx.Err() != nil || errors.Is(err, bus.ErrClosed) {
			return nil, err
		}
		o.metrics.failures.WithLabelValues(opPublish.String()).Inc()
		o.outage.Failed(o.operationName(opPublish), err, "events", len(messages))
		if !timer.Sleep(ctx, pause.NextBackOff()) {
			return nil, err
		}
	}
}

func (o *session) poll(now timer.Millis) {
	q := o.state.Poll(now)
	o.runIO(opPoll, func(ctx context.Context) func(timer.Millis) {
		answer, err := o.config.Store.Due(ctx, q)
		return func(now timer.Millis) {
			if err != nil {
				o.state.PollFailed(q, o.failed(opPoll, now, err))
				return
			}
			o.succeeded(opPoll, now)
			o.fenced(now, o.state.Polled(now, q, answer))
			o.reportUnserved(opPoll)
		}
	})
}

// sweep requests the ack floor and then reads the rows, page by page. If all shards are idle, it reads no rows, and the
// sessions of the process share a request for the floor.
func (o *session) sweep() {
	ask := o.askFloor
	if _, all := o.state.IdleSince(); all {
		ask = func(ctx context.Context) (bus.Floor, error) { return o.recentFloor(ctx, o.config.Sweep/2) }
	}
	o.runIO(opSweep, func(ctx context.Context) func(timer.Millis) {
		call, cancel := o.bounded(ctx)
		floor, err := ask(call)
		cancel()
		return func(now timer.Millis) {
			if err != nil {
				o.hintsMissed = true
				o.failed(opSweep, now, err)
				return
			}
			if o.hintsMissed {
				o.hintsMissed = false
				o.state.HintsLost(now)
			}
			o.state.SetFloor(now, floor)
			o.sweepPage(o.state.SweepStart(now))
		}
	})
}

func (o *session) sweepPage(q store.OverdueQuery) {
	o.runIO(opSweep, func(ctx context.Context) func(timer.Millis) {
		page, err := o.overdue(ctx, q)
		return func(now timer.Millis) {
			if err != nil {
				o.state.SweepFailed()
				if o.sessionCtx.Err() == nil {
					o.failed(opSweep, now, err)
				}
				return
			}
			next, done, fenced := o.state.Swept(q, page)
			o.fenced(now, fenced)
			o.reportUnserved(opSweep)
			if !done {
				o.sweepPage(next)
				return
			}
			o.metrics.sweepFinds.Add(float64(o.state.SweepQueued()))
			o.sweptAt = now
			o.succeeded(opSweep, now.Add(o.state.SweepPause(o.config.Sweep)))
			o.lookForShards(now)
		}
	})
}

// overdue reads a page. A process reads few pages at the same time: the sweeps of all partitions begin at the same
// time, and would delay polls and row checks (SQLite has four read connections).
func (o *session) overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	select {
	case o.sweepSlots <- struct{}{}:
	case <-o.sessionCtx.Done():
		return nil, o.sessionCtx.Err()
	}
	defer func() { <-o.sweepSlots }()
	call, cancel := o.bounded(ctx)
	defer cancel()
	return o.config.Store.Overdue(call, q)
}

func (o *session) floor() {
	o.runIO(opFloor, func(ctx context.Context) func(timer.Millis) {
		floor, err := o.recentFloor(ctx, o.config.QueueAheadFor/4)
		return func(now timer.Millis) {
			if err != nil {
				o.failed(opFloor, now, err)
				return
			}
			o.state.SetFloor(now, floor)
			o.flooredAt = now
			o.succeeded(opFloor, now.Add(o.config.FloorEvery))
		}
	})
}

// askFloor requests the ack floor. The answer is not older than the call.
func (o *session) askFloor(ctx context.Context) (bus.Floor, error) {
	return o.ownFloor(o.askFloors(ctx))
}

// recentFloor returns an ack floor that is at most age old.
func (o *session) recentFloor(ctx context.Context, age time.Duration) (bus.Floor, error) {
	return o.ownFloor(o.floors.recent(ctx, age, o.askFloors))
}

func (o *session) askFloors(ctx context.Context) (bus.Floors, error) {
	floors, err := o.config.Bus.Floor(ctx, bus.Due, bus.GroupDispatchers)
	if err == nil {
		o.budget.Observe(o.config.Clock(), floors)
	}
	return floors, err
}

// ownFloor returns the entry of this partition.
func (o *session) ownFloor(floors bus.Floors, err error) (bus.Floor, error) {
	if err != nil {
		return bus.Floor{}, fmt.Errorf("read ack floor of the due queue: %w", err)
	}
	if int(o.partition) >= len(floors) {
		return bus.Floor{}, fmt.Errorf("read ack floor of the due queue: no partition %d among %d", o.partition, len(floors))
	}
	return floors[o.partition], nil
}

func (o *session) advance(now timer.Millis) {
	items := o.state.Advances(now)
	if len(items) == 0 {
		o.nextRun[opAdvance] = now.Add(o.config.AdvanceEvery)
		return
	}
	o.runIO(opAdvance, func(ctx context.Context) func(timer.Millis) {
		answers, err := o.config.Store.Advance(ctx, now, items)
		return func(now timer.Millis) {
			if err != nil {
				o.failed(opAdvance, now, err)
				return
			}
			o.succeeded(opAdvance, now.Add(o.config.AdvanceEvery))
			o.fenced(now, o.state.Advanced(items, answers))
			o.reportUnserved(opAdvance)
		}
	})
}
