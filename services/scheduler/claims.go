package scheduler

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// claims is the result of one claim operation.
type claims struct {
	// answers has one answer for each shard, failures included.
	answers []store.Claimed
	// end is the end of the due queue before the claim.
	end bus.Position
}

// claimBatch bounds the shards of one call, so that the call ends in time.
const claimBatch = 1000

// claim reads the end of the due queue and then claims the shards. It bounds the time of each of its calls.
func (o *session) claim(ctx context.Context, shards []shard.ID) (claims, error) {
	call, cancel := o.bounded(ctx)
	floor, err := o.askFloor(call)
	cancel()
	if err != nil {
		return claims{}, err
	}
	c := claims{answers: make([]store.Claimed, 0, len(shards)), end: floor.End}
	for some := range slices.Chunk(shards, claimBatch) {
		call, cancel := o.bounded(ctx)
		claimed, err := o.config.Store.Claim(call, o.config.Clock(), o.owner, some)
		cancel()
		if err != nil {
			return claims{}, fmt.Errorf("claim a batch of %d shards (%d in all): %w", len(some), len(shards), err)
		}
		c.answers = append(c.answers, claimed...)
	}
	return c, nil
}

// addClaims adds the claimed shards to the partition, and requests another claim of the remaining ones.
func (o *session) addClaims(c claims) {
	now := o.config.Clock()
	taken := 0
	var failure error
	for _, claimed := range c.answers {
		if claimed.Err != nil {
			failure = claimed.Err
			continue
		}
		taken++
		name := "" // it stays empty if the namespace is no longer in the directory
		if ns := o.config.Directory.OfShard(claimed.Claim.Shard); ns != nil {
			name = ns.Name
		}
		o.state.Claim(now, name, claimed, c.end)
		delete(o.fencedAt, claimed.Claim.Shard)
	}
	o.metrics.claims.Add(float64(taken))
	o.claimWanted = o.claimWanted || failure != nil // claimMissing tries again
	o.reportUnservedShards(opClaim, len(c.answers)-taken, failure)
}

// missing lists the partition's shards that are neither claimed nor recently lost.
func (o *session) missing(now timer.Millis) []shard.ID {
	var ids []shard.ID
	for _, ns := range o.config.Directory.All() {
		for _, id := range ns.Shards.In(o.partition, o.config.Bus.Partitions()) {
			if !o.state.Owns(id) && !o.recentlyFenced(id, now) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// lookForShards checks for missing shards if namespaces were added or removed, or shards were lost, and requests a claim if there
// are any.
func (o *session) lookForShards(now timer.Millis) {
	layout := o.config.Directory.Layout()
	if layout == o.layout && len(o.fencedAt) == 0 {
		return
	}
	maps.DeleteFunc(o.fencedAt, func(id shard.ID, _ timer.Millis) bool {
		return o.config.Directory.OfShard(id) == nil // its namespace was deleted
	})
	missing := len(o.missing(now)) > 0
	if !missing {
		o.layout = layout
	}
	o.claimWanted = o.claimWanted || missing
}

// recentlyFenced reports whether the shard was recently lost, usually to a newer claim. Such a shard is not claimed immediately,
// so that two sessions do not take the shard from each other repeatedly. It is claimed later, because a shard must have an
// owner as long as the bus assigns the partition to this process.
func (o *session) recentlyFenced(id shard.ID, now timer.Millis) bool {
	at, fenced := o.fencedAt[id]
	return fenced && now.Sub(at) < o.config.HintWindow/2
}

// claimMissing claims shards of namespaces that were created after the partition was opened, shards whose claim failed,
// and shards that were lost to a newer claim at least half a hint window ago.
func (o *session) claimMissing() {
	o.claimWanted = false
	o.runIO(opClaim, func(ctx context.Context) func(timer.Millis) {
		call, cancel := o.bounded(ctx)
		err := o.config.Directory.Refresh(call)
		cancel()
		return func(now timer.Millis) {
			if err != nil {
				o.claimWanted = true
				o.failed(opClaim, now, err)
				return
			}
			if ids := o.missing(now); len(ids) > 0 {
				o.claimShards(ids)
				return
			}
			o.succeeded(opClaim, now.Add(o.config.FloorEvery)) // the earliest time of the next claimMissing
		}
	})
}

func (o *session) claimShards(ids []shard.ID) {
	o.runIO(opClaim, func(ctx context.Context) func(timer.Millis) {
		got, err := o.claim(ctx, ids)
		return func(now timer.Millis) {
			if err != nil {
				o.claimWanted = true
				o.failed(opClaim, now, err)
				return
			}
			o.succeeded(opClaim, now.Add(o.config.FloorEvery)) // the earliest time of the next claimMissing
			o.addClaims(got)
		}
	})
}

// fenced records the shards that were lost.
func (o *session) fenced(now timer.Millis, lost []shard.ID) {
	if len(lost) == 0 {
		return
	}
	deleted := 0
	for _, id := range lost {
		o.fencedAt[id] = now
		// The directory may still have an entry for a namespace that was removed from the store. The entry has DeletingSince,
		// unless the last reads of the directory failed: a deletion sets it at least a minute before it removes the namespace, and the
		// directory is read every half hint window, 30 s.
		if ns := o.config.Directory.OfShard(id); ns == nil || ns.Settings.DeletingSince != 0 {
			deleted++
		}
	}
	if deleted > 0 {
		o.log.Info("shards lost: their namespaces are deleted or being deleted", "shards", deleted)
	}
	if others := len(lost) - deleted; others > 0 {
		o.metrics.fenced.Add(float64(others))
		o.log.Warn("shards lost: another session has claimed them", "shards", others)
	}
}
