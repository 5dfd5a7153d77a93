package memstore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Outbox implements store.Shards. It fills the page with the shards in the order of the query.
func (s *Store) Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "outbox"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	var out []store.OutboxEntry
	for _, id := range shards {
		sh := s.db.shards[id]
		if sh == nil {
			continue
		}
		for key, on := range sh.marks.all() {
			if key.at >= before || len(out) == limit {
				break
			}
			out = append(out, on.outboxEntry(id))
		}
	}
	return out, nil
}

func (on markOn) outboxEntry(id shard.ID) store.OutboxEntry {
	if on.parked != nil {
		t := on.parked.timer
		return store.OutboxEntry{
			ID: store.OutboxID{
				Ref:        store.Ref{Shard: id, UUID: t.UUID},
				Status:     timer.StatusParked,
				Generation: t.Generation,
				Attempt:    t.Attempts,
				Revision:   t.Revision,
			},
			Timer:    clone(t),
			MarkedAt: on.parked.mark.at,
		}
	}
	return store.OutboxEntry{
		ID: store.OutboxID{
			Ref:        on.dead.entry.Ref,
			Status:     timer.StatusDead,
			Generation: on.dead.entry.Generation,
			Attempt:    on.dead.entry.Attempt,
			Revision:   on.dead.timer.Revision,
		},
		Timer:    clone(on.dead.timer),
		MarkedAt: on.dead.mark.at,
	}
}

// RemoveFromOutbox implements store.Shards.
func (s *Store) RemoveFromOutbox(ctx context.Context, ids []store.OutboxID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := s.lock(ctx, "remove from outbox"); err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	for _, m := range ids {
		sh := s.db.shards[m.Ref.Shard]
		if sh == nil {
			continue
		}
		if m.Status == timer.StatusParked {
			sh.unmarkParked(m)
		} else {
			s.db.unmarkDead(sh, m)
		}
	}
	return nil
}

func (sh *shardState) unmarkParked(m store.OutboxID) {
	r, ok := sh.rows.get(m.Ref.UUID)
	if !ok || !r.mark.set || r.timer.Revision != m.Revision {
		return
	}
	sh.marks.remove(r.markKey())
	r.mark = mark{}
}

func (db *Database) unmarkDead(sh *shardState, m store.OutboxID) {
	h := sh.byAttempt[attemptKey{m.Ref.UUID, m.Generation, m.Attempt}]
	if h == nil || !h.mark.set {
		return
	}
	sh.marks.remove(h.markKey())
	h.mark = mark{}
	db.expiry.set(h.expiryKey(), h)
}
