package natsbus

import (
	"context"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
)

// There is a gap if the stream begins after the position up to which a partition is acknowledged. Partitions share
// the stream's sequence, so the committed offset of an idle partition falls behind although nothing was lost. The
// owner record therefore also has the sequence up to which the server has searched the stream for the partition's
// messages (record.Passed). The server sends it in its heartbeats.
//
// A record without Passed was written by an earlier release. For such a record no gap is reported until a session has
// written Passed.

// heartbeat reads the consumer's last sequence, and how far it has searched the stream, from a heartbeat.
func (o *orderedSource) heartbeat(m *nats.Msg) {
	if m.Subject != o.pull.inbox || m.Header.Get("Status") != "100" {
		return
	}
	delivered, err := strconv.ParseUint(m.Header.Get("Nats-Last-Consumer"), 10, 64)
	if err != nil || delivered != o.sequence || o.acks.Committed() != o.last {
		return // a message is in flight
	}
	if searched, err := strconv.ParseInt(m.Header.Get("Nats-Last-Stream"), 10, 64); err == nil {
		o.passed = max(o.passed, searched)
	}
}

// firstKept returns the sequence of the oldest message in the stream, or of the next message if the stream is empty.
func firstKept(info *jetstream.StreamInfo) int64 {
	if info.State.Msgs == 0 {
		return int64(info.State.LastSeq) + 1
	}
	return int64(info.State.FirstSeq)
}

// noteGap records a gap between known, a sequence up to which nothing was lost, and the stream's first message.
func (o *orderedSource) noteGap(ctx context.Context, known int64, info *jetstream.StreamInfo) error {
	s := o.session
	first := firstKept(info)
	if known == 0 || first-1 <= known {
		return nil
	}
	trimmed, err := s.bus.trimmed(ctx, groupName(s.spec.Topic, s.spec.Group), info)
	if err != nil {
		return err
	}
	o.passed = first - 1
	known = max(known, trimmed)
	missing := first - 1 - known
	if missing <= 0 {
		return nil
	}
	// The partitions of the missing messages are unknown. With these shares the sum over all partitions is correct.
	partitions := int64(s.bus.opts.Partitions)
	if _, own := s.spec.Topic.OwnName(); own {
		partitions = 1
	}
	share := (missing + int64(s.partition)) / partitions
	if share == 0 {
		return nil
	}
	position := func(seq int64) bus.Position {
		return bus.Position{Partition: s.partition, Epoch: o.hold.epochOf(seq), Offset: seq}
	}
	s.Missed(bus.Gap{After: position(known), First: position(first), Messages: share})
	return nil
}

// stalledAfter is how long a session may have no room for messages before it checks for a gap.
const stalledAfter = 30 * time.Second

// stalled reports, once there is room again, whether there was none for at least stalledAfter.
func (o *orderedSource) stalled(full bool, now time.Time) bool {
	if full {
		if o.fullSince.IsZero() {
			o.fullSince = now
		}
		return false
	}
	long := !o.fullSince.IsZero() && now.Sub(o.fullSince) >= stalledAfter
	o.fullSince = time.Time{}
	return long
}
