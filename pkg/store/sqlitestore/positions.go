package sqlitestore

import (
	"context"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const upsertPosition = `INSERT INTO positions (topic, partition, incarnation, "offset", updated_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (topic, partition) DO UPDATE SET
	incarnation = excluded.incarnation, "offset" = excluded."offset", updated_at = excluded.updated_at`

// WriteAt implements store.Positions. It compares the position before it writes anything, so that a refused move
// changes nothing in the transaction of its group.
func (s *Store) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, move store.Move) ([]store.Written, error) {
	out := make([]store.Written, len(ops))
	var present store.Position
	err := s.write(ctx, "write timers at a position", 1+len(ops), sizeOf(ops), func(c *conn) error {
		if err := c.run(statements.ReadPosition(move.Topic, move.Partition, &present)); err != nil {
			return err
		}
		if present != move.From {
			return nil
		}
		if err := c.applyOps(now, ops, out); err != nil {
			return err
		}
		_, err := c.exec(upsertPosition, move.Topic, move.Partition, move.To.Epoch, move.To.Offset, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	if present != move.From {
		return nil, engine.NotAt(present, move)
	}
	return out, nil
}
