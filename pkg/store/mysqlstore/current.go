package mysqlstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
)

// Current implements store.Outcomes. Checks that count no start, nearly all, do not lock rows.
func (s *Store) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	if len(checks) == 0 {
		return nil, nil
	}
	out := make([]store.Checked, len(checks))
	reads, counts := engine.SplitChecks(checks)
	if len(reads) > 0 {
		err := s.read(ctx, "check rows", func(c *conn) error { return c.current(ctx, checks, reads, out) })
		if err != nil {
			return nil, err
		}
	}
	if len(counts) > 0 {
		err := s.write(ctx, "check rows and count starts", func(c *conn) error { return s.countStarts(ctx, c, checks, counts, out) })
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *conn) current(ctx context.Context, checks []store.Check, places []int, out []store.Checked) error {
	for some := range slices.Chunk(places, maxRows) {
		args := make([]any, 0, 3*len(some))
		for _, i := range some {
			out[i] = store.Checked{}
			args = append(args, i, int64(checks[i].Ref.Shard), checks[i].Ref.UUID[:])
		}
		err := c.each(ctx, func(rows *sql.Rows) error {
			var place int64
			t, _, err := c.row(rows).Timer(&place)
			out[place] = store.Checked{Found: true, Timer: t}
			return err
		}, "SELECT k.p, "+dialect.LiveColumns("t.")+" FROM "+list(len(some), "p", "s", "u")+
			" STRAIGHT_JOIN timers t ON t.shard_id = k.s AND t.uuid = k.u", args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// countStarts performs checks in their order, with the rows locked.
func (s *Store) countStarts(ctx context.Context, c *conn, checks []store.Check, places []int, out []store.Checked) error {
	needs := make(map[store.Ref]need, len(places))
	for _, i := range places {
		needs[checks[i].Ref] = need{payload: true}
	}
	l, err := s.lock(ctx, c, 0, needs)
	if err != nil {
		return err
	}
	for _, i := range places {
		out[i] = l.slots[checks[i].Ref].Check(&checks[i])
	}
	return l.flush(ctx)
}
