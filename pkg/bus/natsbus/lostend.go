package natsbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
)

// A log is written before a message is acknowledged to its publisher, but not synced to the disk unless the
// server is told to (sync_always). A machine that loses its power may then forget the end of a log, and gives the
// sequences out again. A reader that goes on after its old position would skip the new messages, and ingest
// would drop them as applied before. So a record notes which message was delivered last and when the server
// took it; if the log has another one there, it lost its end, and what is newer lies in a new epoch.

// epoch is that of a sequence.
func (r *record) epoch(seq int64) int64 {
	if seq < r.Next {
		return r.Before
	}
	return r.Incarnation
}

// cut begins an epoch at a sequence.
func (r *record) cut(next, number int64) {
	r.Before, r.Next = 0, 0
	if r.Offset < next-1 { // what lies between was kept, and may have been delivered before
		r.Before, r.Next = r.Incarnation, next
	}
	r.Incarnation, r.Offset = number, min(r.Offset, next-1)
	r.Seen, r.Time = 0, 0
}

// commit notes how far the reader has come.
func (r *record) commit(offset, seen int64, taken time.Time) {
	r.Offset = offset
	if r.Offset >= r.Next-1 {
		r.Before, r.Next = 0, 0
	}
	if seen > r.Seen {
		r.Seen, r.Time = seen, taken.UnixNano()
	}
}

// leaderPatience is how long a replicated log may seem to end too early before that is believed. Believing it
// wrongly would have commands applied twice.
const leaderPatience = 30 * time.Second

// state asks for the log's state. In a cluster a new leader may answer before it has applied all that was
// committed, so it is asked again while the log seems to end before a sequence that was delivered.
func (o *orderedSource) state(ctx context.Context, seen int64) (*jetstream.StreamInfo, error) {
	for deadline := time.Now().Add(leaderPatience); ; {
		info, err := o.session.bus.info(ctx, o.stream)
		if err != nil || info.Config.Replicas <= 1 || int64(info.State.LastSeq) >= seen ||
			o.hold.Incarnation < info.Created.UnixNano() || time.Now().After(deadline) {
			return info, err
		}
		if !pause(ctx, o.session.bus.opts.RetryPause) {
			return nil, ctx.Err()
		}
	}
}

// lostEnd reports whether the log has lost the message that was delivered last.
func (o *orderedSource) lostEnd(ctx context.Context, info *jetstream.StreamInfo, r *record) (bool, error) {
	if max(r.Seen, r.Offset) > int64(info.State.LastSeq) {
		return true, nil
	}
	if r.Seen == 0 {
		return false, nil
	}
	ctx, cancel := o.session.bus.brief(ctx)
	defer cancel()
	handle, err := o.session.bus.js.Stream(ctx, o.stream.name)
	if err != nil {
		return false, fmt.Errorf("state of stream %s: %w", o.stream.name, err)
	}
	m, err := handle.GetMsg(ctx, uint64(r.Seen))
	if errors.Is(err, jetstream.ErrMsgNotFound) { // too old, and nobody can tell
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("message %d of stream %s: %w", r.Seen, o.stream.name, err)
	}
	return m.Time.UnixNano() != r.Time, nil
}

// noticeLoss begins a new epoch in the record if the log has lost its end. It is written at once: once the group
// has read on, nothing tells any more.
func (o *orderedSource) noticeLoss(ctx context.Context, info *jetstream.StreamInfo) error {
	r := o.hold.record
	lost, err := o.lostEnd(ctx, info, &r)
	if err != nil || !lost {
		return err
	}
	next := int64(info.State.LastSeq) + 1
	if r.Seen > 0 { // else the record is of an earlier version, which did not note it
		if next, err = o.after(ctx, time.Unix(0, r.Time)); err != nil {
			return err
		}
	}
	o.session.bus.log.Error("the log has lost its end", "topic", o.session.spec.Topic,
		"partition", int(o.session.partition), "committed", r.Offset, "delivered", r.Seen, "goes_on_at", next)
	r.cut(next, max(info.TimeStamp.UnixNano(), r.Incarnation+1))
	return o.hold.put(ctx, r)
}

// after finds the first sequence of what the server took after a time. The server looks for it when a consumer
// is made.
func (o *orderedSource) after(ctx context.Context, taken time.Time) (int64, error) {
	b := o.session.bus
	ctx, cancel := b.brief(ctx)
	defer cancel()
	from := taken.Add(1)
	made, err := b.js.CreateConsumer(ctx, o.stream.name, jetstream.ConsumerConfig{
		DeliverPolicy:     jetstream.DeliverByStartTimePolicy,
		OptStartTime:      &from,
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: b.opts.AckTimeout,
	})
	if err != nil {
		return 0, fmt.Errorf("first message of %s after %v: %w", o.stream.name, taken, err)
	}
	o.drop(made.CachedInfo().Name)
	return int64(made.CachedInfo().Delivered.Stream) + 1, nil
}

// intact ends the session if the log has lost messages that it delivered, so that the next one begins in a new
// epoch.
func (o *orderedSource) intact(ctx context.Context, info *jetstream.StreamInfo) error {
	r := o.hold.record
	r.commit(r.Offset, o.seen, o.taken)
	lost, err := o.lostEnd(ctx, info, &r)
	if err != nil || !lost {
		return err
	}
	if err := o.hold.put(ctx, r); err != nil {
		return err
	}
	return fmt.Errorf("%w: stream %s has lost message %d", bus.ErrLost, o.stream.name, o.seen)
}
