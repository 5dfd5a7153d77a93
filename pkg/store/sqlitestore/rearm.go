package sqlitestore

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
	live, isLive, err := c.timer(selectLive, item.Ref.Shard, item.Ref.UUID[:])
	if err != nil {
		return store.Written{}, err
	}
	if isLive && live.Status != timer.StatusParked {
		return store.Written{
			Timer: live,
			Err:   fmt.Errorf("rearm timer %s: it is %s: %w", item.Ref.UUID, live.Status, store.ErrConflict),
		}, nil
	}
	t, found := live, isLive
	if !isLive {
		if t, found, err = c.timer(selectEnd, item.Ref.Shard, item.Ref.UUID[:], now); err != nil {
			return store.Written{}, err
		}
		found = found && t.Status == timer.StatusDead
	}
	if refused := refusal("rearm", item.Ref, item.IfGeneration, &t, found); refused != nil {
		return *refused, nil
	}
	t.ExecuteAt = item.ExecuteAt
	t.DueAt = engine.DueAt(now, item.ExecuteAt, now)
	t.PlannedAt = t.DueAt
	engine.Revive(&t, now, item.Revision)
	if isLive {
		live.Payload = nil // it is in the new state
		return store.Written{Timer: t, Prior: &live}, c.replace(item.Ref, &t)
	}
	_, err = c.insert(item.Ref, &t)
	return store.Written{Timer: t}, err
}
