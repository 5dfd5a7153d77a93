package mysqlstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Finish implements store.Outcomes.
func (s *Store) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	needs := make(map[store.Ref]need, len(items))
	for i := range items {
		f := &items[i]
		needs[f.Ref] = need{payload: needs[f.Ref].payload || f.Kind == store.FinishDead || engine.KeepsPayload(f)}
		if f.FollowUp != nil {
			needs[f.FollowUp.Ref] = need{}
		}
	}
	out := make([]error, len(items))
	err := s.write(ctx, "finish timers", func(c *conn) error {
		l, err := s.lock(ctx, c, now, needs)
		if err != nil {
			return err
		}
		for i := range items {
			f := &items[i]
			out[i] = l.slots[f.Ref].Finish(now, f)
			if out[i] == nil && f.FollowUp != nil {
				l.slots[f.FollowUp.Ref].Apply(now, *f.FollowUp)
			}
		}
		return l.flush(ctx)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Rearm implements store.Outcomes.
func (s *Store) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	if len(items) == 0 {
		return nil, nil
	}
	needs := make(map[store.Ref]need, len(items))
	for i := range items {
		needs[items[i].Ref] = need{payload: true, ended: true}
	}
	out := make([]store.Written, len(items))
	err := s.write(ctx, "rearm timers", func(c *conn) error {
		l, err := s.lock(ctx, c, now, needs)
		if err != nil {
			return err
		}
		for i := range items {
			out[i] = l.slots[items[i].Ref].Rearm(now, &items[i])
		}
		return l.flush(ctx)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

const ofGeneration = " STRAIGHT_JOIN history h ON h.shard_id = k.s AND h.uuid = k.u AND h.generation = k.a"

// Forget implements store.Outcomes.
func (s *Store) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	sorted := slices.SortedFunc(slices.Values(items), func(a, b store.Forget) int { return compareRefs(a.Ref, b.Ref) })
	var out []error
	err := s.write(ctx, "forget timers", func(c *conn) error {
		ends := make(map[store.Forget]bool, len(items))
		for some := range slices.Chunk(sorted, maxRows) {
			args := make([]any, 0, 4*len(some)+1)
			for i, item := range some {
				args = append(args, i, int64(item.Ref.Shard), uuidOf(item.Ref.UUID), int64(item.Generation))
			}
			err := c.each(ctx, func(rows *sql.Rows) error {
				var place int
				var marked bool
				err := rows.Scan(&place, &marked)
				ends[some[place]] = marked
				return err
			}, "SELECT k.p, h.marked_at IS NOT NULL FROM "+list(len(some), "p", "s", "u", "a")+ofGeneration+
				" WHERE "+unexpiredEnd+" FOR UPDATE", append(args, int64(now))...)
			if err != nil {
				return err
			}
		}
		var gone []store.Forget
		out, gone = engine.Forget(items, ends)
		for some := range slices.Chunk(gone, maxRows) {
			args := make([]any, 0, 3*len(some))
			for _, item := range some {
				args = append(args, int64(item.Ref.Shard), uuidOf(item.Ref.UUID), int64(item.Generation))
			}
			if _, err := c.exec(ctx, "DELETE h FROM "+list(len(some), "s", "u", "a")+ofGeneration, args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

const purge = "DELETE FROM history WHERE purge_at <= ? ORDER BY purge_at LIMIT ?"

// Purge implements store.Outcomes. It removes rows in the order in which they expired.
func (s *Store) Purge(ctx context.Context, now timer.Millis, limit int) (int, error) {
	var n int64
	err := s.writeOne(ctx, "purge history", func(c *conn) (err error) {
		n, err = c.exec(ctx, purge, int64(now), limit)
		return err
	})
	return int(n), err
}
