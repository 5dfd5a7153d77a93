package postgresstore

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// way has the statements of a walk (relational.Walk). The server merges the indexes of the partitions and sorts
// nothing.
type way struct{ bound, rows named }

// The columns that lists read. If payloads are not wanted, those that are stored separately from the row (TOAST) are
// not read.
var (
	listedColumns    = strings.Replace(timerColumns, "t.payload", "CASE WHEN @payloads::bigint = 1 THEN t.payload END", 1)
	listedEndColumns = strings.Replace(endColumns, "h.payload", "CASE WHEN @payloads::bigint = 1 THEN h.payload END", 1)
)

// The parts of the statements. The keys of live rows have no generation and no attempt, and the statements for live
// rows do not use those values of a position.
const (
	liveKey    = "t.shard_id, t.timer_uuid"
	liveFrom   = "t.shard_id < @end::bigint AND (t.shard_id, t.timer_uuid) > (@from_shard::bigint, @from_uuid::uuid)"
	liveUpto   = " AND (t.shard_id, t.timer_uuid) <= (@upto_shard::bigint, @upto_uuid::uuid)"
	inRange    = "t.due_at >= @at_least::timestamptz AND t.due_at < @before::timestamptz"
	liveFilter = "(@status::text = '' OR t.status = @status) AND " + inRange

	endKey  = "h.shard_id, h.timer_uuid, h.generation, h.attempt"
	endFrom = "h.shard_id < @end::bigint AND (" + endKey +
		") > (@from_shard::bigint, @from_uuid::uuid, @from_generation::bigint, @from_attempt::integer)"
	endUpto   = " AND (" + endKey + ") <= (@upto_shard::bigint, @upto_uuid::uuid, @upto_generation::bigint, @upto_attempt::integer)"
	endFilter = "h.outcome = @status::text AND h.expires_at > @now::timestamptz AND (h.dead_until IS NULL OR h.dead_until > @now)" +
		" AND h.execute_at >= @at_least::timestamptz AND h.execute_at < @before::timestamptz"

	ofParked          = "t.status = 'parked' AND "
	ofRetrying        = "t.status = 'retrying' AND "
	ofDead            = "h.outcome = 'dead' AND "
	ofCorrelation     = "t.correlation_id = @correlation::text AND "
	ofEndsCorrelation = "h.correlation_id = @correlation::text AND "

	liveRows = " FROM timers t WHERE "
	endRows  = " FROM timer_history h WHERE "
	nth      = " LIMIT 1 OFFSET @offset::bigint"
	some     = " LIMIT @limit::bigint"

	// eachShard lists the shards of a block, in their order, for a CROSS JOIN with a table.
	eachShard = " FROM generate_series(@base::bigint, @end::bigint - 1) AS b(shard_id)"
	// ranges selects the timers of one shard in the range of due times. OFFSET 0 prevents the planner from reordering a
	// lateral join, which would be slow and return rows in another order.
	ranges = "SELECT " + liveKey + liveRows + "t.shard_id = b.shard_id AND t.status <> 'parked' AND " + inRange
	park   = "SELECT " + liveKey + liveRows + ofParked + "t.shard_id = b.shard_id AND " + inRange
	// sorted selects the timers of all shards in the range, including parked ones.
	sorted = "SELECT " + liveKey + eachShard + " CROSS JOIN LATERAL (" + ranges + " UNION ALL " + park + " OFFSET 0) t WHERE " + liveFrom
)

