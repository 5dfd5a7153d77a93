package memstore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Claim implements store.Shards.
func (s *Store) Claim(ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID) ([]store.Claimed, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "claim"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]store.Claimed, len(shards))
	for i, id := range shards {
		f := &s.db.shard(id).fence
		f.version++
		f.owner, f.claimedAt, f.held = owner, now, true
		out[i] = store.Claimed{
			Claim:     store.Claim{Shard: id, Version: f.version, Owner: owner.Incarnation},
			Watermark: f.watermark,
			Published: f.published,
		}
	}
	return out, nil
}

// Release implements store.Shards.
func (s *Store) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "release"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]error, len(items))
	for i, item := range items {
		sh, err := s.db.fenced("release", item.Claim)
		if err != nil {
			out[i] = err
			continue
		}
		sh.fence.held, sh.fence.owner.Incarnation = false, timer.UUID{}
		if item.Published.After(sh.fence.published) {
			sh.fence.published = item.Published
		}
	}
	return out, nil
}

// Advance implements store.Shards.
func (s *Store) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "advance"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]error, len(items))
	for i, item := range items {
		sh, err := s.db.fenced("advance", item.Claim)
		if err != nil {
			out[i] = err
			continue
		}
		if item.Watermark.After(sh.fence.watermark) {
			sh.fence.watermark = item.Watermark
		}
	}
	return out, nil
}

// Due implements store.Shards.
func (s *Store) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	if len(q.Shards) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "due"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]store.DueShard, len(q.Shards))
	room := q.Total
	for i, asked := range q.Shards {
		sh, err := s.db.fenced("due", asked.Claim)
		if err != nil {
			out[i].Err = err
			continue
		}
		out[i] = sh.readDue(asked.After, q.Horizon, min(room, q.PerShard))
		room -= len(out[i].Rows)
	}
	return out, nil
}

func (sh *shardState) readDue(after store.Key, horizon timer.Millis, limit int) store.DueShard {
	answer := store.DueShard{NextDueAt: timer.Never}
	for key, r := range sh.due.after(after) {
		if key.DueAt > horizon || len(answer.Rows) == limit {
			answer.NextDueAt = key.DueAt
			answer.Cut = key.DueAt <= horizon
			break
		}
		answer.Rows = append(answer.Rows, sh.dueRow(r))
	}
	return answer
}

// Overdue implements store.Shards.
func (s *Store) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	if len(q.Shards) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "overdue"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]store.OverdueShard, len(q.Shards))
	room := q.Limit
	for i, asked := range q.Shards {
		sh, err := s.db.fenced("overdue", asked.Claim)
		if err != nil {
			out[i].Err = err
			continue
		}
		for key, r := range sh.due.after(asked.From) {
			if key.DueAt >= q.Before || key.After(asked.Upto) {
				break
			}
			if room == 0 {
				out[i].More = true
				break
			}
			out[i].Rows = append(out[i].Rows, sh.dueRow(r))
			room--
		}
	}
	return out, nil
}

func (sh *shardState) dueRow(r *row) store.DueRow {
	return store.DueRow{
		Ref:        store.Ref{Shard: sh.id, UUID: r.timer.UUID},
		Revision:   r.timer.Revision,
		Generation: r.timer.Generation,
		Attempt:    r.timer.Attempts + 1,
		DueAt:      r.timer.DueAt,
		UpdatedAt:  r.timer.UpdatedAt,
		Target:     r.timer.Target(),
	}
}

// Inspect implements store.Shards.
func (s *Store) Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "inspect"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]store.ShardState, len(shards))
	for i, id := range shards {
		sh := s.db.shard(id)
		f := &sh.fence
		out[i] = store.ShardState{
			Shard: id, Version: f.version, Owner: f.owner, ClaimedAt: f.claimedAt, Held: f.held,
			Watermark: f.watermark, Published: f.published, NextDueAt: timer.Never,
		}
		for key := range sh.due.after(store.MinKey()) {
			out[i].NextDueAt = key.DueAt
			break
		}
	}
	return out, nil
}

// fenced returns the shard if the claim is its newest one, or ErrFenced.
func (db *Database) fenced(op string, c store.Claim) (*shardState, error) {
	sh := db.shards[c.Shard]
	if sh == nil || !sh.fence.admits(c) {
		return nil, fmt.Errorf("%s shard %s under claim %d: %w", op, c.Shard, c.Version, store.ErrFenced)
	}
	return sh, nil
}
