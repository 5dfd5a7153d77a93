package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"github.com/timerbus/timerbus/internal/store/relational"
)

var dialect = relational.Dialect{
	Mark:      "?",
	Shard:     "shard",
	UUID:      "uuid",
	Timeout:   "callback_timeout_ns",
	History:   "history",
	RowID:     "rid",
	Offset:    `"offset"`,
	Partition: "partition",
	ByName:    "name",
	ByFlowKey: "flow_key",
	PollAt:    "due_at",
	// SQLite uses a partial index only if the statement contains the index's condition, word for word.
	NotScheduled: "t.status <> 'scheduled' AND ",
	Unexpired:    "h.expires_at > @now",
	ParkedIndex:  " INDEXED BY timers_status",
	// Few rows have outbox entries. Without INDEXED BY, SQLite would read all rows of the shards.
	ParkedOutboxIndex: " INDEXED BY timers_marked",
	DeadOutboxIndex:   " INDEXED BY history_marked",
	With:              "WITH RECURSIVE b(probed) AS (VALUES (@base) UNION ALL SELECT probed + 1 FROM b WHERE probed + 1 < @end) ",
	Block:             "b",
	Lookup:            func(_, table, condition string) string { return " CROSS JOIN " + table + " ON " + condition },
	All:               " LIMIT -1",
	InShards:          " IN (SELECT value FROM json_each(@shards))",
	KeepCluster:       " ON CONFLICT (one) DO NOTHING",
	KeepFlow:          " ON CONFLICT (namespace, flow_key) DO NOTHING",
	Claims:            []string{"shards"},
	ClaimShard:        "shard",
	Inspect: `SELECT asked.key + 1,
	(SELECT due_at FROM timers WHERE shard = asked.value AND status <> 'parked' ORDER BY due_at, uuid LIMIT 1),
	version, owner, node, claimed_at, watermark_due, watermark_uuid, published_due, published_uuid
FROM json_each(@shards) AS asked LEFT JOIN shards ON shards.shard = asked.value`,
}

var (
	statements = relational.NewStatements(&dialect)
	cursors    = relational.Cursors{Live: "sq1l", Finished: "sq1f"}
)

type core = relational.Core

// database implements relational.Database.
type database struct{ store *Store }

// Read implements relational.Database.
func (d database) Read(ctx context.Context, op string, run func(relational.Run) error) error {
	return d.store.read(ctx, op, func(c *conn) error { return run(c.look) })
}

// ReadLong implements relational.Database.
func (d database) ReadLong(ctx context.Context, op string, run func(relational.Run) error) error {
	return d.store.readLong(ctx, op, func(c *conn) error { return run(c.look) })
}

// Write implements relational.Database.
func (d database) Write(ctx context.Context, op string, run func(relational.Run) error) error {
	return d.store.write(ctx, op, 1, 0, func(c *conn) error { return run(c.run) })
}

// look runs calls that read, on the same state of the database.
func (c *conn) look(calls ...relational.Call) error {
	if len(calls) == 1 {
		return c.run(calls...)
	}
	return c.snapshot(func() error { return c.run(calls...) })
}

// run runs calls one after the other.
func (c *conn) run(calls ...relational.Call) error {
	for i := range calls {
		call := &calls[i]
		args := relational.Args(call, relational.SQLArgument)
		if call.Row == nil {
			changed, err := c.exec(call.Statement.SQL, args...)
			if err != nil {
				return err
			}
			if call.Changed != nil {
				*call.Changed = changed
			}
			continue
		}
		err := c.each(func(rows *sql.Rows) error { return call.Row(c.row(rows)) }, call.Statement.SQL, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) row(rows *sql.Rows) relational.SQLRow {
	return relational.SQLRow{Rows: rows, Policies: &c.policies, Timeout: time.Nanosecond}
}
