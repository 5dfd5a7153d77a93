package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
)

// selectCurrentOf reads rows by their keys, for each of valuesSizes.
var selectCurrentOf = func() map[int]string {
	selectCurrent := "WITH asked (place, in_shard, with_uuid) AS (VALUES %s) SELECT place, " + timerColumns +
		" FROM asked CROSS JOIN timers ON shard = in_shard AND uuid = with_uuid"
	queries := map[int]string{}
	for _, size := range valuesSizes {
		queries[size] = fmt.Sprintf(selectCurrent, values(size, 3))
	}
	return queries
}()

// Current implements store.Outcomes. Checks that count a start are writes and use the writer. The other checks, nearly
// all, are reads and use the readers.
func (s *Store) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	if len(checks) == 0 {
		return nil, nil
	}
	out := make([]store.Checked, len(checks))
	reads, counts := engine.SplitChecks(checks)
	if len(reads) > 0 {
		err := s.read(ctx, "check rows", func(c *conn) error { return c.current(checks, reads, out) })
		if err != nil {
			return nil, err
		}
	}
	if len(counts) > 0 {
		err := s.write(ctx, "check rows and count starts", len(counts), 0, func(c *conn) error {
			for _, i := range counts {
				var err error
				if out[i], err = c.countStart(&checks[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *conn) current(checks []store.Check, places []int, out []store.Checked) error {
	for len(places) > 0 {
		size, take := valuesSize(len(places))
		args := make([]any, 0, 3*size)
		for _, i := range places[:take] {
			args = append(args, i, checks[i].Ref.Shard, checks[i].Ref.UUID[:])
		}
		args = append(args, make([]any, 3*(size-take))...)
		err := c.each(func(rows *sql.Rows) error {
			var place int64
			t, _, err := c.row(rows).Timer(&place)
			out[place] = store.Checked{Found: true, Timer: t}
			return err
		}, selectCurrentOf[size], args...)
		if err != nil {
			return err
		}
		places = places[take:]
	}
	return nil
}

func (c *conn) countStart(check *store.Check) (store.Checked, error) {
	s, err := c.slot(selectSlot, check.Ref)
	if err != nil {
		return store.Checked{}, err
	}
	answer := s.Check(check)
	return answer, c.flush(s)
}
