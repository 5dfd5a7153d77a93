package localqueue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// Bus is a bus with a due queue in memory. It differs from the inner bus in the topic bus.Due:
//
//   - Only this Bus consumes the events that are published through it, in one Consume at a time. Its sessions have one partition each,
//     as on Kafka. The bounds of Spec apply to these sessions together.
//   - Consume also consumes the due queue of the inner bus, to which processes of other roles may publish, and to which this process
//     may have published with another configuration.
//   - Floor is that of the queue in memory. The queue's events are lost with the process, and Withdraw removes those of a partition.
//
// The scheduler bounds the number of unacknowledged events (MaxInFlight for each partition), and so the memory of the queue: an event has
// about 400 bytes.
type Bus struct {
	bus.Bus
	log *slog.Logger
	// alone: no other process can own a partition while this one runs.
	alone bool

	health health.Registry
	// wake has a token if the consumer may have something to do.
	wake chan struct{}

	mu    sync.Mutex
	queue queue
	// consuming: a Consume is running.
	consuming bool
	sessions  map[shard.Partition]*session
	// closing has a channel for each partition whose session is being closed. The channel is closed when that is done. Until then no
	// message of the partition is delivered.
	closing map[shard.Partition]chan struct{}
}

// New returns a bus whose due queue is in memory. The other topics are those of inner. alone: no other process can own a partition while
// this one runs, so Withdraw does not wait for deliveries that have begun. If their events are published again, the dispatcher notices
// that they are running.
func New(inner bus.Bus, log *slog.Logger, alone bool) *Bus {
	return &Bus{
		Bus: inner, log: log, alone: alone, wake: make(chan struct{}, 1),
		queue: newQueue(), sessions: map[shard.Partition]*session{}, closing: map[shard.Partition]chan struct{}{},
	}
}

// Unwrap returns the inner bus.
func (b *Bus) Unwrap() bus.Bus { return b.Bus }

// session is the consumer's side of one partition.
type session struct {
	// busy is held while a method of handler runs.
	busy    sync.Mutex
	handler bus.Session
	ctx     context.Context //nolint:containedctx // it ends with the session.
	cancel  context.CancelCauseFunc
	// ended: its acknowledgements have no effect any more. Guarded by Bus.mu.
	ended bool
}

// Publish implements bus.Bus. Messages of the due queue are only checked and stored, so it does not wait.
func (b *Bus) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if topic != bus.Due {
		return b.Bus.Publish(ctx, topic, messages...)
	}
	if err := handle.Check(topic, messages, b.Partitions(), func(bus.Topic) error { return nil }); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, err)
	}
	now := time.Now()
	b.mu.Lock()
	positions := b.queue.add(messages, now)
	b.mu.Unlock()
	b.signal()
	return positions, nil
}

// Floor implements bus.Bus.
func (b *Bus) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	if topic != bus.Due {
		return b.Bus.Floor(ctx, topic, group)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queue.floors(b.Partitions()), nil
}

// Ready implements bus.Bus.
func (b *Bus) Ready(topic bus.Topic, group string) error {
	if topic != bus.Due {
		return b.Bus.Ready(topic, group)
	}
	if err := b.health.Ready(topic, group); err != nil {
		return err
	}
	return b.Bus.Ready(topic, group)
}

// Consume implements bus.Bus. It opens the session of a partition of the queue in memory before the first delivery of the partition.
func (b *Bus) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	if spec.Topic != bus.Due {
		return b.Bus.Consume(ctx, spec, open)
	}
	if err := spec.Complete(); err != nil {
		return err
	}
	if err := b.begin(); err != nil {
		return err
	}
	c := consumer{Bus: b, spec: spec, open: open, health: b.health.Begin(spec, b.log), backoffs: map[shard.Partition]*backoff{}}
	defer c.health.End()
	c.health.Works(health.Member)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var local sync.WaitGroup
	local.Go(func() {
		c.run(ctx)
		b.end(context.WithoutCancel(ctx))
	})
	err := b.Bus.Consume(ctx, spec, open)
	cancel()
	local.Wait()
	return err
}

func (b *Bus) begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.consuming {
		return fmt.Errorf("consume %s: this handle already consumes it", bus.Due)
	}
	b.consuming = true
	return nil
}

// end closes all sessions, and makes their unacknowledged messages ready for the next Consume.
func (b *Bus) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, bus.AckWait)
	defer cancel()
	b.mu.Lock()
	partitions := make([]shard.Partition, 0, len(b.sessions))
	for p := range b.sessions {
		partitions = append(partitions, p)
	}
	b.mu.Unlock()
	var closing sync.WaitGroup
	for _, p := range partitions {
		closing.Go(func() { b.closeSession(ctx, p, bus.ErrStopping, (*queue).returnDelivered) })
	}
	closing.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := range b.queue.parts {
		b.queue.returnDelivered(p) // a message that reached no session
	}
	b.consuming = false
}

