package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// outboxState is what /readyz and the metrics know about the outbox.
type outboxState struct {
	// elected: this process applies the rows.
	elected atomic.Bool

	mu sync.Mutex
	// failed is the failure of the last try; nil if it succeeded.
	failed error
	// oldest is the creation of the row with the lowest id, by Config.Clock; 0 if there is no row. known: it has been read.
	oldest timer.Millis
	known  bool
}

// errOutboxStarting is the failure before the first try.
var errOutboxStarting = &outbox.Error{Reason: outbox.ReasonAway, Err: errors.New("not connected yet")}

func (o *outboxState) set(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = err
	o.known = o.known && err == nil
}

func (o *outboxState) setOldest(at timer.Millis) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.oldest, o.known = at, true
	if errors.Is(o.failed, errOutboxStarting) { // the database has answered
		o.failed = nil
	}
}

func (o *outboxState) check(context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// age returns the age of the oldest row in seconds; NaN if it is unknown.
func (o *outboxState) age(now timer.Millis) float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !o.known:
		return math.NaN()
	case o.oldest == 0:
		return 0
	default:
		return max(0, now.Sub(o.oldest).Seconds())
	}
}

const readOutbox = "read outbox"

// consumeOutbox applies the rows of the outbox, if there is one, until ctx ends. It connects again after a failure.
func (s *Service) consumeOutbox(ctx context.Context) error {
	if s.cfg.Outbox == nil {
		return nil
	}
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(firstRetry), backoff.WithMaxInterval(lastRetry),
		backoff.WithMultiplier(2), backoff.WithMaxElapsedTime(0),
	)
	for {
		err := s.readOutbox(ctx, pause.Reset)
		s.outboxState.elected.Store(false)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the service stops, and the next reader finds the batch.
		case errors.Is(err, store.ErrClosed), errors.Is(err, bus.ErrClosed):
			return fmt.Errorf("ingest: outbox: %w", err)
		}
		s.outboxState.set(err)
		s.outage.Failed(readOutbox, err)
		if !timer.Sleep(ctx, pause.NextBackOff()) {
			return nil
		}
	}
}

// outboxReader applies the rows that one connection reads. It retries nothing of the outbox: after a failure, another
// connection finds the recorded batch.
type outboxReader struct {
	*session

	outbox outbox.Reader
	works  func()
	// observed measures the time since Oldest was called last.
	observed timer.Stopwatch
}

