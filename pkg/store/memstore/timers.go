package memstore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Write implements store.Timers.
func (s *Store) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	if len(ops) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "write"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	return s.db.write(now, ops), nil
}

// Get implements store.Timers.
func (s *Store) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	if err := s.lock(ctx, "get timer"); err != nil {
		return timer.Timer{}, err
	}
	defer s.db.mu.Unlock()
	if r := s.db.row(ref); r != nil {
		return clone(r.timer), nil
	}
	if h := s.db.finished(now, ref); h != nil {
		return clone(h.timer), nil
	}
	return timer.Timer{}, fmt.Errorf("get timer %s: %w", ref.UUID, store.ErrNotFound)
}

func (db *Database) write(now timer.Millis, ops []store.Op) []store.Written {
	out := make([]store.Written, len(ops))
	for i, op := range ops {
		switch op := op.(type) {
		case store.Put:
			out[i] = db.put(now, op)
		case store.Update:
			out[i] = db.update(now, op)
		case store.Delete:
			out[i] = db.delete(op)
		case store.Pause:
			out[i] = db.hold("pause", op.Ref, op.IfGeneration, func(t *timer.Timer) (bool, error) { return op.Apply(now, t) })
		case store.Resume:
			out[i] = db.hold("resume", op.Ref, op.IfGeneration, func(t *timer.Timer) (bool, error) { return op.Apply(now, t), nil })
		default:
			out[i].Err = fmt.Errorf("write: operation %d is a %T: %w", i, op, store.ErrInvalid)
		}
	}
	return out
}

func (db *Database) put(now timer.Millis, op store.Put) store.Written {
	old := db.row(op.Ref)
	if op.OnConflict != store.Replace {
		if present, ok := db.present(now, op.Ref); ok {
			if op.OnConflict == store.Keep {
				return store.Written{Timer: present, Kept: true}
			}
			return store.Written{Timer: present, Err: fmt.Errorf("put timer %s: %w", op.Ref.UUID, store.ErrExists)}
		}
	}
	t := timer.Timer{
		Namespace:  op.Namespace,
		ID:         op.ID,
		UUID:       op.Ref.UUID,
		Spec:       op.Spec,
		Status:     timer.StatusScheduled,
		DueAt:      dueAt(now, op.Spec.ExecuteAt, now),
		PlannedAt:  dueAt(now, op.Spec.ExecuteAt, now),
		Revision:   op.Revision,
		Generation: timer.Generation(op.Revision),
		CreatedAt:  now,
		UpdatedAt:  now,
	}
	var prior *timer.Timer
	if old != nil {
		t.CreatedAt = old.timer.CreatedAt
		store.KeepPause(&t, &old.timer)
		prior = cloned(old.timer)
	}
	db.shard(op.Ref.Shard).put(&row{timer: clone(t)})
	return store.Written{Timer: clone(t), Prior: prior}
}

// present returns the timer that conflicts with a Put: the live one, or the finished one of history.
func (db *Database) present(now timer.Millis, ref store.Ref) (timer.Timer, bool) {
	if r := db.row(ref); r != nil {
		return clone(r.timer), true
	}
	if h := db.finished(now, ref); h != nil {
		return clone(h.timer), true
	}
	return timer.Timer{}, false
}

func (db *Database) update(now timer.Millis, op store.Update) store.Written {
	old, refused := db.liveFor("update", op.Ref, op.IfGeneration)
	if refused != nil {
		return *refused
	}
	t := old.timer
	if err := op.Refuses(&t); err != nil {
		return store.Written{Timer: clone(t), Err: err}
	}
	spec, err := op.Patch.Apply(t.Spec)
	if err != nil {
		return store.Written{Err: fmt.Errorf("update timer %s: %w: %w", op.Ref.UUID, store.ErrInvalid, err)}
	}
	t.Spec = spec
	t.DueAt, t.PlannedAt = op.Times(now, &old.timer, old.leased, spec.ExecuteAt)
	revive(&t, now, op.Revision)
	prior := cloned(old.timer)
	db.shard(op.Ref.Shard).put(&row{timer: clone(t)})
	return store.Written{Timer: clone(t), Prior: prior}
}

// hold pauses or resumes a timer by a function that reports whether it changed the timer.
func (db *Database) hold(
	verb string, ref store.Ref, want timer.Generation, change func(*timer.Timer) (bool, error),
) store.Written {
	old, refused := db.liveFor(verb, ref, want)
	if refused != nil {
		return *refused
	}
	t := clone(old.timer)
	changed, err := change(&t)
	w := store.Written{Timer: clone(t), Kept: !changed && err == nil, Err: err}
	if changed {
		w.Prior = cloned(old.timer)
		db.shard(ref.Shard).put(&row{timer: t})
	}
	return w
}

// revive starts a new generation at attempt 1. A paused timer stays paused.
func revive(t *timer.Timer, now timer.Millis, revision timer.Revision) {
	if t.Status != timer.StatusPaused {
		t.Status = timer.StatusScheduled
	}
	t.Skip, t.ResumedFrom, t.FlowTurn = false, 0, 0
	t.Revision = revision
	t.Generation = timer.Generation(revision)
	t.Attempts = 0
	t.Starts = 0
	t.UpdatedAt = now
}

func (db *Database) delete(op store.Delete) store.Written {
	old, refused := db.liveFor("delete", op.Ref, op.IfGeneration)
	if refused != nil {
		return *refused
	}
	db.shard(op.Ref.Shard).drop(old)
	return store.Written{Timer: clone(old.timer), Prior: cloned(old.timer)}
}

// liveFor returns the row that an operation applies to, or the operation's refusal.
func (db *Database) liveFor(verb string, ref store.Ref, want timer.Generation) (*row, *store.Written) {
	r := db.row(ref)
	if r == nil {
		return nil, &store.Written{Err: fmt.Errorf("%s timer %s: %w", verb, ref.UUID, store.ErrNotFound)}
	}
	if want != 0 && r.timer.Generation != want {
		return nil, &store.Written{
			Timer: clone(r.timer),
			Err: fmt.Errorf("%s timer %s: generation is %s, not %s: %w",
				verb, ref.UUID, r.timer.Generation, want, store.ErrConflict),
		}
	}
	return r, nil
}
