package relational

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func (s *Statements) addTimers(d *Dialect, prepare func(name, sql string) *Statement) {
	s.countLive = prepare("count_namespace", "SELECT count(*) FROM (SELECT 1 AS one FROM timers t WHERE t."+d.Shard+
		" >= @base AND t."+d.Shard+" < @end LIMIT @limit) AS counted")
	s.dueKeys, s.keyShards = prepare("due_keys", d.dueKeys()), 1
	if d.Lateral {
		s.keyShards = lateralShards
	}
	// The last final outcome, and all outcomes. Both sort the history of one timer only.
	ofTimer := " FROM " + d.History + " h WHERE h." + d.Shard + " = @shard AND h." + d.UUID + " = @uuid AND " + d.Unexpired
	const newestFirst = " ORDER BY h.finished_at DESC, h.attempt DESC, h.generation DESC LIMIT "
	s.live = prepare("select_live",
		"SELECT "+d.LiveColumns("t.")+" FROM timers t WHERE t."+d.Shard+" = @shard AND t."+d.UUID+" = @uuid")
	s.end = prepare("select_end", "SELECT "+d.EndColumns("h.")+ofTimer+" AND h."+IsEnd+newestFirst+"1")
	s.history = prepare("select_history", `SELECT h.generation, h.attempt, h.outcome, h.execute_at, h.next_at, h.started_at,
	h.finished_at, h.status_code, h.error, h.correlation_id`+ofTimer+newestFirst+"@limit")
}

// Get implements store.Timers. The result has no payload if the timer is done, but has it if the timer is dead. The two
// reads need no common snapshot: if the timer is finished between them, the second read finds it.
func (c *Core) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	var t timer.Timer
	var found bool
	values := Values{"shard": int64(ref.Shard), "uuid": ref.UUID, "now": now}
	read := func(r Row) (err error) {
		found = true
		t, _, err = r.Timer()
		return err
	}
	err := c.db.Read(ctx, "get timer", func(run Run) error {
		found = false
		err := run(Call{Statement: c.statements.live, Values: values, Row: read})
		if err != nil || found {
			return err
		}
		return run(Call{Statement: c.statements.end, Values: values, Row: read})
	})
	if err == nil && !found {
		err = fmt.Errorf("get timer %s: %w", ref.UUID, store.ErrNotFound)
	}
	return t, err
}

// CountLive implements store.Timers.
func (c *Core) CountLive(ctx context.Context, ns store.Namespace, limit int) (int, error) {
	var n int64
	base := int64(ns.Shards.Base)
	err := c.db.ReadLong(ctx, fmt.Sprintf("count timers of %q", ns.Name), one(Call{
		Statement: c.statements.countLive,
		Values:    Values{"base": base, "end": base + int64(ns.Shards.Count), "limit": int64(limit)},
		Row:       func(r Row) error { return r.Scan(&n) },
	}))
	return int(n), err
}

// History implements store.Timers.
func (c *Core) History(ctx context.Context, now timer.Millis, ref store.Ref, limit int) ([]store.HistoryEntry, error) {
	var out []store.HistoryEntry
	values := Values{"shard": int64(ref.Shard), "uuid": ref.UUID, "now": now, "limit": int64(limit)}
	err := c.db.Read(ctx, "read history", func(run Run) error {
		out = nil
		return run(Call{Statement: c.statements.history, Values: values, Row: func(r Row) error {
			e := store.HistoryEntry{Ref: ref}
			var attempt, code int64
			err := r.Scan((*int64)(&e.Generation), &attempt, (*string)(&e.Outcome), &e.ExecuteAt, &e.NextAt, &e.StartedAt,
				&e.FinishedAt, &code, &e.Error, &e.CorrelationID)
			e.Attempt, e.StatusCode = timer.Attempt(attempt), int(code)
			out = append(out, e)
			return err
		}})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
