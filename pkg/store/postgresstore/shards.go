package postgresstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Claims and watermarks are in separate tables: polls read claims, which change rarely (docs/decisions/0034). Claim,
// Release and Advance are each one transaction that first locks the rows of claims, in the order of shards. A statement
// that has waited for such a row evaluates its condition again, so a stale claim never passes. A statement that runs
// after the lock sees the watermark that the previous transaction committed.
var (
	// claimShards creates the watermark with the first claim of a shard. The writes of watermarks start at different
	// numbers, so that the rows of a batch do not all change their keys (series) in the same Advance.
	claimShards = statement{"claim_shards", `WITH claimed AS (
	INSERT INTO claims AS c (shard_id, version, owner, published_due, published_uuid, claimed_at, node)
	SELECT a.shard_id, 1, $2::uuid, '-infinity', $5::uuid, $4::timestamptz, $3::text FROM unnest($1::bigint[]) AS a(shard_id)
	ON CONFLICT (shard_id) DO UPDATE SET version = c.version + 1, owner = excluded.owner, node = excluded.node,
		claimed_at = excluded.claimed_at
	RETURNING shard_id, version, published_due, published_uuid
), made AS (
	INSERT INTO watermarks (shard_id, writes, due_at, uuid)
	SELECT shard_id, floor(random() * 16), '-infinity', $5 FROM claimed WHERE version = 1
)
SELECT shard_id, version, published_due, published_uuid FROM claimed`}

	readWatermarks = statement{"read_watermarks", `SELECT a.shard_id, n.due_at, n.uuid
FROM unnest($1::bigint[]) AS a(shard_id) CROSS JOIN LATERAL (` + newestWatermark + ") n"}

	releaseShards = statement{"release_shards", `UPDATE claims c SET owner = NULL,
	published_due = CASE WHEN (c.published_due, c.published_uuid) < (a.due, a.uuid) THEN a.due ELSE c.published_due END,
	published_uuid = CASE WHEN (c.published_due, c.published_uuid) < (a.due, a.uuid) THEN a.uuid ELSE c.published_uuid END
FROM ` + keysUnderClaims + `
WHERE ` + fence + `
RETURNING a.place`}

	lockClaims = statement{"lock_claims", `SELECT FROM unnest($1::bigint[], $2::bigint[], $3::uuid[]) AS a(shard_id, version, owner)
JOIN claims c ON ` + fence + `
FOR NO KEY UPDATE OF c`}

	// advanceShards runs after lockClaims.
	advanceShards = statement{"advance_shards", `UPDATE watermarks w SET writes = w.writes + 1,
	due_at = CASE WHEN (w.due_at, w.uuid) < (a.due, a.uuid) THEN a.due ELSE w.due_at END,
	uuid = CASE WHEN (w.due_at, w.uuid) < (a.due, a.uuid) THEN a.uuid ELSE w.uuid END
FROM ` + keysUnderClaims + `
JOIN claims c ON ` + fence + `
CROSS JOIN LATERAL (` + newestWatermark + `) n
WHERE w.ctid = n.ctid
RETURNING a.place`}
)

const (
	fence = "c.shard_id = ANY (ARRAY[a.shard_id]) AND c.version = a.version AND c.owner = a.owner"

	keysUnderClaims = `unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::uuid[])
	WITH ORDINALITY AS a(shard_id, version, owner, due, uuid, place)`

	// newestWatermark is one index probe. Migration 8 documents why it reads the greatest series.
	newestWatermark = "SELECT m.ctid, m.due_at, m.uuid FROM watermarks m WHERE m.shard_id = a.shard_id ORDER BY m.series DESC LIMIT 1"
)

// Claim implements store.Shards.
func (s *Store) Claim(ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID) ([]store.Claimed, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	out := make([]store.Claimed, len(shards))
	for i, id := range shards {
		out[i].Claim.Shard = id
	}
	for _, round := range engine.Rounds(engine.Places(shards), func(i int) shard.ID { return shards[i] }) {
		slices.SortFunc(round, func(a, b int) int { return cmp.Compare(shards[a], shards[b]) })
		place := make(map[shard.ID]int, len(round))
		for _, i := range round {
			place[shards[i]] = i
		}
		err := s.write(ctx, "claim shards", latest, func(t *transaction) error {
			ids := int8s(len(round), func(i int) int64 { return int64(shards[round[i]]) })
			claimed := func(r *record) (c *store.Claimed) {
				id := shard.ID(r.int8())
				i, asked := place[id]
				if !asked {
					r.failf("the server claimed shard %s, which was not requested", id)
					return &store.Claimed{}
				}
				return &out[i]
			}
			return t.commit(ctx, call{
				statement: claimShards,
				args: [][]byte{
					ids, uuidValue(owner.Incarnation), textValue(storable(owner.Node)), instantValue(now), uuidValue(timer.UUID{}),
				},
				row: func(r *record) {
					c := claimed(r)
					c.Claim.Version, c.Claim.Owner = r.int8(), owner.Incarnation
					c.Published = readKey(r)
				},
			}, call{
				statement: readWatermarks,
				args:      [][]byte{ids},
				row:       func(r *record) { claimed(r).Watermark = readKey(r) },
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Release implements store.Shards.
func (s *Store) Release(ctx context.Context, _ timer.Millis, items []store.Release) ([]error, error) {
	return s.underClaim(ctx, "release", len(items), []statement{releaseShards},
		func(i int) (store.Claim, store.Key) { return items[i].Claim, items[i].Published })
}

// Advance implements store.Shards.
func (s *Store) Advance(ctx context.Context, _ timer.Millis, items []store.Advance) ([]error, error) {
	return s.underClaim(ctx, "advance", len(items), []statement{lockClaims, advanceShards},
		func(i int) (store.Claim, store.Key) { return items[i].Claim, items[i].Watermark })
}

// underClaim writes a key to each of n shards whose claim is the newest. The last statement writes and returns the
// places of those shards. The statements before it get the claims only.
func (s *Store) underClaim(
	ctx context.Context, verb string, n int, statements []statement, item func(i int) (store.Claim, store.Key),
) ([]error, error) {
	if n == 0 {
		return nil, nil
	}
	claim := func(i int) store.Claim { c, _ := item(i); return c }
	out := make([]error, n)
	for _, round := range engine.Rounds(engine.Places(out), func(i int) shard.ID { return claim(i).Shard }) {
		slices.SortFunc(round, func(a, b int) int { return cmp.Compare(claim(a).Shard, claim(b).Shard) })
		err := s.write(ctx, verb+" shards", latest, func(t *transaction) error {
			for _, i := range round {
				out[i] = engine.Fenced(verb, claim(i))
			}
			key := func(i int) store.Key { _, k := item(round[i]); return k }
			claims := claimArgs(len(round), func(i int) store.Claim { return claim(round[i]) })
			var calls []call
			for _, what := range statements {
				calls = append(calls, call{statement: what, args: claims})
			}
			writes := &calls[len(calls)-1]
			writes.args = append(slices.Clip(claims), keyDues(len(round), key), keyUUIDs(len(round), key))
			writes.row = func(r *record) { out[round[r.int8()-1]] = nil }
			return t.commit(ctx, calls...)
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// claimArgs returns the shards, versions and owners as parameters.
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
	k.UUID = r.uuid()
	return k
}
