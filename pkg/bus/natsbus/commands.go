package natsbus

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
)

// The stream of commands refuses new messages when it is full (DiscardNew) and has no age limit, so that the server
// removes no command that ingest has not applied. Applied ones are removed here (trim).

// commandsLabel is the metadata of a stream of commands whose limits are those of commandsKept. Without it the stream
// was made by an earlier release, with a maximum age and DiscardOld.
const (
	commandsLabel = "timerbus-commands"
	commandsKept  = "until-applied"
	// earlierMaxAge is the age that earlier releases set.
	earlierMaxAge = 24 * time.Hour
)

// keepCommands changes the limits that an earlier release set, once: the label says that it was done, so what an
// operator changes afterwards stays. An age that an operator chose before stays, too.
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

// warnOfLoss tells of limits by which commands can be lost.
func (b *Bus) warnOfLoss(cfg *jetstream.StreamConfig) {
	if cfg.MaxAge > 0 || cfg.Discard != jetstream.DiscardNew {
		b.log.Warn("the stream of commands may remove commands before they are applied: it has a maximum age or discards old messages",
			"stream", cfg.Name, "max_age", cfg.MaxAge, "discard", cfg.Discard)
	}
}

const (
	// trimEvery is how often a consumer of commands looks whether applied ones are to be removed.
	trimEvery = 2 * time.Second
	// trimAgain is how long it waits where some had to stay because others are not applied.
	trimAgain = 10 * time.Second
)

// trim removes commands that have been applied until ctx ends: those older than LogMaxAge, and the oldest where the
// stream is more than half full, down to a quarter. Every process that applies commands does so.
func (b *Bus) trim(ctx context.Context) {
	wait, failing := trimEvery, false
	for pause(ctx, wait) {
		reached, err := b.trimOnce(ctx)
		wait = trimEvery
		if !reached {
			wait = trimAgain
		}
		if err != nil && !failing && ctx.Err() == nil {
			b.log.Warn("applied commands not removed, trying again", "error", err)
		}
		failing = err != nil
	}
}

// trimOnce reports whether everything that should go is gone.
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
	applied, err := b.applied(ctx)
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

// trimTo is the first sequence to keep if everything is applied; 0 if nothing is to go.
func (b *Bus) trimTo(ctx context.Context, info *jetstream.StreamInfo) (uint64, error) {
	state, limit := info.State, info.Config.MaxBytes
	switch {
	case state.Msgs == 0:
		return 0, nil
	case limit > 0 && state.Bytes > uint64(limit)/2:
		excess := state.Bytes - uint64(limit)/4
		return state.FirstSeq + uint64(float64(state.Msgs)*float64(excess)/float64(state.Bytes)), nil
	case info.TimeStamp.Sub(state.FirstTime) > b.opts.LogMaxAge:
		return b.firstSince(ctx, info, info.TimeStamp.Add(-b.opts.LogMaxAge))
	default:
		return 0, nil
	}
}

// firstSince is the sequence of the first message that the stream took at a time or later. The server looks for it
// when a consumer is made.
func (b *Bus) firstSince(ctx context.Context, info *jetstream.StreamInfo, since time.Time) (uint64, error) {
	ctx, cancel := b.brief(ctx)
	defer cancel()
	made, err := b.js.CreateConsumer(ctx, info.Config.Name, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &since, AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: b.opts.AckTimeout,
	})
	if err != nil {
		return 0, fmt.Errorf("first message of %s since %v: %w", info.Config.Name, since, err)
	}
	found := made.CachedInfo()
	if err := b.js.DeleteConsumer(ctx, info.Config.Name, found.Name); err != nil {
		return 0, fmt.Errorf("first message of %s since %v: %w", info.Config.Name, since, err)
	}
	return found.Delivered.Stream + 1, nil
}

// applied is the sequence before which ingest has acknowledged every command.
func (b *Bus) applied(ctx context.Context) (uint64, error) {
	floors, err := b.Floor(ctx, bus.Commands, bus.GroupIngest)
	if err != nil {
		return 0, err
	}
	before := floors[0].Floor.Offset
	for _, f := range floors {
		before = min(before, f.Floor.Offset)
	}
	return uint64(before), nil
}

// trimmedKey is where the owners bucket holds up to which sequence trim has removed messages, so that nobody takes
// them for a gap. Watchers of owner records pass over it.
func trimmedKey(group string) string { return group + ".trimmed" }

// noteTrim writes down that everything up to a sequence was acknowledged and is going to be removed.
func (b *Bus) noteTrim(ctx context.Context, info *jetstream.StreamInfo, last uint64) error {
	key := trimmedKey(groupName(bus.Commands, bus.GroupIngest))
	r, revision, err := b.recordOf(ctx, key)
	want := record{Incarnation: info.Created.UnixNano(), Offset: int64(last)}
	if err != nil || r.Incarnation == want.Incarnation && r.Offset >= want.Offset {
		return err
	}
	_, err = b.write(ctx, key, want, revision)
	return err
}

// trimmed is the sequence up to which trim has removed a group's messages.
func (b *Bus) trimmed(ctx context.Context, group string, incarnation int64) (int64, error) {
	ctx, cancel := b.brief(ctx)
	defer cancel()
	r, _, err := b.recordOf(ctx, trimmedKey(group))
	if err != nil || r.Incarnation != incarnation {
		return 0, err
	}
	return r.Offset, nil
}
