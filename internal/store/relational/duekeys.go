package relational

import (
	"context"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// lateralShards is how many shards one statement reads, if the engine has lateral joins.
const lateralShards = 256

// dueKeys is the statement that reads the first @each keys of each of the shards from @base to before @end. Without lateral
// joins it reads one shard.
func (d *Dialect) dueKeys() string {
	due, uuid := "t."+d.PollAt, "t."+d.UUID
	after := "(" + due + ", " + uuid + ") > (@after_due, @after_uuid)"
	if d.NoRowComparison {
		after = "(" + due + " > @after_due OR " + due + " = @after_due AND " + uuid + " > @after_uuid)"
	}
	polled := "t.status <> 'parked' AND "
	if d.PollAt != "due_at" {
		polled = "" // the column is NULL in parked rows
	}
	columns := "t." + d.Shard + ", " + due + ", " + uuid
	condition := polled + after + " AND " + due + " < @before ORDER BY " + due + ", " + uuid + " LIMIT @each"
	if d.Lateral {
		return "SELECT " + columns + " FROM " + d.Block + d.Lookup(columns, "timers t", "t."+d.Shard+" = b.probed AND "+condition)
	}
	return "SELECT " + columns + " FROM timers t" + d.DueIndex + " WHERE t." + d.Shard + " = @base AND " + condition
}

// DueKeys implements store.Timers.
func (c *Core) DueKeys(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error) {
	op := fmt.Sprintf("read keys of %q", q.Namespace.Name)
	before := q.Before
	if before == 0 {
		before = timer.Never
	}
	each := engine.KeysPerShard(q.Limit, q.Namespace.Shards.Count)
	first, end := int64(q.Namespace.Shards.Base), int64(q.Namespace.Shards.Base)+int64(q.Namespace.Shards.Count)
	var calls []Call
	var found []store.DueKey
	for base := first; base < end; base += int64(c.statements.keyShards) {
		calls = append(calls, Call{
			Statement: c.statements.dueKeys,
			Values: Values{
				"base": base, "end": min(end, base+int64(c.statements.keyShards)), "each": int64(each),
				"after_due": q.After.DueAt, "after_uuid": q.After.UUID, "before": before,
			},
			Row: func(r Row) error {
				var k store.DueKey
				var id int64
				err := r.Scan(&id, &k.DueAt, &k.UUID)
				k.Shard = shard.ID(id)
				found = append(found, k)
				return err
			},
		})
	}
	// Other lists and counts take turns after each read.
	for some := range slices.Chunk(calls, max(1, lateralShards/c.statements.keyShards)) {
		kept := len(found)
		err := c.db.ReadLong(ctx, op, func(run Run) error {
			found = found[:kept]
			return run(some...)
		})
		if err != nil {
			return store.DueKeys{}, err
		}
	}
	return engine.MergeKeys(found, q.Limit, each), nil
}

// listInDueOrder is List in the order of keys.
func (c *Core) listInDueOrder(ctx context.Context, op string, q *store.ListQuery) (store.Page, error) {
	return engine.DuePage(ctx, q, c.DueKeys, func(ctx context.Context, refs []store.Ref) ([]timer.Timer, error) {
		var found []timer.Timer
		calls := make([]Call, len(refs))
		for i, ref := range refs {
			calls[i] = Call{
				Statement: c.statements.live, Values: Values{"shard": int64(ref.Shard), "uuid": ref.UUID},
				Row: func(r Row) error {
					t, _, err := r.Timer()
					found = append(found, t)
					return err
				},
			}
		}
		err := c.db.ReadLong(ctx, op, func(run Run) error {
			found = nil
			return run(calls...)
		})
		return found, err
	})
}
