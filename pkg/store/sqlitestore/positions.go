package sqlitestore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	selectPosition = `SELECT incarnation, "offset" FROM positions WHERE topic = ? AND partition = ?`
	upsertPosition = `INSERT INTO positions (topic, partition, incarnation, "offset", updated_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (topic, partition) DO UPDATE SET
	incarnation = excluded.incarnation, "offset" = excluded."offset", updated_at = excluded.updated_at`
)

// WriteAt implements store.Positions. It compares the position before it writes anything, so that a refused move
// changes nothing in the transaction of its group.
func (s *Store) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, move store.Move) ([]store.Written, error) {
	out := make([]store.Written, len(ops))
	var refused error
	err := s.write(ctx, "write timers at a position", 1+len(ops), sizeOf(ops), func(c *conn) error {
		refused = nil
		present, err := c.position(move.Topic, move.Partition)
		if err != nil {
			return err
		}
		if present != move.From {
			refused = fmt.Errorf("write timers at a position: %s/%d is at %v, not %v: %w",
				move.Topic, move.Partition, present, move.From, store.ErrConflict)
			return nil
		}
		if err := c.applyOps(now, ops, out); err != nil {
			return err
		}
		_, err = c.exec(upsertPosition, move.Topic, move.Partition, move.To.Epoch, move.To.Offset, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, refused
	}
	return out, nil
}

// Position implements store.Positions.
func (s *Store) Position(ctx context.Context, topic string, partition int) (store.Position, error) {
	var p store.Position
	err := s.read(ctx, "read position", func(c *conn) (err error) {
		p, err = c.position(topic, partition)
		return err
	})
	return p, err
}

func (c *conn) position(topic string, partition int) (p store.Position, err error) {
	_, err = c.one(selectPosition, []any{topic, partition}, &p.Epoch, &p.Offset)
	return p, err
}
