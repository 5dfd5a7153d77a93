package sqlitestore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// insertNew is the only statement of a create whose id is new, which is nearly every create. If a row with the id
	// exists, it changes nothing.
	insertNew = `INSERT INTO timers (shard, uuid, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, payload, correlation_id, status, due_at, revision, generation,
	attempts, starts, created_at, updated_at, executed_at, last_status, last_error, headers, topic, event_key, target)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'scheduled', ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (shard, uuid) DO NOTHING`

	selectLive = "SELECT " + timerColumns + " FROM timers WHERE shard = ? AND uuid = ?"

	// replaceLive replaces all columns of a row, except its key, its ids and createdAt.
	replaceLive = `UPDATE timers SET execute_at = ?, deliver = ?, callback_url = ?, callback_timeout_ns = ?,
	retry_policy = ?, payload = ?, correlation_id = ?, status = 'scheduled', due_at = ?, revision = ?,
	generation = ?, attempts = 0, starts = 0, updated_at = ?, executed_at = ?, last_status = ?,
	last_error = ?, headers = ?, topic = ?, event_key = ?, target = ?, marked_at = NULL, planned_at = ?, leased = 0
WHERE shard = ? AND uuid = ?`
)

// Write implements store.Timers.
func (s *Store) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	if len(ops) == 0 {
		return nil, nil
	}
	out := make([]store.Written, len(ops))
	err := s.write(ctx, "write timers", len(ops), sizeOf(ops), func(c *conn) error {
		return c.applyOps(now, ops, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// sizeOf returns the approximate size of the operations in the log, in bytes.
func sizeOf(ops []store.Op) int {
	const row = 512 // bytes of the keys, indexes and small columns
	size := len(ops) * row
	for _, op := range ops {
		switch op := op.(type) {
		case store.Put:
			size += len(op.Spec.Payload) + len(op.Spec.CallbackURL) + len(op.Spec.Headers) + len(op.Spec.Topic) + len(op.Spec.EventKey)
		case store.Update:
			if op.Patch.Payload != nil {
				size += len(*op.Patch.Payload)
			}
		}
	}
	return size
}

func (c *conn) applyOps(now timer.Millis, ops []store.Op, out []store.Written) (err error) {
	for i, op := range ops {
		switch op := op.(type) {
		case store.Put:
			out[i], err = c.put(now, &op)
		case store.Update:
			out[i], err = c.update(now, &op)
		case store.Delete:
			out[i], err = c.delete(&op)
		default:
			out[i] = store.Written{Err: fmt.Errorf("operation %d is a %T: %w", i, op, store.ErrInvalid)}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) put(now timer.Millis, op *store.Put) (store.Written, error) {
	if op.OnConflict != store.Replace {
		if present, found, err := c.present(now, op.Ref); err != nil || found {
			return present.inTheWayOf(op), err
		}
	}
	t := engine.NewTimer(now, op)
	inserted, err := c.insert(op.Ref, &t)
	if err != nil || inserted {
		return store.Written{Timer: t}, err
	}
	prior, _, err := c.timer(selectLive, op.Ref.Shard, op.Ref.UUID[:])
	if err != nil {
		return store.Written{}, err
	}
	t.CreatedAt = prior.CreatedAt
	return store.Written{Timer: t, Prior: &prior}, c.replace(op.Ref, &t)
}

// insert writes a new row, unless one with the id exists.
func (c *conn) insert(ref store.Ref, t *timer.Timer) (inserted bool, err error) {
	n, err := c.exec(insertNew, ref.Shard, ref.UUID[:], t.Namespace, t.ID, t.ExecuteAt, string(t.Deliver), t.CallbackURL,
		int64(t.CallbackTimeout), c.policies.Format(&t.Retry), t.Payload, orNull(t.CorrelationID), t.DueAt, t.Revision, t.Generation,
		t.CreatedAt, t.UpdatedAt, t.ExecutedAt, t.LastStatus, t.LastError, orNull(string(t.Headers)),
		orNull(t.Topic), orNull(t.EventKey), int64(t.Target()))
	return n == 1, err
}

// replace overwrites a row with a new timer or generation.
func (c *conn) replace(ref store.Ref, t *timer.Timer) error {
	_, err := c.exec(replaceLive, t.ExecuteAt, string(t.Deliver), t.CallbackURL, int64(t.CallbackTimeout),
		c.policies.Format(&t.Retry), t.Payload, orNull(t.CorrelationID), t.DueAt, t.Revision,
		t.Generation, t.UpdatedAt, t.ExecutedAt, t.LastStatus, t.LastError, orNull(string(t.Headers)),
		orNull(t.Topic), orNull(t.EventKey), int64(t.Target()), plannedAt(t), ref.Shard, ref.UUID[:])
	return err
}

// plannedAt returns the column's value: NULL unless due_at was moved.
func plannedAt(t *timer.Timer) any {
	if t.PlannedAt == t.DueAt {
		return nil
	}
	return t.PlannedAt
}

// found is a timer that exists when a Put is applied.
type found timer.Timer

// present returns the timer that conflicts with a Put: the live one, or the finished one in history.
func (c *conn) present(now timer.Millis, ref store.Ref) (found, bool, error) {
	t, ok, err := c.timer(selectLive, ref.Shard, ref.UUID[:])
	if err == nil && !ok {
		t, ok, err = c.timer(selectEnd, ref.Shard, ref.UUID[:], now)
	}
	return found(t), ok, err
}

func (f found) inTheWayOf(op *store.Put) store.Written {
	w := store.Written{Timer: timer.Timer(f)}
	if op.OnConflict == store.Keep {
		w.Kept = true
	} else {
		w.Err = fmt.Errorf("put timer %s: %w", op.Ref.UUID, store.ErrExists)
	}
	return w
}