// readOutbox connects, waits until this process is elected, and applies rows until ctx ends or something fails. It calls works
// after every pass that succeeded as a whole: if each batch failed at the same step, a reset of the backoff by an earlier step
// would repeat the batch without a pause.
func (s *Service) readOutbox(ctx context.Context, works func()) error {
	var connection outbox.Reader
	err := s.call(ctx, func(ctx context.Context) (err error) {
		connection, err = s.cfg.Outbox.Connect(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer connection.Close()
	r := &outboxReader{outbox: connection, works: works}
	// work outlives ctx, so that the running batch is finished. Each call that it bounds has a timeout, too.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	r.session = &session{Service: s, work: work, stop: stop, stopping: make(chan struct{})}
	endStopping := context.AfterFunc(ctx, func() { close(r.stopping) })
	defer endStopping()

	for elected := false; !elected; {
		err := r.call(ctx, func(ctx context.Context) (err error) { elected, err = r.outbox.Elect(ctx); return err })
		if err == nil {
			_, err = r.observe(ctx)
		}
		if err != nil {
			return err
		}
		if !elected {
			r.succeeded()
			// Not outbox.Wait, which returns at every commit.
			timer.Sleep(ctx, s.cfg.OutboxPoll)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	s.outboxState.elected.Store(true)
	s.cfg.Logger.Info("outbox: this process applies its rows")
	return r.run(ctx)
}

// call bounds a call of the outbox.
func (s *Service) call(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StoreTimeout)
	defer cancel()
	return do(ctx)
}

// observe reads the age of the oldest row, and returns whether there is a row.
func (r *outboxReader) observe(ctx context.Context) (found bool, err error) {
	var age time.Duration
	err = r.call(ctx, func(ctx context.Context) (err error) { age, found, err = r.outbox.Oldest(ctx); return err })
	if err != nil {
		return false, err
	}
	oldest := timer.Millis(0)
	if found {
		oldest = r.cfg.Clock().Add(-age)
	}
	r.outboxState.setOldest(oldest)
	r.observed = timer.NewStopwatch()
	return found, nil
}

// succeeded ends an outage: all calls of a pass succeeded.
func (r *outboxReader) succeeded() {
	r.outboxState.set(nil)
	r.outage.Succeeded(readOutbox)
	r.works()
}

// run applies batch after batch. It returns after the present batch when ctx ends.
func (r *outboxReader) run(ctx context.Context) error {
	var batch outbox.Batch
	err := r.call(ctx, func(ctx context.Context) (err error) { batch, err = r.outbox.Pending(ctx); return err })
	if err != nil {
		return err
	}
	r.source = r.outboxSource(batch.Outbox)
	if r.cfg.Positions != nil {
		// The number of a new batch must be larger. In a database that was restored from a backup, the recorded one may be smaller.
		if err := r.readPosition(); err != nil {
			return err
		}
	}
	for {
		if batch, err = r.pass(ctx, batch); err != nil {
			return err
		}
		r.succeeded()
		if len(batch.IDs) == 0 && ctx.Err() == nil {
			if err := r.outbox.Wait(ctx, r.cfg.OutboxPoll); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // err is nil; the next reader finds a batch that was recorded last.
		}
	}
}

// pass applies and removes the rows of a batch, which may be empty, and returns the batch that it recorded next.
func (r *outboxReader) pass(ctx context.Context, batch outbox.Batch) (outbox.Batch, error) {
	if len(batch.IDs) > 0 {
		if err := r.applyBatch(&batch); err != nil {
			return batch, err
		}
	}
	advance := len(batch.IDs) > 0
	if ctx.Err() == nil && (!advance || r.observed.Elapsed() >= r.cfg.OutboxPoll) {
		// Not ctx: its end would break the connection, and the rows would stay.
		found, err := r.observe(r.work)
		if err != nil {
			return batch, err
		}
		advance = advance || found
	}
	if !advance {
		return batch, nil
	}
	return r.advance(ctx, batch)
}

// advance removes the rows of an applied batch, and records the next one unless ctx has ended.
func (r *outboxReader) advance(ctx context.Context, done outbox.Batch) (outbox.Batch, error) {
	// A number that was not used before: after a failover of the user's database to a replica, the recorded batch may be an
	// older one, and the batch whose record was lost may still be written to the store. Then the times differ.
	next := outbox.Next{
		Number: max(max(done.Number, r.position.Offset)+int64(r.cfg.BatchOps), int64(r.cfg.Clock())*1000),
		Rows:   r.cfg.BatchOps, Bytes: r.cfg.BatchBytes, BodyLimit: r.cfg.BodyLimit,
	}
	if ctx.Err() != nil {
		next.Rows = 0
	}
	err := r.call(r.work, func(ctx context.Context) (err error) { done, err = r.outbox.Advance(ctx, done, next); return err })
	return done, err
}

// applyBatch applies and answers the rows of a batch. It does not remove them.
func (r *outboxReader) applyBatch(batch *outbox.Batch) error {
	var rows []outbox.Row
	err := r.call(r.work, func(ctx context.Context) (err error) {
		rows, err = r.outbox.Rows(ctx, *batch, r.cfg.BodyLimit)
		return err
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	deliveries := make([]*bus.Delivery, len(rows))
	for i := range rows {
		row := &rows[i]
		deliveries[i] = &bus.Delivery{
			Message: bus.Message{
				ID: strconv.FormatInt(row.ID, 10), Key: "outbox", Body: row.Body,
				Headers: map[string]string{outboxVerb: row.Verb, outboxTrace: row.Traceparent},
			},
			// The last row of the batch has its number, and the rows before it the numbers below. Some rows may have been deleted since.
			Position: bus.Position{Offset: batch.Number - int64(len(batch.IDs)-1-slices.Index(batch.IDs, row.ID))},
			Time:     row.CreatedAt, Acker: noAcker{},
		}
	}
	return r.apply(deliveries)
}

// The headers of a row as a delivery.
const (
	outboxVerb  = "verb"
	outboxTrace = "traceparent"
)

func (s *Service) outboxSource(id string) source {
	place := func(d *bus.Delivery) string { return "outbox/" + id + "/" + d.ID }
	return source{
		name: "outbox/" + id, shown: "the outbox", place: place, answered: s.metrics.outboxRows,
		parse: func(d *bus.Delivery) (event.Command, error) {
			c := event.Command{
				ID: place(d), Verb: event.Verb(d.Headers[outboxVerb]), Source: "outbox", Data: d.Body,
				Trace: event.TraceOf(d.Headers[outboxTrace], ""),
			}
			err := event.CheckVerb(c.Verb)
			if err != nil {
				c.Verb = ""
			}
			return c, err
		},
	}
}

// noAcker is that of rows, which Advance removes.
type noAcker struct{}

func (noAcker) Ack()               {}
func (noAcker) Nack(time.Duration) {}
func (noAcker) Extend()            {}
