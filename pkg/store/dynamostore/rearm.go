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
		out[i] = w
		return nil
	}, func(i int, err error) { out[i] = store.Written{Err: err} })
	if err != nil {
		return nil, fmt.Errorf("rearm: %w", err)
	}
	return out, nil
}

func (s *Store) rearmOne(ctx context.Context, now timer.Millis, op *store.Rearm) (w store.Written, err error) {
	for {
		it, err := s.get(ctx, s.options.Table, timerKey(op.Ref))
		if err != nil {
			return w, err
		}
		slot, err := readSlot(op.Ref, it)
		if err != nil {
			return w, err
		}
		if slot.Was == nil {
			// A dead or done timer becomes a live one, unless there is a live one after all.
			slot, err = s.occupy(ctx, now, op.Ref, func(slot *engine.Slot) { w = slot.Rearm(now, op) })
			if err != nil || slot.Was == nil {
				return w, err
			}
			continue
		}
		if w = slot.Rearm(now, op); w.Err != nil {
			return w, nil //nolint:nilerr // the refusal is the answer of the item.
		}
		_, held, err := s.put(ctx, s.options.Table, rowItem(op.Ref, &slot.Is.Timer), still(&slot.Was.Timer))
		if err != nil || held {
			return w, err
		}
	}
}
