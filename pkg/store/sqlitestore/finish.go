package sqlitestore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// An outcome is one or two statements, each with the guard in its WHERE: the first copies the row to history inside the
// database, the second deletes or changes the row. Only if no row was changed, a third statement reads the reason. This
// is faster than reading the row first, and no other write can come in between.
const (
	insertHistory = `INSERT INTO history (shard, uuid, generation, attempt, outcome, next_at, started_at, finished_at,
	status_code, error, expires_at, marked_at, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, payload, correlation_id, due_at, revision, created_at, updated_at, headers,
	topic, event_key)
SELECT shard, uuid, generation, ?, ?, ?, ?, ` + finishedAt + `, ?, ?, ?, ?, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, iif(?, payload, NULL), correlation_id, due_at, revision, created_at, ?, headers,
	topic, event_key
FROM timers` + guarded + `
ON CONFLICT (shard, uuid, generation, attempt) DO UPDATE SET
	outcome = excluded.outcome, next_at = excluded.next_at, started_at = excluded.started_at,
	finished_at = excluded.finished_at, status_code = excluded.status_code, error = excluded.error,
	expires_at = excluded.expires_at, marked_at = excluded.marked_at, execute_at = excluded.execute_at,
	deliver = excluded.deliver, callback_url = excluded.callback_url,
	callback_timeout_ns = excluded.callback_timeout_ns, retry_policy = excluded.retry_policy,
	payload = excluded.payload, correlation_id = excluded.correlation_id, due_at = excluded.due_at,
	revision = excluded.revision, created_at = excluded.created_at, updated_at = excluded.updated_at,
	headers = excluded.headers, topic = excluded.topic, event_key = excluded.event_key
WHERE outcome = 'failed'`

	deleteRow = "DELETE FROM timers" + guarded

	// finishedAt is the parameter, or a millisecond after the final outcome of the previous timer with the id if that
	// is later. The comparison is made only if the row was written after the second parameter.
	finishedAt = `max(?, iif(updated_at > ?, ifnull((
	SELECT max(h.finished_at) + 1 FROM history h WHERE h.shard = timers.shard AND h.uuid = timers.uuid
		AND h.outcome IN ('done', 'dead') AND h.expires_at > ? AND h.generation >= ifnull((
			SELECT l.generation FROM history l WHERE l.shard = timers.shard AND l.uuid = timers.uuid
			ORDER BY l.generation DESC LIMIT 1 OFFSET 99), 0)), 0), 0))`

	rescheduleRow = `UPDATE timers SET status = 'scheduled', execute_at = ?, due_at = ?, revision = ?, generation = ?,
	attempts = 0, starts = 0, updated_at = ?, executed_at = ?, last_status = ?, last_error = ?, marked_at = NULL,
	planned_at = NULL, leased = 0` + guarded

	retryRow = `UPDATE timers SET status = 'retrying', due_at = max(?, execute_at), revision = ?, attempts = ?,
	starts = 0, updated_at = ?, executed_at = ?, last_status = ?, last_error = ?, marked_at = NULL,
	planned_at = NULL, leased = 0` + guarded

	moveRow = `UPDATE timers SET due_at = max(?, execute_at), revision = ?, updated_at = ?, starts = max(0, starts + ?),
	planned_at = coalesce(planned_at, due_at), leased = ?` + guarded

	parkRow = "UPDATE timers SET status = 'parked', revision = ?, updated_at = ?, last_error = ?, marked_at = ?" + guarded

	// guarded is a placeholder for the two conditions below; guardedBy has the statements with each of them.
	guarded      = " WHERE <guard>"
	byGeneration = " WHERE shard = ? AND uuid = ? AND generation = ?"
	byRevision   = " WHERE shard = ? AND uuid = ? AND revision = ?"

	selectStanding = "SELECT revision, generation FROM timers WHERE shard = ? AND uuid = ?"
)

