package postgresstore

import (
	"context"
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
// timers of one correlation id in the block. The partitions' indexes are merged; nothing is sorted.
type walk struct {
	// last finds the key of the maxLooked-th row behind the start, from the index alone.
	last named
	// page selects the rows behind the start, up to the last one, that pass the filters.
	page named
	// made selects the timer whose made correlation id is asked for. It stands in some shard of
	// the block, and each is probed. Only where a correlation id is asked for.
	made named
}

// The parts that the statements are put together from. Live rows have no generation in their key; the
// places of their walk carry one that compares as nothing would.
const (
	liveAfter  = "t.shard_id < @end::bigint AND (t.shard_id, t.timer_uuid) > (@from_shard::bigint, @from_uuid::uuid)"
	liveUpto   = " AND (t.shard_id, t.timer_uuid) <= (@upto_shard::bigint, @upto_uuid::uuid)"
	liveFilter = " AND (@status::text = '' OR t.status = @status) " +
		"AND t.due_at >= @at_least::timestamptz AND t.due_at < @before::timestamptz"
	liveOrder = " ORDER BY t.shard_id, t.timer_uuid"

	endKey   = "(h.shard_id, h.timer_uuid, h.generation, h.attempt)"
	endAfter = "h.shard_id < @end::bigint AND " + endKey +
		" > (@from_shard::bigint, @from_uuid::uuid, @from_generation::bigint, @from_attempt::integer)"
	endUpto   = " AND " + endKey + " <= (@upto_shard::bigint, @upto_uuid::uuid, @upto_generation::bigint, @upto_attempt::integer)"
	endFilter = " AND h.outcome = @status::text AND h.expires_at > @now::timestamptz AND (h.dead_until IS NULL OR h.dead_until > @now)" +
		" AND h.execute_at >= @at_least::timestamptz AND h.execute_at < @before::timestamptz"
	endOrder = " ORDER BY h.shard_id, h.timer_uuid, h.generation, h.attempt"

	liveOf   = " FROM timers t WHERE "
	endOf    = " FROM timer_history h WHERE "
	liveSame = "t.correlation_id = @correlation::text AND "
	endSame  = "h.correlation_id = @correlation::text AND "
	// The shards of a block, to be crossed with a table.
	eachShard = " FROM generate_series(@base::bigint, @end::bigint - 1) AS b(shard_id)"
	liveMade  = eachShard + " JOIN timers t ON t.shard_id = b.shard_id AND t.timer_uuid = @uuid::uuid WHERE t.correlation_id IS NULL"
	endMade   = eachShard + " JOIN timer_history h ON h.shard_id = b.shard_id AND h.timer_uuid = @uuid::uuid WHERE h.correlation_id IS NULL"

	toLast = " LIMIT 1 OFFSET @offset::bigint"
	toPage = " LIMIT @limit::bigint"
)

// way chooses a walk.
type way struct{ finished, byCorrelation bool }

var walks = map[way]walk{
	{finished: false, byCorrelation: false}: {
		last: name("list_live_last", "SELECT t.shard_id, t.timer_uuid"+liveOf+liveAfter+liveOrder+toLast),
		page: name("list_live", "SELECT "+timerColumns+liveOf+liveAfter+liveUpto+liveFilter+liveOrder+toPage),
	},
	{finished: false, byCorrelation: true}: {
		last: name("list_live_same_last", "SELECT t.shard_id, t.timer_uuid"+liveOf+liveSame+liveAfter+liveOrder+toLast),
		page: name("list_live_same", "SELECT "+timerColumns+liveOf+liveSame+liveAfter+liveUpto+liveFilter+liveOrder+toPage),
		made: name("list_live_made", "SELECT "+timerColumns+liveMade+liveFilter),
	},
	{finished: true, byCorrelation: false}: {
		last: name("list_end_last", "SELECT h.shard_id, h.timer_uuid, h.generation, h.attempt"+endOf+endAfter+endOrder+toLast),
		page: name("list_end", "SELECT "+endColumns+endOf+endAfter+endUpto+endFilter+endOrder+toPage),
	},
	{finished: true, byCorrelation: true}: {
		last: name("list_end_same_last", "SELECT h.shard_id, h.timer_uuid, h.generation, h.attempt"+endOf+endSame+endAfter+endOrder+toLast),
		page: name("list_end_same", "SELECT "+endColumns+endOf+endSame+endAfter+endUpto+endFilter+endOrder+toPage),
		made: name("list_end_made", "SELECT "+endColumns+endMade+endFilter),
	},
}

// List implements store.Timers: by (shard, uuid), finished ones also by (generation, attempt).
func (s *Store) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	op := fmt.Sprintf("list timers of %q", q.Namespace.Name)
	from, err := cursors.Start(&q)
	if err != nil {
		return store.Page{}, fmt.Errorf("%s: %w: %w", op, store.ErrInvalid, err)
	}
	l := lister{q: &q, finished: q.Status.Finished(), from: from, maxLooked: s.maxLooked}
	l.walk = walks[way{finished: l.finished, byCorrelation: q.CorrelationID != ""}]
	l.values = l.parameters(now)
	var page store.Page
	err = s.read(ctx, op, func(c *conn) (err error) {
		page, err = l.read(ctx, c)
		return err
	})
	if err != nil {
		return store.Page{}, err
	}
	return page, nil
}

