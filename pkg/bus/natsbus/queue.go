package natsbus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/internal/health"
)

// consumeQueue runs one session after the other until ctx ends. Nothing is owned, so there is no
// lease: the server's shared consumer gives each message to one member.
func (b *Bus) consumeQueue(ctx context.Context, spec bus.Spec, open bus.OpenSession, h *health.Consumer) error {
	h.Opening(health.Partition(0))
	h.Works(health.Member) // members of a shared consumer do not join
	for ctx.Err() == nil {
		s := newQueueSession(ctx, b, spec, open, h)
		unlink := context.AfterFunc(ctx, func() { s.end(bus.ErrStopping) })
		s.run()
		unlink()
		if errors.Is(s.why(), bus.ErrUnsupported) {
			return fmt.Errorf("consume %s: %w", spec.Topic, s.why())
		}
		s.resting(ctx)
	}
	return nil
}

func newQueueSession(ctx context.Context, b *Bus, spec bus.Spec, open bus.OpenSession, h *health.Consumer) *session {
	s := &session{bus: b, spec: spec, open: open, base: context.WithoutCancel(ctx), health: h}
	s.ctx, s.cancel = context.WithCancelCause(s.base)
	s.source = newQueueSource(s)
	return s
}

// queueSource takes messages from the group's shared consumer.
type queueSource struct {
	session *session
	stream  *stream
	durable string
	pull    *puller
	link    <-chan struct{}
	wake    chan struct{}

	mu        sync.Mutex
	held      map[*queueDelivery]struct{}
	heldBytes int
}

func newQueueSource(s *session) *queueSource {
	return &queueSource{
		session: s,
		stream:  s.bus.streams[s.spec.Topic],
		durable: durableName(s.spec.Group),
		pull:    newPuller(s.bus.nc, &s.spec, sharedExpires),
		wake:    make(chan struct{}, 1),
		held:    make(map[*queueDelivery]struct{}),
	}
}

// durableName is the group as a consumer's name, which must not hold dots.
func durableName(group string) string {
	return word(group)
}

// codeNotUnique is the server's "filtered consumer not unique on workqueue stream" (10100) and
// "multiple non-filtered consumers not allowed on workqueue stream" (10099).
const (
	codeManyConsumers jetstream.ErrorCode = 10099
	codeNotUnique     jetstream.ErrorCode = 10100
)

func (q *queueSource) start(ctx context.Context) error {
	b := q.session.bus
	q.link = b.link.next()
	if _, err := b.info(ctx, q.stream); err != nil {
		return err
	}
	if err := q.ensureConsumer(ctx); err != nil {
		return err
	}
	if err := q.repair(ctx); err != nil {
		return err
	}
	return q.pull.open(q.stream.name, q.durable)
}

