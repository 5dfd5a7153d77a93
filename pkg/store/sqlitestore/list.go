package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// way has the statements of a walk (relational.Walk).
type way struct{ bound, rows relational.Named }

// The columns that lists read. If payloads are not wanted, they are not read from the disk.
var (
	listedColumns    = strings.Replace(timerColumns, "payload", "CASE WHEN @payloads THEN payload END", 1)
	listedEndColumns = strings.Replace(endColumns, "payload", "CASE WHEN @payloads THEN payload END", 1)
)

// The parts of the statements.
const (
	liveKey    = "shard, uuid"
	liveFrom   = "(shard, uuid) > (@from_shard, @from_uuid) AND shard < @end"
	liveUpto   = " AND (shard, uuid) <= (@upto_shard, @upto_uuid)"
	liveFilter = "(@status = '' OR status = @status) AND due_at >= @at_least AND due_at < @before"

	endKey    = "shard, uuid, generation, attempt"
	endFrom   = "(" + endKey + ") > (@from_shard, @from_uuid, @from_generation, @from_attempt) AND shard < @end"
	endUpto   = " AND (" + endKey + ") <= (@upto_shard, @upto_uuid, @upto_generation, @upto_attempt)"
	endFilter = "outcome = @status AND expires_at > @now AND execute_at >= @at_least AND execute_at < @before"

	// SQLite uses a partial index only if the statement contains the index's condition, word for word.
	ofParked      = "status <> 'scheduled' AND status = 'parked' AND "
	ofRetrying    = "status <> 'scheduled' AND status = 'retrying' AND "
	ofDead        = "outcome = 'dead' AND "
	ofCorrelation = "correlation_id = @correlation AND "

	// probe lists the shards of a block, for a CROSS JOIN with a table.
	probe = "WITH RECURSIVE block(probed) AS (VALUES (@base) UNION ALL SELECT probed + 1 FROM block WHERE probed + 1 < @end) "
	// inRange is the range of one shard in the index that polls use.
	inRange = "block CROSS JOIN timers ON shard = probed AND status <> 'parked' AND due_at >= @at_least AND due_at < @before"
	// ranges selects all timers in the range of due times. For timers that are not parked, it reads only an index.
	ranges = probe + "SELECT rid FROM (SELECT rid, shard, uuid FROM " + inRange +
		" UNION ALL SELECT rid, shard, uuid FROM timers INDEXED BY timers_status WHERE " + ofParked +
		"shard >= @base AND shard < @end AND due_at >= @at_least AND due_at < @before) WHERE " + liveFrom
	sortedRanges = ranges + liveUpto + " ORDER BY " + liveKey + " LIMIT -1"

	made = " ON shard = probed AND uuid = @uuid WHERE correlation_id IS NULL AND "
)

var (
	ways = map[relational.Walk]way{
		relational.ByKey:         liveWay(""),
		relational.Parked:        liveWay(ofParked),
		relational.Retrying:      liveWay(ofRetrying),
		relational.ByCorrelation: liveWay(ofCorrelation),
		relational.ByDue: {
			bound: named("SELECT " + liveKey + " FROM timers WHERE rid = (" + ranges + " ORDER BY " + liveKey + " LIMIT 1 OFFSET @offset)"),
			rows: named("SELECT " + listedColumns + " FROM (" + sortedRanges + ") CROSS JOIN timers USING (rid) WHERE " + liveFilter +
				" LIMIT @limit"),
		},
		relational.Ended:              endWay(""),
		relational.Dead:               endWay(ofDead),
		relational.EndedByCorrelation: endWay(ofCorrelation),
	}

	crowded = named("SELECT shard FROM timers WHERE shard = @base AND status <> 'parked' AND due_at >= @at_least AND due_at < @before" +
		" LIMIT 1 OFFSET @offset")
	reach       = named(probe + "SELECT shard FROM " + inRange + " WHERE " + liveFrom + " LIMIT 1 OFFSET @offset")
	parkedReach = named("SELECT shard FROM timers WHERE " + ofParked + "shard >= @base AND shard < @end" +
		" ORDER BY shard LIMIT 1 OFFSET @offset")

	liveMade = named(probe + "SELECT " + listedColumns + " FROM block CROSS JOIN timers" + made + liveFilter)
	endMade  = named(probe + "SELECT " + listedEndColumns + " FROM block CROSS JOIN history" + made + endFilter)
)

func liveWay(of string) way {
	return way{
		bound: named("SELECT " + liveKey + " FROM timers WHERE " + of + liveFrom + " ORDER BY " + liveKey + " LIMIT 1 OFFSET @offset"),
		rows: named("SELECT " + listedColumns + " FROM timers WHERE " + of + liveFrom + liveUpto + " AND " + liveFilter +
			" ORDER BY " + liveKey + " LIMIT @limit"),
	}
}

func endWay(of string) way {
	return way{
		bound: named("SELECT " + endKey + " FROM history WHERE " + of + endFrom + " ORDER BY " + endKey + " LIMIT 1 OFFSET @offset"),
		rows: named("SELECT " + listedEndColumns + " FROM history WHERE " + of + endFrom + endUpto + " AND " + endFilter +
			" ORDER BY " + endKey + " LIMIT @limit"),
	}
}

