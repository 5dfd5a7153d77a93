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
func (op operation) String() string {
	return [...]string{"publish", "poll", "sweep", "floor", "advance", "outbox", "claim", "none"}[op]
}

// start begins an operation. The caller has checked that it does not run.
func (s *session) start(op operation, now timer.Millis) {
	switch op {
	case opPublish:
		s.publish(now)
	case opPoll:
		s.poll(now)
	case opSweep:
		s.sweep()
	case opFloor:
		s.floor()
	case opAdvance:
		s.advance(now)
	case opOutbox:
		s.publishOutbox(now)
	case opClaim:
		s.claimMissing()
	case opCount:
	}
}

// runIO runs I/O in a goroutine. The loop, or Close, calls the function that io returns, which may start the next step
// of the operation.
func (s *session) runIO(op operation, io func(ctx context.Context) func(now timer.Millis)) {
	if s.closing {
		return
	}
	s.running[op] = true
	s.workers.Go(func() {
		ctx, cancel := s.ioCtx, context.CancelFunc(func() {})
		if op != opPublish && op != opSweep && op != opClaim { // publish, sweep and claim set a timeout for each call themselves
			ctx, cancel = s.bounded(ctx)
		}
		apply := io(ctx)
		cancel()
		s.results <- func(now timer.Millis) {
			s.running[op] = false
			apply(now)
		}
	})
}

// bounded returns a context with the timeout of one call of the store or the bus.
func (s *session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.config.CallTimeout)
}

// operationName returns the name of an operation on this partition in the log.
func (s *session) operationName(op operation) string {
	return fmt.Sprintf("%s in partition %d", op, s.partition)
}

// failed records a failure and returns when to try again.
func (s *session) failed(op operation, now timer.Millis, err error) timer.Millis {
	if s.ioCtx.Err() != nil {
		return timer.Never
	}
	if s.backoffs[op] == nil {
		s.backoffs[op] = newBackoff()
	}
	s.outage.Failed(s.operationName(op), err)
	s.metrics.failures.WithLabelValues(op.String()).Inc()
	s.nextRun[op] = now.Add(s.backoffs[op].NextBackOff())
	return s.nextRun[op]
}

// succeeded ends a series of failures and sets when the operation may run next.
func (s *session) succeeded(op operation, next timer.Millis) {
	s.backoffs[op] = nil
	s.outage.Succeeded(s.operationName(op))
	s.nextRun[op] = next
}

// reportUnserved records that the store did not serve some shards in an operation.
func (s *session) reportUnserved(op operation) {
	n, err := s.state.Unserved()
	if s.ioCtx.Err() == nil {
		s.reportUnservedShards(op, n, err)
	}
}

func (s *session) reportUnservedShards(op operation, n int, err error) {
	operation := s.operationName(op) + " for some shards"
	if n == 0 {
		s.outage.Succeeded(operation)
		return
	}
	s.metrics.failures.WithLabelValues(op.String()).Inc()
	s.outage.Failed(operation, err, "shards", n)
}

// publish publishes due states, and retries until the bus has them. Until then, the watermark cannot pass their keys.
func (s *session) publish(now timer.Millis) {
	credit := s.budget.Take(s.config.PublishBatch)
	batch, left := s.state.TakeDue(now, s.config.PublishBatch, credit)
	s.budget.Return(left)
	if len(batch) == 0 {
		return
	}
	messages := make([]bus.Message, len(batch))
	for i := range batch {
		messages[i] = partition.Message(&batch[i], s.partition)
		s.metrics.lateness.Observe(now.Sub(batch[i].Row.DueAt).Seconds())
	}
	s.runIO(opPublish, func(ctx context.Context) func(timer.Millis) {
		positions, err := s.publishWithRetry(ctx, messages)
		var last bus.Position
		if err == nil {
			last = positions[len(positions)-1]
		}
		s.budget.Published(credit-left, last)
		return func(now timer.Millis) {
			if err != nil {
				return
			}
			s.metrics.published.Add(float64(len(batch)))
			s.metrics.hottest.add(now, batch)
			s.state.Published(now, batch, positions)
			s.succeeded(opPublish, now)
		}
	})
}

// publishWithRetry repeats the publish, with the same IDs, until the bus has the messages or ctx ends.
func (s *session) publishWithRetry(ctx context.Context, messages []bus.Message) ([]bus.Position, error) {
	pause := newBackoff()
	for {
		call, cancel := s.bounded(ctx)
		positions, err := s.config.Bus.Publish(call, bus.Due, messages...)
		cancel()
		if err == nil {
			return positions, nil
		}
		if ctx.Err() != nil || errors.Is(err, bus.ErrClosed) {
			return nil, err
		}
		s.metrics.failures.WithLabelValues(opPublish.String()).Inc()
		s.outage.Failed(s.operationName(opPublish), err, "events", len(messages))
		if !timer.Sleep(ctx, pause.NextBackOff()) {
			return nil, err
		}
	}
}

