package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
)

// rewindLooks is how often, a second apart, a topic must seem to end before a position until that is believed: a
// new leader of a replicated topic may not know all of it yet. Believing it wrongly would have commands applied
// twice.
const rewindLooks = 10

// rewind sets back the stored positions that lie beyond the end of the command topic. A server that loses its
// power may forget the end of a topic that it does not sync, and gives the positions out again. The commands that
// get them are new, and would be dropped as applied before.
func (s *Service) rewind(ctx context.Context) error {
	if s.cfg.Positions == nil {
		return nil
	}
	moves, err := s.beyond(ctx)
	for look := 1; err == nil && look < rewindLooks && len(moves) > 0; look++ {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil
		}
		var still []store.Move
		still, err = s.beyond(ctx)
		// The earlier the end was seen, the fewer new commands lie before it: the first look's stay.
		moves = slices.DeleteFunc(moves, func(m store.Move) bool {
			return !slices.ContainsFunc(still, func(o store.Move) bool { return o.Partition == m.Partition && o.From == m.From })
		})
	}
	if err != nil {
		return err
	}
	for _, m := range moves {
		s.cfg.Logger.Error("the command topic ends before the stored position: it has lost commands",
			"partition", m.Partition, "stored", m.From.Offset, "last", m.To.Offset)
		call, cancel := context.WithTimeout(ctx, s.cfg.StoreTimeout)
		_, err := s.cfg.Positions.WriteAt(call, s.cfg.Clock(), nil, m)
		cancel()
		if err != nil && !errors.Is(err, store.ErrConflict) { // another process was faster
			return fmt.Errorf("set back commands partition %d: %w", m.Partition, err)
		}
	}
	return nil
}

// beyond lists the positions that lie beyond the topic's end, each with the move to the end.
func (s *Service) beyond(ctx context.Context) (moves []store.Move, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StoreTimeout)
	defer cancel()
	stored := make([]store.Position, s.cfg.Bus.Partitions())
	for p := range stored {
		if stored[p], err = s.cfg.Positions.Position(ctx, string(bus.Commands), p); err != nil {
			return nil, fmt.Errorf("position of commands partition %d: %w", p, err)
		}
	}
	if !slices.ContainsFunc(stored, func(p store.Position) bool { return p.Offset > 0 }) {
		return nil, nil
	}
	// After the positions: until they were read, the topic held all that they cover.
	floors, err := s.cfg.Bus.Floor(ctx, bus.Commands, Group)
	if err != nil {
		return nil, fmt.Errorf("end of commands: %w", err)
	}
	for p, from := range stored {
		if end := floors[p].End; end.Incarnation == from.Incarnation && from.Offset >= end.Offset {
			moves = append(moves, store.Move{
				Topic: string(bus.Commands), Partition: p, From: from,
				To: store.Position{Incarnation: end.Incarnation, Offset: max(end.Offset, 1) - 1},
			})
		}
	}
	return moves, nil
}
