package dynamostore

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The attributes of a shard's record. The keys W and P are stored in keyText's form and absent for MinKey. owner is
// absent if the claim was released.
const (
	attrVersion   = "version"
	attrOwner     = "owner"
	attrNode      = "node"
	attrClaimedAt = "claimed_at"
	attrWatermark = "watermark"
	attrPublished = "published"
)

// newest is the fence: the condition that a claim is the newest and was not released.
const newest = "#version = :version AND #owner = :owner"

func fence(c store.Claim) condition {
	return condition{newest, item{":version": number(c.Version), ":owner": text(c.Owner.String())}}
}

// and adds a term to a condition.
func (c condition) and(holds, name, value string) condition {
	c.holds += " AND " + holds
	c.values[name] = text(value)
	return c
}

// Claim implements store.Shards.
func (s *Store) Claim(ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID) ([]store.Claimed, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	if err := s.calls.Enter(ctx, "claim"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	const change = "SET #owner = :owner, #node = :node, #claimed_at = :now ADD #version :one"
	out := make([]store.Claimed, len(shards))
	err := s.singly(alone(len(shards)), func(i int) error {
		it, _, err := s.update(ctx, recordKey(shards[i]), change, condition{values: item{
			":owner": text(owner.Incarnation.String()), ":node": text(owner.Node), ":now": number(now), ":one": number(1),
		}}, types.ReturnValueAllNew)
		if err != nil {
			return fmt.Errorf("shard %s: %w", shards[i], err)
		}
		record, err := readRecord(shards[i], it)
		out[i] = store.Claimed{
			Claim:     store.Claim{Shard: shards[i], Version: record.Version, Owner: record.Owner.Incarnation},
			Watermark: record.Watermark, Published: record.Published,
		}
		return err
	}, func(i int, err error) { out[i] = store.Claimed{Claim: store.Claim{Shard: shards[i]}, Err: err} })
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	return out, nil
}

// readRecord reads a shard's record. it is nil if the shard was never claimed.
func readRecord(id shard.ID, it item) (store.ShardState, error) {
	read := reader{item: it}
	state := store.ShardState{
		Shard: id, Version: read.int(attrVersion),
		Owner: store.Owner{Node: read.text(attrNode)}, ClaimedAt: read.time(attrClaimedAt),
		Watermark: read.key(attrWatermark), Published: read.key(attrPublished), NextDueAt: timer.Never,
	}
	if owner := read.text(attrOwner); owner != "" {
		var ok bool
		if state.Owner.Incarnation, ok = timer.ParseUUID(owner); !ok {
			read.failf("%s is %q, want a UUID", attrOwner, owner)
		}
		state.Held = true
	}
	return state, read.err
}

// key reads an attribute in the form of keyText. If it is absent, key returns MinKey.
func (r *reader) key(name string) store.Key {
	s := r.text(name)
	if s == "" {
		return store.MinKey()
	}
	k, err := parseKey(s)
	if err != nil {
		r.failf("%s: %w", name, err)
	}
	return k
}

// Release implements store.Shards.
func (s *Store) Release(ctx context.Context, _ timer.Millis, items []store.Release) ([]error, error) {
	return s.underFence(ctx, "release", len(items), func(i int) (store.Claim, error) {
		claim, published := items[i].Claim, items[i].Published
		if published != store.MinKey() {
			raise := fence(claim).and("(attribute_not_exists(#published) OR #published < :published)", ":published", keyText(published))
			const change = "SET #published = :published REMOVE #owner"
			there, held, err := s.update(ctx, recordKey(claim.Shard), change, raise, types.ReturnValueNone)
			if err != nil || held || !admits(there, claim) {
				return claim, fenced(held, err)
			}
		}
		// The stored Published is not before the item's, and it never goes back.
		_, held, err := s.update(ctx, recordKey(claim.Shard), "REMOVE #owner", fence(claim), types.ReturnValueNone)
		return claim, fenced(held, err)
	})
}

// Advance implements store.Shards.
func (s *Store) Advance(ctx context.Context, _ timer.Millis, items []store.Advance) ([]error, error) {
	return s.underFence(ctx, "advance", len(items), func(i int) (store.Claim, error) {
		claim, watermark := items[i].Claim, items[i].Watermark
		forward := fence(claim).and("(attribute_not_exists(#watermark) OR #watermark < :watermark)", ":watermark", keyText(watermark))
		there, held, err := s.update(ctx, recordKey(claim.Shard), "SET #watermark = :watermark", forward, types.ReturnValueNone)
		return claim, fenced(held || admits(there, claim), err)
	})
}

// admits reports whether a record is under the claim. If a condition failed on such a record, the fence was not the
// reason.
func admits(record item, c store.Claim) bool {
	read := reader{item: record}
	return read.int(attrVersion) == c.Version && read.text(attrOwner) == c.Owner.String() && read.err == nil && c.Version != 0
}

func fenced(held bool, err error) error {
	if err == nil && !held {
		return store.ErrFenced
	}
	return err
}

// underFence runs one write per item. ErrFenced is the item's answer.
func (s *Store) underFence(ctx context.Context, op string, n int, do func(i int) (store.Claim, error)) ([]error, error) {
	if n == 0 {
		return nil, nil
	}
	if err := s.calls.Enter(ctx, op); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	out := make([]error, n)
	err := s.singly(alone(n), func(i int) error {
		claim, err := do(i)
		if err != nil {
			err = fmt.Errorf("%s shard %s under claim %d: %w", op, claim.Shard, claim.Version, err)
		}
		if isFenced(err) {
			out[i], err = err, nil
		}
		return err
	}, func(i int, err error) { out[i] = err })
	if err != nil {
		return nil, err
	}
	return out, nil
}
