package relational

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func (s *Statements) addShards(d *Dialect, prepare func(name, sql string) *Statement) {
	s.inspect = prepare("inspect_shards", d.Inspect)

	outbox := func(name, columns, table, condition, alias string) *Statement {
		marked := alias + "marked_at"
		return prepare(name, "SELECT "+marked+", "+columns+" FROM "+table+" WHERE "+condition+
			marked+" IS NOT NULL AND "+marked+" < @before AND "+
			alias+d.Shard+d.InShards+" ORDER BY "+marked+" LIMIT @limit")
	}
	s.parkedOutbox = outbox("parked_outbox", d.LiveColumns("t."), "timers t"+d.ParkedOutboxIndex, d.ParkedOutbox, "t.")
	s.deadOutbox = outbox("dead_outbox", d.EndColumns("h."), d.History+" h"+d.DeadOutboxIndex, d.DeadOutbox, "h.")

	s.position = prepare("select_position",
		"SELECT incarnation, "+d.Offset+" FROM positions WHERE topic = @topic AND "+d.Partition+" = @partition")
}

// Inspect implements store.Shards.
func (c *Core) Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	out := make([]store.ShardState, len(shards))
	read := func(r Row) error {
		var place int64
		state := store.ShardState{Watermark: store.MinKey(), Published: store.MinKey(), NextDueAt: timer.Never}
		var owner []byte
		w, p := &state.Watermark, &state.Published
		err := r.Scan(&place, &state.NextDueAt, &state.Version, &owner, &state.Owner.Node, &state.ClaimedAt,
			&w.DueAt, &w.UUID, &p.DueAt, &p.UUID)
		if err == nil && (place < 1 || place > int64(len(out))) {
			err = fmt.Errorf("the server answers for shard %d of %d", place, len(out))
		}
		if err != nil {
			return err
		}
		state.Shard, state.Held = shards[place-1], owner != nil
		copy(state.Owner.Incarnation[:], owner)
		out[place-1] = state
		return nil
	}
	call := Call{Statement: c.statements.inspect, Values: Values{"shards": shards}, Row: read}
	if err := c.db.Read(ctx, "inspect shards", one(call)); err != nil {
		return nil, err
	}
	return out, nil
}

// Outbox implements store.Shards.
func (c *Core) Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	var out []store.OutboxEntry
	read := func(r Row) error {
		var n store.OutboxEntry
		var err error
		n.Timer, n.ID.Ref.Shard, err = r.Timer(&n.MarkedAt)
		n.ID.Ref.UUID = n.Timer.UUID
		n.ID.Status = n.Timer.Status
		n.ID.Generation = n.Timer.Generation
		n.ID.Attempt = n.Timer.Attempts
		n.ID.Revision = n.Timer.Revision
		out = append(out, n)
		return err
	}
	values := Values{"shards": shards, "before": before, "limit": int64(limit)}
	err := c.db.Read(ctx, "read outbox entries", func(run Run) error {
		out = nil
		return run(Call{Statement: c.statements.parkedOutbox, Values: values, Row: read},
			Call{Statement: c.statements.deadOutbox, Values: values, Row: read})
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b store.OutboxEntry) int { return cmp.Compare(a.MarkedAt, b.MarkedAt) })
	return out[:min(limit, len(out))], nil
}

// Position implements store.Positions.
func (c *Core) Position(ctx context.Context, topic string, partition int) (store.Position, error) {
	var p store.Position
	err := c.db.Read(ctx, "read position", one(c.statements.ReadPosition(topic, partition, &p)))
	return p, err
}

// ReadPosition reads a position. One that was never stored is zero.
func (s *Statements) ReadPosition(topic string, partition int, into *store.Position) Call {
	return Call{
		Statement: s.position,
		Values:    Values{"topic": topic, "partition": int32(partition)},
		Row:       func(r Row) error { return r.Scan(&into.Epoch, &into.Offset) },
	}
}