//nolint:unqueryvet // the columns are chosen around what is selected with t.* and h.*.
var (
	ways = map[relational.Walk]way{
		relational.ByKey:         liveWay("list_live", ""),
		relational.Parked:        liveWay("list_parked", ofParked),
		relational.Retrying:      liveWay("list_retrying", ofRetrying),
		relational.ByCorrelation: liveWay("list_same", ofCorrelation),
		relational.ByDue: {
			bound: name("list_due_bound", sorted+" ORDER BY "+liveKey+nth),
			rows: name("list_due", "WITH found AS MATERIALIZED ("+sorted+liveUpto+" ORDER BY "+liveKey+") SELECT "+listedColumns+
				" FROM found k CROSS JOIN LATERAL (SELECT t.*"+liveRows+
				"t.shard_id = k.shard_id AND t.timer_uuid = k.timer_uuid OFFSET 0) t WHERE "+liveFilter+some),
		},
		relational.Ended:              endWay("list_ends", ""),
		relational.Dead:               endWay("list_dead", ofDead),
		relational.EndedByCorrelation: endWay("list_ends_same", ofEndsCorrelation),
	}

	crowded = name("list_due_crowded", "SELECT t.shard_id"+liveRows+"t.shard_id = @base::bigint AND t.status <> 'parked' AND "+inRange+nth)
	reach   = name("list_due_reach", "SELECT t.shard_id"+eachShard+" CROSS JOIN LATERAL ("+ranges+" OFFSET 0) t WHERE "+liveFrom+nth)

	parkedReach = name("list_parked_reach", "SELECT t.shard_id"+liveRows+ofParked+
		"t.shard_id >= @base::bigint AND t.shard_id < @end::bigint ORDER BY t.shard_id"+nth)

	liveMade = name("list_made", "SELECT "+listedColumns+eachShard+" CROSS JOIN LATERAL (SELECT t.*"+liveRows+
		"t.shard_id = b.shard_id AND t.timer_uuid = @uuid::uuid OFFSET 0) t WHERE t.correlation_id IS NULL AND "+liveFilter)
	endMade = name("list_ends_made", "SELECT "+listedEndColumns+eachShard+" CROSS JOIN LATERAL (SELECT h.*"+endRows+
		"h.shard_id = b.shard_id AND h.timer_uuid = @uuid::uuid OFFSET 0) h WHERE h.correlation_id IS NULL AND "+endFilter)
)

func liveWay(statementName, of string) way {
	return way{
		bound: name(statementName+"_bound", "SELECT "+liveKey+liveRows+of+liveFrom+" ORDER BY "+liveKey+nth),
		rows:  name(statementName, "SELECT "+listedColumns+liveRows+of+liveFrom+liveUpto+" AND "+liveFilter+" ORDER BY "+liveKey+some),
	}
}

func endWay(statementName, of string) way {
	return way{
		bound: name(statementName+"_bound", "SELECT "+endKey+endRows+of+endFrom+" ORDER BY "+endKey+nth),
		rows:  name(statementName, "SELECT "+listedEndColumns+endRows+of+endFrom+endUpto+" AND "+endFilter+" ORDER BY "+endKey+some),
	}
}

// List implements store.Timers: by (shard, uuid), finished ones also by (generation, attempt).
func (s *Store) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	op := fmt.Sprintf("list timers of %q", q.Namespace.Name)
	from, err := cursors.Start(&q)
	if err != nil {
		return store.Page{}, fmt.Errorf("%s: %w: %w", op, store.ErrInvalid, err)
	}
	l := relational.Lister{Query: &q, Cursors: cursors, Limits: s.listLimits, Table: s.listTable(op, now, &q)}
	return l.Page(ctx, from)
}

// listTable implements relational.Table for one query. Each statement uses one of the connections for long reads.
type listTable struct {
	store    *Store
	op       string
	finished bool
	values   map[string][]byte
}

func (s *Store) listTable(op string, now timer.Millis, q *store.ListQuery) *listTable {
	atLeast, before := q.DueFrom, q.DueBefore
	if atLeast == 0 {
		atLeast = math.MinInt64
	}
	if before == 0 {
		before = timer.Never
	}
	payloads := int64(1)
	if q.WithoutPayloads {
		payloads = 0
	}
	shards := q.Namespace.Shards
	return &listTable{store: s, op: op, finished: q.Status.Finished(), values: map[string][]byte{
		"base":        int8Value(int64(shards.Base)),
		"end":         int8Value(int64(shards.Base) + int64(shards.Count)),
		"at_least":    instantValue(atLeast),
		"before":      instantValue(before),
		"status":      textValue(string(q.Status)),
		"now":         instantValue(now),
		"correlation": textValue(q.CorrelationID),
		"payloads":    int8Value(payloads),
	}}
}

