package memstore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Leased implements store.Exclusive, because only one process can use the memory.
func (s *Store) Leased(ctx context.Context, now timer.Millis, limit int) ([]store.Lease, error) {
	if err := s.lock(ctx, "read leases"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	var leases []store.Lease
	for id, sh := range s.db.shards {
		for _, r := range sh.moved.all() {
			if t := &r.timer; r.leased && t.DueAt > now && !t.Status.Held() && len(leases) < limit {
				leases = append(leases, store.Lease{Ref: store.Ref{Shard: id, UUID: t.UUID}, Until: t.DueAt, Revision: t.Revision})
			}
		}
	}
	return leases, nil
}
