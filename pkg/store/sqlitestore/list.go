package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/internal/relational"
	"github.com/timerbus/timerbus/pkg/timer"
)

// maxLooked is the most rows that one page looks at, so that a filter that hardly matches gives short
// pages soon instead of a long wait.
const maxLooked = 10_000

// walk is a way through a table in the order of its key: through a block of shards, or through the
// timers of one correlation id in the block.
type walk struct {
	// last finds the key of the maxLooked-th row behind the start, from the index alone.
	last string
	// page selects the rows behind the start, up to the last one, that pass the filters.
	page string
	// made selects the timer whose made correlation id is asked for. It stands in some shard of
	// the block, and each is probed. Empty without correlation id.
	made string
}

// The parts that the statements are put together from. Live rows have no generation in their key; the
// places of their walk carry one that compares as nothing would.
const (
	liveAfter  = "(shard, uuid) > (?, ?) AND shard < ?"
	liveUpto   = "(shard, uuid) <= (?, ?)"
	liveFilter = "(? = '' OR status = ?) AND due_at >= ? AND due_at < ?"
	liveOrder  = "ORDER BY shard, uuid"

	endAfter  = "(shard, uuid, generation, attempt) > (?, ?, ?, ?) AND shard < ?"
	endUpto   = "(shard, uuid, generation, attempt) <= (?, ?, ?, ?)"
	endFilter = "outcome = ? AND expires_at > ? AND execute_at >= ? AND execute_at < ?"
	endOrder  = "ORDER BY shard, uuid, generation, attempt"

	ofCorrelation = "correlation_id = ? AND "
	ofMade        = " ON shard = probed AND uuid = ? WHERE correlation_id IS NULL AND "
	// The shards of a block, to be crossed with a table.
	probe = "WITH RECURSIVE block(probed) AS (VALUES (?) UNION ALL SELECT probed + 1 FROM block WHERE probed + 1 < ?) SELECT "
)

// way chooses a walk.
type way struct{ finished, byCorrelation bool }

var walks = map[way]walk{
	{finished: false, byCorrelation: false}: {
		last: "SELECT shard, uuid FROM timers WHERE " + liveAfter + " " + liveOrder + " LIMIT 1 OFFSET ?",
		page: "SELECT " + timerColumns + " FROM timers WHERE " + liveAfter + " AND " + liveUpto +
			" AND " + liveFilter + " " + liveOrder + " LIMIT ?",
	},
	{finished: false, byCorrelation: true}: {
		last: "SELECT shard, uuid FROM timers WHERE " + ofCorrelation + liveAfter + " " + liveOrder + " LIMIT 1 OFFSET ?",
		page: "SELECT " + timerColumns + " FROM timers WHERE " + ofCorrelation + liveAfter + " AND " + liveUpto +
			" AND " + liveFilter + " " + liveOrder + " LIMIT ?",
		made: probe + timerColumns + " FROM block CROSS JOIN timers" + ofMade + liveFilter,
	},
	{finished: true, byCorrelation: false}: {
		last: "SELECT shard, uuid, generation, attempt FROM history WHERE " + endAfter + " " + endOrder + " LIMIT 1 OFFSET ?",
		page: "SELECT " + endColumns + " FROM history WHERE " + endAfter + " AND " + endUpto +
			" AND " + endFilter + " " + endOrder + " LIMIT ?",
	},
	{finished: true, byCorrelation: true}: {
		last: "SELECT shard, uuid, generation, attempt FROM history WHERE " + ofCorrelation + endAfter +
			" " + endOrder + " LIMIT 1 OFFSET ?",
		page: "SELECT " + endColumns + " FROM history WHERE " + ofCorrelation + endAfter + " AND " + endUpto +
			" AND " + endFilter + " " + endOrder + " LIMIT ?",
		made: probe + endColumns + " FROM block CROSS JOIN history" + ofMade + endFilter,
	},
}

// List implements store.Timers: by (shard, uuid), finished ones also by (generation, attempt).
func (s *Store) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	op := fmt.Sprintf("list timers of %q", q.Namespace.Name)
	from, err := cursors.Start(&q)
	if err != nil {
		return store.Page{}, fmt.Errorf("%s: %w: %w", op, store.ErrInvalid, err)
	}
	l := lister{q: &q, now: now, finished: q.Status.Finished(), maxLooked: s.maxLooked}
	l.walk = walks[way{finished: l.finished, byCorrelation: q.CorrelationID != ""}]
	var page store.Page
	err = s.read(ctx, op, func(c *conn) error {
		return c.snapshot(func() (err error) {
			page, err = l.read(c, from)
			return err
		})
	})
	if err != nil {
		return store.Page{}, err
	}
	return page, nil
}