// ensureConsumer creates the group's durable consumer if it is missing.
func (q *queueSource) ensureConsumer(ctx context.Context) error {
	ctx, cancel := q.session.bus.brief(ctx)
	defer cancel()
	_, err := q.session.bus.js.CreateOrUpdateConsumer(ctx, q.stream.name, jetstream.ConsumerConfig{
		Durable:       q.durable,
		Description:   "Timerbus group " + q.session.spec.Group,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       bus.AckWait,
		MaxDeliver:    -1,
		MaxAckPending: -1,
		DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == codeManyConsumers || api.ErrorCode == codeNotUnique) {
		return fmt.Errorf("%w: the queue belongs to another group than %q: %w", bus.ErrUnsupported, q.session.spec.Group, err)
	}
	if err != nil {
		return fmt.Errorf("consumer %s of %s: %w", q.durable, q.stream.name, err)
	}
	return nil
}

func (q *queueSource) next(ctx context.Context) (*bus.Delivery, error) {
	for {
		q.mu.Lock()
		inFlight, bytes := len(q.held), q.heldBytes
		q.mu.Unlock()
		if err := q.pull.ask(inFlight, bytes); err != nil {
			if !q.session.bus.nc.IsConnected() {
				if err := q.reconnect(ctx); err != nil {
					return nil, err
				}
				continue
			}
			return nil, err
		}
		timer, stop := later(q.pull.silent())
		select {
		case m := <-q.pull.arrived:
			stop()
			data, err := q.pull.sort(m)
			if err != nil {
				return nil, err
			}
			if data {
				return q.accept(m)
			}
		case <-timer:
			return nil, errors.New("no heartbeat")
		case <-q.wake:
			stop()
		case <-q.link:
			stop()
			if err := q.reconnect(ctx); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		}
	}
}

// reconnect waits for the connection and asks anew. The session goes on: it owns nothing that could
// be lost, and what it holds can still be acknowledged.
func (q *queueSource) reconnect(ctx context.Context) error {
	for {
		link := q.session.bus.link.next()
		if q.session.bus.nc.IsConnected() {
			return q.start(ctx)
		}
		select {
		case <-link:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (q *queueSource) accept(m *nats.Msg) (*bus.Delivery, error) {
	meta, err := m.Metadata()
	if err != nil {
		return nil, fmt.Errorf("message on %s: %w", m.Subject, err)
	}
	q.stream.assigned(meta.Sequence.Stream)
	p := partitionOf(m.Subject)
	d := &queueDelivery{source: q, reply: m.Reply, size: m.Size()}
	d.Delivery = bus.Delivery{
		Message:    decode(m, p),
		Position:   q.stream.position(p, meta.Sequence.Stream),
		Time:       meta.Timestamp,
		Deliveries: int(meta.NumDelivered),
		Acker:      d,
	}
	q.mu.Lock()
	q.held[d] = struct{}{}
	q.heldBytes += d.size
	q.mu.Unlock()
	return &d.Delivery, nil
}

// finish gives back, when the session ends in good order, what is not acknowledged and what is still
// on its way.
func (q *queueSource) finish(ctx context.Context, commit bool) error {
	if !commit || q.pull.sub == nil || !q.session.bus.nc.IsConnected() {
		q.pull.close()
		return nil
	}
	q.mu.Lock()
	held := q.held
	q.held, q.heldBytes = make(map[*queueDelivery]struct{}), 0
	q.mu.Unlock()
	nc := q.session.bus.nc
	// After the flush the server sends no more, and what it has sent is in the channel.
	if err := q.pull.sub.Drain(); err != nil {
		return fmt.Errorf("end requests: %w", err)
	}
	if err := nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("end requests: %w", err)
	}
	var failed error
	for d := range held { // the order does not matter: the server repeats by sequence
		failed = errors.Join(failed, nc.Publish(d.reply, nak(0)))
	}
	for {
		select {
		case m := <-q.pull.arrived:
			if m.Subject != q.pull.inbox {
				failed = errors.Join(failed, nc.Publish(m.Reply, nak(0)))
			}
			continue
		default:
		}
		break
	}
	return errors.Join(failed, nc.FlushWithContext(ctx))
}

// queueDelivery is a delivery and its Acker in one allocation.
type queueDelivery struct {
	bus.Delivery
	source *queueSource
	reply  string
	size   int
}

// settle takes the delivery from those held; false if it does not count any more.
func (d *queueDelivery) settle() bool {
	q := d.source
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.held[d]; !ok || q.session.void.Load() {
		return false
	}
	delete(q.held, d)
	q.heldBytes -= d.size
	return true
}

// answer tells the server. When it cannot be told, the message comes again: that is what not
// knowing means.
func (d *queueDelivery) answer(body []byte) {
	q := d.source
	if err := q.session.bus.nc.Publish(d.reply, body); err != nil {
		q.session.bus.log.Debug("acknowledgement not sent", "offset", d.Position.Offset, "error", err)
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

var (
	ackBody      = []byte("+ACK")
	progressBody = []byte("+WPI")
)

func nak(after time.Duration) []byte {
	if after <= 0 {
		return []byte("-NAK")
	}
	return fmt.Appendf(nil, `-NAK {"delay": %d}`, after.Nanoseconds())
}

func (d *queueDelivery) Ack() {
	if d.settle() {
		d.answer(ackBody)
	}
}

func (d *queueDelivery) Nack(after time.Duration) {
	if d.settle() {
		d.answer(nak(after))
	}
}

func (d *queueDelivery) Extend() {
	q := d.source
	q.mu.Lock()
	_, ok := q.held[d]
	q.mu.Unlock()
	if ok && !q.session.void.Load() {
		d.answer(progressBody)
	}
}
