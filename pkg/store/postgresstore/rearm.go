package postgresstore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Rearm implements store.Outcomes.
func (s *Store) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	if len(items) == 0 {
		return nil, nil
	}
	out := make([]store.Written, len(items))
	refs := make([]store.Ref, len(items))
	for i := range items {
		refs[i] = items[i].Ref
	}
	err := s.write(ctx, "rearm timers", snapshot, func(t *transaction) error {
		l, err := t.lock(ctx, now, refs)
		if err != nil {
			return err
		}
		if err := t.readEnds(ctx, l, refs); err != nil {
			return err
		}
		for i := range items {
			out[i] = l.slots[items[i].Ref].rearm(now, &items[i])
		}
		return t.flush(ctx, l)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *slot) rearm(now timer.Millis, item *store.Rearm) store.Written {
	var t timer.Timer
	switch {
	case s.is == nil:
		if s.ended == nil || s.ended.Status != timer.StatusDead {
			return store.Written{Err: fmt.Errorf("rearm timer %s: %w", item.Ref.UUID, store.ErrNotFound)}
		}
		t = clone(s.ended)
	case s.is.timer.Status != timer.StatusParked:
		t = clone(&s.is.timer)
		return store.Written{Timer: t, Err: fmt.Errorf("rearm timer %s: it is %s: %w", item.Ref.UUID, t.Status, store.ErrConflict)}
	default:
		t = clone(&s.is.timer)
	}
	if refused := conflict("rearm", &t, item.IfGeneration); refused != nil {
		return *refused
	}
	t.ExecuteAt = item.ExecuteAt
	t.DueAt = engine.DueAt(now, item.ExecuteAt, now)
	t.PlannedAt = t.DueAt
	engine.Revive(&t, now, item.Revision)
	w := store.Written{Prior: s.prior(), Timer: clone(&t)}
	s.set(row{timer: t}, true)
	return w
}