// lister reads one page.
type lister struct {
	q        *store.ListQuery
	now      timer.Millis
	finished bool
	walk     walk
	// maxLooked is the constant, except in tests.
	maxLooked int
}

// listed is a timer and where it stands.
type listed struct {
	at    place
	timer timer.Timer
}

func (l *lister) read(c *conn, from place) (store.Page, error) {
	upto, cut, err := l.bound(c, from)
	if err != nil {
		return store.Page{}, err
	}
	found, err := l.fetch(c, from, upto)
	if err != nil {
		return store.Page{}, err
	}
	var page store.Page
	for i, f := range found {
		if i == l.q.Limit {
			page.Next = cursors.At(found[i-1].at, l.finished)
			return page, nil
		}
		page.Timers = append(page.Timers, f.timer)
	}
	if cut {
		page.Next = cursors.At(upto, l.finished)
	}
	return page, nil
}

// bound returns the last place this page may look at, and whether there may be rows behind it.
func (l *lister) bound(c *conn, from place) (upto place, cut bool, err error) {
	if l.q.Status == "" && l.q.DueFrom == 0 && l.q.DueBefore == 0 {
		return relational.BehindAll(), false, nil // every row is a hit: the page's limit bounds enough
	}
	var args []any
	if l.q.CorrelationID != "" {
		args = append(args, l.q.CorrelationID)
	}
	args = append(append(args, l.after(from)...), l.maxLooked-1)
	var id int64
	dest := []any{&id, (*uuidColumn)(&upto.UUID)}
	if l.finished {
		dest = append(dest, &upto.Generation, &upto.Attempt)
	}
	cut, err = c.one(l.walk.last, args, dest...)
	if !cut {
		return relational.BehindAll(), false, err
	}
	upto.Shard = shard.ID(id)
	return upto, cut, err
}

// fetch returns the rows in (from, upto] that pass the filters: one more than the page holds, if there
// are so many.
func (l *lister) fetch(c *conn, from, upto place) ([]listed, error) {
	var found []listed
	read := func(rows *sql.Rows) error {
		t, id, err := c.scanTimer(rows)
		at := place{Shard: id, UUID: t.UUID}
		if l.finished {
			at.Generation, at.Attempt = t.Generation, t.Attempts
		}
		found = append(found, listed{at, t})
		return err
	}
	var args []any
	if l.q.CorrelationID != "" {
		args = append(args, l.q.CorrelationID)
	}
	args = append(append(args, l.after(from)...), l.upto(upto)...)
	args = append(append(args, l.filters()...), l.q.Limit+1)
	if err := c.each(read, l.walk.page, args...); err != nil || l.walk.made == "" {
		return found, err
	}
	uuid, ok := timer.ParseUUID(l.q.CorrelationID)
	if !ok || uuid.String() != l.q.CorrelationID {
		return found, nil
	}
	block := l.q.Namespace.Shards
	args = append([]any{int64(block.Base), l.end(), uuid[:]}, l.filters()...)
	if err := c.each(read, l.walk.made, args...); err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f listed) bool { return f.at.Compare(from) <= 0 || f.at.Compare(upto) > 0 })
	slices.SortFunc(found, func(a, b listed) int { return a.at.Compare(b.at) })
	return found, nil
}

// end is the first shard number behind the block.
func (l *lister) end() int64 {
	return int64(l.q.Namespace.Shards.Base) + int64(l.q.Namespace.Shards.Count)
}

func (l *lister) after(p place) []any { return append(l.upto(p), l.end()) }

func (l *lister) upto(p place) []any {
	if l.finished {
		return []any{p.Shard, p.UUID[:], p.Generation, p.Attempt}
	}
	return []any{p.Shard, p.UUID[:]}
}

func (l *lister) filters() []any {
	dueFrom, dueBefore := l.q.DueFrom, l.q.DueBefore
	if dueFrom == 0 {
		dueFrom = math.MinInt64
	}
	if dueBefore == 0 {
		dueBefore = timer.Never
	}
	status := string(l.q.Status)
	if l.finished {
		return []any{status, l.now, dueFrom, dueBefore}
	}
	return []any{status, status, dueFrom, dueBefore}
}
