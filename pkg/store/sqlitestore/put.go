package sqlitestore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// insertNew is the only statement of a create whose id is new, which is nearly every create. If a row with the id exists,
// it changes nothing.
const insertNew = `INSERT INTO timers (shard, uuid, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, payload, correlation_id, status, due_at, revision, generation,
	attempts, starts, created_at, updated_at, executed_at, last_status, last_error, headers, topic, event_key, target,
	options)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'scheduled', ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (shard, uuid) DO NOTHING`

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
			size += len(op.Spec.Payload) + len(op.Spec.CallbackURL) + len(op.Spec.Headers) + len(op.Spec.Topic) + len(op.Spec.EventKey) +
				len(op.Spec.OnDone) + len(op.Spec.OnDead)
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
			out[i], err = c.change(now, op.Ref, op, false)
		case store.Delete:
			out[i], err = c.change(now, op.Ref, op, false)
		case store.Pause:
			out[i], err = c.change(now, op.Ref, op, false)
		case store.Resume:
			out[i], err = c.change(now, op.Ref, op, false)
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
		return c.change(now, op.Ref, *op, true)
	}
	t := engine.NewTimer(now, op)
	if inserted, err := c.insert(op.Ref, &t); err != nil || inserted {
		return store.Written{Timer: t}, err
	}
	return c.change(now, op.Ref, *op, false)
}

// change applies an operation to a row that it reads first.
func (c *conn) change(now timer.Millis, ref store.Ref, op store.Op, ended bool) (store.Written, error) {
	s, err := c.slot(selectSlot, ref)
	if err == nil && ended {
		err = c.readEnd(now, s)
	}
	if err != nil {
		return store.Written{}, err
	}
	w := s.Apply(now, op)
	return w, c.flush(s)
}
