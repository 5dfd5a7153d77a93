package partition

import (
	"maps"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// A shard becomes idle when a sweep has found no row in it, none of its timers is armed or in flight, and no row of it
// was read or armed for ActiveFor. Sweeps leave idle shards out. Idle shards are polled at least every half hint
// window, and these polls start where a sweep would start instead of at R, so that one query is both poll and sweep
// (I4). Any row that is found or armed makes the shard active. See decisions 0019 and 0041.

// markIdle makes shards idle in which the sweep that has just ended found no row.
func (p *Partition) markIdle() {
	var busy map[shard.ID]bool
	before := len(p.active)
	for id, s := range p.active {
		w, swept := p.sweep.shards[id]
		// A sweep under an earlier claim says nothing. A sweep reads the rows that are due by its start, and R may be
		// later than that.
		whole := swept && !w.occupied && !w.cut && s.claimedAt < p.sweep.now && s.read.DueAt <= p.sweep.now
		if !whole || s.barrierInPlace || s.cut || p.sweep.now.Sub(s.usedAt) < p.limits.ActiveFor {
			continue
		}
		if busy == nil {
			busy = p.busyShards()
		}
		if !busy[id] {
			s.idle = true
			delete(p.active, id)
			p.lastShardIdleAt = p.sweep.now
			if s.takeover != nil && s.takeover.barrier.DueAt < p.sweep.now {
				s.takeover = nil // its barrier was removed before the next sweep, and its keys are in the past
			}
		}
	}
	if 2*len(p.active) < before {
		p.active = maps.Clone(p.active) // maps do not shrink
	}
}

// busyShards returns the shards that have timers armed or in flight.
func (p *Partition) busyShards() map[shard.ID]bool {
	busy := map[shard.ID]bool{}
	p.timers.Each(func(row *store.DueRow) { busy[row.Ref.Shard] = true })
	for _, pub := range p.inFlight {
		busy[pub.row.Ref.Shard] = true
	}
	return busy
}

// markUsed records that a row of the shard was read or armed at now.
func (p *Partition) markUsed(s *ownedShard, now timer.Millis) {
	s.usedAt = max(s.usedAt, now)
	if s.idle {
		s.idle = false
		p.active[s.claim.Shard] = s
	}
}

// pollFrom returns where a poll of a shard begins to read.
func (p *Partition) pollFrom(s *ownedShard, now timer.Millis) store.Key {
	switch {
	case !s.idle:
		return s.read
	case now.Sub(s.fullAt) >= p.limits.FullSweep:
		return store.MinKey()
	default:
		return s.sweepFloor
	}
}

// recordEmptyPoll records that a poll of an idle shard, which began at now, found no row after from. Like a
// sweep, it has read all rows that are due by now, so it moves the sweep floor (moveSweepFloors).
func (p *Partition) recordEmptyPoll(s *ownedShard, from store.Key, now timer.Millis) {
	if from == store.MinKey() {
		s.fullAt = now
	}
	if !from.After(s.sweepFloor) {
		s.sweepFloor = store.MaxKeyAt(now.Add(-p.limits.SweepMargin))
	}
}

// toSweep lists the shards that a sweep reads: all that are not idle, and idle ones whose poll is due but not allowed,
// because the timer heap has no room for the result.
func (p *Partition) toSweep(now timer.Millis) []*ownedShard {
	shards := make([]*ownedShard, 0, len(p.active))
	for _, s := range p.active {
		shards = append(shards, s)
	}
	may := p.mayPoll()
	shards = duePolls(p.polls, 0, shards, now, func(s *ownedShard) bool { return s.idle && !s.polling && !may(s) })
	sortByID(shards)
	return shards
}

// Idle returns the number of idle shards.
func (p *Partition) Idle() int { return len(p.shards) - len(p.active) }

// IdleSince returns when the last shard became idle. all is true if all shards are idle.
func (p *Partition) IdleSince() (since timer.Millis, all bool) {
	return p.lastShardIdleAt, len(p.shards) > 0 && len(p.active) == 0
}