// Withdraw removes the messages of a partition, because this process does not own it any more. With cause bus.ErrLost, or if the process is
// alone, it does not wait. Otherwise it waits, until ctx ends, for the deliveries that have begun, as a session does when it is closed.
func (b *Bus) Withdraw(ctx context.Context, p shard.Partition, cause error) {
	if b.alone && !errors.Is(cause, bus.ErrLost) {
		cause = fmt.Errorf("%w: %w", bus.ErrLost, cause)
	}
	b.mu.Lock()
	b.queue.removeReady(p)
	b.mu.Unlock()
	b.closeSession(ctx, p, cause, (*queue).removeAll)
	b.signal()
}

// closeSession closes the session of a partition, if there is one. Then cleanUp returns or removes the partition's messages that are still
// unacknowledged.
func (b *Bus) closeSession(ctx context.Context, p shard.Partition, cause error, cleanUp func(*queue, shard.Partition)) {
	b.mu.Lock()
	for b.closing[p] != nil {
		other := b.closing[p]
		b.mu.Unlock()
		<-other
		b.mu.Lock()
	}
	closed := make(chan struct{})
	b.closing[p] = closed
	s := b.sessions[p]
	delete(b.sessions, p)
	lost := errors.Is(cause, bus.ErrLost)
	if s != nil {
		s.ended = lost
	}
	b.mu.Unlock()
	if s != nil {
		s.cancel(cause)
		s.busy.Lock()
		if err := s.handler.Close(ctx, cause); err != nil {
			b.log.Warn("session of the due queue closed before its deliveries ended", "partition", int(p), "error", err)
		}
		s.busy.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s != nil {
		s.ended = true
	}
	cleanUp(&b.queue, p)
	delete(b.closing, p)
	close(closed)
}

func (b *Bus) signal() {
	select {
	case b.wake <- struct{}{}:
	default: // the token is already there
	}
}

// consumer is one running Consume.
type consumer struct {
	*Bus
	spec   bus.Spec
	open   bus.OpenSession
	health *health.Consumer
	// backoffs has the partitions whose session failed. Only run uses it.
	backoffs map[shard.Partition]*backoff
}

// backoff is the time for which no message of a partition is delivered after failures of its session.
type backoff struct {
	failures int
	until    time.Time
}

// run delivers messages until ctx ends.
func (c *consumer) run(ctx context.Context) {
	alarm := time.NewTimer(0)
	alarm.Stop() // there is no deadline yet
	defer alarm.Stop()
	for ctx.Err() == nil {
		d, wakeAt := c.next()
		if d != nil {
			c.deliver(ctx, d)
			continue
		}
		var fires <-chan time.Time
		if !wakeAt.IsZero() {
			alarm.Reset(time.Until(wakeAt))
			fires = alarm.C
		}
		select {
		case <-ctx.Done():
		case <-c.wake:
		case <-fires:
		}
	}
}

// next returns the next delivery whose partition is not in backoff, or nil and the time at which there may be one; zero for never.
func (c *consumer) next() (*delivery, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.queue.repeatExpired(now)
	if c.queue.held >= c.spec.MaxInFlight || c.queue.heldBytes >= c.spec.MaxBytes {
		return nil, c.queue.deadlines.Next()
	}
	wakeAt := c.queue.deadlines.Next()
	d := c.queue.takeReady(now, c.Bus, func(p shard.Partition) bool {
		if c.closing[p] != nil {
			return false // Withdraw signals at its end
		}
		b := c.backoffs[p]
		if b == nil || !now.Before(b.until) {
			return true
		}
		if wakeAt.IsZero() || b.until.Before(wakeAt) {
			wakeAt = b.until
		}
		return false
	})
	return d, wakeAt
}

// firstBackoff is the backoff of a partition after its session failed once.
const firstBackoff = 100 * time.Millisecond

// deliver passes a delivery to the session of its partition, which it opens if there is none. A failure begins a backoff.
func (c *consumer) deliver(ctx context.Context, d *delivery) {
	p := d.Position.Partition
	s, err := c.sessionOf(ctx, p)
	if err == nil {
		if !s.busy.TryLock() {
			return // it is being closed, which removes the message or returns it to the queue
		}
		c.mu.Lock()
		current := c.sessions[p] == s && d.accept(s)
		c.mu.Unlock()
		if current {
			err = s.handler.Deliver(s.ctx, &d.Delivery)
		}
		s.busy.Unlock()
	}
	switch {
	case err == nil:
		delete(c.backoffs, p)
		return
	case ctx.Err() != nil:
		return // end returns the message to the queue
	}
	err = fmt.Errorf("%w: %w", bus.ErrLost, err)
	c.closeSession(context.WithoutCancel(ctx), p, err, (*queue).returnDelivered)
	failures := c.health.Failed(health.Partition(p), err)
	c.backoffs[p] = &backoff{failures: failures, until: time.Now().Add(health.Backoff(firstBackoff, failures))}
}

func (c *consumer) sessionOf(ctx context.Context, p shard.Partition) (*session, error) {
	c.mu.Lock()
	s := c.sessions[p]
	c.mu.Unlock()
	if s != nil {
		return s, nil
	}
	sessionCtx, cancel := context.WithCancelCause(ctx)
	handler, err := c.open(sessionCtx, p)
	if err != nil {
		cancel(err)
		return nil, err
	}
	c.health.Opened(health.Partition(p), 0)
	s = &session{handler: handler, ctx: sessionCtx, cancel: cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[p] = s
	return s, nil
}
