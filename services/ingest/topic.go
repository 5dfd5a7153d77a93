package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// source is where the commands of a session come from.
type source struct {
	// name is the name under which the store keeps the position of the source.
	name      string
	partition shard.Partition
	// shown is the source in log lines.
	shown string
	parse func(d *bus.Delivery) (event.Command, error)
	// place returns the place of a command in its source, as text. After a truncation of the topic another command may have the same
	// place. It is valid only for commands that have a position.
	place    func(d *bus.Delivery) string
	answered *prometheus.CounterVec
}

// commandTopic is a partition of the command topic.
func (s *Service) commandTopic(p shard.Partition) source {
	return source{
		name: string(bus.Commands), partition: p, shown: fmt.Sprintf("partition %d", p),
		parse: func(d *bus.Delivery) (event.Command, error) { return event.ParseCommand(d.Headers, d.Body) },
		place: func(d *bus.Delivery) string {
			return fmt.Sprintf("%s/%d/%d/%d", bus.Commands, p, d.Position.Epoch, d.Position.Offset)
		},
		answered: s.metrics.commands,
	}
}

// session applies the commands of one source in order. Commands that arrive during a batch form the next batch.
type session struct {
	*Service
	source

	// work is the context of calls. It outlives the context of the assignment, so that the running batch can be
	// finished and acknowledged at an orderly handover. It ends in Close, or when the loop ends, and at the latest when
	// Consume returns.
	work     context.Context
	stop     context.CancelFunc
	stopping chan struct{} // closed when no further batch may begin
	done     chan struct{} // closed when the loop has ended
	wake     chan struct{} // has a token if the loop must look at the queue

	mu     sync.Mutex
	queue  []*bus.Delivery // bounded by CommandsInFlight and CommandsBytes of the Config, which the bus enforces
	gaps   []bus.Gap       // reported by the bus and not yet counted
	failed error           // why the loop ended by itself

	// position is the last position up to which commands are known to be applied. known: it has been read from the store. Only the
	// goroutine of the loop reads and writes the two.
	position store.Position
	known    bool
	// truncated is set if the partition may have been truncated before the process started.
	truncated truncatedTopic
}

// publishedAt returns the time at which a command was published. The clock of its source is that of the machine, also if the process has a
// test clock.
func (s *Service) publishedAt(d *bus.Delivery) timer.Millis {
	at := timer.FromTime(d.Time)
	if s.cfg.TestClock != nil {
		at = at.Add(s.cfg.TestClock.Offset())
	}
	return at
}

// errStopping ends a session's loop in an orderly way.
var errStopping = errors.New("command session is stopping")

// consume applies topic commands until ctx ends, then waits for the sessions.
func (s *Service) consume(ctx context.Context) error {
	truncated, err := s.truncations(ctx)
	if err != nil && ctx.Err() == nil {
		s.cfg.Logger.Warn("comparison of stored positions with the command topic failed", "error", err)
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	var sessions sync.WaitGroup
	defer sessions.Wait()
	defer stop()
	open := func(_ context.Context, p shard.Partition) (bus.Session, error) {
		t := &session{
			Service: s, source: s.commandTopic(p), truncated: truncated[int(p)],
			stopping: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
		}
		t.work, t.stop = context.WithCancel(work)
		sessions.Go(t.run)
		return t, nil
	}
	spec := bus.Spec{
		Topic: bus.Commands, Group: Group, Mode: bus.Ordered, MaxInFlight: s.cfg.CommandsInFlight,
		MaxBytes: max(s.cfg.CommandsBytes/s.cfg.Bus.Partitions(), 1),
	}
	if err := s.cfg.Bus.Consume(ctx, spec, open); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	if ctx.Err() == nil {
		return errors.New("ingest: the bus stopped consuming commands")
	}
	return nil
}

// Deliver implements bus.Session.
func (t *session) Deliver(_ context.Context, d *bus.Delivery) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed != nil {
		return t.failed
	}
	t.queue = append(t.queue, d)
	t.signal()
	return nil
}

// Close implements bus.Session. After a loss the partition may have another owner, so it abandons everything
// immediately. Otherwise it finishes the running batch, if ctx allows.
func (t *session) Close(ctx context.Context, cause error) error {
	close(t.stopping)
	t.signal()
	if errors.Is(cause, bus.ErrLost) {
		t.stop()
	}
	select {
	case <-t.done:
	case <-ctx.Done():
	}
	t.stop()
	<-t.done
	return nil
}

func (t *session) signal() {
	select {
	case t.wake <- struct{}{}:
	default: // the token is already there
	}
}

func (t *session) run() {
	defer close(t.done)
	defer t.stop()
	for {
		batch, more := t.collectBatch()
		err := t.countLost()
		if !more {
			return
		}
		if err == nil && len(batch) > 0 {
			err = t.apply(batch)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, errStopping) {
			t.cfg.Logger.Error("command session failed", "partition", t.partition, "error", err)
		}
		t.mu.Lock()
		t.failed = err
		t.mu.Unlock()
		return
	}
}

// collectBatch takes the next batch: at least one command, unless there are gaps to count. It returns false if the
// session stops.
func (t *session) collectBatch() (batch []*bus.Delivery, more bool) {
	for {
		select {
		case <-t.stopping:
			return nil, false
		case <-t.work.Done():
			return nil, false
		default:
		}
		if batch, gaps := t.take(); len(batch) > 0 || gaps {
			return batch, true
		}
		select {
		case <-t.wake:
		case <-t.stopping:
		case <-t.work.Done():
		}
	}
}

func (t *session) take() (batch []*bus.Delivery, gaps bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, bytes := 0, 0
	for n < len(t.queue) && n < t.cfg.BatchOps {
		bytes += len(t.queue[n].Body)
		if n > 0 && bytes > t.cfg.BatchBytes {
			break
		}
		n++
	}
	batch = append(batch, t.queue[:n]...)
	rest := copy(t.queue, t.queue[n:])
	clear(t.queue[rest:])
	t.queue = t.queue[:rest]
	return batch, len(t.gaps) > 0
}

const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// retryUntilDone repeats try with backoff until it succeeds. It stops when the session stops, or when the store or the
// bus was closed.
func (t *session) retryUntilDone(what string, try func(ctx context.Context) error) error {
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(firstRetry), backoff.WithMaxInterval(lastRetry),
		backoff.WithMultiplier(2), backoff.WithMaxElapsedTime(0),
		backoff.WithRandomizationFactor(0), // no other process retries the commands of this partition
	)
	operation := fmt.Sprintf("apply commands of %s (%s)", t.shown, what)
	for {
		err := t.withTimeout(try)
		switch {
		case err == nil:
			t.outage.Succeeded(operation)
			return nil
		case t.work.Err() != nil:
			return errStopping
		case errors.Is(err, store.ErrClosed), errors.Is(err, bus.ErrClosed):
			return fmt.Errorf("%s: %w", what, err)
		}
		wait := pause.NextBackOff()
		t.outage.Failed(operation, err)
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-t.stopping:
			again.Stop()
			return errStopping
		case <-t.work.Done():
			again.Stop()
			return errStopping
		}
	}
}

func (t *session) withTimeout(try func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(t.work, t.cfg.StoreTimeout)
	defer cancel()
	return try(ctx)
}
