package partition

import (
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/agenda"
)

// sweep is one walk over everything that is overdue, from the beginning of time, in pages.
type sweep struct {
	number uint64
	// start is the tick at the beginning: what was published before it and is not found is gone.
	start uint64
	now   timer.Millis
	// upto bounds each shard's walk; mine is how far this owner's own keys reach, so that a walk
	// beyond it ends after one page.
	upto, mine map[shard.ID]store.Key
	// occupied are the shards in which it found rows.
	occupied map[shard.ID]bool
	found    []store.DueRow
	// cut: it found more than SweepPublish.
	cut bool
	// read and queued count rows.
	read, queued int
}

// near reports that the bound on outstanding states is near. Only a sweep finds out which are gone, and it
// reads all that are not.
func (p *Partition) near() bool { return 2*len(p.out) >= p.limits.Outstanding }

// SweepSoon reports that a sweep is worth making early: the bound is near, timers wait for room, and the
// dispatchers are through with half of what is outstanding, so that a row is read for each that is forgotten,
// and not many.
func (p *Partition) SweepSoon() bool {
	waiting := p.agenda.Len() > 0 || slices.ContainsFunc(p.shards, func(s *ownedShard) bool { return s.cut })
	return waiting && p.near() && 2*p.passed >= len(p.out)
}

// SweepBy returns when a sweep is due regardless of the pause: when a handover barrier has fallen, and AckWait after the
// floor has entered a new epoch. Otherwise Never.
func (p *Partition) SweepBy() timer.Millis { return min(p.liftedAt, p.staleAt) }

// SweepPause is how long to wait after a sweep: as configured for each page that it read, but not above
// five times that. It is configured while the bound keeps timers from being published, and after a sweep that found
// more than SweepPublish.
func (p *Partition) SweepPause(now timer.Millis, configured time.Duration) time.Duration {
	if p.sweep.cut || len(p.out) >= p.limits.Outstanding && p.agenda.NextDue() <= now {
		return configured
	}
	return min(configured*time.Duration(p.sweep.read+sweepPage)/sweepPage, 5*configured)
}

// SweepStart begins a walk and returns its first question. The floor must have been taken in before.
//
// The walk goes from the first row (I4) to the present, not only to the grace before it: rows younger
// than the grace are not judged, but those that are not there any more can be forgotten at once. It
// also reaches beyond R, up to the first page: overdue rows there mean that a hint was lost, and bring
// the shard's poll forward. A shard whose poll was cut knows already. Shards at rest are left to their polls.
func (p *Partition) SweepStart(now timer.Millis) store.OverdueQuery {
	p.ticks++
	p.liftedAt = timer.Never
	if p.staleAt <= now {
		p.staleAt = timer.Never
	}
	p.sweep = sweep{
		number: p.sweep.number + 1, start: p.ticks, now: now,
		upto:     make(map[shard.ID]store.Key, len(p.shards)),
		mine:     make(map[shard.ID]store.Key, len(p.shards)),
		occupied: map[shard.ID]bool{},
	}
	for _, s := range p.shards {
		p.sweep.mine[s.claim.Shard] = s.read
	}
	for _, pub := range p.out {
		id := pub.row.Ref.Shard
		if mine, ok := p.sweep.mine[id]; ok && pub.row.Key().After(mine) {
			p.sweep.mine[id] = pub.row.Key()
		}
	}
	ranges := make([]store.OverdueRange, 0, len(p.shards))
	for _, s := range p.shards {
		if s.leftToPoll(now) {
			continue
		}
		upto := p.sweep.mine[s.claim.Shard]
		if !s.cut && store.MaxKeyAt(now).After(upto) {
			upto = store.MaxKeyAt(now)
		}
		p.sweep.upto[s.claim.Shard] = upto
		ranges = append(ranges, store.OverdueRange{Claim: s.claim, From: store.MinKey(), Upto: upto})
	}
	return p.overdue(ranges)
}

// sweepPage is how many rows one page holds.
const sweepPage = 1000

func (p *Partition) overdue(ranges []store.OverdueRange) store.OverdueQuery {
	return store.OverdueQuery{Shards: ranges, Before: p.sweep.now + 1, Limit: sweepPage}
}

// Swept takes in a page. It returns the next question, or done when the walk has ended. fenced counts
// shards that were lost to a newer claim.
func (p *Partition) Swept(q store.OverdueQuery, page []store.OverdueShard) (next store.OverdueQuery, done bool, fenced int) {
	var ranges []store.OverdueRange
	for i, asked := range q.Shards {
		s := p.shard(asked.Claim.Shard)
		if s == nil || s.claim != asked.Claim {
			continue
		}
		if isFenced(page[i].Err) {
			p.Fenced(asked.Claim.Shard)
			fenced++
			continue
		}
		if page[i].Err != nil {
			// The walk covers nothing of this shard, so that none of its states is taken for gone.
			p.miss(page[i].Err)
			delete(p.sweep.upto, asked.Claim.Shard)
			continue
		}
		p.sweep.read += len(page[i].Rows)
		if len(page[i].Rows) > 0 {
			p.sweep.occupied[asked.Claim.Shard] = true
		}
		for j := range page[i].Rows {
			p.judge(s, &page[i].Rows[j])
		}
		if !page[i].More {
			continue
		}
		if n := len(page[i].Rows); n > 0 {
			asked.From = page[i].Rows[n-1].Key()
		}
		if !asked.From.After(p.sweep.mine[asked.Claim.Shard]) {
			ranges = append(ranges, asked)
		}
	}
	if len(ranges) > 0 {
		return p.overdue(ranges), false, fenced
	}
	p.finishSweep()
	return store.OverdueQuery{}, true, fenced
}

