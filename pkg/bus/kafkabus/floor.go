package kafkabus

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// Floor implements bus.Bus. It is five questions, whatever the number of partitions.
func (b *Bus) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	_, own := topic.OwnName()
	switch {
	case b.isClosed():
		return nil, fmt.Errorf("floor of %s: %w", topic, bus.ErrClosed)
	case topic.Kind() == 0 || topic.Kind() == bus.KindHints || own:
		return nil, fmt.Errorf("floor of %q: %w", topic, bus.ErrUnsupported)
	}
	floors, err := b.floors(ctx, topic, group)
	if err != nil {
		return nil, fmt.Errorf("floor of %s: %w: %w", topic, bus.ErrUnavailable, err)
	}
	return floors, nil
}

func (b *Bus) floors(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	name := b.opts.topic(topic)
	if err := b.identify(ctx, name); err != nil {
		return nil, err
	}
	is := b.identities.get(name)
	if topic.Kind() == bus.KindQueue && b.opts.ShareGroups {
		return b.sharedFloors(ctx, name, b.opts.groupID(topic, group), is)
	}
	places, err := b.places(ctx, name, b.opts.Partitions, b.opts.groupID(topic, group), is)
	if err != nil {
		return nil, err
	}
	floors := make(bus.Floors, b.opts.Partitions)
	for i := range floors {
		at := places[i]
		floors[i] = floorOf(shard.Partition(i), is, at.next, at.end, at.progress.beyond(at.next))
	}
	return floors, nil
}

func floorOf(p shard.Partition, is identity, next, end, acked int64) bus.Floor {
	return bus.Floor{
		Floor: position(p, is.incarnation, next),
		End:   position(p, is.incarnation, end),
		Depth: int(max(end-next-acked, 0)),
	}
}

// place is where a group is in a partition.
type place struct {
	// next is the first offset not known to be acknowledged, within the log as it is kept.
	next int64
	// end lies behind the last message.
	end int64
	// progress is what was committed; zero if nothing was.
	progress progress
	found    bool
}

// places asks where a group is, by partition. Commits are asked for before the ends, so that a group
// that keeps up is not seen ahead of its topic.
func (b *Bus) places(ctx context.Context, topic string, partitions int, group string, is identity) ([]place, error) {
	commits, err := b.commits(ctx, group)
	if err != nil {
		return nil, err
	}
	bounds, err := b.bounds(ctx, topic, partitions)
	if err != nil {
		return nil, err
	}
	places := make([]place, partitions)
	for i := range places {
		at := place{next: bounds[i].start, end: bounds[i].end}
		if commit, ok := commits.Lookup(topic, int32(i)); ok && commit.At >= 0 {
			p, err := parseProgress(commit.At, commit.Metadata)
			if err != nil {
				b.log.Warn("commit not understood, its offset is used", "group", group, "partition", i, "error", err)
			}
			// A commit of a topic that is gone says nothing about the one in its place.
			if p.topic == "" || p.topic == is.id.String() {
				at.progress, at.found = p, true
				at.next = min(max(p.next, at.next), at.end)
			}
		}
		places[i] = at
	}
	return places, nil
}

// commits is what the group has committed.
func (b *Bus) commits(ctx context.Context, group string) (commits kadm.OffsetResponses, err error) {
	err = patiently(ctx, patience, func(ctx context.Context) error {
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

// bound is what is kept of a partition: start is the first offset, end the next one.
type bound struct{ start, end int64 }

func (b *Bus) bounds(ctx context.Context, topic string, partitions int) ([]bound, error) {
	bounds := make([]bound, partitions)
	err := patiently(ctx, patience, func(ctx context.Context) error {
		starts, err := b.listed(ctx, b.admin.ListStartOffsets, topic)
		if err != nil {
			return fmt.Errorf("start of %s: %w", topic, err)
		}
		ends, err := b.listed(ctx, b.admin.ListEndOffsets, topic)
		if err != nil {
			return fmt.Errorf("end of %s: %w", topic, err)
		}
		for i := range bounds {
			start, okStart := starts.Lookup(topic, int32(i))
			end, okEnd := ends.Lookup(topic, int32(i))
			if !okStart || !okEnd {
				return fmt.Errorf("partition %d of %s is missing", i, topic)
			}
			bounds[i] = bound{start.Offset, max(start.Offset, end.Offset)}
		}
		return nil
	})
	return bounds, err
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
