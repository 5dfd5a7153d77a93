package postgresstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// writeLocked locks the rows of the operations at the given places, applies the operations, and commits.
func (t *transaction) writeLocked(
	ctx context.Context, now timer.Millis, ops []store.Op, places []int, out []store.Written, more ...call,
) error {
	var refs, kept []store.Ref
	for _, i := range places {
		ref, ok := refOf(ops[i])
		if !ok {
			out[i] = store.Written{Err: fmt.Errorf("operation %d is a %T: %w", i, ops[i], store.ErrInvalid)}
			continue
		}
		refs = append(refs, ref)
		if put, ok := ops[i].(store.Put); ok && put.OnConflict != store.Replace {
			kept = append(kept, ref)
		}
	}
	if len(refs) == 0 {
		return t.commit(ctx, more...)
	}
	l, err := t.lock(ctx, now, refs)
	if err != nil {
		return err
	}
	// A Put that keeps or fails on an existing timer also needs to know whether a finished one exists.
	if err := t.readEnds(ctx, l, kept); err != nil {
		return err
	}
	for _, i := range places {
		switch op := ops[i].(type) {
		case store.Put:
			out[i] = l.slots[op.Ref].put(now, &op)
		case store.Update:
			out[i] = l.slots[op.Ref].update(now, &op)
		case store.Delete:
			out[i] = l.slots[op.Ref].delete(&op)
		}
	}
	return t.flush(ctx, l, more...)
}

func (s *slot) put(now timer.Millis, op *store.Put) store.Written {
	if op.OnConflict != store.Replace {
		if present := s.present(); present != nil {
			w := store.Written{Timer: clone(present)}
			if op.OnConflict == store.Keep {
				w.Kept = true
			} else {
				w.Err = fmt.Errorf("put timer %s: %w", op.Ref.UUID, store.ErrExists)
			}
			return w
		}
	}
	t := engine.NewTimer(now, op)
	w := store.Written{Prior: s.prior()}
	if s.is != nil {
		t.CreatedAt = s.is.timer.CreatedAt
	}
	s.set(row{timer: t}, false)
	w.Timer = clone(&t)
	return w
}

// present returns the timer that conflicts with a Put: the live one, or the finished one in history.
func (s *slot) present() *timer.Timer {
	if s.is != nil {
		return &s.is.timer
	}
	return s.ended
}

// prior returns the live state before an operation, or nil.
func (s *slot) prior() *timer.Timer {
	if s.is == nil {
		return nil
	}
	t := s.is.timer
	t.Payload = nil // the contract allows engines to omit it
	return &t
}

func (s *slot) update(now timer.Millis, op *store.Update) store.Written {
	if refused := s.refusal("update", op.Ref, op.IfGeneration); refused != nil {
		return *refused
	}
	t := s.is.timer
	spec, err := op.Patch.Apply(t.Spec)
	if err != nil {
		return store.Written{Err: fmt.Errorf("update timer %s: %w: %w", op.Ref.UUID, store.ErrInvalid, err)}
	}
	t.Spec = spec
	t.Payload = slices.Clone(t.Payload)
	t.DueAt, t.PlannedAt = op.Times(now, &s.is.timer, s.is.leased, t.ExecuteAt)
	engine.Revive(&t, now, op.Revision)
	w := store.Written{Prior: s.prior(), Timer: clone(&t)}
	s.set(row{timer: t}, op.Patch.Payload == nil)
	return w
}

func (s *slot) delete(op *store.Delete) store.Written {
	if refused := s.refusal("delete", op.Ref, op.IfGeneration); refused != nil {
		return *refused
	}
	w := store.Written{Prior: s.prior(), Timer: clone(&s.is.timer)}
	s.remove()
	return w
}

// refusal returns the answer to an operation whose row does not exist or has a different generation than want. It
// returns nil if the operation may proceed.
func (s *slot) refusal(verb string, ref store.Ref, want timer.Generation) *store.Written {
	if s.is == nil {
		return &store.Written{Err: fmt.Errorf("%s timer %s: %w", verb, ref.UUID, store.ErrNotFound)}
	}
	return conflict(verb, &s.is.timer, want)
}

// conflict returns the answer if a timer has a different generation than want, or nil.
func conflict(verb string, t *timer.Timer, want timer.Generation) *store.Written {
	if want == 0 || t.Generation == want {
		return nil
	}
	return &store.Written{
		Timer: clone(t),
		Err:   fmt.Errorf("%s timer %s: generation is %s, not %s: %w", verb, t.UUID, t.Generation, want, store.ErrConflict),
	}
}

// clone copies a timer for an answer, because later operations of the batch may change the state.
func clone(t *timer.Timer) timer.Timer {
	c := *t
	c.Payload = slices.Clone(t.Payload)
	return c
}
