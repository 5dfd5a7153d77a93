package memstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Unannounced implements store.Shards.
func (s *Store) Unannounced(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]store.Notice, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "unannounced"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	var out []store.Notice
	for _, id := range shards {
		sh := s.db.shards[id]
		if sh == nil {
			continue
		}
		n := 0
		for key, on := range sh.marks.all() {
			if key.at >= before || n == limit {
				break
			}
			out = append(out, on.notice(id))
			n++
		}
	}
	slices.SortStableFunc(out, func(a, b store.Notice) int { return cmp.Compare(a.MarkedAt, b.MarkedAt) })
	return out[:min(limit, len(out))], nil
}

func (on markOn) notice(id shard.ID) store.Notice {
	if on.parked != nil {
		t := on.parked.timer
		return store.Notice{
			Mark: store.Mark{
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
	return store.Notice{
		Mark: store.Mark{
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

// Announced implements store.Shards.
func (s *Store) Announced(ctx context.Context, marks []store.Mark) error {
	if len(marks) == 0 {
		return nil
	}
	if err := s.lock(ctx, "announced"); err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	for _, m := range marks {
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

func (sh *shardState) unmarkParked(m store.Mark) {
	r, ok := sh.rows.get(m.Ref.UUID)
	if !ok || !r.mark.set || r.timer.Revision != m.Revision {
		return
	}
	sh.marks.remove(r.markKey())
	r.mark = mark{}
}

func (db *Database) unmarkDead(sh *shardState, m store.Mark) {
	h := sh.byAttempt[attemptKey{m.Ref.UUID, m.Generation, m.Attempt}]
	if h == nil || !h.mark.set {
		return
	}
	sh.marks.remove(h.markKey())
	h.mark = mark{}
	db.expiry.set(h.expiryKey(), h)
}
