package sqlitestore

import (
	"context"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
)

// Overdue implements store.Shards. It reads as Due does.
func (s *Store) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	if len(q.Shards) == 0 {
		return nil, nil
	}
	cursors := make([]cursorIn, len(q.Shards))
	for i, asked := range q.Shards {
		cursors[i] = cursorIn{asked.Claim, asked.From}
	}
	var looks []engine.Look
	err := s.look(ctx, "read overdue timers", cursors, &looks, func(c *conn) error {
		room := q.Limit
		for i := range looks {
			l := &looks[i]
			if !l.Holds || !engine.IsOverdue(&q, i, l.First) || room == 0 {
				continue
			}
			err := c.dueRows(cursors[i], room+1, func(row store.DueRow) bool {
				overdue := engine.IsOverdue(&q, i, row.Key())
				if overdue {
					l.Rows = append(l.Rows, row)
				}
				return overdue
			})
			if err != nil {
				return err
			}
			room = max(0, room-len(l.Rows))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return engine.OverdueAnswers(&q, looks), nil
}
