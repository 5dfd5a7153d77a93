package scheduler

import (
	"context"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// claims is the answer to one round of claiming.
type claims struct {
	claimed []store.Claimed
	// end is where the due queue ended before the claim.
	end bus.Position
}

// claim notes the end of the due queue and then takes the shards over.
func (o *session) claim(ctx context.Context, shards []shard.ID) (claims, error) {
	floor, err := o.askFloor(ctx)
	if err != nil {
		return claims{}, err
	}
	claimed, err := o.config.Store.Claim(ctx, o.config.Clock(), o.owner, shards)
	if err != nil {
		return claims{}, fmt.Errorf("claim %d shards: %w", len(shards), err)
	}
	return claims{claimed: claimed, end: floor.End}, nil
}

func (o *session) take(c claims) {
	now := o.config.Clock()
	taken := 0
	var missed error
	for _, claimed := range c.claimed {
		if claimed.Err != nil {
			missed = claimed.Err
			continue
		}
		taken++
		ns, _ := o.config.Directory.OfShard(claimed.Claim.Shard)
		o.state.Claim(now, ns.Name, claimed, c.end)
		delete(o.fencedAt, claimed.Claim.Shard)
	}
	o.metrics.claims.Add(float64(taken))
	o.wanted = o.wanted || missed != nil // claimMissing asks again
	o.missedShards(effectClaim, len(c.claimed)-taken, missed)
}

// missing lists the partition's shards that are not claimed and were not lost lately.
func (o *session) missing(now timer.Millis) []shard.ID {
	var ids []shard.ID
	for _, ns := range o.config.Directory.All() {
		for _, id := range ns.Shards.In(o.partition, o.config.Bus.Partitions()) {
			if !o.state.Owns(id) && !o.lately(id, now) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// lately reports whether the shard was lost to a newer claim so recently that it is not claimed back: as
// long as the bus gives the partition to us, somebody must own the shard in the end, but two owners
// must not take it from each other again and again.
func (o *session) lately(id shard.ID, now timer.Millis) bool {
	at, fenced := o.fencedAt[id]
	return fenced && now.Sub(at) < o.config.HintWindow/2
}

// claimMissing claims shards of namespaces made after the partition was opened, and those lost to an
// owner that is gone by now.
func (o *session) claimMissing() {
	o.wanted = false
	o.work(effectClaim, func(ctx context.Context) func(timer.Millis) {
		err := o.config.Directory.Refresh(ctx)
		return func(now timer.Millis) {
			if err != nil {
				o.wanted = true
				o.failed(effectClaim, now, err)
				return
			}
			o.worked(effectClaim, now.Add(o.config.FloorEvery))
			if ids := o.missing(now); len(ids) > 0 {
				o.claimThese(ids)
			}
		}
	})
}

func (o *session) claimThese(ids []shard.ID) {
	o.work(effectClaim, func(ctx context.Context) func(timer.Millis) {
		got, err := o.claim(ctx, ids)
		return func(now timer.Millis) {
			if err != nil {
				o.wanted = true
				o.failed(effectClaim, now, err)
				return
			}
			o.worked(effectClaim, now.Add(o.config.FloorEvery))
			o.take(got)
		}
	})
}

// fenced notes which shards a step lost, given those owned before it.
func (o *session) fenced(now timer.Millis, before []shard.ID, count int) {
	if count == 0 {
		return
	}
	o.metrics.fenced.Add(float64(count))
	lost := slices.DeleteFunc(before, o.state.Owns)
	for _, id := range lost {
		o.fencedAt[id] = now
	}
	o.log.Warn("shards lost to a newer claim", "shards", len(lost))
}
