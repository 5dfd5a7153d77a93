package natsbus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Floor implements bus.Bus.
func (b *Bus) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	if b.handle.Closed() {
		return nil, fmt.Errorf("floor of %s: %w", topic, bus.ErrClosed)
	}
	var floors bus.Floors
	var err error
	_, own := topic.OwnName()
	switch kind := topic.Kind(); {
	case own:
		err = bus.ErrUnsupported
	case kind == bus.KindQueue:
		floors, err = b.queueFloor(ctx, group)
	case kind == bus.KindLog:
		floors, err = b.logFloor(ctx, topic, group)
	default:
		err = bus.ErrUnsupported
	}
	switch {
	case err == nil:
		return floors, nil
	case errors.Is(err, bus.ErrUnsupported):
		return nil, fmt.Errorf("floor of %q: %w", topic, err)
	default:
		return nil, fmt.Errorf("floor of %s: %w: %w", topic, bus.ErrUnavailable, b.plain(err))
	}
}

// queueFloor returns, for each partition, the oldest floor of the streams that have unacknowledged messages of it.
func (b *Bus) queueFloor(ctx context.Context, group string) (bus.Floors, error) {
	atHome := b.queue.atHome()
	var parts []*queuePart
	for {
		streams := b.queue.all()[len(parts):] // the reply for stream 0 may add streams
		if len(streams) == 0 {
			break
		}
		asked := make([]*queuePart, len(streams))
		asking, ctx := errgroup.WithContext(ctx)
		for i, s := range streams {
			asking.Go(func() (err error) {
				asked[i], err = b.queuePart(ctx, s, group)
				return err
			})
		}
		if err := asking.Wait(); err != nil {
			return nil, err
		}
		parts = append(parts, asked...)
	}
	floors := make(bus.Floors, b.opts.Partitions)
	for i := range floors {
		p := shard.Partition(i)
		floors[i] = b.queue.floor(p, parts, atHome[b.queue.home(p)])
	}
	return floors, nil
}

// queuePart is the state of one stream of the queue for a group.
type queuePart struct {
	*stream
	first, end uint64
	depth      int
	waiting    int               // messages that no member has received
	subjects   map[string]uint64 // number of messages by subject
}

// queuePart requests the stream's state and then the consumer's.
func (b *Bus) queuePart(ctx context.Context, s *stream, group string) (*queuePart, error) {
	part := &queuePart{stream: s}
	info, err := b.info(ctx, s)
	if errors.Is(err, jetstream.ErrStreamNotFound) && b.queue.foreign(s) {
		return part, nil // an operator has deleted it
	}
	if err != nil {
		return nil, err
	}
	consumer, err := b.consumer(ctx, s, durableName(group))
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) { // without a consumer, the group has never consumed
		return nil, err
	}
	part.count(&info.State, consumer)
	return part, nil
}

// count sets the numbers of messages from the stream's state and the consumer's, which is nil if there is none. The
// consumer's state must be newer.
//
// The consumer's number of undelivered messages may be smaller than the truth: the server counts a message some time after
// it has acknowledged the publish, and in a cluster the consumer's leader may not have received it yet. Therefore the
// messages of the stream after the last delivered one count as undelivered.
//
// The first message of a work-queue stream alone is not a floor. A killed server restores messages whose removal was
// not on disk yet. If they are at or below the consumer's ack floor, the consumer never delivers them; repair removes
// them.
func (part *queuePart) count(stream *jetstream.StreamState, consumer *jetstream.ConsumerInfo) {
	part.end, part.subjects = stream.LastSeq+1, stream.Subjects
	part.first, part.depth, part.waiting = stream.FirstSeq, int(stream.Msgs), int(stream.Msgs)
	if consumer != nil {
		part.first = max(part.first, consumer.AckFloor.Stream+1)
		undelivered := min(stream.Msgs, stream.LastSeq-min(stream.LastSeq, consumer.Delivered.Stream))
		part.waiting = int(max(consumer.NumPending, undelivered))
		part.depth = consumer.NumAckPending + part.waiting
	}
	if part.depth == 0 {
		part.first = part.end
	}
	// The depth may include messages that are newer than the stream's state.
	part.end = max(part.end, part.first+uint64(min(part.depth, 1)))
}

// remaining returns how many of the partition's messages may be unacknowledged.
func (part *queuePart) remaining(p shard.Partition) int {
	if part.depth == 0 {
		return 0
	}
	return int(part.subjects[part.stream.subjects+strconv.Itoa(int(p))])
}

// atHome reports, for each home, whether this process publishes to it and no running publish uses stream 0 instead.
func (q *dueQueue) atHome() []bool {
	streams, at := q.all(), make([]bool, q.homes)
	for k := range at {
		at[k] = k == 0 || streams[k].consumed.Load()
	}
	if q.early.Load() > 0 {
		clear(at[1:])
	}
	return at
}

// floor returns the floor of a partition. The caller must have called atHome before it requested the parts.
func (q *dueQueue) floor(p shard.Partition, parts []*queuePart, atHome bool) bus.Floor {
	current := parts[q.home(p)]
	if current.number > 0 && !current.consumed.Load() {
		current = parts[0]
	}
	at := func(part *queuePart, seq uint64) bus.Position { return q.ranked(part.stream, part.position(p, seq)) }
	f := bus.Floor{
		Floor: at(current, current.first), End: at(current, current.end),
		Depth: current.depth, Waiting: current.waiting, Queue: current.number,
	}
	hold := func(part *queuePart) {
		if oldest := at(part, part.first); oldest.Before(f.Floor) {
			f.Floor = oldest
		}
	}
	for _, part := range parts {
		if n := part.remaining(p); n > 0 && part != current {
			f.Depth += n
			hold(part)
		}
	}
	if current.number > 0 && !atHome {
		hold(parts[0])
	}
	return f
}

