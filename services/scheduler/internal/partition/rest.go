package partition

import (
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Where asking is paid for by the shard (store.ByShard), a shard comes to rest when a walk has found nothing
// in it and nothing of it is armed or out. Sweeps then leave it out, and its polls, which come at least every
// half hint window, ask from the first row and not from R: one question that is poll and sweep (I4). The first
// row that anybody hears of wakes it. See decision 0019.

// settle lets shards come to rest in which the walk that has just ended found nothing.
func (p *Partition) settle() {
	if !p.limits.Rest {
		return
	}
	busy := map[shard.ID]bool{}
	p.agenda.Each(func(row *store.DueRow) { busy[row.Ref.Shard] = true })
	for _, pub := range p.out {
		busy[pub.row.Ref.Shard] = true
	}
	for _, s := range p.shards {
		w, walked := p.sweep.walks[s.claim.Shard]
		// A claim of this walk's time was not walked under; and a walk sees what is due by its own present,
		// which R may lie beyond.
		whole := walked && !w.occupied && s.claimedAt < p.sweep.now && s.read.DueAt <= p.sweep.now
		if whole && !busy[s.claim.Shard] && !s.standing && !s.cut {
			s.resting = true
			p.restedAt = p.sweep.now
		}
	}
}

// from is where a poll begins to read a shard.
func (p *Partition) from(s *ownedShard) store.Key {
	if s.resting && !p.limits.Planted.RestBehindR {
		return store.MinKey()
	}
	return s.read
}

// leftToPoll reports whether a sweep may leave the shard out: its next poll is on its way, or will be. Without
// room for what polls find, none is made.
func (s *ownedShard) leftToPoll(now timer.Millis) bool {
	return s.resting && (s.polling || s.pollAt > now)
}

// Resting counts the shards at rest.
func (p *Partition) Resting() int {
	n := 0
	for _, s := range p.shards {
		if s.resting {
			n++
		}
	}
	return n
}

// AtRestSince returns when the last shard came to rest, if all of them are.
func (p *Partition) AtRestSince() (since timer.Millis, all bool) {
	return p.restedAt, len(p.shards) > 0 && p.Resting() == len(p.shards)
}
