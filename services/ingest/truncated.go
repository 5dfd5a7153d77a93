package ingest

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// truncatedTopic is a stored position that was beyond the end of its partition when the process started. A bus that
// does not fsync the command topic can lose the end of it in a power failure, and assign the positions again. The new
// commands must not be dropped as replays. But a new leader of a replicated topic can also report an end that is too
// early; then commands up to the stored position are replays. Timestamps distinguish the two cases.
type truncatedTopic struct {
	stored store.Position
	// end is the first offset after the topic's end at start.
	end int64
	// since is the start time: a command at offset end or later with a later timestamp is new.
	since timer.Millis
}

// covers reports whether a command that was published at a time is new although its position is not after the stored position.
func (c *truncatedTopic) covers(position store.Position, it *item, published timer.Millis) bool {
	at := it.position()
	return c.end > 0 && position == c.stored && at.Epoch == c.stored.Epoch && at.Offset >= c.end &&
		published >= c.since
}

// truncations compares the stored positions with the end of the topic, by partition. It runs only at start. Sessions of
// natsbus detect a later truncation themselves and start a new epoch. Those of kafkabus log an error and keep the
// epoch: until ingest starts again, commands that get the positions of lost ones count as replays.
func (s *Service) truncations(ctx context.Context) (map[int]truncatedTopic, error) {
	found := make(map[int]truncatedTopic)
	if s.cfg.Positions == nil {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StoreTimeout)
	defer cancel()
	stored := make(map[int]store.Position)
	for p := range s.cfg.Bus.Partitions() {
		at, err := s.cfg.Positions.Position(ctx, string(bus.Commands), p)
		if err != nil {
			return nil, fmt.Errorf("read position of commands partition %d: %w", p, err)
		}
		if at.Offset > 0 {
			stored[p] = at
		}
	}
	if len(stored) == 0 {
		return found, nil
	}
	since := s.cfg.Clock().Add(-s.cfg.ClockBound)
	// The floors are read after the positions, so the end of an intact topic is after every stored position.
	floors, err := s.cfg.Bus.Floor(ctx, bus.Commands, Group)
	if err != nil {
		return nil, fmt.Errorf("read end of commands: %w", err)
	}
	for p, at := range stored {
		if end := floors[p].End; end.Epoch == at.Epoch && at.Offset >= end.Offset {
			found[p] = truncatedTopic{stored: at, end: end.Offset, since: since}
			s.cfg.Logger.Error("command topic ends before the stored position, it may have lost commands",
				"partition", p, "stored", at.Offset, "end", end.Offset)
		}
	}
	return found, nil
}