func named(sql string) relational.Named { return relational.Name(sql, "?") }

// List implements store.Timers: by (shard, uuid), finished ones also by (generation, attempt).
func (s *Store) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	op := fmt.Sprintf("list timers of %q", q.Namespace.Name)
	from, err := cursors.Start(&q)
	if err != nil {
		return store.Page{}, fmt.Errorf("%s: %w: %w", op, store.ErrInvalid, err)
	}
	if err := s.calls.Enter(ctx, op); err != nil { // also if no statement is needed
		return store.Page{}, err
	}
	s.calls.Leave()
	l := relational.Lister{Query: &q, Cursors: cursors, Limits: s.listLimits, Table: s.listTable(op, now, &q)}
	return l.Page(ctx, from)
}

// listTable implements relational.Table for one query. Each method uses one of the connections for lists and returns
// it, so that concurrent lists alternate after each statement.
type listTable struct {
	store    *Store
	op       string
	finished bool
	values   map[string]any
}

func (s *Store) listTable(op string, now timer.Millis, q *store.ListQuery) *listTable {
	atLeast, before := q.DueFrom, q.DueBefore
	if atLeast == 0 {
		atLeast = math.MinInt64
	}
	if before == 0 {
		before = timer.Never
	}
	return &listTable{store: s, op: op, finished: q.Status.Finished(), values: map[string]any{
		"base": int64(q.Namespace.Shards.Base), "end": int64(q.Namespace.Shards.Base) + int64(q.Namespace.Shards.Count),
		"status": string(q.Status), "correlation": q.CorrelationID, "at_least": atLeast, "before": before, "now": now,
		"payloads": !q.WithoutPayloads,
	}}
}

// span sets the values for the part of the walk that is read.
func (t *listTable) span(s *relational.Span) {
	t.values["base"], t.values["end"] = int64(s.From.Shard), s.End
	for name, at := range map[string]*place{"from": &s.From, "upto": &s.Upto} {
		t.values[name+"_shard"], t.values[name+"_uuid"] = int64(at.Shard), at.UUID[:]
		t.values[name+"_generation"], t.values[name+"_attempt"] = at.Generation, at.Attempt
	}
}

// one reads the first row of a statement.
func (t *listTable) one(ctx context.Context, n relational.Named, dest ...any) (found bool, err error) {
	err = t.store.readLong(ctx, t.op, func(c *conn) error {
		found, err = c.one(n.SQL, relational.Pick(&n, t.values), dest...)
		return err
	})
	return found, err
}

// timers reads all rows of a statement.
func (t *listTable) timers(ctx context.Context, n relational.Named) (found []relational.Listed, err error) {
	err = t.store.readLong(ctx, t.op, func(c *conn) error {
		return c.each(func(rows *sql.Rows) error {
			got, id, err := c.scanTimer(rows)
			at := place{Shard: id, UUID: got.UUID}
			if t.finished {
				at.Generation, at.Attempt = got.Generation, got.Attempts
			}
			found = append(found, relational.Listed{At: at, Timer: got})
			return err
		}, n.SQL, relational.Pick(&n, t.values)...)
	})
	return found, err
}

// Bound implements relational.Table.
func (t *listTable) Bound(ctx context.Context, s relational.Span, n int) (at place, found bool, err error) {
	t.span(&s)
	t.values["offset"] = int64(n) - 1
	var id int64
	dest := []any{&id, (*uuidColumn)(&at.UUID)}
	if t.finished {
		dest = append(dest, &at.Generation, &at.Attempt)
	}
	found, err = t.one(ctx, ways[s.Walk].bound, dest...)
	at.Shard = shard.ID(id)
	return at, found, err
}

// Rows implements relational.Table.
func (t *listTable) Rows(ctx context.Context, s relational.Span, limit int) ([]relational.Listed, error) {
	t.span(&s)
	t.values["limit"] = int64(limit)
	return t.timers(ctx, ways[s.Walk].rows)
}

// Crowded implements relational.Table.
func (t *listTable) Crowded(ctx context.Context, id shard.ID, n int) (bool, error) {
	t.values["base"] = int64(id)
	_, found, err := t.nth(ctx, crowded, n+1)
	return found, err
}

// Reach implements relational.Table.
func (t *listTable) Reach(ctx context.Context, s relational.Span, n int) (shard.ID, bool, error) {
	t.span(&s)
	return t.nth(ctx, reach, n)
}

// ParkedReach implements relational.Table.
func (t *listTable) ParkedReach(ctx context.Context, s relational.Span, n int) (shard.ID, bool, error) {
	t.span(&s)
	return t.nth(ctx, parkedReach, n)
}

// nth returns the shard of the n-th row.
func (t *listTable) nth(ctx context.Context, statement relational.Named, n int) (shard.ID, bool, error) {
	t.values["offset"] = int64(n) - 1
	var id int64
	found, err := t.one(ctx, statement, &id)
	return shard.ID(id), found, err
}

// Made implements relational.Table.
func (t *listTable) Made(ctx context.Context, uuid timer.UUID) ([]relational.Listed, error) {
	t.values["uuid"] = uuid[:]
	if t.finished {
		return t.timers(ctx, endMade)
	}
	return t.timers(ctx, liveMade)
}
