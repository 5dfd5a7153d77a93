package mysqlstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
)

// Current implements store.Outcomes. Checks that count no start, nearly all, do not lock rows.
func (s *Store) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	if len(checks) == 0 {
		return nil, nil
	}
	out := make([]store.Checked, len(checks))
	var reads, counts []int
	for i := range checks {
		if checks[i].CountStart {
			counts = append(counts, i)
		} else {
			reads = append(reads, i)
		}
	}
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

// countStarts performs checks in their order, with the rows locked. Counting a start changes nothing else in the row.
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
		slot := l.slots[checks[i].Ref]
		out[i] = store.Checked{}
		if slot.Is == nil {
			continue
		}
		out[i] = store.Checked{Found: true, Timer: slot.Is.Timer}
		out[i].Timer.Payload = slices.Clone(slot.Is.Timer.Payload)
		if out[i].Matches(checks[i].Revision) {
			out[i].Counted = true
			slot.CountStart()
		}
	}
	return l.flush(ctx)
}
