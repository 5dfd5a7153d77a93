package postgresstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Each of these is one statement a batch with the fence in its WHERE. A row that another claim is just
// changing is waited for and then compared anew, so that a stale claim never passes.
var (
	claimShards = statement{"claim_shards", `INSERT INTO shards AS s (shard_id, version, owner, watermark_due, watermark_uuid,
	published_due, published_uuid, claimed_at, updated_at, node)
SELECT a.shard_id, 1, $2::uuid, '-infinity', $5::uuid, '-infinity', $5, $4::timestamptz, $4, $3::text
FROM unnest($1::bigint[]) AS a(shard_id)
ON CONFLICT (shard_id) DO UPDATE SET version = s.version + 1, owner = excluded.owner, node = excluded.node,
	claimed_at = excluded.claimed_at, updated_at = excluded.updated_at
RETURNING shard_id, version, watermark_due, watermark_uuid, published_due, published_uuid`}

	releaseShards = statement{"release_shards", `UPDATE shards s SET owner = NULL, updated_at = $1,
	published_due = CASE WHEN (s.published_due, s.published_uuid) < (a.due, a.uuid) THEN a.due ELSE s.published_due END,
	published_uuid = CASE WHEN (s.published_due, s.published_uuid) < (a.due, a.uuid) THEN a.uuid ELSE s.published_uuid END` + fence}

	advanceShards = statement{"advance_shards", `UPDATE shards s SET updated_at = $1,
	watermark_due = CASE WHEN (s.watermark_due, s.watermark_uuid) < (a.due, a.uuid) THEN a.due ELSE s.watermark_due END,
	watermark_uuid = CASE WHEN (s.watermark_due, s.watermark_uuid) < (a.due, a.uuid) THEN a.uuid ELSE s.watermark_uuid END` + fence}
)

const fence = `
FROM unnest($2::bigint[], $3::bigint[], $4::uuid[], $5::timestamptz[], $6::uuid[])
	WITH ORDINALITY AS a(shard_id, version, owner, due, uuid, place)
WHERE s.shard_id = a.shard_id AND s.version = a.version AND s.owner = a.owner
RETURNING a.place`

// Claim implements store.Shards.
func (s *Store) Claim(ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID) ([]store.Claimed, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	out := make([]store.Claimed, len(shards))
	for _, round := range rounds(placesOf(shards), func(i int) shard.ID { return shards[i] }) {
		slices.SortFunc(round, func(a, b int) int { return cmp.Compare(shards[a], shards[b]) })
		place := make(map[shard.ID]int, len(round))
		for _, i := range round {
			place[shards[i]] = i
		}
		err := s.write(ctx, "claim shards", latest, func(t *transaction) error {
			return t.commit(ctx, call{
				statement: claimShards,
				args: [][]byte{
					int8s(len(round), func(i int) int64 { return int64(shards[round[i]]) }),
					uuidValue(owner.Incarnation), textValue(storable(owner.Node)), instantValue(now), uuidValue(timer.UUID{}),
				},
				row: func(r *record) {
					c := store.Claimed{Claim: store.Claim{Shard: shard.ID(r.int8()), Owner: owner.Incarnation}}
					c.Claim.Version = r.int8()
					c.Watermark = readKey(r)
					c.Published = readKey(r)
					i, asked := place[c.Claim.Shard]
					if !asked {
						r.failf("the server claimed shard %s, which nobody asked for", c.Claim.Shard)
						return
					}
					out[i] = c
				},
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Release implements store.Shards.
func (s *Store) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	return s.underClaim(ctx, now, "release", releaseShards, len(items),
		func(i int) (store.Claim, store.Key) { return items[i].Claim, items[i].Published })
}

// Advance implements store.Shards.
func (s *Store) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	return s.underClaim(ctx, now, "advance", advanceShards, len(items),
		func(i int) (store.Claim, store.Key) { return items[i].Claim, items[i].Watermark })
}

// underClaim writes a key to each of n shards whose claim holds.
func (s *Store) underClaim(
	ctx context.Context, now timer.Millis, verb string, what statement, n int, item func(i int) (store.Claim, store.Key),
) ([]error, error) {
	if n == 0 {
		return nil, nil
	}
	claim := func(i int) store.Claim { c, _ := item(i); return c }
	out := make([]error, n)
	for _, round := range rounds(placesOf(out), func(i int) shard.ID { return claim(i).Shard }) {
		slices.SortFunc(round, func(a, b int) int { return cmp.Compare(claim(a).Shard, claim(b).Shard) })
		err := s.write(ctx, verb+" shards", latest, func(t *transaction) error {
			for _, i := range round {
				out[i] = fenced(verb, claim(i))
			}
			key := func(i int) store.Key { _, k := item(round[i]); return k }
			args := append([][]byte{instantValue(now)}, claimArgs(len(round), func(i int) store.Claim { return claim(round[i]) })...)
			return t.commit(ctx, call{
				statement: what,
				args:      append(args, keyDues(len(round), key), keyUUIDs(len(round), key)),
				row:       func(r *record) { out[round[r.int8()-1]] = nil },
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// claimArgs are shards, versions and owners.
func claimArgs(n int, claim func(i int) store.Claim) [][]byte {
	return [][]byte{
		int8s(n, func(i int) int64 { return int64(claim(i).Shard) }),
		int8s(n, func(i int) int64 { return claim(i).Version }),
		uuids(n, func(i int) timer.UUID { return claim(i).Owner }),
	}
}

func readKey(r *record) store.Key {
	var k store.Key
	k.DueAt, _ = r.instant()
	k.UUID, _ = r.uuid()
	return k
}

func fenced(verb string, c store.Claim) error {
	return fmt.Errorf("%s shard %s under claim %d: %w", verb, c.Shard, c.Version, store.ErrFenced)
}

// placesOf are 0 to the slice's last index.
func placesOf[T any](items []T) []int {
	out := make([]int, len(items))
	for i := range out {
		out[i] = i
	}
	return out
}
