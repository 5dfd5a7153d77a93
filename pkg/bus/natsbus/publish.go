package natsbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// maxPending bounds the messages in transit to the server, over all Publish calls. Beyond it Publish waits (by
// default the client gives up after 200 ms, which a burst exceeds).
const maxPending = 4096

// Publish implements bus.Bus.
func (b *Bus) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if err := b.check(topic, messages); err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		return nil, nil
	}
	if err := b.handle.Begin(ctx, topic); err != nil {
		return nil, err
	}
	if topic.Kind() == bus.KindHints {
		return b.publishHints(topic, messages)
	}
	return b.publishStored(ctx, topic, messages)
}

func (b *Bus) publishHints(topic bus.Topic, messages []bus.Message) ([]bus.Position, error) {
	for i := range messages {
		if err := b.nc.PublishMsg(b.opts.encode(topic, &messages[i])); err != nil {
			return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, b.plain(err))
		}
	}
	return make([]bus.Position, len(messages)), nil
}

func (b *Bus) publishStored(ctx context.Context, topic bus.Topic, messages []bus.Message) ([]bus.Position, error) {
	s, err := b.streamOf(ctx, topic)
	if errors.Is(err, bus.ErrUnsupported) {
		return nil, fmt.Errorf("publish to %s: %w", topic, err)
	}
	if err != nil {
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, b.plain(err))
	}
	p := &publication{bus: b, stream: s, topic: topic, messages: messages, positions: make([]bus.Position, len(messages))}
	if topic.Kind() == bus.KindQueue {
		var done func()
		p.routes, done = b.queue.routes(messages)
		defer done()
	}
	which := make([]int, len(messages))
	for i := range which {
		which[i] = i
	}
	patience := time.Now().Add(b.opts.AckTimeout)
	for {
		again := p.sendAll(ctx, which)
		if len(again) == 0 {
			break
		}
		if p.failed != nil || time.Now().After(patience) || !timer.Sleep(ctx, inProcessPause) {
			p.fail(again[0], errInProcess, true)
			break
		}
		which = again
	}
	if p.failed == nil {
		return p.positions, nil
	}
	p.mend(ctx)
	if full(p.failed) {
		p.failed = fmt.Errorf("%w: stream %s: %w", bus.ErrFull, p.to(p.failedAt).name, p.failed)
	}
	switch {
	case tooLarge(p.failed):
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrTooLarge, p.failed)
	case p.maybe:
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrOutcomeUnknown, p.failed)
	default:
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, p.failed)
	}
}

// publication is one call of Publish to a stream.
type publication struct {
	bus       *Bus
	stream    *stream
	routes    []*stream // of each message; nil: all messages use stream
	topic     bus.Topic
	messages  []bus.Message
	positions []bus.Position
	failed    error // the first error, or a later ErrTooLarge
	failedAt  int   // the index of the message with the error failed
	maybe     bool  // some message was or may have been stored
}

// to returns the stream of a message.
func (p *publication) to(i int) *stream {
	if p.routes != nil {
		return p.routes[i]
	}
	return p.stream
}

func (p *publication) encode(i int) *nats.Msg {
	m := p.bus.opts.encode(p.topic, &p.messages[i])
	if p.routes != nil {
		m.Subject = p.to(i).subjects + strconv.Itoa(int(p.messages[i].Partition))
	}
	return m
}

// mend looks up the stream if no stream responded, so that the next call finds it.
func (p *publication) mend(ctx context.Context) {
	if !unanswered(p.failed) {
		return
	}
	s := p.to(p.failedAt)
	p.bus.foreign.forget(s) // the stream may still exist, without this subject
	if _, err := p.bus.info(ctx, s); errors.Is(err, bus.ErrNoTopic) {
		p.failed = fmt.Errorf("%w: %w", err, p.failed)
	} else if err != nil {
		p.bus.log.Debug("stream not found", "topic", p.topic, "error", err)
	}
}

// partition returns the partition of a message; a user topic has only partition 0.
func (p *publication) partition(i int) shard.Partition {
	if p.to(i).subject != "" {
		return 0
	}
	return p.messages[i].Partition
}

// fail records a failure. It keeps the first error, unless a later one means that a message is too large.
func (p *publication) fail(i int, err error, maybe bool) {
	p.maybe = p.maybe || maybe
	if p.failed == nil || tooLarge(err) && !tooLarge(p.failed) {
		p.failed, p.failedAt = fmt.Errorf("message %d of %d: %w", i+1, len(p.messages), err), i
	}
}

func tooLarge(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == codeTooLarge
}

// An atomic batch costs the server about as many syncs as 20 single messages. The server accepts at most batchMax messages in one.
const batchMin, batchMax = 32, 1000

// inBatches reports whether the stream of a topic allows atomic batches: a server that syncs messages syncs those of this topic.
func inBatches(topic bus.Topic) bool {
	return topic == bus.Commands || topic == bus.Fired || topic == bus.Dead
}

