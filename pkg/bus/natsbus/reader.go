package natsbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
)

// reader reads one stream of the queue for a session. If its stream does not respond, the reader retries while the
// session reads the other streams.
type reader struct {
	source  *queueSource
	stream  *stream
	pull    *puller
	state   readerState
	retryAt time.Time // used while the reader is closed
	attempt int       // results of preparations with another number are ignored
	// busy is set if more messages were waiting behind the last one.
	busy bool
	// inFlight and inFlightBytes are copies of held and heldBytes.
	inFlight, inFlightBytes int

	held, heldBytes int // guarded by source.mu
}

type readerState int

const (
	readerClosed readerState = iota
	readerPreparing
	readerOpen
)

// preparation is the result of a goroutine of a queueSource. Without a reader, the goroutine looked for streams.
type preparation struct {
	reader  *reader
	attempt int
	err     error
}

func newReader(q *queueSource, s *stream) *reader {
	r := &reader{source: q, stream: s, pull: newPuller(q.session.bus.nc, &q.session.spec, q.session.bus.opts.times.sharedExpires)}
	r.pull.arrived, r.pull.shared = q.arrived, true
	return r
}

func (r *reader) part() health.Part { return health.Part("stream " + r.stream.name) }

// prepareReaders begins to prepare the closed readers whose backoff has ended, and returns their number.
func (q *queueSource) prepareReaders(ctx context.Context) (begun int) {
	closed := func(r *reader) bool { return r.state == readerClosed }
	if !slices.ContainsFunc(q.readers, closed) || !q.session.bus.nc.IsConnected() { // link signals the reconnect
		return 0
	}
	now := time.Now()
	for _, r := range q.readers {
		if !closed(r) || now.Before(r.retryAt) {
			continue
		}
		r.state = readerPreparing
		attempt := r.attempt
		begun++
		q.running.Go(func() { q.send(ctx, preparation{r, attempt, r.prepare(ctx)}) })
	}
	return begun
}

func (q *queueSource) send(ctx context.Context, p preparation) {
	select {
	case q.prepared <- p:
	case <-ctx.Done():
	}
}

// finishPreparation opens the reader if its preparation has succeeded.
func (q *queueSource) finishPreparation(p preparation) error {
	q.addReaders() // the preparation of stream 0 finds streams
	r := p.reader
	if r == nil {
		q.looking = false
		return nil
	}
	if p.attempt != r.attempt {
		return nil
	}
	err := p.err
	if err == nil {
		err = r.pull.open(r.stream.name, q.durable)
	}
	switch {
	case err == nil:
		r.state = readerOpen
		q.session.health.Opened(r.part(), 0)
	case errors.Is(err, jetstream.ErrStreamNotFound) && q.session.bus.queue.foreign(r.stream):
		r.reset(time.Now().Add(q.session.bus.opts.times.lookEvery)) // an operator has deleted it
		q.session.health.Works(r.part())
	default:
		return err
	}
	return nil
}

// reset closes the reader until a time.
func (r *reader) reset(until time.Time) {
	r.pull.close()
	r.attempt++
	r.state, r.retryAt, r.busy = readerClosed, until, false
}

// fail closes the reader for a backoff that grows with each consecutive failure.
func (r *reader) fail(err error) {
	b := r.source.session.bus
	failures := r.source.session.health.Failed(r.part(), b.plain(err))
	r.reset(time.Now().Add(health.Backoff(b.opts.RetryPause, failures)))
}

// prepare ensures that there is a consumer, and that stream and consumer are consistent.
func (r *reader) prepare(ctx context.Context) error {
	if _, err := r.source.session.bus.info(ctx, r.stream); err != nil {
		return err
	}
	if err := r.ensureConsumer(ctx); err != nil {
		return err
	}
	return r.repair(ctx)
}

// codeNotUnique is the server's "filtered consumer not unique on workqueue stream" (10100), codeManyConsumers its
// "multiple non-filtered consumers not allowed on workqueue stream" (10099).
const (
	codeManyConsumers jetstream.ErrorCode = 10099
	codeNotUnique     jetstream.ErrorCode = 10100
)

// ensureConsumer creates the group's durable consumer if it is missing.
func (r *reader) ensureConsumer(ctx context.Context) error {
	s := r.source.session
	ctx, cancel := s.bus.brief(ctx)
	defer cancel()
	_, err := s.bus.js.CreateOrUpdateConsumer(ctx, r.stream.name, jetstream.ConsumerConfig{
		Durable:       r.source.durable,
		Description:   "Timerbus group " + s.spec.Group,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       s.bus.opts.times.ackWait,
		MaxDeliver:    -1,
		MaxAckPending: -1,
		DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == codeManyConsumers || api.ErrorCode == codeNotUnique) {
		return fmt.Errorf("%w: the queue belongs to another group than %q: %w", bus.ErrUnsupported, s.spec.Group, err)
	}
	if err != nil {
		return fmt.Errorf("consumer %s of %s: %w", r.source.durable, r.stream.name, err)
	}
	return nil
}

// ask requests messages within the reader's share and the free bounds of the session.
func (r *reader) ask(bounds shares, use usage, alone bool) error {
	p := r.pull
	expires := p.expires
	p.limit = min(r.inFlight+bounds.idle, bounds.most)
	p.bytes = min(r.inFlightBytes+bounds.idleBytes, bounds.mostBytes)
	if r.busy {
		p.limit, p.bytes = bounds.busy, bounds.busyBytes
	} else if use.scarce {
		expires = smallExpires
	}
	if p.refused > 0 {
		p.bytes = bounds.bytes
	}
	// The usage of other readers counts only if it leaves less than the share.
	inFlight := max(r.inFlight, p.limit-p.asked-(bounds.messages-use.messages))
	bytes := max(r.inFlightBytes, p.bytes-p.askedBytes-(bounds.bytes-use.bytes))
	return p.askFor(expires, inFlight, bytes, alone)
}

func (r *reader) accept(m *nats.Msg) (*bus.Delivery, error) {
	meta, err := m.Metadata()
	if err != nil {
		return nil, fmt.Errorf("message on %s: %w", m.Subject, err)
	}
	q := r.source
	r.busy = meta.NumPending > 0
	r.stream.assigned(meta.Sequence.Stream)
	p := partitionOf(m.Subject)
	d := &queueDelivery{reader: r, reply: m.Reply, size: m.Size()}
	d.Delivery = bus.Delivery{
		Message:    decode(m, p),
		Position:   q.session.bus.queue.ranked(r.stream, r.stream.position(p, meta.Sequence.Stream)),
		Time:       meta.Timestamp,
		Deliveries: int(meta.NumDelivered),
		Acker:      d,
	}
	q.mu.Lock()
	q.held[d] = struct{}{}
	q.heldBytes += d.size
	r.held++
	r.heldBytes += d.size
	q.mu.Unlock()
	return &d.Delivery, nil
}