// lister reads one page.
type lister struct {
	q        *store.ListQuery
	finished bool
	walk     walk
	from     place
	values   map[string][]byte
	// maxLooked is the constant, except in tests.
	maxLooked int
}

// listed is a timer and where it stands.
type listed struct {
	at    place
	timer timer.Timer
}

func (l *lister) parameters(now timer.Millis) map[string][]byte {
	shards := l.q.Namespace.Shards
	atLeast, before := l.q.DueFrom, l.q.DueBefore
	if atLeast == 0 {
		atLeast = math.MinInt64
	}
	if before == 0 {
		before = timer.Never
	}
	values := map[string][]byte{
		"base":        int8Value(int64(shards.Base)),
		"end":         int8Value(int64(shards.Base) + int64(shards.Count)),
		"at_least":    instantValue(atLeast),
		"before":      instantValue(before),
		"status":      textValue(string(l.q.Status)),
		"now":         instantValue(now),
		"correlation": textValue(l.q.CorrelationID),
		"limit":       int8Value(int64(l.q.Limit) + 1), // one more tells whether there is a next page
		"offset":      int8Value(int64(l.maxLooked) - 1),
	}
	placeInto(l.from, values, "from")
	return values
}

// placeInto makes parameters of a place.
func placeInto(p place, values map[string][]byte, prefix string) {
	values[prefix+"_shard"] = int8Value(int64(p.Shard))
	values[prefix+"_uuid"] = uuidValue(p.UUID)
	values[prefix+"_generation"] = int8Value(int64(p.Generation))
	values[prefix+"_attempt"] = int4Value(int32(p.Attempt))
}

func (l *lister) read(ctx context.Context, c *conn) (store.Page, error) {
	upto, cut, err := l.bound(ctx, c)
	if err != nil {
		return store.Page{}, err
	}
	found, err := l.fetch(ctx, c, upto)
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
func (l *lister) bound(ctx context.Context, c *conn) (upto place, cut bool, err error) {
	upto = relational.BehindAll()
	if l.q.Status == "" && l.q.DueFrom == 0 && l.q.DueBefore == 0 {
		return upto, false, nil // every row is a hit: the page's limit bounds enough
	}
	err = c.exchange(ctx, l.walk.last.call(l.values, func(r *record) {
		cut = true
		upto = place{Shard: shard.ID(r.int8())}
		upto.UUID, _ = r.uuid()
		if l.finished {
			upto.Generation, upto.Attempt = timer.Generation(r.int8()), timer.Attempt(r.int4())
		}
	}))
	return upto, cut, err
}

// fetch returns the rows in (from, upto] that pass the filters: one more than the page holds, if there
// are so many.
func (l *lister) fetch(ctx context.Context, c *conn, upto place) ([]listed, error) {
	placeInto(upto, l.values, "upto")
	var found []listed
	var scan scanner
	read := func(r *record) {
		t, id := scan.timer(r)
		at := place{Shard: id, UUID: t.UUID}
		if l.finished {
			at.Generation, at.Attempt = t.Generation, t.Attempts
		}
		found = append(found, listed{at, t})
	}
	calls := []call{l.walk.page.call(l.values, read)}
	uuid, ok := timer.ParseUUID(l.q.CorrelationID)
	ok = ok && uuid.String() == l.q.CorrelationID
	if ok {
		l.values["uuid"] = uuidValue(uuid)
		calls = append(calls, l.walk.made.call(l.values, read))
	}
	if err := c.exchange(ctx, calls...); err != nil || !ok {
		return found, err
	}
	found = slices.DeleteFunc(found, func(f listed) bool { return f.at.Compare(l.from) <= 0 || f.at.Compare(upto) > 0 })
	slices.SortFunc(found, func(a, b listed) int { return a.at.Compare(b.at) })
	return found, nil
}
