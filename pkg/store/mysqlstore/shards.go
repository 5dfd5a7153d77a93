package mysqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	claimShards = "INSERT INTO shards VALUES "
	// The first claim of a shard creates its row, with version 1 and the keys at MinKey.
	nextVersion = ` ON DUPLICATE KEY UPDATE version = version + 1, owner = VALUES(owner), node = VALUES(node),
	claimed_at = VALUES(claimed_at)`
	keysOfShard = "watermark_due, watermark_uuid, published_due, published_uuid"
)

// Claim implements store.Shards.
func (s *Store) Claim(ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID) ([]store.Claimed, error) {
	out := make([]store.Claimed, len(shards))
	for _, round := range engine.Rounds(engine.Places(shards), func(i int) shard.ID { return shards[i] }) {
		slices.SortFunc(round, func(a, b int) int { return cmp.Compare(shards[a], shards[b]) })
		err := s.write(ctx, "claim shards", func(c *conn) error {
			for some := range slices.Chunk(round, maxRows) {
				if err := c.claim(ctx, now, owner, shards, some, out); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *conn) claim(ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID, places []int, out []store.Claimed) error {
	least := store.MinKey()
	place := make(map[shard.ID]int, len(places))
	var args, ids []any
	for _, i := range places {
		place[shards[i]] = i
		ids = append(ids, int64(shards[i]))
		args = append(args, int64(shards[i]), owner.Incarnation[:], text(owner.Node), int64(least.DueAt), least.UUID[:],
			int64(least.DueAt), least.UUID[:], int64(now))
	}
	if _, err := c.exec(ctx, claimShards+repeat("(?, 1, ?, ?, ?, ?, ?, ?, ?)", len(places))+nextVersion, args...); err != nil {
		return err
	}
	return c.each(ctx, func(rows *sql.Rows) error {
		var id int64
		claimed := store.Claimed{Claim: store.Claim{Owner: owner.Incarnation}}
		w, p := &claimed.Watermark, &claimed.Published
		err := rows.Scan(&id, &claimed.Claim.Version, &w.DueAt, (*uuidColumn)(&w.UUID), &p.DueAt, (*uuidColumn)(&p.UUID))
		claimed.Claim.Shard = shard.ID(id)
		out[place[claimed.Claim.Shard]] = claimed
		return err
	}, "SELECT shard_id, version, "+keysOfShard+" FROM shards WHERE shard_id IN ("+repeat("?", len(ids))+")", ids...)
}

type uuidColumn = relational.UUIDColumn

// Release implements store.Shards.
func (s *Store) Release(ctx context.Context, _ timer.Millis, items []store.Release) ([]error, error) {
	return s.underClaim(ctx, "release", len(items), "published", ", owner = NULL",
		func(i int) (store.Claim, store.Key) { return items[i].Claim, items[i].Published })
}

// Advance implements store.Shards.
func (s *Store) Advance(ctx context.Context, _ timer.Millis, items []store.Advance) ([]error, error) {
	return s.underClaim(ctx, "advance", len(items), "watermark", "",
		func(i int) (store.Claim, store.Key) { return items[i].Claim, items[i].Watermark })
}

// underClaim raises a key of each shard whose claim is the newest. It never lowers one. more are further assignments.
func (s *Store) underClaim(
	ctx context.Context, verb string, n int, key, more string, item func(i int) (store.Claim, store.Key),
) ([]error, error) {
	out := make([]error, n)
	claim := func(i int) store.Claim { c, _ := item(i); return c }
	for _, round := range engine.Rounds(engine.Places(out), func(i int) shard.ID { return claim(i).Shard }) {
		slices.SortFunc(round, func(a, b int) int { return cmp.Compare(claim(a).Shard, claim(b).Shard) })
		err := s.write(ctx, verb+" shards", func(c *conn) error {
			for some := range slices.Chunk(round, maxRows) {
				if err := c.raise(ctx, verb, key, more, some, item, out); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// raise does this for the items at the given places, and sets their answers.
func (c *conn) raise(
	ctx context.Context, verb, key, more string, places []int, item func(i int) (store.Claim, store.Key), out []error,
) error {
	claim := func(i int) store.Claim { c, _ := item(i); return c }
	stored, err := c.lockClaims(ctx, places, claim, key)
	if err != nil {
		return err
	}
	var args []any
	for _, i := range places {
		out[i] = engine.Fenced(verb, claim(i))
		if k, holds := stored[i]; holds {
			if _, wanted := item(i); wanted.After(k) {
				k = wanted
			}
			args = append(args, int64(claim(i).Shard), int64(k.DueAt), uuidOf(k.UUID))
			out[i] = nil
		}
	}
	if len(args) == 0 {
		return nil
	}
	_, err = c.exec(ctx, "UPDATE "+list(len(args)/3, "s", "d", "u")+" STRAIGHT_JOIN shards t ON t.shard_id = k.s SET t."+
		key+"_due = k.d, t."+key+"_uuid = k.u"+more, args...)
	return err
}

// lockClaims locks the rows of claims that are the newest, and returns a key of each, by its place.
func (c *conn) lockClaims(
	ctx context.Context, places []int, claim func(i int) store.Claim, key string,
) (stored map[int]store.Key, err error) {
	var args []any
	for _, i := range places {
		args = append(args, i, int64(claim(i).Shard), claim(i).Version, uuidOf(claim(i).Owner))
	}
	stored = make(map[int]store.Key, len(places))
	err = c.each(ctx, func(rows *sql.Rows) error {
		var place int
		var k store.Key
		err := rows.Scan(&place, &k.DueAt, (*uuidColumn)(&k.UUID))
		stored[place] = k
		return err
	}, "SELECT k.p, t."+key+"_due, t."+key+"_uuid FROM "+list(len(places), "p", "s", "v", "o")+
		" STRAIGHT_JOIN shards t ON t.shard_id = k.s AND t.version = k.v AND t.owner = k.o FOR UPDATE", args...)
	return stored, err
}

func uuidOf(u timer.UUID) []byte { return slices.Clone(u[:]) }
