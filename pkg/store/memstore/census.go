package memstore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Count implements store.Census. It reads the indexes; of rows only those that were moved, and those of shards with parked
// or paused timers.
func (s *Store) Count(ctx context.Context, now timer.Millis) (store.Counts, error) {
	if err := s.lock(ctx, "count"); err != nil {
		return store.Counts{}, err
	}
	defer s.db.mu.Unlock()
	counts := store.Counts{OldestPlannedAt: timer.Never}
	for _, sh := range s.db.shards { // sums and a minimum do not depend on the map's order
		counts.Pending += int64(sh.due.len)
		if sh.rows.len > sh.due.len {
			for _, r := range sh.rows.all() {
				switch r.timer.Status { //nolint:exhaustive // the others are pending
				case timer.StatusParked:
					counts.Parked++
				case timer.StatusPaused:
					counts.Paused++
				}
			}
		}
		counts.Overdue += int64(sh.due.below(store.Key{DueAt: now}))
		for key := range sh.due.all() {
			counts.OldestPlannedAt = min(counts.OldestPlannedAt, key.DueAt)
			break
		}
		counts.Dead += sh.countDead()
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

// countDead returns the number of timers that died and have no row. It reads the history of a shard only if some of it is dead.
func (sh *shardState) countDead() int64 {
	if sh.dead == 0 {
		return 0
	}
	died := map[timer.UUID]bool{}
	for key, h := range sh.byAttempt {
		if _, live := sh.rows.get(key.uuid); !live && h.entry.Outcome == store.OutcomeDead {
			died[key.uuid] = true
		}
	}
	return int64(len(died))
}
