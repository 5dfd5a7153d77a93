package natsbus

import (
	"context"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
)

// A gap is seen when the stream begins after the position up to which a partition is acknowledged. Partitions share
// the stream's sequence, so the committed offset of an idle one falls behind although it has missed nothing. Its
// record therefore also has how far the stream was searched for the partition's messages (record.Passed), which the
// server tells with its heartbeats.
//
// A record without it was written by an earlier release: no gap is told until the new one has written it.

// commit notes how far the partition is acknowledged, and how far nothing of it was missed.
func (r *record) commit(offset, passed int64) {
	r.Offset = offset
	r.Passed = max(r.Passed, passed, offset)
}

// hears takes in a heartbeat: the consumer's last sequence and how far it has searched the stream.
func (o *orderedSource) hears(m *nats.Msg) {
	if m.Subject != o.pull.inbox || m.Header.Get("Status") != "100" {
		return
	}
	delivered, err := strconv.ParseUint(m.Header.Get("Nats-Last-Consumer"), 10, 64)
	if err != nil || delivered != o.sequence || o.window.Committed() != o.last {
		return // something is on its way, or not acknowledged
	}
	if searched, err := strconv.ParseInt(m.Header.Get("Nats-Last-Stream"), 10, 64); err == nil {
		o.passed = max(o.passed, searched)
	}
}

// oldest is the sequence of the oldest message that the stream keeps, or of the next one.
func oldest(info *jetstream.StreamInfo) int64 {
	if info.State.Msgs == 0 {
		return int64(info.State.LastSeq) + 1
	}
	return int64(info.State.FirstSeq)
}

// misses notes a gap between a sequence up to which nothing was missed, and what the stream has.
func (o *orderedSource) misses(ctx context.Context, known int64, info *jetstream.StreamInfo) error {
	s := o.session
	first := oldest(info)
	if known == 0 || first-1 <= known {
		return nil
	}
	trimmed, err := s.bus.trimmed(ctx, groupName(s.spec.Topic, s.spec.Group), o.hold.Incarnation)
	if err != nil {
		return err
	}
	o.passed = first - 1
	known = max(known, trimmed)
	missing := first - 1 - known
	if missing <= 0 {
		return nil
	}
	// Of the missing messages nobody knows the partitions. With these shares the sum over all partitions is right.
	partitions := int64(s.bus.opts.Partitions)
	if _, own := s.spec.Topic.OwnName(); own {
		partitions = 1
	}
	share := (missing + int64(s.partition)) / partitions
	if share == 0 {
		return nil
	}
	position := func(seq int64) bus.Position {
		return bus.Position{Partition: s.partition, Incarnation: o.hold.Incarnation, Offset: seq}
	}
	s.gaps = append(s.gaps, bus.Gap{After: position(known), First: position(first), Messages: share})
	return nil
}

// tell tells the session of gaps.
func (s *session) tell(ctx context.Context, handler bus.Session) {
	gaps := s.gaps
	s.gaps = nil
	told, ok := handler.(bus.GapSession)
	for _, gap := range gaps {
		if ok {
			told.Missed(ctx, gap)
			continue
		}
		s.bus.log.Error("messages were removed before the group had read them", "topic", s.spec.Topic, "group", s.spec.Group,
			"partition", int(s.partition), "after", gap.After.Offset, "first", gap.First.Offset, "messages", gap.Messages)
	}
}

// stalledAfter is after which time without room for messages a gap is looked for before more are read.
const stalledAfter = 30 * time.Second

// stalled reports whether there has been no room for long, once there is some again.
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
