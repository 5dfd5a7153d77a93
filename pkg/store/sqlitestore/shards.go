package sqlitestore

import (
	"context"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	upsertClaim = `INSERT INTO shards (shard, version, owner, node, watermark_due, watermark_uuid, published_due, published_uuid,
	claimed_at, updated_at)
VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (shard) DO UPDATE SET version = version + 1, owner = excluded.owner, node = excluded.node,
	claimed_at = excluded.claimed_at, updated_at = excluded.updated_at
RETURNING version, watermark_due, watermark_uuid, published_due, published_uuid`

	// SQLite evaluates both key comparisons before it changes the row.
	releaseClaim = `UPDATE shards SET owner = NULL, updated_at = ?1,
	published_due = iif((published_due, published_uuid) < (?2, ?3), ?2, published_due),
	published_uuid = iif((published_due, published_uuid) < (?2, ?3), ?3, published_uuid)
WHERE shard = ?4 AND version = ?5 AND owner = ?6`

	advanceWatermark = `UPDATE shards SET updated_at = ?1,
	watermark_due = iif((watermark_due, watermark_uuid) < (?2, ?3), ?2, watermark_due),
	watermark_uuid = iif((watermark_due, watermark_uuid) < (?2, ?3), ?3, watermark_uuid)
WHERE shard = ?4 AND version = ?5 AND owner = ?6`
)

// Claim implements store.Shards.
func (s *Store) Claim(ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID) ([]store.Claimed, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	out := make([]store.Claimed, len(shards))
	err := s.write(ctx, "claim shards", len(shards), 0, func(c *conn) error {
		least := store.MinKey()
		for i, id := range shards {
			claimed := store.Claimed{Claim: store.Claim{Shard: id, Owner: owner.Incarnation}}
			w, p := &claimed.Watermark, &claimed.Published
			err := c.one(upsertClaim,
				[]any{id, owner.Incarnation[:], owner.Node, least.DueAt, least.UUID[:], least.DueAt, least.UUID[:], now, now},
				&claimed.Claim.Version, &w.DueAt, (*uuidColumn)(&w.UUID), &p.DueAt, (*uuidColumn)(&p.UUID))
			if err != nil {
				return err
			}
			out[i] = claimed
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Release implements store.Shards.
func (s *Store) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	return fencedWrites(ctx, s, "release", items, func(c *conn, r *store.Release) (store.Claim, int64, error) {
		n, err := c.underClaim(releaseClaim, now, r.Published, r.Claim)
		return r.Claim, n, err
	})
}

// Advance implements store.Shards.
func (s *Store) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	return fencedWrites(ctx, s, "advance", items, func(c *conn, a *store.Advance) (store.Claim, int64, error) {
		n, err := c.underClaim(advanceWatermark, now, a.Watermark, a.Claim)
		return a.Claim, n, err
	})
}

func (c *conn) underClaim(statement string, now timer.Millis, key store.Key, claim store.Claim) (int64, error) {
	return c.exec(statement, now, key.DueAt, key.UUID[:], claim.Shard, claim.Version, claim.Owner[:])
}

// fencedWrites runs one statement for each item, which changes a row only if the claim is the shard's newest.
func fencedWrites[T any](
	ctx context.Context, s *Store, verb string, items []T, run func(*conn, *T) (store.Claim, int64, error),
) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	out := make([]error, len(items))
	err := s.write(ctx, verb+" shards", len(items), 0, func(c *conn) error {
		for i := range items {
			claim, changed, err := run(c, &items[i])
			if err != nil {
				return err
			}
			out[i] = nil
			if changed == 0 {
				out[i] = engine.Fenced(verb, claim)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