func (b *Bus) consumer(ctx context.Context, s *stream, durable string) (*jetstream.ConsumerInfo, error) {
	ctx, cancel := b.brief(ctx)
	defer cancel()
	consumer, err := b.js.Consumer(ctx, s.name, durable) // requests the state from the server
	if err != nil {
		return nil, fmt.Errorf("state of consumer %s of stream %s: %w", durable, s.name, err)
	}
	return consumer.CachedInfo(), nil
}

// logFloor sends two requests for each partition, and more for partitions with a backlog. It is meant for health
// checks and operators, not for loops.
//
// A new leader may reply before it has applied all committed entries, and then reports an existing message as not
// found. Therefore logFloor discards its result if the leader has changed during the requests.
func (b *Bus) logFloor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	s := b.streams[topic]
	for {
		before, err := b.info(ctx, s)
		if err != nil {
			return nil, err
		}
		floors, err := b.logFloorSince(ctx, s, topic, group, before)
		if err != nil || before.Cluster == nil || len(before.Cluster.Replicas) == 0 {
			return floors, err
		}
		after, err := b.info(ctx, s)
		if err != nil {
			return nil, err
		}
		if after.Cluster != nil && after.Cluster.Leader == before.Cluster.Leader && after.State.LastSeq >= before.State.LastSeq {
			return floors, nil
		}
		if !timer.Sleep(ctx, 50*time.Millisecond) {
			return nil, fmt.Errorf("leader of stream %s is changing: %w", s.name, ctx.Err())
		}
	}
}

// logFloorSince is logFloor for a given state of the stream.
func (b *Bus) logFloorSince(
	ctx context.Context, s *stream, topic bus.Topic, group string, info *jetstream.StreamInfo,
) (bus.Floors, error) {
	floors := make(bus.Floors, b.opts.Partitions)
	for i := range floors {
		p := shard.Partition(i)
		r, err := b.committed(ctx, recordKey(groupName(topic, group), p), info)
		if err != nil {
			return nil, err
		}
		at := func(seq uint64) bus.Position {
			return bus.Position{Partition: p, Epoch: r.epochOf(int64(seq)), Offset: int64(seq)}
		}
		end := info.State.LastSeq + 1
		floors[i] = bus.Floor{Floor: at(end), End: at(end)}
		if uint64(r.Offset) >= info.State.LastSeq {
			continue
		}
		first, depth, err := b.remaining(ctx, s, topic, p, uint64(r.Offset)+1)
		if err != nil {
			return nil, err
		}
		if depth > 0 {
			floors[i].Depth = depth
			floors[i].Floor = at(first)
			// depth also counts messages that are newer than the stream's state.
			floors[i].End = at(max(end, first+1))
		}
	}
	return floors, nil
}

// committed reads a partition's record. It returns an empty record if there is none for this stream.
func (b *Bus) committed(ctx context.Context, key string, info *jetstream.StreamInfo) (record, error) {
	none := record{Epoch: info.Created.UnixNano()}
	r, _, err := b.recordOf(ctx, key)
	if err != nil {
		return none, err
	}
	if r.Epoch < none.Epoch {
		return none, nil
	}
	return r, nil
}

// recordOf reads a record and its revision. It returns zero values if there is no record.
func (b *Bus) recordOf(ctx context.Context, key string) (r record, revision uint64, err error) {
	found, err := b.owners.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return r, 0, nil
	}
	if err != nil {
		return r, 0, fmt.Errorf("read record %s: %w", key, err)
	}
	if r, err = decodeRecord(found.Value()); err != nil {
		return r, 0, fmt.Errorf("decode record %s: %w", key, err)
	}
	return r, found.Revision(), nil
}

// remaining returns the sequence of a partition's first message at or after from, and the number of messages.
// Counting needs a consumer, so remaining creates one only if there is a message.
func (b *Bus) remaining(
	ctx context.Context, s *stream, topic bus.Topic, p shard.Partition, from uint64,
) (first uint64, depth int, err error) {
	handle, err := b.js.Stream(ctx, s.name)
	if err != nil {
		return 0, 0, fmt.Errorf("count %s: %w", s.name, err)
	}
	subjects := b.opts.subjects(topic, p)
	for _, subject := range subjects {
		m, err := handle.GetMsg(ctx, from, jetstream.WithGetMsgSubject(subject))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
		case err != nil:
			return 0, 0, fmt.Errorf("first message of %s from %d: %w", subject, from, err)
		case first == 0 || m.Sequence < first:
			first = m.Sequence
		}
	}
	if first == 0 {
		return 0, 0, nil
	}
	consumer, err := b.js.CreateConsumer(ctx, s.name, jetstream.ConsumerConfig{
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       first,
		AckPolicy:         jetstream.AckNonePolicy,
		FilterSubjects:    subjects,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: b.opts.AckTimeout,
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count %s: %w", s.name, err)
	}
	info := consumer.CachedInfo()
	if err := b.js.DeleteConsumer(ctx, s.name, info.Name); err != nil {
		return 0, 0, fmt.Errorf("count %s: %w", s.name, err)
	}
	return first, int(info.NumPending), nil
}