func (s *session) poll(now timer.Millis) {
	q := s.state.Poll(now)
	s.runIO(opPoll, func(ctx context.Context) func(timer.Millis) {
		answer, err := s.config.Store.Due(ctx, q)
		return func(now timer.Millis) {
			if err != nil {
				s.state.PollFailed(q, s.failed(opPoll, now, err))
				return
			}
			s.succeeded(opPoll, now)
			s.fenced(now, s.state.Polled(now, q, answer))
			s.reportUnserved(opPoll)
		}
	})
}

// sweep requests the ack floor and then reads the rows, page by page. If all shards are idle, an older floor is enough
// (SweepStart), so the sessions of the process share a request.
func (s *session) sweep() {
	ask := s.askFloor
	if _, all := s.state.IdleSince(); all {
		ask = func(ctx context.Context) (bus.Floor, error) { return s.recentFloor(ctx, s.config.Sweep/2) }
	}
	s.runIO(opSweep, func(ctx context.Context) func(timer.Millis) {
		call, cancel := s.bounded(ctx)
		floor, err := ask(call)
		cancel()
		return func(now timer.Millis) {
			if err != nil {
				s.hintsMissed = true
				s.failed(opSweep, now, err)
				return
			}
			if s.hintsMissed {
				s.hintsMissed = false
				s.state.HintsLost(now)
			}
			s.state.SetFloor(now, floor)
			s.sweepPage(s.state.SweepStart(now))
		}
	})
}

func (s *session) sweepPage(q store.OverdueQuery) {
	s.runIO(opSweep, func(ctx context.Context) func(timer.Millis) {
		page, err := s.overdue(ctx, q)
		return func(now timer.Millis) {
			if err != nil {
				s.state.SweepFailed()
				if s.sessionCtx.Err() == nil {
					s.failed(opSweep, now, err)
				}
				return
			}
			next, done, fenced := s.state.Swept(q, page)
			s.fenced(now, fenced)
			s.reportUnserved(opSweep)
			if !done {
				s.sweepPage(next)
				return
			}
			s.metrics.sweepFinds.Add(float64(s.state.SweepQueued()))
			s.sweptAt = now
			s.succeeded(opSweep, now.Add(s.state.SweepPause(s.config.Sweep)))
			s.lookForShards(now)
		}
	})
}

// overdue reads a page. A process reads few pages at the same time: the sweeps of all partitions begin at the same
// time, and would delay polls and row checks (SQLite has four read connections).
func (s *session) overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	select {
	case s.sweepSlots <- struct{}{}:
	case <-s.sessionCtx.Done():
		return nil, s.sessionCtx.Err()
	}
	defer func() { <-s.sweepSlots }()
	call, cancel := s.bounded(ctx)
	defer cancel()
	return s.config.Store.Overdue(call, q)
}

func (s *session) floor() {
	s.runIO(opFloor, func(ctx context.Context) func(timer.Millis) {
		floor, err := s.recentFloor(ctx, s.config.QueueAheadFor/4)
		return func(now timer.Millis) {
			if err != nil {
				s.failed(opFloor, now, err)
				return
			}
			s.state.SetFloor(now, floor)
			s.floorReadAt = now
			s.succeeded(opFloor, now.Add(s.config.FloorEvery))
		}
	})
}

// askFloor requests the ack floor. The answer is not older than the call.
func (s *session) askFloor(ctx context.Context) (bus.Floor, error) {
	return s.ownFloor(s.askFloors(ctx))
}

// recentFloor returns an ack floor that is at most age old.
func (s *session) recentFloor(ctx context.Context, age time.Duration) (bus.Floor, error) {
	return s.ownFloor(s.floors.recent(ctx, age, s.askFloors))
}

func (s *session) askFloors(ctx context.Context) (bus.Floors, error) {
	floors, err := s.config.Bus.Floor(ctx, bus.Due, bus.GroupDispatchers)
	if err == nil {
		s.budget.Observe(s.config.Clock(), floors)
	}
	return floors, err
}

// ownFloor returns the entry of this partition.
func (s *session) ownFloor(floors bus.Floors, err error) (bus.Floor, error) {
	if err != nil {
		return bus.Floor{}, fmt.Errorf("read ack floor of the due queue: %w", err)
	}
	if int(s.partition) >= len(floors) {
		return bus.Floor{}, fmt.Errorf("read ack floor of the due queue: partition %d is missing: the bus returned %d floors",
			s.partition, len(floors))
	}
	return floors[s.partition], nil
}

func (s *session) advance(now timer.Millis) {
	items := s.state.Advances(now)
	if len(items) == 0 {
		s.nextRun[opAdvance] = now.Add(s.config.AdvanceEvery)
		return
	}
	s.runIO(opAdvance, func(ctx context.Context) func(timer.Millis) {
		answers, err := s.config.Store.Advance(ctx, now, items)
		return func(now timer.Millis) {
			if err != nil {
				s.failed(opAdvance, now, err)
				return
			}
			s.succeeded(opAdvance, now.Add(s.config.AdvanceEvery))
			s.fenced(now, s.state.Advanced(items, answers))
			s.reportUnserved(opAdvance)
		}
	})
}
