package postgresstore

import (
	"context"
	"errors"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// In lists, the server merges the indexes of the partitions, and sorts only in the walk by due time.
var dialect = relational.Dialect{
	Mark: "$",
	Types: map[string]string{
		"base": "bigint", "end": "bigint", "limit": "bigint", "offset": "bigint", "payloads": "bigint",
		"held": "bigint", "shards": "bigint[]",
		"from_shard": "bigint", "from_uuid": "uuid", "from_generation": "bigint", "from_attempt": "integer",
		"upto_shard": "bigint", "upto_uuid": "uuid", "upto_generation": "bigint", "upto_attempt": "integer",
		"at_least": "timestamptz", "before": "timestamptz", "now": "timestamptz", "status": "text", "after": "text",
		"each": "bigint", "after_due": "timestamptz", "after_uuid": "uuid",
	},
	Shard:     "shard_id",
	UUID:      "timer_uuid",
	Timeout:   "callback_timeout_ms",
	History:   "timer_history",
	Offset:    `"offset"`,
	Partition: "partition",
	ByName:    `name COLLATE "C"`,
	ByFlowKey: `flow_key`,
	PollAt:    "due_at",
	Unexpired: unexpired("@now"),
	Block:     "generate_series(@base, @end - 1) AS b(probed)",
	// OFFSET 0 prevents the planner from reordering a lateral join, which would be slow and return rows in another order.
	Lookup: func(columns, table, condition string) string {
		return " CROSS JOIN LATERAL (SELECT " + columns + " FROM " + table + " WHERE " + condition + " OFFSET 0) " + table[len(table)-1:]
	},
	Lateral:     true,
	InShards:    " = ANY(@shards)",
	KeepCluster: " ON CONFLICT (one) DO NOTHING",
	KeepFlow:    " ON CONFLICT (namespace, flow_key) DO NOTHING",
	// Blocks never overlap. The lock does not block readers.
	LockNamespaces: "LOCK TABLE namespaces IN SHARE ROW EXCLUSIVE MODE",
	Claims:         []string{"claims", "watermarks"}, ClaimShard: "shard_id",
	Inspect: `SELECT a.place, f.due_at, c.version, c.owner, c.node, c.claimed_at, n.due_at, n.uuid, c.published_due, c.published_uuid
FROM unnest(@shards) WITH ORDINALITY AS a(shard_id, place)
LEFT JOIN claims c ON c.shard_id = ANY (ARRAY[a.shard_id])
LEFT JOIN LATERAL (` + newestWatermark + `) n ON true
LEFT JOIN LATERAL (SELECT t.due_at FROM timers t WHERE t.shard_id = a.shard_id AND t.status <> 'parked'
	ORDER BY t.due_at, t.timer_uuid LIMIT 1) f ON true`,
}

var (
	statements = relational.NewStatements(&dialect)
	cursors    = relational.Cursors{Live: "pg1l", Finished: "pg1f"}
)

type core = relational.Core

// database implements relational.Database.
type database struct{ store *Store }

// Read implements relational.Database.
func (d database) Read(ctx context.Context, op string, run func(relational.Run) error) error {
	return d.store.read(ctx, op, func(c *conn) error { return run(runOn(ctx, c.exchange)) })
}

// ReadLong implements relational.Database.
func (d database) ReadLong(ctx context.Context, op string, run func(relational.Run) error) error {
	return d.store.readLong(ctx, op, func(c *conn) error { return run(runOn(ctx, c.exchange)) })
}

// Write implements relational.Database.
func (d database) Write(ctx context.Context, op string, run func(relational.Run) error) error {
	return d.store.write(ctx, op, latest, func(t *transaction) error {
		if err := run(runOn(ctx, t.exchange)); err != nil {
			return err
		}
		return t.commit(ctx)
	})
}

// runOn sends calls in one exchange, of a connection or a transaction.
func runOn(ctx context.Context, exchange func(ctx context.Context, calls ...call) error) relational.Run {
	return func(calls ...relational.Call) error {
		sent := make([]call, len(calls))
		for i := range calls {
			sent[i] = callOf(&calls[i])
		}
		return exchange(ctx, sent...)
	}
}

func callOf(c *relational.Call) call {
	out := call{
		statement: statement{c.Statement.Name, c.Statement.SQL},
		args:      relational.Args(c, argument),
		changed:   c.Changed,
	}
	if c.Row == nil {
		return out
	}
	var scan scanner
	stopped := false
	out.row = func(r *record) {
		if stopped {
			return
		}
		switch err := c.Row(&row{r, &scan}); {
		case errors.Is(err, relational.ErrStop):
			stopped = true
		case err != nil && r.err == nil:
			r.err = err
		}
	}
	return out
}

// argument encodes a value.
func argument(value any) []byte {
	switch v := value.(type) {
	case int64:
		return int8Value(v)
	case int32:
		return int4Value(v)
	case string:
		return textValue(v)
	case timer.Millis:
		return instantValue(v)
	case timer.UUID:
		return uuidValue(v)
	case []shard.ID:
		return int8s(len(v), func(i int) int64 { return int64(v[i]) })
	default:
		return nil
	}
}

// row implements relational.Row.
type row struct {
	*record

	scanner *scanner
}

// Scan implements relational.Row.
func (r *row) Scan(dest ...any) error {
	for _, d := range dest {
		r.column(d)
	}
	return r.err
}

// Timer implements relational.Row.
func (r *row) Timer(dest ...any) (timer.Timer, shard.ID, error) {
	if err := r.Scan(dest...); err != nil {
		return timer.Timer{}, 0, err
	}
	t, id := r.scanner.timer(r.record)
	return t, id, r.err
}

// column reads a column into a pointer, unless it is NULL.
func (r *row) column(dest any) {
	if r.at < len(r.values) && r.values[r.at] == nil {
		r.at++
		return
	}
	switch d := dest.(type) {
	case *int64:
		if r.at < len(r.values) && len(r.values[r.at]) == 4 {
			*d = int64(r.int4())
		} else {
			*d = r.int8()
		}
	case *string:
		*d = r.text()
	case *[]byte:
		*d = r.bytes()
	case *timer.Millis:
		*d, _ = r.instant()
	case *timer.UUID:
		*d = r.uuid()
	default:
		r.failf("column %d: a %T cannot be read", r.at, dest)
	}
}
