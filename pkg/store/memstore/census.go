package memstore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Count implements store.Census. It reads the indexes, and of rows only those that were moved.
func (s *Store) Count(ctx context.Context, now timer.Millis) (store.Counts, error) {
	if err := s.lock(ctx, "count"); err != nil {
		return store.Counts{}, err
	}
	defer s.db.mu.Unlock()
	counts := store.Counts{OldestPlannedAt: timer.Never}
	for _, sh := range s.db.shards { // sums and a minimum do not depend on the map's order
		counts.Pending += int64(sh.due.len)
		counts.Parked += int64(sh.rows.len - sh.due.len)
		counts.Overdue += int64(sh.due.below(store.Key{DueAt: now}))
		for key := range sh.due.all() {
			counts.OldestPlannedAt = min(counts.OldestPlannedAt, key.DueAt)
			break
		}
		for key, r := range sh.moved.all() {
			if r.leased && r.timer.DueAt >= now {
				continue
			}
			counts.OldestPlannedAt = min(counts.OldestPlannedAt, key.DueAt)
			if key.DueAt < now && r.timer.DueAt >= now {
				counts.Overdue++
			}
		}
	}
	return counts, nil
}
