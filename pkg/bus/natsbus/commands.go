package natsbus

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The stream of commands rejects new messages when it is full (DiscardNew) and has no age limit, so that the server
// removes no command that ingest has not applied. trim removes the applied commands.

// commandsLabel is the metadata of a stream of commands whose limits are those of commandsKept. A stream without it
// was created by an earlier release, with a maximum age and DiscardOld.
const (
	commandsLabel = "timerbus-commands"
	commandsKept  = "until-applied"
	// earlierMaxAge is the maximum age that earlier releases set.
	earlierMaxAge = 24 * time.Hour
)

// keepCommands changes the limits that an earlier release set. The label records the change, so it happens once, and
// operators can change the limits afterwards. A maximum age other than the earlier default is kept.
func keepCommands(cfg *jetstream.StreamConfig) {
	if cfg.Metadata[commandsLabel] != "" {
		return
	}
	cfg.Discard = jetstream.DiscardNew
	if cfg.MaxAge == earlierMaxAge {
		cfg.MaxAge = 0
	}
	cfg.Metadata = maps.Clone(cfg.Metadata)
	cfg.Metadata[commandsLabel] = commandsKept
}

// warnOfLoss logs limits that can remove commands before they are applied.
func (b *Bus) warnOfLoss(cfg *jetstream.StreamConfig) {
	if cfg.MaxAge > 0 || cfg.Discard != jetstream.DiscardNew {
		b.log.Warn("the stream of commands may remove commands before they are applied: it has a maximum age or discards old messages",
			"stream", cfg.Name, "max_age", cfg.MaxAge, "discard", cfg.Discard)
	}
}

// trim removes applied commands until ctx ends. It removes commands older than LogMaxAge once the oldest is a
// sixteenth older than that. If the stream is more than half full, it removes the oldest commands until the stream is
// a quarter full. A removal takes several requests for each partition, so it must remove many commands. Every process
// that applies commands runs trim.
func (b *Bus) trim(ctx context.Context) {
	const operation = "remove applied commands"
	wait := b.opts.times.trimEvery
	for timer.Sleep(ctx, wait) {
		reached, err := b.trimOnce(ctx)
		wait = b.opts.times.trimEvery
		if !reached {
			wait = b.opts.times.trimAgain
		}
		switch {
		case err == nil:
			b.outage.Succeeded(operation)
		case ctx.Err() == nil:
			b.outage.Failed(operation, b.plain(err))
		}
	}
}

// trimOnce reports whether it removed everything that should be removed.
func (b *Bus) trimOnce(ctx context.Context) (reached bool, err error) {
	s := b.streams[bus.Commands]
	info, err := b.info(ctx, s)
	if err != nil {
		return false, err
	}
	first := info.State.FirstSeq
	wanted, err := b.trimTo(ctx, info)
	if err != nil || wanted <= first {
		return err == nil, err
	}
	applied, err := b.applied(ctx, info)
	if err != nil {
		return false, err
	}
	to := min(wanted, applied)
	if to <= first {
		return false, nil
	}
	asking, cancel := b.brief(ctx)
	defer cancel()
	err = b.noteTrim(asking, info, to-1)
	var handle jetstream.Stream
	if err == nil {
		handle, err = b.js.Stream(asking, s.name)
	}
	if err == nil {
		err = handle.Purge(asking, jetstream.WithPurgeSequence(to))
	}
	if err != nil {
		return false, fmt.Errorf("remove applied commands of %s before %d: %w", s.name, to, err)
	}
	b.log.Debug("applied commands removed", "from", first, "before", to)
	return to == wanted, nil
}

// trimTo returns the first sequence to keep if all commands are applied; 0 to remove nothing.
func (b *Bus) trimTo(ctx context.Context, info *jetstream.StreamInfo) (uint64, error) {
	state, limit := info.State, info.Config.MaxBytes
	switch {
	case state.Msgs == 0:
		return 0, nil
	case limit > 0 && state.Bytes > uint64(limit)/2:
		excess := state.Bytes - uint64(limit)/4
		return state.FirstSeq + uint64(float64(state.Msgs)*float64(excess)/float64(state.Bytes)), nil
	case info.TimeStamp.Sub(state.FirstTime) > b.opts.LogMaxAge+b.opts.LogMaxAge/16:
		first, err := b.firstSince(ctx, info.Config.Name, info.TimeStamp.Add(-b.opts.LogMaxAge))
		return uint64(first), err
	default:
		return 0, nil
	}
}

// firstSince returns the sequence of the first message that a stream stored at or after a time. The server searches
// for it when a consumer is created.
func (b *Bus) firstSince(ctx context.Context, stream string, since time.Time) (int64, error) {
	ctx, cancel := b.brief(ctx)
	defer cancel()
	made, err := b.js.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &since, AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: b.opts.AckTimeout,
	})
	if err != nil {
		return 0, fmt.Errorf("first message of %s since %v: %w", stream, since, err)
	}
	found := made.CachedInfo()
	if err := b.js.DeleteConsumer(ctx, stream, found.Name); err != nil {
		return 0, fmt.Errorf("first message of %s since %v: %w", stream, since, err)
	}
	return int64(found.Delivered.Stream) + 1, nil
}

// applied returns the sequence before which ingest has acknowledged every command.
//
// On a cluster it uses the owner records only. Around an election, a server that is no longer or not yet the leader
// may reply that a partition has no messages, and unapplied commands would be purged. The records of idle partitions
// follow the end of the stream, because sessions on clusters get a heartbeat every 2 s.
func (b *Bus) applied(ctx context.Context, info *jetstream.StreamInfo) (before uint64, err error) {
	if info.Config.Replicas > 1 {
		before = info.State.LastSeq + 1
		for p := range b.opts.Partitions {
			r, err := b.committed(ctx, recordKey(groupName(bus.Commands, bus.GroupIngest), shard.Partition(p)), info)
			if err != nil {
				return 0, err
			}
			before = min(before, uint64(max(r.Offset, r.Passed))+1)
		}
		return before, nil
	}
	floors, err := b.Floor(ctx, bus.Commands, bus.GroupIngest)
	if err != nil {
		return 0, err
	}
	before = uint64(floors[0].Floor.Offset)
	for _, f := range floors {
		before = min(before, uint64(f.Floor.Offset))
	}
	return before, nil
}

// trimmedKey is the key of the sequence up to which trim has removed messages. Without it these messages would be
// reported as a gap. Watchers of owner records ignore the key.
func trimmedKey(group string) string { return group + ".trimmed" }

// noteTrim records that every message up to a sequence was acknowledged and will be removed. Other processes may do
// the same concurrently; the largest sequence is kept.
func (b *Bus) noteTrim(ctx context.Context, info *jetstream.StreamInfo, last uint64) error {
	key := trimmedKey(groupName(bus.Commands, bus.GroupIngest))
	want := record{Epoch: info.Created.UnixNano(), Offset: int64(last)}
	for {
		r, revision, err := b.recordOf(ctx, key)
		if err != nil || r.Epoch == want.Epoch && r.Offset >= want.Offset {
			return err
		}
		if _, err = b.write(ctx, key, want, revision); !conflict(err) {
			return err
		}
	}
}

// trimmed returns the sequence up to which trim has removed a group's messages.
func (b *Bus) trimmed(ctx context.Context, group string, info *jetstream.StreamInfo) (int64, error) {
	ctx, cancel := b.brief(ctx)
	defer cancel()
	r, _, err := b.recordOf(ctx, trimmedKey(group))
	if err != nil || r.Epoch != info.Created.UnixNano() {
		return 0, err
	}
	return r.Offset, nil
}