// Finish implements store.Outcomes.
func (s *Store) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	const row = 1024 // bytes of the log for the deleted row and the history row
	out := make([]error, len(items))
	err := s.write(ctx, "finish timers", len(items), row*len(items), func(c *conn) (err error) {
		for i := range items {
			if out[i], err = c.finish(now, &items[i]); err != nil {
				return err
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
	var changed int64
	r := &f.Record
	text := store.CutError(r.Error)
	switch f.Kind {
	case store.FinishDone, store.FinishDead:
		if err := c.record(now, f); err != nil {
			return nil, err
		}
		changed, err = c.guarded(f, deleteRow)
	case store.FinishRescheduled:
		if err := c.record(now, f); err != nil {
			return nil, err
		}
		changed, err = c.guarded(f, rescheduleRow, f.NextAt, engine.DueAt(now, f.NextAt, f.NextAt), f.Next, f.Next,
			now, r.StartedAt, r.StatusCode, text)
	case store.FinishRetry:
		if err := c.record(now, f); err != nil {
			return nil, err
		}
		changed, err = c.guarded(f, retryRow, max(now, f.NextAt), f.Next, r.Attempt, now, r.StartedAt, r.StatusCode, text)
	case store.FinishLeased, store.FinishPostponed:
		starts, leased := 0, f.Kind == store.FinishLeased
		switch {
		case leased && f.CountStart:
			starts = 1
		case !leased && f.ReturnStart:
			starts = -1
		}
		changed, err = c.guarded(f, moveRow, max(now, f.NextAt), f.Next, now, starts, leased)
	case store.FinishParked:
		changed, err = c.guarded(f, parkRow, f.Next, now, text, now)
	default:
		return fmt.Errorf("finish timer %s: kind %d: %w", f.Ref.UUID, f.Kind, store.ErrInvalid), nil
	}
	if err != nil || changed == 1 {
		return nil, err
	}
	return c.missed(f)
}

// record writes the attempt into history. It replaces a row of the same attempt, unless that row is final.
func (c *conn) record(now timer.Millis, f *store.Finish) error {
	outcome, nextAt := store.OutcomeDone, timer.Millis(0)
	var markedAt any
	switch f.Kind {
	case store.FinishRescheduled:
		outcome, nextAt = store.OutcomeRescheduled, f.NextAt
	case store.FinishRetry:
		outcome, nextAt = store.OutcomeFailed, f.NextAt
	case store.FinishDead:
		outcome, markedAt = store.OutcomeDead, now
	default:
	}
	r := &f.Record
	since := timer.Never // only final outcomes are ordered
	if outcome == store.OutcomeDone || outcome == store.OutcomeDead {
		since = r.FinishedAt.Add(-store.EndMargin)
	}
	_, err := c.guarded(f, insertHistory, r.Attempt, string(outcome), nextAt, r.StartedAt, r.FinishedAt, since, now, r.StatusCode,
		store.CutError(r.Error), r.FinishedAt.Add(r.KeepFor), markedAt, outcome == store.OutcomeDead, now)
	return err
}

// guarded runs a statement on the item's row, if the row matches the guard.
func (c *conn) guarded(f *store.Finish, statement string, args ...any) (changed int64, err error) {
	if f.If.Revision != 0 {
		return c.exec(guardedBy[statement].revision, append(args, f.Ref.Shard, f.Ref.UUID[:], f.If.Revision)...)
	}
	return c.exec(guardedBy[statement].generation, append(args, f.Ref.Shard, f.Ref.UUID[:], f.If.Generation)...)
}

// missed returns why no row was changed.
func (c *conn) missed(f *store.Finish) (refused, err error) {
	var revision timer.Revision
	var generation timer.Generation
	found, err := c.one(selectStanding, []any{f.Ref.Shard, f.Ref.UUID[:]}, &revision, &generation)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return fmt.Errorf("finish timer %s: %w", f.Ref.UUID, store.ErrNotFound), nil
	default:
		return fmt.Errorf("finish timer %s: the row is at revision %s of generation %s: %w",
			f.Ref.UUID, revision, generation, store.ErrConflict), nil
	}
}
