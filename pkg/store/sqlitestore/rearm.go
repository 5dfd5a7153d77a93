package sqlitestore

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
	err := s.write(ctx, "rearm timers", len(items), 0, func(c *conn) (err error) {
		for i := range items {
			if out[i], err = c.rearm(now, &items[i]); err != nil {
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

func (c *conn) rearm(now timer.Millis, item *store.Rearm) (store.Written, error) {
	s, err := c.slot(selectSlot, item.Ref)
	if err == nil {
		err = c.readEnd(now, s)
	}
	if err != nil {
		return store.Written{}, err
	}
	w := s.Rearm(now, item)
	return w, c.flush(s)
}