// sendAll sends the messages with these indexes in atomic batches if that is faster, and otherwise one by one. It returns the indexes to
// send again.
func (p *publication) sendAll(ctx context.Context, which []int) (again []int) {
	server, embedded := p.bus.opts.InProcess.(interface{ SyncsMessages() bool })
	if !inBatches(p.topic) || !embedded || !server.SyncsMessages() {
		return p.send(ctx, which)
	}
	for some := range slices.Chunk(which, batchMax) {
		if p.failed != nil {
			break
		}
		if len(some) < batchMin || !p.sendBatch(ctx, some) {
			again = append(again, p.send(ctx, some)...)
		}
	}
	return again
}

// sendBatch sends messages as an atomic batch. It returns false if the server has stored none of them, for example because one has an ID
// that the server knows, so that they must be sent one by one.
func (p *publication) sendBatch(ctx context.Context, which []int) bool {
	b := p.bus
	before, id := p.stream.mark(), nuid.Next()
	var reply jetstream.PubAckFuture
	for n, i := range which {
		m := p.encode(i)
		if m.Header == nil {
			m.Header = nats.Header{}
		}
		m.Header.Set("Nats-Batch-Id", id)
		m.Header.Set("Nats-Batch-Sequence", strconv.Itoa(n+1))
		var err error
		if n < len(which)-1 {
			err = b.nc.PublishMsg(m)
		} else {
			m.Header.Set("Nats-Batch-Commit", "1")
			reply, err = b.js.PublishMsgAsync(m, jetstream.WithStallWait(b.opts.AckTimeout))
		}
		if err != nil {
			return false
		}
	}
	ack, err := await(ctx, reply)
	switch {
	case err == nil:
	case refused(err):
		b.log.Debug("atomic batch refused, publishing its messages one by one", "topic", p.topic, "messages", len(which), "error", err)
		return false
	default:
		p.fail(which[0], err, true)
		return true
	}
	p.maybe = true
	for n, i := range which {
		stored := jetstream.PubAck{Sequence: ack.Sequence - uint64(len(which)-1-n)}
		p.place(ctx, i, &stored, &before)
	}
	return true
}

// place sets the position of a message that the server has acknowledged. before is the mark of its stream before that.
func (p *publication) place(ctx context.Context, i int, ack *jetstream.PubAck, before *mark) {
	s := p.to(i)
	if !ack.Duplicate && ack.Sequence <= before.high {
		// The stream was created again, or its last sequence has decreased: a new epoch has started.
		if _, err := p.bus.info(ctx, s); err != nil {
			p.fail(i, err, true)
		} else if s.queue {
			s.reassigned(*before, ack.Sequence)
		}
		*before = mark{number: s.mark().number}
	}
	s.assigned(ack.Sequence)
	p.positions[i] = p.bus.queue.ranked(s, s.positionSince(*before, p.partition(i), ack.Sequence))
}

// send sends the messages with these indexes and awaits every reply, unless ctx ends: only all replies together show
// whether no message was stored. It returns the indexes to send again.
func (p *publication) send(ctx context.Context, which []int) (again []int) {
	b := p.bus
	marks := make(map[*stream]*mark, 1)
	futures := make([]jetstream.PubAckFuture, 0, len(which))
	for _, i := range which {
		s := p.to(i)
		if _, marked := marks[s]; !marked {
			before := s.mark()
			marks[s] = &before
		}
		f, err := b.js.PublishMsgAsync(p.encode(i), jetstream.WithStallWait(b.opts.AckTimeout))
		if err != nil {
			p.fail(i, fmt.Errorf("send: %w", b.plain(err)), false)
			break
		}
		futures = append(futures, f)
	}
	for n, f := range futures {
		i := which[n]
		ack, err := await(ctx, f)
		switch {
		case inProcess(err):
			again = append(again, i)
			continue
		case err != nil:
			p.fail(i, err, !refused(err))
			if ctx.Err() != nil {
				p.maybe = true
				return nil
			}
			continue
		}
		p.maybe = true
		p.place(ctx, i, ack, marks[p.to(i)])
	}
	return again
}

// A replicated stream rejects a message whose ID it is just storing. Whether that succeeds is unknown, so the message
// is sent again until the reply is "stored" or "duplicate".
const (
	codeInProcess  jetstream.ErrorCode = 10158
	inProcessPause                     = 5 * time.Millisecond
)

var errInProcess = errors.New("the server is storing a message with the same ID")

func inProcess(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == codeInProcess
}

// codeStoreFailed is the server's error when it cannot store a message.
const codeStoreFailed jetstream.ErrorCode = 10077

// full reports whether a stream that discards new messages has reached one of its limits.
func full(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == codeStoreFailed && strings.HasPrefix(api.Description, "maximum ")
}

// codeTooLarge is the server's "message size exceeds maximum allowed".
const codeTooLarge jetstream.ErrorCode = 10054

func await(ctx context.Context, f jetstream.PubAckFuture) (*jetstream.PubAck, error) {
	select {
	case ack := <-f.Ok():
		return ack, nil
	case err := <-f.Err():
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// refused reports whether the server has replied that it did not store the message.
func refused(err error) bool {
	var js jetstream.JetStreamError
	var api *jetstream.APIError
	return errors.As(err, &api) ||
		errors.As(err, &js) && js.APIError() != nil ||
		unanswered(err)
}

// unanswered reports whether no stream responded.
func unanswered(err error) bool {
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse)
}
