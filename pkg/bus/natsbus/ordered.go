package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// orderedSource reads one partition in the stream's order. It uses a separate consumer without acknowledgements; the
// owner record has the group's position. Therefore no message is redelivered out of order, and a lost consumer is
// simply created again (docs/decisions/0002).
type orderedSource struct {
	session *session
	stream  *stream
	hold    *holding
	pull    *puller
	acks    *consume.Acks // set by start, before any delivery

	// Used by the session's goroutine only.
	link     <-chan struct{}
	consumer string
	sequence uint64    // of the consumer; a gap means that a message was lost in transit
	last     int64     // offset of the last delivery
	passed   int64     // the next value of record.Passed
	seen     int64     // the next value of record.Seen
	seenAt   time.Time // the next value of record.Time
	commitAt time.Time
	// fullSince is when the window became full; zero while it has room.
	fullSince time.Time
}

func newOrderedSource(s *session, h *holding) *orderedSource {
	return &orderedSource{
		session: s,
		hold:    h,
		pull:    newPuller(s.bus.nc, &s.spec, s.bus.opts.times.ownExpires),
	}
}

func decodeRecord(value []byte) (record, error) {
	var r record
	err := json.Unmarshal(value, &r)
	return r, err
}

func (o *orderedSource) start(ctx context.Context) error {
	var err error
	if o.stream, err = o.session.bus.streamOf(ctx, o.session.spec.Topic); err != nil {
		return err
	}
	o.recall()
	info, err := o.state(ctx, max(o.hold.Seen, o.hold.Offset))
	if err != nil {
		return err
	}
	o.pull.expires = o.session.bus.opts.times.ownExpiresOn(info)
	if created := info.Created.UnixNano(); o.hold.Epoch < created {
		// The first commit writes this record.
		o.hold.record = record{Owner: o.hold.Owner, Epoch: created}
		if o.recall() {
			if info, err = o.state(ctx, o.hold.Seen); err != nil {
				return err
			}
		}
	}
	if err := o.startEpoch(ctx, info); err != nil {
		return err
	}
	o.passed, o.seen, o.seenAt = o.hold.Passed, o.hold.Seen, time.Unix(0, o.hold.Time)
	if err := o.noteGap(ctx, o.passed, info); err != nil {
		return err
	}
	after := max(o.hold.Offset, firstKept(info)-1)
	o.acks = consume.NewAcks(o.session.Session, &o.session.spec, after)
	return o.read(ctx, after)
}

// read starts delivery after an offset, with a new consumer.
func (o *orderedSource) read(ctx context.Context, after int64) error {
	b := o.session.bus
	o.link = b.link.next()
	ctx, cancel := b.brief(ctx)
	defer cancel()
	made, err := b.js.CreateConsumer(ctx, o.stream.name, jetstream.ConsumerConfig{
		Description:       "Timerbus " + o.hold.key,
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       uint64(after) + 1,
		AckPolicy:         jetstream.AckNonePolicy,
		FilterSubjects:    b.opts.subjects(o.session.spec.Topic, o.session.partition),
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: 2 * o.pull.expires,
	})
	if err != nil {
		return fmt.Errorf("read %s after %d: %w", o.stream.name, after, err)
	}
	o.drop(o.consumer)
	o.consumer, o.sequence, o.last = made.CachedInfo().Name, 0, after
	return o.pull.open(o.stream.name, o.consumer)
}

// drop deletes a consumer that is no longer read. If that fails, the server deletes it after InactiveThreshold.
func (o *orderedSource) drop(consumer string) {
	b := o.session.bus
	if consumer == "" || !b.nc.IsConnected() {
		return
	}
	_ = b.nc.Publish("$JS.API.CONSUMER.DELETE."+o.stream.name+"."+consumer, nil)
}

func (o *orderedSource) next(ctx context.Context) (*bus.Delivery, error) {
	for {
		restart, resumeAt := o.acks.Restarting()
		if restart && !time.Now().Before(resumeAt) {
			o.acks.Restarted()
			if err := o.read(ctx, o.acks.Committed()); err != nil {
				return nil, err
			}
			continue
		}
		wakeAt := earliest(o.pull.silent(), o.commitDue())
		if restart {
			wakeAt = earliest(wakeAt, resumeAt)
		} else if err := o.request(ctx); err != nil {
			return nil, err
		}
		timer, stop := consume.At(wakeAt)
		select {
		case m := <-o.pull.arrived:
			stop()
			if restart {
				continue // from before the restart
			}
			if d, ok, err := o.accept(ctx, m); ok || err != nil {
				return d, err
			}
		case <-timer:
			if err := o.tick(ctx); err != nil {
				return nil, err
			}
		case <-o.acks.Wake:
			stop()
		case <-o.link:
			stop()
			if err := o.rejoin(ctx); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		}
	}
}

// request requests messages from the server if the window has room.
func (o *orderedSource) request(ctx context.Context) error {
	full := o.acks.Full()
	if o.stalled(full, time.Now()) {
		if err := o.reread(ctx, nil); err != nil {
			return err
		}
	}
	if full {
		return nil
	}
	return o.pull.ask(o.acks.Pending())
}

