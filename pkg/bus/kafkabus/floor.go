package kafkabus

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// Floor implements bus.Bus. It takes three round trips, whatever the number of partitions and callers.
func (b *Bus) Floor(ctx context.Context, topic bus.Topic, group string) (floors bus.Floors, err error) {
	if _, own := topic.OwnName(); own || topic.Kind() == 0 || topic.Kind() == bus.KindHints {
		return nil, fmt.Errorf("floor of %q: %w", topic, bus.ErrUnsupported)
	}
	err = b.handle.Do(func() error {
		floors, err = b.sharedRequest(topic, group).floors(ctx, b.handle)
		return err
	})
	switch {
	case errors.Is(err, bus.ErrClosed):
		return nil, fmt.Errorf("floor of %s: %w", topic, err)
	case err != nil:
		return nil, fmt.Errorf("floor of %s: %w: %w", topic, bus.ErrUnavailable, err)
	}
	return floors, nil
}

// sharedRequest returns the shared request for these floors.
func (b *Bus) sharedRequest(topic bus.Topic, group string) *sharedFloors {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := b.opts.groupID(topic, group)
	t := b.floorsOf[name]
	if t == nil {
		t = &sharedFloors{ask: func(ctx context.Context) (bus.Floors, error) {
			ctx, cancel := context.WithTimeout(ctx, b.opts.Session)
			defer cancel()
			return b.floors(ctx, topic, group)
		}}
		b.floorsOf[name] = t
	}
	return t
}

func (b *Bus) floors(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	name := b.opts.topic(topic)
	partitions, err := b.partitionsOf(ctx, topic)
	if err != nil {
		return nil, err
	}
	is := b.identities.get(name)
	places, err := b.places(ctx, name, partitions, b.opts.groupID(topic, group), is)
	if err != nil {
		return nil, err
	}
	floors := make(bus.Floors, partitions)
	for i := range floors {
		at, p := places[i], shard.Partition(i)
		floors[i] = bus.Floor{
			Floor: position(p, is.epoch, at.next),
			End:   position(p, is.epoch, at.end),
			Depth: int(max(at.end-at.next-at.progress.beyond(at.next), 0)),

			Waiting: bus.WaitingUnknown, // a group does not report which messages members have received
			Queue:   int(p),
		}
	}
	return floors, nil
}

// place is the position of a group in a partition.
type place struct {
	// next is the first offset that is not known to be acknowledged, limited to the offsets in the log.
	next int64
	// end is the offset after the last message.
	end int64
	// progress is the committed progress; zero if there is no commit.
	progress progress
	found    bool
}

// places returns the positions of a group, by partition. It requests the commits before the ends, so that a group
// without backlog does not appear to be ahead of its topic.
func (b *Bus) places(ctx context.Context, topic string, partitions int, group string, is identity) ([]place, error) {
	var commits kadm.OffsetResponses
	var starts []int64
	before, asking := errgroup.WithContext(ctx)
	before.Go(func() (err error) { commits, err = b.commits(asking, group); return err })
	before.Go(func() (err error) { starts, err = b.offsets(asking, topic, partitions, atStart); return err })
	if err := before.Wait(); err != nil {
		return nil, err
	}
	ends, err := b.offsets(ctx, topic, partitions, atEnd)
	if err != nil {
		return nil, err
	}
	places := make([]place, partitions)
	for i := range places {
		at := place{next: starts[i], end: max(starts[i], ends[i])}
		if commit, ok := commits.Lookup(topic, int32(i)); ok && commit.At >= 0 {
			p, err := parseProgress(commit.At, commit.Metadata)
			if err != nil {
				b.log.Warn("commit metadata not readable, using its offset", "group", group, "partition", i, "error", err)
			}
			// A commit for a deleted topic is not valid for the topic that replaced it.
			if p.topic == "" || p.topic == is.id.String() {
				at.progress, at.found = p, true
				at.next = min(max(p.next, at.next), at.end)
			}
		}
		places[i] = at
	}
	return places, nil
}

// commits returns the group's commits.
func (b *Bus) commits(ctx context.Context, group string) (commits kadm.OffsetResponses, err error) {
	err = retryTransient(ctx, retryFor, func(ctx context.Context) error {
		commits, err = b.admin.FetchOffsets(ctx, group)
		if err == nil {
			err = commits.Error()
		}
		return err
	})
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, fmt.Errorf("commits of group %s: %w", group, err)
	}
	return commits, nil
}

// ends returns the ends of the partitions as positions to read from.
func (b *Bus) ends(ctx context.Context, topic string, partitions int) ([]place, error) {
	ends, err := b.offsets(ctx, topic, partitions, atEnd)
	if err != nil {
		return nil, err
	}
	places := make([]place, partitions)
	for i, end := range ends {
		places[i] = place{next: end, end: end}
	}
	return places, nil
}

// Timestamps that request the first offset in the log, and the offset after the last message.
const (
	atStart int64 = -2
	atEnd   int64 = -1
)

// offsets requests one offset of each partition. Unlike the library's calls, it does not look the topic up first.
func (b *Bus) offsets(ctx context.Context, topic string, partitions int, which int64) (offsets []int64, err error) {
	err = retryTransient(ctx, retryFor, func(ctx context.Context) error {
		offsets, err = b.offsetsOnce(ctx, topic, partitions, which)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("offsets of %s: %w", topic, err)
	}
	return offsets, nil
}

func (b *Bus) offsetsOnce(ctx context.Context, topic string, partitions int, which int64) ([]int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1 // a client
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for i := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = int32(i), which
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, b.client)
	if err != nil {
		return nil, err
	}
	offsets := make([]int64, partitions)
	found := 0
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("partition %d: %w", p.Partition, err)
			}
			if p.Partition >= 0 && int(p.Partition) < partitions {
				offsets[p.Partition] = p.Offset
				found++
			}
		}
	}
	if found != partitions {
		return nil, fmt.Errorf("the reply has %d of %d partitions", found, partitions)
	}
	return offsets, nil
}

func (b *Bus) listed(
	ctx context.Context, list func(context.Context, ...string) (kadm.ListedOffsets, error), topic string,
) (kadm.ListedOffsets, error) {
	offsets, err := list(ctx, topic)
	if err == nil {
		err = offsets.Error()
	}
	return offsets, err
}
