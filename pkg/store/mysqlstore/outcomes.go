package mysqlstore

import (
	"context"

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
		needs[f.Ref] = need{payload: needs[f.Ref].payload || f.Kind == store.FinishDead}
	}
	out := make([]error, len(items))
	err := s.write(ctx, "finish timers", func(c *conn) error {
		l, err := s.lock(ctx, c, now, needs)
		if err != nil {
			return err
		}
		for i := range items {
			out[i] = l.slots[items[i].Ref].Finish(now, &items[i])
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
