package sqlitestore

import (
	"context"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// A final outcome, as nearly all are, is two statements, each with the guard in its WHERE: the first copies the row to
// history inside the database, the second deletes the row. This is faster than reading the row first. Only if no row was
// deleted, and for other outcomes, the row is read.
const (
	insertHistory = `INSERT INTO history (shard, uuid, generation, attempt, outcome, next_at, started_at, finished_at,
	status_code, error, expires_at, marked_at, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, payload, correlation_id, due_at, revision, created_at, updated_at, headers,
	topic, event_key, options)
SELECT shard, uuid, generation, ?, ?, ?, ?, ` + finishedAt + `, ?, ?, ?, ?, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, CASE ? WHEN 1 THEN payload WHEN 2 THEN ifnull(payload, x'') END,
	correlation_id, due_at, revision, created_at, ?, headers,
	topic, event_key, options
FROM timers` + guarded + `
ON CONFLICT (shard, uuid, generation, attempt) DO UPDATE SET
	outcome = excluded.outcome, next_at = excluded.next_at, started_at = excluded.started_at,
	finished_at = excluded.finished_at, status_code = excluded.status_code, error = excluded.error,
	expires_at = excluded.expires_at, marked_at = excluded.marked_at, execute_at = excluded.execute_at,
	deliver = excluded.deliver, callback_url = excluded.callback_url,
	callback_timeout_ns = excluded.callback_timeout_ns, retry_policy = excluded.retry_policy,
	payload = excluded.payload, correlation_id = excluded.correlation_id, due_at = excluded.due_at,
	revision = excluded.revision, created_at = excluded.created_at, updated_at = excluded.updated_at,
	headers = excluded.headers, topic = excluded.topic, event_key = excluded.event_key,
	options = excluded.options
WHERE ` + relational.IsReplaceable

	deleteRow = "DELETE FROM timers" + guarded

	// finishedAt is the parameter, or a millisecond after the final outcome of the previous timer with the id if that
	// is later. The comparison is made only if the row was written after the second parameter.
	finishedAt = `max(?, iif(updated_at > ?, ifnull((
	SELECT max(h.finished_at) + 1 FROM history h WHERE h.shard = timers.shard AND h.uuid = timers.uuid
		AND h.` + relational.IsEnd + ` AND h.expires_at > ? AND h.generation > ifnull((
			SELECT l.generation FROM history l WHERE l.shard = timers.shard AND l.uuid = timers.uuid
			ORDER BY l.generation DESC LIMIT 1 OFFSET ` + relational.NewestEnds + `), 0)), 0), 0))`

	// guarded is a placeholder for the two conditions below; guardedBy has the statements with each of them.
	guarded      = " WHERE <guard>"
	byGeneration = " WHERE shard = ? AND uuid = ? AND generation = ?"
	byRevision   = " WHERE shard = ? AND uuid = ? AND revision = ?"
)

// Finish implements store.Outcomes.
func (s *Store) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	const row = 1024 // bytes of the log for the deleted row and the history row
	size := row * len(items)
	for i := range items {
		if next := items[i].FollowUp; next != nil {
			size += sizeOf([]store.Op{*next})
		}
	}
	out := make([]error, len(items))
	err := s.write(ctx, "finish timers", len(items), size, func(c *conn) (err error) {
		for i := range items {
			f := &items[i]
			if out[i], err = c.finish(now, f); err != nil {
				return err
			}
			if out[i] == nil && f.FollowUp != nil {
				if _, err = c.put(now, f.FollowUp); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// finish writes one outcome. refused is the item's answer, err an error of the database.
func (c *conn) finish(now timer.Millis, f *store.Finish) (refused, err error) {
	if f.Kind == store.FinishDone || f.Kind == store.FinishDead {
		a := engine.AttemptOf(now, f)
		if err := c.record(a, f.If, payloadOf(a, engine.KeepsPayload(f))); err != nil {
			return nil, err
		}
		if removed, err := c.guarded(deleteRow, f.Ref, f.If); err != nil || removed == 1 {
			return nil, err
		}
	}
	s, err := c.slot(selectBareSlot, f.Ref)
	if err != nil {
		return nil, err
	}
	if refused := s.Finish(now, f); refused != nil {
		return refused, nil
	}
	return nil, c.flush(s)
}

// record writes an attempt of a row into history. It replaces a row of the same attempt, unless that row is final.
// payload is a result of payloadOf.
func (c *conn) record(a *engine.Attempt, guard store.Guard, payload int) error {
	since := timer.Never // only the ends of timers are ordered
	if a.Outcome == store.OutcomeDone || a.Outcome == store.OutcomeDead {
		since = a.FinishedAt.Add(-store.EndMargin)
	}
	_, err := c.guarded(insertHistory, a.Ref, guard, a.Attempt, string(a.Outcome), a.NextAt, a.StartedAt, a.FinishedAt, since,
		a.UpdatedAt, a.StatusCode, a.Error, a.ExpiresAt, timeOrNull(a.MarkedAt), payload, a.UpdatedAt)
	return err
}

// How insertHistory copies the payload, if it is not 0.
const (
	asItIs  = 1
	notNull = 2 // engine.KeptPayload
)

func payloadOf(a *engine.Attempt, kept bool) int {
	switch {
	case a.Outcome == store.OutcomeDead:
		return asItIs
	case kept:
		return notNull
	default:
		return 0
	}
}

// guarded runs a statement on a row, if the row matches the guard.
func (c *conn) guarded(statement string, ref store.Ref, guard store.Guard, args ...any) (changed int64, err error) {
	if guard.Revision != 0 {
		return c.exec(guardedBy[statement].revision, append(args, ref.Shard, ref.UUID[:], guard.Revision)...)
	}
	return c.exec(guardedBy[statement].generation, append(args, ref.Shard, ref.UUID[:], guard.Generation)...)
}
