package natsbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// This file detects truncated logs. The server writes a log message before it acknowledges the publish, but it fsyncs
// only with sync_always. After a power failure the end of a log may be missing, and the server assigns the same
// sequences to new messages. A reader that resumes after its old position would skip them, and ingest would treat
// them as applied.
//
// Therefore each record stores the sequence of the last delivered message and its server timestamp. If the log ends
// before that sequence, or the message there has another timestamp, the log was truncated: the group resumes at the
// first message with a later timestamp, in a new epoch. If the stream's limits have removed the message, a truncation
// cannot be detected.
//
// A session that loses its lease cannot write its record, which then lacks the deliveries since the last commit. A
// crash of the server that lasts longer than the lease causes both: it truncates the log and ends the session. Each
// process therefore also keeps the last delivery of its sessions in memory for its next session of the partition. If
// another process takes over the partition, it does not know these deliveries.

// epochOf returns the epoch of a sequence.
func (r *record) epochOf(seq int64) int64 {
	if seq < r.Next {
		return r.Before
	}
	return r.Epoch
}

// cut starts the epoch number at sequence next.
func (r *record) cut(next, number int64) {
	r.Before, r.Next = 0, 0
	if r.Offset < next-1 { // the messages in between survived and may have been delivered already
		r.Before, r.Next = r.Epoch, next
	}
	r.Epoch, r.Offset, r.Passed = number, min(r.Offset, next-1), min(r.Passed, next-1)
	r.Seen, r.Time = 0, 0
}

// commit sets the committed offset and the last delivered message, and Passed if it has grown.
func (r *record) commit(offset, passed, seen int64, timestamp time.Time) {
	r.Offset = offset
	r.Passed = max(r.Passed, passed, offset)
	if r.Offset >= r.Next-1 {
		r.Before, r.Next = 0, 0
	}
	if seen > r.Seen {
		r.Seen, r.Time = seen, timestamp.UnixNano()
	}
}

// delivered is the last message that a session has delivered.
type delivered struct {
	epoch, seq int64
	at         time.Time
}

// remember keeps the last delivery for the next session of this process.
func (o *orderedSource) remember() {
	if o.seen > 0 {
		o.session.bus.delivered.Store(o.hold.key, delivered{o.hold.Epoch, o.seen, o.seenAt})
	}
}

// recall adds the last delivery of this process to a record of the same epoch that does not have it. It reports
// whether it did so.
func (o *orderedSource) recall() bool {
	value, _ := o.session.bus.delivered.Load(o.hold.key)
	last, ok := value.(delivered)
	if !ok || last.epoch != o.hold.Epoch || last.seq <= o.hold.Seen {
		return false
	}
	o.hold.Seen, o.hold.Time = last.seq, last.at.UnixNano()
	return true
}

// leaderPatience is how long state waits for the leader of a replicated log to catch up before it accepts that the
// log is shorter. A false positive would apply commands twice.
const leaderPatience = 30 * time.Second

// state returns the stream's state. A new leader of a replicated stream may reply before it has applied all committed
// entries, so state polls while the stream ends before a sequence that was delivered.
func (o *orderedSource) state(ctx context.Context, seen int64) (*jetstream.StreamInfo, error) {
	for deadline := time.Now().Add(leaderPatience); ; {
		info, err := o.session.bus.info(ctx, o.stream)
		if err != nil || info.Config.Replicas <= 1 || int64(info.State.LastSeq) >= seen ||
			o.hold.Epoch < info.Created.UnixNano() || time.Now().After(deadline) {
			return info, err
		}
		if !timer.Sleep(ctx, o.session.bus.opts.RetryPause) {
			return nil, ctx.Err()
		}
	}
}

// truncated reports whether the log no longer has the last delivered message.
func (o *orderedSource) truncated(ctx context.Context, info *jetstream.StreamInfo, r *record) (bool, error) {
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
	if errors.Is(err, jetstream.ErrMsgNotFound) { // removed by the stream's limits: cannot be compared
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("message %d of stream %s: %w", r.Seen, o.stream.name, err)
	}
	return m.Time.UnixNano() != r.Time, nil
}

// startEpoch starts a new epoch if the log was truncated. It writes the record before the session reads on, because
// later commits would hide the truncation.
func (o *orderedSource) startEpoch(ctx context.Context, info *jetstream.StreamInfo) error {
	r := o.hold.record
	truncated, err := o.truncated(ctx, info, &r)
	if err != nil || !truncated {
		return err
	}
	next := int64(info.State.LastSeq) + 1
	if r.Seen > 0 { // 0 in records of earlier versions, which have no timestamp
		if next, err = o.session.bus.firstSince(ctx, o.stream.name, time.Unix(0, r.Time+1)); err != nil {
			return err
		}
	}
	o.session.bus.log.Error("log was truncated", "topic", o.session.spec.Topic, "partition", int(o.session.partition),
		"committed", r.Offset, "delivered", r.Seen, "resume_at", next)
	r.cut(next, max(info.TimeStamp.UnixNano(), r.Epoch+1))
	return o.hold.put(ctx, r)
}

// checkTruncation ends a running session if the log no longer has the message that it delivered last. The next
// session starts a new epoch.
func (o *orderedSource) checkTruncation(ctx context.Context, info *jetstream.StreamInfo) error {
	r := o.hold.record
	r.commit(r.Offset, r.Passed, o.seen, o.seenAt)
	truncated, err := o.truncated(ctx, info, &r)
	if err != nil || !truncated {
		return err
	}
	if err := o.hold.put(ctx, r); err != nil {
		return err
	}
	return fmt.Errorf("%w: stream %s no longer has message %d", bus.ErrLost, o.stream.name, o.seen)
}
