package dynamostore

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
	if err := s.calls.Enter(ctx, "rearm"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	out := make([]store.Written, len(items))
	groups := turns(len(items), func(i int) store.Ref { return items[i].Ref })
	err := s.singly(groups, func(i int) error {
		w, err := s.rearmOne(ctx, now, &items[i])
		if err = itsOwn(&w, err); err != nil {
			return fmt.Errorf("timer %s: %w", items[i].Ref.UUID, err)
		}
		if w.Err != nil {
			w.Err = fmt.Errorf("rearm timer %s: %w", items[i].Ref.UUID, w.Err)
		}
		out[i] = w
		return nil
	}, func(i int, err error) { out[i] = store.Written{Err: err} })
	if err != nil {
		return nil, fmt.Errorf("rearm: %w", err)
	}
	return out, nil
}

func (s *Store) rearmOne(ctx context.Context, now timer.Millis, op *store.Rearm) (store.Written, error) {
	for {
		it, err := s.get(ctx, s.options.Table, timerKey(op.Ref))
		if err != nil {
			return store.Written{}, err
		}
		old, found, err := readRow(it)
		if err != nil {
			return store.Written{}, err
		}
		if !found {
			w, again, err := s.rearmDead(ctx, now, op)
			if err != nil || !again {
				return w, err
			}
			continue
		}
		if refused := mayRearm(&old.timer, op); refused != nil {
			return *refused, nil
		}
		t := rearmed(old.timer, now, op)
		_, held, err := s.put(ctx, s.options.Table, rowItem(op.Ref, &t), still(&old.timer))
		if err != nil || held {
			return store.Written{Timer: t, Prior: &old.timer}, err
		}
	}
}

func mayRearm(t *timer.Timer, op *store.Rearm) *store.Written {
	if t.Status != timer.StatusParked && t.Status != timer.StatusDead {
		return &store.Written{Timer: *t, Err: fmt.Errorf("it is %s: %w", t.Status, store.ErrConflict)}
	}
	if op.IfGeneration != 0 && op.IfGeneration != t.Generation {
		return &store.Written{
			Timer: *t, Err: fmt.Errorf("generation is %s, not %s: %w", t.Generation, op.IfGeneration, store.ErrConflict),
		}
	}
	return nil
}

func rearmed(t timer.Timer, now timer.Millis, op *store.Rearm) timer.Timer {
	t.Payload = clonePayload(t.Payload)
	t.ExecuteAt = op.ExecuteAt
	t.DueAt = engine.DueAt(now, op.ExecuteAt, now)
	t.PlannedAt = t.DueAt
	engine.Revive(&t, now, op.Revision)
	return t
}

// rearmDead creates a timer from a dead one, if there is no live one. again is set if there is a live one after all.
func (s *Store) rearmDead(ctx context.Context, now timer.Millis, op *store.Rearm) (w store.Written, again bool, err error) {
	there, err := s.occupy(ctx, now, op.Ref, func(ended *timer.Timer) *timer.Timer {
		if ended == nil || ended.Status != timer.StatusDead {
			w = store.Written{Err: store.ErrNotFound}
			return nil
		}
		if refused := mayRearm(ended, op); refused != nil {
			w = *refused
			return nil
		}
		t := rearmed(*ended, now, op)
		w = store.Written{Timer: t}
		return &t
	})
	return w, err == nil && there.live, err
}