// SweepFailed gives the walk up; nothing is concluded from it.
func (p *Partition) SweepFailed() { p.sweep.found = nil }

// judge is I12: it decides whether an overdue row is published by the sweep.
func (p *Partition) judge(s *ownedShard, row *store.DueRow) {
	now, state := p.sweep.now, agenda.StateOf(row)
	pub, outstanding := p.out[state]
	if outstanding {
		pub.seen = p.sweep.number
	}
	switch {
	case row.DueAt >= now.Add(-p.limits.Grace), p.agenda.Has(state):
		return
	case p.limits.Planted.SweepAtOnce:
		p.candidate(row)
	case outstanding:
		if p.lost(pub) {
			p.candidate(row)
		}
	case row.Key().After(s.read):
		s.pollAt = min(s.pollAt, now)
	case row.UpdatedAt > s.claimedAt.Add(p.limits.ClockBound):
		// Written under this claim: only this owner could have published it, and did not.
		p.candidate(row)
	case !s.standing, now.Sub(max(row.DueAt, row.UpdatedAt)) >= p.limits.LongBound:
		// An earlier owner may have published it, but that is gone from the queue by now.
		p.candidate(row)
	}
}

// lost reports whether an outstanding publication can no longer lead to an outcome.
func (p *Partition) lost(pub *publication) bool {
	age := p.sweep.now.Sub(pub.at)
	switch {
	case !pub.acked, pub.repeating:
		return false
	case p.stale(pub):
		return p.sweep.now.Sub(p.epochSince) >= bus.AckWait
	case age < p.limits.RedeliveryBound:
		return false
	case age >= p.limits.LongBound:
		return true
	default:
		return pub.position.Before(p.floor.Floor)
	}
}

// stale reports whether a publication is of an earlier epoch than the floor. The bus will not deliver it: it was
// acknowledged, or lost in a crash of the bus. A delivery that had started before the crash finishes or takes a row
// lease within bus.AckWait (I11).
func (p *Partition) stale(pub *publication) bool {
	return pub.position != (bus.Position{}) && pub.position.Incarnation < p.floor.Floor.Incarnation
}

// candidate remembers a row to publish; of too many, the oldest are kept.
func (p *Partition) candidate(row *store.DueRow) {
	p.sweep.found = append(p.sweep.found, *row)
	if len(p.sweep.found) >= 2*p.limits.SweepPublish {
		p.sweep.trim(p.limits.SweepPublish)
	}
}

func (w *sweep) trim(limit int) {
	slices.SortFunc(w.found, func(a, b store.DueRow) int { return a.Key().Compare(b.Key()) })
	w.cut = w.cut || len(w.found) > limit
	w.found = w.found[:min(limit, len(w.found))]
}

// finishSweep forgets what is gone and queues what has to be published.
func (p *Partition) finishSweep() {
	p.passed = 0
	for state, pub := range p.out {
		gone := pub.acked && !pub.repeating && pub.tick < p.sweep.start && (pub.seen != p.sweep.number || p.limits.Planted.ForgetAtOnce)
		if gone && p.covered(&pub.row) {
			delete(p.out, state)
		}
	}
	p.sweep.trim(p.limits.SweepPublish)
	for _, row := range p.sweep.found {
		s := p.shard(row.Ref.Shard)
		if s == nil {
			continue
		}
		state := agenda.StateOf(&row)
		pub, outstanding := p.out[state]
		switch {
		case outstanding && !p.lost(pub) && !p.limits.Planted.SweepAtOnce:
			// A hint had it armed and published while the sweep read on.
			continue
		case outstanding:
			pub.repeating = true
		case p.agenda.Has(state) || len(p.out) >= p.limits.Outstanding:
			// Armed by a hint meanwhile, or no room: the next sweep sees.
			continue
		default:
			p.out[state] = &publication{row: row, repeating: true}
		}
		p.repeat = append(p.repeat, p.outgoing(s, row, true))
		p.sweep.queued++
	}
	p.sweep.found = nil
	p.settle()
}

// covered reports whether the walk has looked at the row's key.
func (p *Partition) covered(row *store.DueRow) bool {
	upto, walked := p.sweep.upto[row.Ref.Shard]
	return walked && row.DueAt <= p.sweep.now && !row.Key().After(upto)
}

// SweepFinds counts what the last sweep queued for publication.
func (p *Partition) SweepFinds() int { return p.sweep.queued }
