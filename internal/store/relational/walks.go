package relational

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// walkStatements are the statements of Table.Bound and Table.Rows for a walk.
type walkStatements struct{ bound, rows *Statement }

// addWalks adds the statements of lists. The keys of live rows have no generation and no attempt, so the statements for
// live rows do not use those values of a position.
func (s *Statements) addWalks(d *Dialect, prepare func(name, sql string) *Statement) {
	const (
		first      = " LIMIT 1 OFFSET @offset"
		inRange    = "t.due_at >= @at_least AND t.due_at < @before"
		notParked  = "t.status <> 'parked' AND "
		liveFilter = "(@status = '' OR t.status = @status AND (@held = 0 OR @held = CASE WHEN t.options LIKE '" +
			engine.PausedPattern + "' THEN 2 ELSE 1 END)) AND " + inRange
		wanted = "CASE WHEN @payloads = 1 THEN " // payloads that are not wanted are not read from the disk
	)
	liveColumns := strings.Replace(d.LiveColumns("t."), "t.payload", wanted+"t.payload END", 1)
	endColumns := strings.Replace(d.EndColumns("h."), "h.payload", wanted+"h.payload END", 1)
	endFilter := "h.outcome = @status AND " + d.Unexpired + " AND h.execute_at >= @at_least AND h.execute_at < @before"
	history := d.History + " h"
	parked := d.NotScheduled + "t.status = 'parked' AND "

	after := func(alias string, key []string) string {
		return alias + d.Shard + " < @end AND " + d.compare(key, ">", "from")
	}
	upto := func(key []string) string { return " AND " + d.compare(key, "<=", "upto") }
	// walk reads the rows of a table that match a condition, in the order of the key.
	walk := func(name, alias, table, columns, condition, filter string, key []string) walkStatements {
		list := strings.Join(key, ", ")
		from := " FROM " + table + " WHERE " + condition + after(alias, key)
		return walkStatements{
			bound: prepare(name+"_bound", "SELECT "+list+from+" ORDER BY "+list+first),
			rows:  prepare(name, "SELECT "+columns+from+upto(key)+" AND "+filter+" ORDER BY "+list+" LIMIT @limit"),
		}
	}
	liveKey := []string{"t." + d.Shard, "t." + d.UUID}
	live := func(name, condition string) walkStatements {
		return walk(name, "t.", "timers t", liveColumns, condition, liveFilter, liveKey)
	}
	endKey := []string{"h." + d.Shard, "h." + d.UUID, "h.generation", "h.attempt"}
	ends := func(name, condition string) walkStatements {
		return walk(name, "h.", history, endColumns, condition, endFilter, endKey)
	}
	s.walks = map[Walk]walkStatements{
		ByKey:              live("list_live", ""),
		Parked:             live("list_parked", parked),
		Retrying:           live("list_retrying", d.NotScheduled+"t.status = 'retrying' AND "),
		ByCorrelation:      live("list_same", "t.correlation_id = @correlation AND "),
		Ended:              ends("list_ends", ""),
		Dead:               ends("list_dead", "h.outcome = 'dead' AND "),
		EndedByCorrelation: ends("list_ends_same", "h.correlation_id = @correlation AND "),
	}

	// The walk by due time reads the keys of the range from the index of each shard, sorts them, and then reads the rows.
	list := strings.Join(liveKey, ", ")
	found, same := list, "t."+d.Shard+" = k."+d.Shard+" AND t."+d.UUID+" = k."+d.UUID
	if d.RowID != "" {
		found, same = "t."+d.RowID+", "+list, "t."+d.RowID+" = k."+d.RowID
	}
	polled := notParked + inRange
	if d.PollAt != "due_at" {
		polled = strings.ReplaceAll(inRange, "due_at", d.PollAt)
	}
	due := func(columns string) string {
		return " FROM " + d.Block + d.Lookup(columns, "timers t"+d.DueIndex, "t."+d.Shard+" = b.probed AND "+polled)
	}
	inBlock := "t." + d.Shard + " >= @base AND t." + d.Shard + " < @end"
	keys := "SELECT " + found + " FROM (SELECT " + found + due(found) + " UNION ALL SELECT " + found + " FROM timers t" + d.ParkedIndex +
		" WHERE " + parked + inBlock + " AND " + inRange + ") t WHERE " + after("t.", liveKey)
	s.walks[ByDue] = walkStatements{
		bound: prepare("list_due_bound", d.With+strings.Replace(keys, found, list, 1)+" ORDER BY "+list+first),
		rows: prepare("list_due", d.With+"SELECT "+liveColumns+" FROM ("+keys+upto(liveKey)+" ORDER BY "+list+d.All+") k"+
			d.Lookup("t.*", "timers t", same)+" WHERE "+liveFilter+" LIMIT @limit"),
	}
	s.crowded = prepare("list_due_crowded",
		"SELECT t."+d.Shard+" FROM timers t"+d.DueIndex+" WHERE t."+d.Shard+" = @base AND "+polled+first)
	s.reach = prepare("list_due_reach", d.With+"SELECT t."+d.Shard+due(list)+" WHERE "+after("t.", liveKey)+first)
	s.parkedReach = prepare("list_parked_reach",
		"SELECT t."+d.Shard+" FROM timers t WHERE "+parked+inBlock+" ORDER BY t."+d.Shard+first)

	s.made = prepare("list_made", d.With+"SELECT "+liveColumns+" FROM "+d.Block+
		d.Lookup("t.*", "timers t", "t."+d.Shard+" = b.probed AND t."+d.UUID+" = @uuid")+
		" WHERE t.correlation_id IS NULL AND "+liveFilter)
	s.endMade = prepare("list_ends_made", d.With+"SELECT "+endColumns+" FROM "+d.Block+
		d.Lookup("h.*", history, "h."+d.Shard+" = b.probed AND h."+d.UUID+" = @uuid")+
		" WHERE h.correlation_id IS NULL AND "+endFilter)
}

