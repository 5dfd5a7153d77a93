package ingest

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// truncation is the suspicion that a partition of the command topic has lost its end. A server that loses its
// power may forget commands that it did not sync, and gives their positions out again; the commands that get them
// are new, and must not be dropped as applied before. It is no more than a suspicion, because a new leader of a
// replicated topic may tell an end before it knows all of the topic.
type truncation struct {
	// stored is the position beyond the end.
	stored store.Position
	// end is the offset that the topic ended at, and since when: what lies there or later and was taken since is new.
	end   int64
	since timer.Millis
}

// covers reports whether a command at or before the position is new all the same.
func (c *truncation) covers(position store.Position, it *item) bool {
	at := it.position()
	return c.end > 0 && position == c.stored && at.Incarnation == c.stored.Incarnation && at.Offset >= c.end &&
		timer.FromTime(it.delivery.Time) >= c.since
}

// truncations compares the stored positions with the end of the topic. It is asked when the process starts: while
// it runs, the bus tells of a loss by a new incarnation.
func (s *Service) truncations(ctx context.Context) (map[int]truncation, error) {
	if s.cfg.Positions == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StoreTimeout)
	defer cancel()
	stored := make(map[int]store.Position)
	for p := range s.cfg.Bus.Partitions() {
		at, err := s.cfg.Positions.Position(ctx, string(bus.Commands), p)
		if err != nil {
			return nil, fmt.Errorf("position of commands partition %d: %w", p, err)
		}
		if at.Offset > 0 {
			stored[p] = at
		}
	}
	if len(stored) == 0 {
		return nil, nil
	}
	since := s.cfg.Clock().Add(-s.cfg.ClockBound)
	// After the positions: until they were read, the topic held all that they cover.
	floors, err := s.cfg.Bus.Floor(ctx, bus.Commands, Group)
	if err != nil {
		return nil, fmt.Errorf("end of commands: %w", err)
	}
	found := make(map[int]truncation)
	for p, at := range stored {
		if end := floors[p].End; end.Incarnation == at.Incarnation && at.Offset >= end.Offset {
			found[p] = truncation{stored: at, end: end.Offset, since: since}
			s.cfg.Logger.Error("command topic ends before the stored position: it may have lost commands",
				"partition", p, "stored", at.Offset, "end", end.Offset)
		}
	}
	return found, nil
}