// accept converts a message to a delivery. If a message is missing before it, accept reads again after the last
// delivery.
func (o *orderedSource) accept(ctx context.Context, m *nats.Msg) (d *bus.Delivery, ok bool, err error) {
	o.heartbeat(m)
	data, err := o.pull.sort(m)
	if err != nil {
		return nil, false, o.reread(ctx, err)
	}
	if !data {
		return nil, false, nil
	}
	meta, err := m.Metadata()
	if err != nil {
		return nil, false, fmt.Errorf("message on %s: %w", m.Subject, err)
	}
	if meta.Sequence.Consumer != o.sequence+1 {
		return nil, false, o.reread(ctx, fmt.Errorf("consumer sequence %d follows %d", meta.Sequence.Consumer, o.sequence))
	}
	o.sequence = meta.Sequence.Consumer
	offset := int64(meta.Sequence.Stream)
	d = o.acks.Accept(offset, m.Size(), bus.Delivery{
		Message:  decode(m, o.session.partition),
		Position: bus.Position{Partition: o.session.partition, Epoch: o.hold.epochOf(offset), Offset: offset},
		Time:     meta.Timestamp,
	})
	if d == nil {
		if restart, _ := o.acks.Restarting(); restart { // it will read this message again, in order
			return nil, false, nil
		}
		// More messages were requested than the window's span allows: read the message again when there is room.
		return nil, false, o.reread(ctx, nil)
	}
	o.last = offset
	if o.last > o.seen {
		o.seen, o.seenAt = o.last, meta.Timestamp
	}
	o.stream.assigned(meta.Sequence.Stream)
	return d, true, nil
}

// reread creates a new consumer after the last delivery.
func (o *orderedSource) reread(ctx context.Context, why error) error {
	if why != nil {
		o.session.bus.log.Debug("reading again with a new consumer", "record", o.hold.key, "after", o.last, "error", why)
		timer.Sleep(ctx, 10*time.Millisecond)
	}
	info, err := o.state(ctx, max(o.seen, o.hold.Offset))
	if err != nil {
		return err
	}
	if o.hold.Epoch < info.Created.UnixNano() {
		return fmt.Errorf("%w: stream %s was created again", bus.ErrLost, o.stream.name)
	}
	if why != nil {
		if err := o.checkTruncation(ctx, info); err != nil {
			return err
		}
	}
	if err := o.noteGap(ctx, max(o.last, o.passed), info); err != nil {
		return err
	}
	return o.read(ctx, o.last)
}

// rejoining is the name of the operation in the outage log.
const rejoining = "read again after a reconnect"

// rejoin reads again after the connection has changed. While there is no connection, it waits; the lease decides
// whether the partition still belongs to this member.
func (o *orderedSource) rejoin(ctx context.Context) error {
	for {
		link := o.session.bus.link.next()
		if o.session.bus.nc.IsConnected() {
			err := o.reread(ctx, errLinkChanged)
			if errors.Is(err, bus.ErrLost) {
				return err
			}
			if err == nil || ctx.Err() != nil {
				o.session.bus.outage.Succeeded(rejoining)
				return ctx.Err()
			}
			o.session.bus.outage.Failed(rejoining, o.session.bus.plain(err), "stream", o.stream.name)
			if !timer.Sleep(ctx, o.session.bus.opts.RetryPause) {
				return ctx.Err()
			}
			continue
		}
		select {
		case <-link:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tick commits if a commit is due, and reads again if the server has been silent for too long.
func (o *orderedSource) tick(ctx context.Context) error {
	now := time.Now()
	if due := o.commitDue(); !due.IsZero() && !now.Before(due) {
		o.commitAt = now.Add(o.session.bus.opts.CommitEvery)
		if err := o.commit(ctx); err != nil {
			if errors.Is(err, bus.ErrLost) {
				return err
			}
			o.session.bus.log.Debug("commit failed, retrying", "record", o.hold.key, "error", err)
		}
	}
	if silent := o.pull.silent(); !silent.IsZero() && now.After(silent) {
		return o.reread(ctx, errors.New("no heartbeat"))
	}
	return nil
}

// commitDue returns when the next commit is due; zero if there is nothing to commit.
func (o *orderedSource) commitDue() time.Time {
	if o.acks.Committed() == o.hold.Offset && o.passed <= o.hold.Passed {
		return time.Time{}
	}
	if o.commitAt.IsZero() {
		o.commitAt = time.Now()
	}
	return o.commitAt
}

func (o *orderedSource) commit(ctx context.Context) error {
	r := o.hold.record
	r.commit(o.acks.Committed(), o.passed, o.seen, o.seenAt)
	ctx, cancel := context.WithTimeout(ctx, o.session.bus.opts.LeaseTTL)
	defer cancel()
	return o.hold.put(ctx, r)
}

func (o *orderedSource) finish(ctx context.Context, commit bool) error {
	o.pull.close()
	o.drop(o.consumer)
	o.remember()
	if !o.session.releases() {
		return nil
	}
	if o.acks != nil {
		if committed := o.acks.Seal(); commit {
			o.hold.commit(committed, o.passed, o.seen, o.seenAt)
		}
	}
	return o.hold.release(ctx)
}

// earliest returns the earlier of two times; a zero time means none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
