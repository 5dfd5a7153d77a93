package sqlitestore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
)

// Overdue implements store.Shards. It reads as Due does: first one statement for all shards, then the rows of those
// that have some.
func (s *Store) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	if len(q.Shards) == 0 {
		return nil, nil
	}
	cursors := make([]cursorIn, len(q.Shards))
	for i, asked := range q.Shards {
		cursors[i] = cursorIn{asked.Claim, asked.From}
	}
	out := make([]store.OverdueShard, len(q.Shards))
	err := s.read(ctx, "read overdue timers", func(c *conn) error {
		return c.snapshot(func() error {
			firsts, err := c.firsts(cursors)
			if err != nil {
				return err
			}
			room := q.Limit
			for i, f := range firsts {
				within := func(k store.Key) bool { return k.DueAt < q.Before && !k.After(q.Shards[i].Upto) }
				switch {
				case !f.holds:
					out[i].Err = fenced("sweep", cursors[i].claim)
				case !within(f.key):
				case room == 0:
					out[i].More = true
				default:
					if out[i], err = c.overdue(cursors[i], within, room); err != nil {
						return err
					}
					room -= len(out[i].Rows)
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *conn) overdue(at cursorIn, within func(store.Key) bool, room int) (store.OverdueShard, error) {
	var answer store.OverdueShard
	err := c.dueRows(at, room+1, func(row store.DueRow) bool {
		if !within(row.Key()) {
			return false
		}
		if len(answer.Rows) == room {
			answer.More = true
			return false
		}
		answer.Rows = append(answer.Rows, row)
		return true
	})
	return answer, err
}
