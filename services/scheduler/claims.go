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
	// end is the end of the due queue, read before the claim.
	end bus.Position
}

// claimBatch bounds the shards of one call, so that the call ends in time.
const claimBatch = 1000

// claim reads the end of the due queue and then claims the shards. It bounds the time of each of its calls.
func (s *session) claim(ctx context.Context, shards []shard.ID) (claims, error) {
	call, cancel := s.bounded(ctx)
	floor, err := s.askFloor(call)
	cancel()
	if err != nil {
		return claims{}, err
	}
	c := claims{answers: make([]store.Claimed, 0, len(shards)), end: floor.End}
	for some := range slices.Chunk(shards, claimBatch) {
		call, cancel := s.bounded(ctx)
		claimed, err := s.config.Store.Claim(call, s.config.Clock(), s.owner, some)
		cancel()
		if err != nil {
			return claims{}, fmt.Errorf("claim a batch of %d shards (%d in all): %w", len(some), len(shards), err)
		}
		c.answers = append(c.answers, claimed...)
	}
	return c, nil
}

// addClaims adds the claimed shards to the partition, and requests another claim of the remaining ones.
func (s *session) addClaims(c claims) {
	now := s.config.Clock()
	taken := 0
	var failure error
	for _, claimed := range c.answers {
		if claimed.Err != nil {
			failure = claimed.Err
			continue
		}
		taken++
		name := "" // it stays empty if the namespace is no longer in the directory
		if ns := s.config.Directory.OfShard(claimed.Claim.Shard); ns != nil {
			name = ns.Name
		}
		s.state.Claim(now, name, claimed, c.end)
		delete(s.fencedAt, claimed.Claim.Shard)
	}
	s.metrics.claims.Add(float64(taken))
	s.claimWanted = s.claimWanted || failure != nil // claimMissing tries again
	s.reportUnservedShards(opClaim, len(c.answers)-taken, failure)
}

// missing lists the partition's shards that are neither claimed nor recently lost.
func (s *session) missing(now timer.Millis) []shard.ID {
	var ids []shard.ID
	for _, ns := range s.config.Directory.All() {
		for _, id := range ns.Shards.In(s.partition, s.config.Bus.Partitions()) {
			if !s.state.Owns(id) && !s.recentlyFenced(id, now) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// lookForShards checks for missing shards if namespaces were added or removed, or shards were lost, and requests a claim if there
// are any.
func (s *session) lookForShards(now timer.Millis) {
	layout := s.config.Directory.Layout()
	if layout == s.layout && len(s.fencedAt) == 0 {
		return
	}
	maps.DeleteFunc(s.fencedAt, func(id shard.ID, _ timer.Millis) bool {
		return s.config.Directory.OfShard(id) == nil // its namespace was deleted
	})
	missing := len(s.missing(now)) > 0
	if !missing {
		s.layout = layout
	}
	s.claimWanted = s.claimWanted || missing
}

// recentlyFenced reports whether the shard was recently lost, usually to a newer claim. Such a shard is not claimed immediately,
// so that two sessions do not take the shard from each other repeatedly. It is claimed later, because a shard must have an
// owner as long as the bus assigns the partition to this process.
func (s *session) recentlyFenced(id shard.ID, now timer.Millis) bool {
	at, fenced := s.fencedAt[id]
	return fenced && now.Sub(at) < s.config.HintWindow/2
}

// claimMissing claims shards of namespaces that were created after the partition was opened, shards whose claim failed,
// and shards that were lost to a newer claim at least half a hint window ago.
func (s *session) claimMissing() {
	s.claimWanted = false
	s.runIO(opClaim, func(ctx context.Context) func(timer.Millis) {
		call, cancel := s.bounded(ctx)
		err := s.config.Directory.Refresh(call)
		cancel()
		return func(now timer.Millis) {
			if err != nil {
				s.claimWanted = true
				s.failed(opClaim, now, err)
				return
			}
			if ids := s.missing(now); len(ids) > 0 {
				s.claimShards(ids)
				return
			}
			s.succeeded(opClaim, now.Add(s.config.FloorEvery)) // the earliest time of the next claimMissing
		}
	})
}

func (s *session) claimShards(ids []shard.ID) {
	s.runIO(opClaim, func(ctx context.Context) func(timer.Millis) {
		got, err := s.claim(ctx, ids)
		return func(now timer.Millis) {
			if err != nil {
				s.claimWanted = true
				s.failed(opClaim, now, err)
				return
			}
			s.succeeded(opClaim, now.Add(s.config.FloorEvery)) // the earliest time of the next claimMissing
			s.addClaims(got)
		}
	})
}

// fenced records the shards that were lost.
func (s *session) fenced(now timer.Millis, lost []shard.ID) {
	if len(lost) == 0 {
		return
	}
	deleted := 0
	for _, id := range lost {
		s.fencedAt[id] = now
		// The directory may still have an entry for a namespace that was removed from the store. The entry has DeletingSince,
		// unless the last reads of the directory failed: a deletion sets it at least a minute before it removes the namespace, and the
		// directory is read every half hint window, 30 s.
		if ns := s.config.Directory.OfShard(id); ns == nil || ns.Settings.DeletingSince != 0 {
			deleted++
		}
	}
	if deleted > 0 {
		s.log.Info("shards lost: their namespaces are deleted or being deleted", "shards", deleted)
	}
	if others := len(lost) - deleted; others > 0 {
		s.metrics.fenced.Add(float64(others))
		s.log.Warn("shards lost: another session has claimed them", "shards", others)
	}
}
