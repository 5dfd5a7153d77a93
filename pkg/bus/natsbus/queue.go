package natsbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// consumeQueue runs sessions, one after the other, until ctx ends. No partition is owned, so there is no lease: the
// server's shared consumer sends each message to one member.
func (b *Bus) consumeQueue(ctx context.Context, spec bus.Spec, open bus.OpenSession, h *health.Consumer) error {
	h.Opening(health.Partition(0))
	h.Works(health.Member) // members of a shared consumer do not join
	for ctx.Err() == nil {
		s := newSession(context.WithoutCancel(ctx), b, spec, 0, open, h)
		s.source = newQueueSource(s)
		unlink := context.AfterFunc(ctx, func() { s.End(bus.ErrStopping) })
		s.run()
		unlink()
		if err := s.Cause(); errors.Is(err, bus.ErrUnsupported) {
			return err
		}
		if failures := s.Failures(); failures > 0 {
			timer.Sleep(ctx, health.Backoff(b.opts.RetryPause, failures))
		}
	}
	return nil
}

// queueSource reads messages from the group's shared consumers, one in each stream of the queue. Only the session's
// goroutine uses the fields, except held, heldBytes and the fields of the same names in the readers.
type queueSource struct {
	session  *session
	durable  string
	readers  []*reader      // by stream number
	turn     []*reader      // the same readers, ordered by their last request, oldest first
	asked    []*reader      // readers with a new request, used by ask
	arrived  chan *nats.Msg // of all readers
	prepared chan preparation
	running  sync.WaitGroup // preparations
	link     <-chan struct{}
	wake     chan struct{}
	lookAt   time.Time // when to look for more streams
	looking  bool      // a goroutine is looking for streams

	mu        sync.Mutex
	held      map[*queueDelivery]struct{}
	heldBytes int
}

func newQueueSource(s *session) *queueSource {
	return &queueSource{
		session:  s,
		durable:  durableName(s.spec.Group),
		arrived:  make(chan *nats.Msg, s.spec.MaxInFlight+MaxQueueStreams*statusRoom),
		prepared: make(chan preparation),
		wake:     make(chan struct{}, 1),
		held:     make(map[*queueDelivery]struct{}),
	}
}

// durableName returns the group's name as a consumer name, which must not contain dots.
func durableName(group string) string {
	return word(group)
}

