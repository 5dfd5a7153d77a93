package sqlitestore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// selectEnd reads the last final outcome of a timer. It sorts the history of that timer only.
var selectEnd = "SELECT " + endColumns + ` FROM history
WHERE shard = ? AND uuid = ? AND outcome IN ('done', 'dead') AND expires_at > ?
ORDER BY finished_at DESC, attempt DESC, generation DESC LIMIT 1`

// Get implements store.Timers. The result has no payload if the timer is done, but has it if the timer is dead.
func (s *Store) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	var t timer.Timer
	var found bool
	err := s.read(ctx, "get timer", func(c *conn) error {
		return c.snapshot(func() (err error) {
			t, found, err = c.timer(selectLive, ref.Shard, ref.UUID[:])
			if err == nil && !found {
				t, found, err = c.timer(selectEnd, ref.Shard, ref.UUID[:], now)
			}
			return err
		})
	})
	if err == nil && !found {
		err = fmt.Errorf("get timer %s: %w", ref.UUID, store.ErrNotFound)
	}
	return t, err
}