// ListFilters implements store.DeclaredFilters.
func (*Core) ListFilters() store.Filters { return store.AllFilters() }

// List implements store.Timers: by (shard, uuid), finished ones also by (generation, attempt).
func (c *Core) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	op := fmt.Sprintf("list timers of %q", q.Namespace.Name)
	if q.InDueOrder {
		return c.listInDueOrder(ctx, op, &q)
	}
	from, err := c.cursors.Start(&q)
	if err != nil {
		return store.Page{}, fmt.Errorf("%s: %w: %w", op, store.ErrInvalid, err)
	}
	l := Lister{Query: &q, Cursors: c.cursors, Limits: c.limits, Table: c.table(op, now, &q)}
	return l.Page(ctx, from)
}

// table implements Table for one query. Each method is a separate read, so concurrent lists take turns after each
// statement.
type table struct {
	*Core

	op       string
	finished bool
	values   Values
}

func (c *Core) table(op string, now timer.Millis, q *store.ListQuery) *table {
	atLeast, before := q.DueFrom, q.DueBefore
	if atLeast == 0 {
		atLeast = math.MinInt64
	}
	if before == 0 {
		before = timer.Never
	}
	// A paused timer is stored as parked, with a pause among its options.
	held := int64(0)
	if q.Status == timer.StatusParked {
		held = 1
	}
	if q.Status == timer.StatusPaused {
		held = 2
	}
	payloads := int64(1)
	if q.WithoutPayloads {
		payloads = 0
	}
	shards := q.Namespace.Shards
	return &table{Core: c, op: op, finished: q.Status.Finished(), values: Values{
		"base": int64(shards.Base), "end": int64(shards.Base) + int64(shards.Count),
		"status": string(engine.StoredStatus(q.Status)), "held": held,
		"correlation": q.CorrelationID, "at_least": atLeast, "before": before, "now": now, "payloads": payloads,
	}}
}

// span sets the values for the part of the walk that is read.
func (t *table) span(s *Span) {
	t.values["base"], t.values["end"] = int64(s.From.Shard), s.End
	for name, at := range map[string]*Place{"from": &s.From, "upto": &s.Upto} {
		t.values[name+"_shard"], t.values[name+"_uuid"] = int64(at.Shard), at.UUID
		t.values[name+"_generation"], t.values[name+"_attempt"] = int64(at.Generation), int32(at.Attempt)
	}
}

// timers reads all rows of a statement.
func (t *table) timers(ctx context.Context, s *Statement) (found []Listed, err error) {
	err = t.db.ReadLong(ctx, t.op, func(run Run) error {
		found = nil
		return run(Call{Statement: s, Values: t.values, Row: func(r Row) error {
			got, id, err := r.Timer()
			at := Place{Shard: id, UUID: got.UUID}
			if t.finished {
				at.Generation, at.Attempt = got.Generation, got.Attempts
			}
			found = append(found, Listed{At: at, Timer: got})
			return err
		}})
	})
	return found, err
}

// nth reads the key of the statement's n-th row into at, or its first column only.
func (t *table) nth(ctx context.Context, s *Statement, n int, key bool) (at Place, found bool, err error) {
	t.values["offset"] = int64(n) - 1
	var id, attempt int64
	dest := []any{&id}
	if key {
		dest = append(dest, &at.UUID)
	}
	if key && t.finished {
		dest = append(dest, (*int64)(&at.Generation), &attempt)
	}
	err = t.db.ReadLong(ctx, t.op, one(Call{Statement: s, Values: t.values, Row: func(r Row) error {
		found = true
		return r.Scan(dest...)
	}}))
	at.Shard, at.Attempt = shard.ID(id), timer.Attempt(attempt)
	return at, found, err
}

// Bound implements Table.
func (t *table) Bound(ctx context.Context, s Span, n int) (at Place, found bool, err error) {
	t.span(&s)
	return t.nth(ctx, t.statements.walks[s.Walk].bound, n, true)
}

// Rows implements Table.
func (t *table) Rows(ctx context.Context, s Span, limit int) ([]Listed, error) {
	t.span(&s)
	t.values["limit"] = int64(limit)
	return t.timers(ctx, t.statements.walks[s.Walk].rows)
}

// Crowded implements Table.
func (t *table) Crowded(ctx context.Context, id shard.ID, n int) (bool, error) {
	t.values["base"] = int64(id)
	_, found, err := t.nth(ctx, t.statements.crowded, n+1, false)
	return found, err
}

// Reach implements Table.
func (t *table) Reach(ctx context.Context, s Span, n int) (shard.ID, bool, error) {
	t.span(&s)
	at, found, err := t.nth(ctx, t.statements.reach, n, false)
	return at.Shard, found, err
}

// ParkedReach implements Table.
func (t *table) ParkedReach(ctx context.Context, s Span, n int) (shard.ID, bool, error) {
	t.span(&s)
	at, found, err := t.nth(ctx, t.statements.parkedReach, n, false)
	return at.Shard, found, err
}

// Made implements Table.
func (t *table) Made(ctx context.Context, uuid timer.UUID) ([]Listed, error) {
	t.values["uuid"] = uuid
	if t.finished {
		return t.timers(ctx, t.statements.endMade)
	}
	return t.timers(ctx, t.statements.made)
}