// start prepares all readers. It fails if all of them do; readers that fail are retried while others read.
func (q *queueSource) start(ctx context.Context) error {
	q.link = q.session.bus.link.next()
	q.lookAt = time.Now().Add(q.session.bus.opts.times.lookEvery)
	q.addReaders()
	failed := make(map[*reader]error)
	begun := q.prepareReaders(ctx)
	for range begun {
		select {
		case p := <-q.prepared:
			if err := q.finishPreparation(p); errors.Is(err, bus.ErrUnsupported) {
				return err
			} else if err != nil {
				failed[p.reader] = err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if begun == 0 {
		return nats.ErrDisconnected
	}
	if len(failed) == begun {
		return failed[q.readers[0]]
	}
	for r, err := range failed {
		r.fail(err)
	}
	return nil
}

func (q *queueSource) next(ctx context.Context) (*bus.Delivery, error) {
	for {
		q.prepareReaders(ctx)
		q.ask()
		wakeAt, stop := consume.At(q.wakeAt())
		select {
		case m := <-q.arrived:
			stop()
			if d := q.take(m); d != nil {
				return d, nil
			}
		case p := <-q.prepared:
			stop()
			if err := q.finishPreparation(p); errors.Is(err, bus.ErrUnsupported) {
				return nil, err
			} else if err != nil {
				p.reader.fail(err)
			}
		case <-wakeAt:
			q.tick(ctx)
		case <-q.wake:
			stop()
		case <-q.link:
			stop()
			// The session stays open: it owns no partition, and its deliveries can still be acknowledged.
			q.link = q.session.bus.link.next()
			for _, r := range q.readers {
				r.reset(time.Time{})
			}
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		}
	}
}

// wakeAt returns when tick must be called.
func (q *queueSource) wakeAt() time.Time {
	at := q.lookAt
	for _, r := range q.readers {
		switch r.state {
		case readerOpen:
			at = earliest(at, r.pull.silent())
		case readerClosed:
			at = earliest(at, r.retryAt)
		case readerPreparing:
		}
	}
	return at
}

// tick fails readers whose requests had no heartbeat, and looks for more streams.
func (q *queueSource) tick(ctx context.Context) {
	now := time.Now()
	for _, r := range q.readers {
		if silent := r.pull.silent(); r.state == readerOpen && !silent.IsZero() && now.After(silent) {
			r.fail(errors.New("no heartbeat"))
		}
	}
	if now.Before(q.lookAt) {
		return
	}
	q.lookAt = now.Add(q.session.bus.opts.times.lookEvery)
	b := q.session.bus
	if q.looking || !b.nc.IsConnected() {
		return
	}
	q.looking = true
	q.running.Go(func() {
		if err := b.lookForStreams(ctx); err != nil {
			b.log.Debug("due streams not found", "error", err)
		}
		q.send(ctx, preparation{})
	})
}

// addReaders adds a reader for each stream that has none.
func (q *queueSource) addReaders() {
	for _, s := range q.session.bus.queue.all()[len(q.readers):] {
		r := newReader(q, s)
		q.readers, q.turn = append(q.readers, r), append(q.turn, r)
	}
}

// take converts a message to a delivery. It returns nil for a status and for a message of an earlier subscription,
// which will be redelivered.
func (q *queueSource) take(m *nats.Msg) *bus.Delivery {
	i := slices.IndexFunc(q.readers, func(r *reader) bool { return r.state == readerOpen && r.pull.sub == m.Sub })
	if i < 0 {
		return nil
	}
	r := q.readers[i]
	data, err := r.pull.sort(m)
	var d *bus.Delivery
	if data && err == nil {
		d, err = r.accept(m)
	}
	if err != nil {
		r.fail(err)
	}
	return d
}

// ask requests messages from the streams, within the bounds of the session.
func (q *queueSource) ask() {
	q.mu.Lock()
	use := usage{messages: len(q.held), bytes: q.heldBytes}
	for _, r := range q.readers {
		r.inFlight, r.inFlightBytes = r.held, r.heldBytes
	}
	q.mu.Unlock()
	inFlight, inFlightBytes := use.messages, use.bytes
	alone, refused := inFlight == 0, false
	for _, r := range q.readers {
		if r.state != readerOpen {
			continue
		}
		use.messages += r.pull.asked
		use.bytes += r.pull.askedBytes
		use.open++
		if r.busy {
			use.busy++
		}
		alone = alone && !r.pull.unbounded
		refused = refused || r.pull.refused > 0
	}
	bounds := newShares(q.session.spec.MaxInFlight, q.session.spec.MaxBytes, use.open, use.busy)
	use.scarce = bounds.scarce(use.open, inFlight, inFlightBytes)
	q.asked = q.asked[:0]
	for _, r := range q.turn {
		// A message larger than the free bytes is requested when no delivery is in flight.
		if r.state != readerOpen || refused && r.pull.refused == 0 {
			continue
		}
		before, beforeBytes := r.pull.asked, r.pull.askedBytes
		if err := r.ask(bounds, use, alone); err != nil {
			if q.session.bus.nc.IsConnected() {
				r.fail(err)
			}
			continue
		}
		if r.pull.asked == before {
			continue
		}
		use.messages += r.pull.asked - before
		use.bytes += r.pull.askedBytes - beforeBytes
		alone = alone && !r.pull.unbounded
		q.asked = append(q.asked, r)
	}
	if len(q.asked) > 0 && len(q.turn) > 1 {
		q.turn = append(slices.DeleteFunc(q.turn, func(r *reader) bool { return slices.Contains(q.asked, r) }), q.asked...)
	}
}

// finish returns the unacknowledged messages and those in transit to the queue, if the session ends gracefully.
func (q *queueSource) finish(ctx context.Context, commit bool) error {
	q.running.Wait()
	nc := q.session.bus.nc
	if !commit || !nc.IsConnected() {
		for _, r := range q.readers {
			r.pull.close()
		}
		return nil
	}
	q.mu.Lock()
	held := q.held
	q.held, q.heldBytes = make(map[*queueDelivery]struct{}), 0
	q.mu.Unlock()
	var failed error
	for _, r := range q.readers {
		if r.pull.sub != nil {
			failed = errors.Join(failed, r.pull.sub.Drain())
		}
	}
	// After the flush the server sends no more messages, and those already sent are in the channel.
	if err := errors.Join(failed, nc.FlushWithContext(ctx)); err != nil {
		return fmt.Errorf("end requests: %w", err)
	}
	for d := range held { // the order does not matter: the server redelivers by sequence
		failed = errors.Join(failed, nc.Publish(d.reply, nak(0)))
	}
	for {
		select {
		case m := <-q.arrived:
			if m.Reply != "" { // not a status
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
	reader *reader
	reply  string
	size   int
}

// settle removes the delivery from held. It returns false if an acknowledgement has no effect any more.
func (d *queueDelivery) settle() bool {
	q := d.reader.source
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.held[d]; !ok || q.session.Void() {
		return false
	}
	delete(q.held, d)
	q.heldBytes -= d.size
	d.reader.held--
	d.reader.heldBytes -= d.size
	return true
}

// answer sends an acknowledgement to the server. If that fails, the server redelivers the message after AckWait.
func (d *queueDelivery) answer(body []byte) {
	q := d.reader.source
	if err := q.session.bus.nc.Publish(d.reply, body); err != nil {
		q.session.bus.log.Debug("acknowledgement not sent", "offset", d.Position.Offset, "error", err)
	}
	consume.Signal(q.wake)
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
	q := d.reader.source
	q.mu.Lock()
	_, ok := q.held[d]
	q.mu.Unlock()
	if ok && !q.session.Void() {
		d.answer(progressBody)
	}
}
