package postgresstore

import (
	"context"

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
			out[i] = l.slots[items[i].Ref].Rearm(now, &items[i])
		}
		return t.flush(ctx, l)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