// span sets the values for the part of the walk that is read.
func (t *listTable) span(s *relational.Span) {
	t.values["base"], t.values["end"] = int8Value(int64(s.From.Shard)), int8Value(s.End)
	for name, at := range map[string]*place{"from": &s.From, "upto": &s.Upto} {
		t.values[name+"_shard"], t.values[name+"_uuid"] = int8Value(int64(at.Shard)), uuidValue(at.UUID)
		t.values[name+"_generation"], t.values[name+"_attempt"] = int8Value(int64(at.Generation)), int4Value(int32(at.Attempt))
	}
}

// read runs one statement.
func (t *listTable) read(ctx context.Context, n named, row func(r *record)) error {
	return t.store.readLong(ctx, t.op, func(c *conn) error { return c.exchange(ctx, n.call(t.values, row)) })
}

// timers reads all rows of a statement.
func (t *listTable) timers(ctx context.Context, n named) (found []relational.Listed, err error) {
	var scan scanner
	err = t.read(ctx, n, func(r *record) {
		got, id := scan.timer(r)
		at := place{Shard: id, UUID: got.UUID}
		if t.finished {
			at.Generation, at.Attempt = got.Generation, got.Attempts
		}
		found = append(found, relational.Listed{At: at, Timer: got})
	})
	return found, err
}

// Bound implements relational.Table.
func (t *listTable) Bound(ctx context.Context, s relational.Span, n int) (at place, found bool, err error) {
	t.span(&s)
	t.values["offset"] = int8Value(int64(n) - 1)
	err = t.read(ctx, ways[s.Walk].bound, func(r *record) {
		found = true
		at = place{Shard: shard.ID(r.int8())}
		at.UUID, _ = r.uuid()
		if t.finished {
			at.Generation, at.Attempt = timer.Generation(r.int8()), timer.Attempt(r.int4())
		}
	})
	return at, found, err
}

// Rows implements relational.Table.
func (t *listTable) Rows(ctx context.Context, s relational.Span, limit int) ([]relational.Listed, error) {
	t.span(&s)
	t.values["limit"] = int8Value(int64(limit))
	return t.timers(ctx, ways[s.Walk].rows)
}

// Crowded implements relational.Table.
func (t *listTable) Crowded(ctx context.Context, id shard.ID, n int) (bool, error) {
	t.values["base"] = int8Value(int64(id))
	_, found, err := t.shardOf(ctx, crowded, n+1)
	return found, err
}

// Reach implements relational.Table.
func (t *listTable) Reach(ctx context.Context, s relational.Span, n int) (shard.ID, bool, error) {
	t.span(&s)
	return t.shardOf(ctx, reach, n)
}

// ParkedReach implements relational.Table.
func (t *listTable) ParkedReach(ctx context.Context, s relational.Span, n int) (shard.ID, bool, error) {
	t.span(&s)
	return t.shardOf(ctx, parkedReach, n)
}

// shardOf returns the shard of a statement's n-th row.
func (t *listTable) shardOf(ctx context.Context, statement named, n int) (id shard.ID, found bool, err error) {
	t.values["offset"] = int8Value(int64(n) - 1)
	err = t.read(ctx, statement, func(r *record) { id, found = shard.ID(r.int8()), true })
	return id, found, err
}

// Made implements relational.Table.
func (t *listTable) Made(ctx context.Context, uuid timer.UUID) ([]relational.Listed, error) {
	t.values["uuid"] = uuidValue(uuid)
	if t.finished {
		return t.timers(ctx, endMade)
	}
	return t.timers(ctx, liveMade)
}
