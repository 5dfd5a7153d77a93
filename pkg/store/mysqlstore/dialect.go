package mysqlstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

var dialect = relational.Dialect{
	Mark:              "?",
	Unnumbered:        true,
	Shard:             "shard_id",
	UUID:              "uuid",
	Timeout:           "callback_timeout_ms",
	History:           "history",
	Offset:            "`offset`",
	Partition:         "`partition`",
	ByName:            "name",
	ByFlowKey:         "flow_key",
	PollAt:            "poll_at",
	DueIndex:          " FORCE INDEX (timers_due)",
	ParkedIndex:       " FORCE INDEX (timers_status)",
	ParkedOutboxIndex: " FORCE INDEX (timers_status)",
	DeadOutboxIndex:   " FORCE INDEX (history_outcome)",
	ParkedOutbox:      "t.status = 'parked' AND ",
	DeadOutbox:        "h.outcome = 'dead' AND ",
	Unexpired:         "h.expires_at > @now",
	NoRowComparison:   true,
	// Shards are a list of literals: only then do both servers read a range of each shard's index.
	Block: "(SELECT 1) b",
	Lookup: func(_, table, condition string) string {
		return " STRAIGHT_JOIN " + table + " ON " + strings.ReplaceAll(condition, "= b.probed", "IN (@block)")
	},
	All:            " LIMIT 9223372036854775807",
	InShards:       " IN (@shards)",
	KeepCluster:    " ON DUPLICATE KEY UPDATE one = one",
	KeepFlow:       " ON DUPLICATE KEY UPDATE flows.version = flows.version",
	Claims:         []string{"shards"},
	ClaimShard:     "shard_id",
	LockNamespaces: "SELECT one FROM namespace_lock FOR UPDATE",
}

var (
	statements = relational.NewStatements(&dialect)
	cursors    = relational.Cursors{Live: "my1l", Finished: "my1f"}
)

type core = relational.Core

// database implements relational.Database.
type database struct{ store *Store }

// Read implements relational.Database.
func (d database) Read(ctx context.Context, op string, run func(relational.Run) error) error {
	return d.store.read(ctx, op, func(c *conn) error { return run(c.run(ctx)) })
}

// ReadLong implements relational.Database.
func (d database) ReadLong(ctx context.Context, op string, run func(relational.Run) error) error {
	return d.store.readLong(ctx, op, func(c *conn) error { return run(c.run(ctx)) })
}

// Write implements relational.Database.
func (d database) Write(ctx context.Context, op string, run func(relational.Run) error) error {
	return d.store.write(ctx, op, func(c *conn) error { return run(c.run(ctx)) })
}

// run runs calls one after the other.
func (c *conn) run(ctx context.Context) relational.Run {
	return func(calls ...relational.Call) error {
		for i := range calls {
			call := &calls[i]
			query, args := expand(call)
			if call.Row == nil {
				changed, err := c.exec(ctx, query, args...)
				if err != nil {
					return err
				}
				if call.Changed != nil {
					*call.Changed = changed
				}
				continue
			}
			if err := c.each(ctx, func(rows *sql.Rows) error { return call.Row(c.row(rows)) }, query, args...); err != nil {
				return err
			}
		}
		return nil
	}
}

// expand returns the text of a statement and its parameters. A parameter that is a list of shards becomes one parameter for
// each shard.
func expand(call *relational.Call) (query string, args []any) {
	parts := strings.Split(call.Statement.SQL, dialect.Mark)
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(part)
		if i == len(parts)-1 {
			break
		}
		name := call.Statement.Parameters[i]
		value := call.Values[name]
		if name == "block" {
			base, _ := call.Values["base"].(int64)
			end, _ := call.Values["end"].(int64)
			value = shard.Block{Base: shard.ID(base), Count: int(end - base)}
		}
		switch v := value.(type) {
		case shard.Block:
			for n := range v.Count {
				args = append(args, int64(v.Base)+int64(n))
			}
			b.WriteString(repeat("?", v.Count))
		case []shard.ID:
			for _, id := range v {
				args = append(args, int64(id))
			}
			b.WriteString(repeat("?", len(v)))
		case string:
			args = append(args, text(v))
			b.WriteString("?")
		default:
			args = append(args, relational.SQLArgument(value))
			b.WriteString("?")
		}
	}
	return b.String(), args
}

const (
	selectShards = "SELECT shard_id, version, owner, node, claimed_at, " + keysOfShard + " FROM shards WHERE shard_id IN (%s)"
	// firstOfShard is one entry of the index.
	firstOfShard = "(SELECT shard_id, poll_at FROM timers FORCE INDEX (timers_due) WHERE shard_id = ? AND poll_at IS NOT NULL " +
		"ORDER BY poll_at, uuid LIMIT 1)"
)

// Inspect implements store.Shards.
func (s *Store) Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	states := make(map[shard.ID]*store.ShardState, len(shards))
	err := s.read(ctx, "inspect shards", func(c *conn) error {
		for _, id := range shards {
			states[id] = &store.ShardState{Shard: id, Watermark: store.MinKey(), Published: store.MinKey(), NextDueAt: timer.Never}
		}
		for some := range slices.Chunk(shards, unionShards) {
			args := make([]any, len(some))
			for i, id := range some {
				args[i] = int64(id)
			}
			err := c.each(ctx, func(rows *sql.Rows) error { return scanState(rows, states) },
				strings.Replace(selectShards, "%s", repeat("?", len(some)), 1), args...)
			if err != nil {
				return err
			}
			err = c.each(ctx, func(rows *sql.Rows) error {
				var id int64
				var first timer.Millis
				err := rows.Scan(&id, &first)
				if err == nil {
					states[shard.ID(id)].NextDueAt = first
				}
				return err
			}, strings.TrimSuffix(strings.Repeat(firstOfShard+" UNION ALL ", len(some)), " UNION ALL "), args...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]store.ShardState, len(shards))
	for i, id := range shards {
		out[i] = *states[id]
	}
	return out, nil
}

func scanState(rows *sql.Rows, states map[shard.ID]*store.ShardState) error {
	var id int64
	var owner []byte
	state := store.ShardState{NextDueAt: timer.Never}
	w, p := &state.Watermark, &state.Published
	err := rows.Scan(&id, &state.Version, &owner, &state.Owner.Node, &state.ClaimedAt, &w.DueAt, (*uuidColumn)(&w.UUID), &p.DueAt,
		(*uuidColumn)(&p.UUID))
	if err == nil {
		state.Shard, state.Held = shard.ID(id), owner != nil
		copy(state.Owner.Incarnation[:], owner)
		*states[state.Shard] = state
	}
	return err
}
