package partition

import (
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/timerheap"
)

// sweep is one walk over all overdue rows, in pages.
type sweep struct {
	number  uint64
	running bool
	// start is the tick at the beginning. A state that was published before it and is not found is gone.
	start uint64
	now   timer.Millis
	// walks has a walk for each shard, except for shards that the store could not serve.
	walks map[shard.ID]*walk
	// found has the rows to publish, at most 2 × SweepPublish. cut: there were more than SweepPublish.
	found []store.DueRow
	cut   bool
	// read counts the rows that it has read, queued those that it has queued for publication.
	read, queued int
}

// walk is the part of a sweep in one shard.
type walk struct {
	claim store.Claim
	// The walk covers the keys after from, up to upto.
	from, upto store.Key
	// read is the shard's read cursor (R) at the start of the walk. Beyond it, the walk ends after one page.
	read store.Key
	// full: the walk begins at the first key.
	full bool
	// first is the key of the first row found; occupied: there is one.
	first    store.Key
	occupied bool
}

// SweepBy returns when a sweep is due regardless of the interval: when a handover barrier has fallen, and AckWait after
// the floor has entered a new topic epoch. Otherwise it returns Never.
func (p *Partition) SweepBy() timer.Millis { return min(p.barrierFellAt, p.staleEpochAt) }

// SweepPause returns the interval after a sweep: the configured one, and as much again for every 1,000 rows that the
// sweep read (in proportion), but at most five times the configured one. After a sweep that found more than SweepPublish
// it is the configured one.
func (p *Partition) SweepPause(configured time.Duration) time.Duration {
	if p.sweep.cut {
		return configured
	}
	return min(configured*time.Duration(p.sweep.read+sweepPage)/sweepPage, 5*configured)
}

// SweepStart begins a walk and returns its first query. The caller must have passed the ack floor to Floor before.
//
// A walk begins at sweepFrom, before which the last sweep left no row, and every FullSweep at the first key, because a
// write that takes longer than SweepMargin may add a row there (I4). It reads up to the
// present, and beyond R for one page: overdue rows there mean that a hint was lost, and their shard is polled
// immediately. If the last poll of the shard was cut, such rows are expected, so the walk ends at R. The walk omits
// idle shards, which have their polls.
func (p *Partition) SweepStart(now timer.Millis) store.OverdueQuery {
	p.removePassed(now)
	p.ticks++
	p.barrierFellAt = timer.Never
	if p.staleEpochAt <= now {
		p.staleEpochAt = timer.Never
	}
	p.sweep = sweep{
		number: p.sweep.number + 1, running: true, start: p.ticks, now: now,
	}
	shards := p.toSweep(now)
	p.sweep.walks = make(map[shard.ID]*walk, len(shards))
	ranges := make([]store.OverdueRange, 0, len(shards))
	for _, s := range shards {
		w := &walk{claim: s.claim, from: s.sweepFrom, upto: s.read, read: s.read}
		if now.Sub(s.fullAt) >= p.limits.FullSweep {
			w.from, w.full = store.MinKey(), true
		}
		if !s.cut && store.MaxKeyAt(now).After(w.upto) {
			w.upto = store.MaxKeyAt(now)
		}
		p.sweep.walks[s.claim.Shard] = w
		ranges = append(ranges, store.OverdueRange{Claim: s.claim, From: w.from, Upto: w.upto})
	}
	return p.overdue(ranges)
}

// sweepPage is the number of rows of one page.
const sweepPage = 1000

func (p *Partition) overdue(ranges []store.OverdueRange) store.OverdueQuery {
	return store.OverdueQuery{Shards: ranges, Before: p.sweep.now + 1, Limit: sweepPage}
}

// Swept processes a page. It returns the next query, or done when the walk has ended. fenced lists shards that were
// lost to a newer claim.
func (p *Partition) Swept(q store.OverdueQuery, page []store.OverdueShard) (next store.OverdueQuery, done bool, fenced []shard.ID) {
	var ranges []store.OverdueRange
	for i, asked := range q.Shards {
		s := p.shard(asked.Claim.Shard)
		if s == nil || s.claim != asked.Claim {
			continue
		}
		if isFenced(page[i].Err) {
			p.Fenced(asked.Claim.Shard)
			fenced = append(fenced, asked.Claim.Shard)
			continue
		}
		w := p.sweep.walks[asked.Claim.Shard]
		if page[i].Err != nil {
			// The walk does not cover this shard, so that none of its states counts as gone.
			p.recordUnserved(page[i].Err)
			delete(p.sweep.walks, asked.Claim.Shard)
			continue
		}
		rows := page[i].Rows
		p.sweep.read += len(rows)
		if len(rows) > 0 {
			p.markUsed(s, p.sweep.now)
		}
		if len(rows) > 0 && !w.occupied {
			w.occupied, w.first = true, rows[0].Key()
		}
		for j := range rows {
			p.classifyOverdue(s, &rows[j])
		}
		if !page[i].More {
			continue
		}
		if n := len(rows); n > 0 {
			asked.From = rows[n-1].Key()
		}
		if asked.From.After(w.read) {
			w.upto = asked.From
			continue
		}
		ranges = append(ranges, asked)
	}
	if len(ranges) > 0 {
		return p.overdue(ranges), false, fenced
	}
	p.finishSweep()
	return store.OverdueQuery{}, true, fenced
}

// SweepFailed ends the walk without any conclusion.
func (p *Partition) SweepFailed() { p.sweep.found, p.sweep.running = nil, false }

// classifyOverdue implements I12: it decides whether the sweep publishes an overdue row.
func (p *Partition) classifyOverdue(s *ownedShard, row *store.DueRow) {
	now, state := p.sweep.now, timerheap.StateOf(row)
	pub, inFlight := p.inFlight[state]
	if inFlight {
		pub.seen = p.sweep.number
	}
	switch {
	case row.DueAt >= now.Add(-p.limits.Grace), p.timers.Contains(state):
		return
	case inFlight:
		if p.isLost(pub) {
			p.addCandidate(row)
		}
	case p.removedSince(p.sweep.start, state):
		// The row was read before its outcome was written. Otherwise it is overdue in the next sweep, too.
		return
	case row.Key().After(s.read):
		p.pollBy(s, now)
	case row.UpdatedAt > s.claimedAt.Add(p.limits.ClockBound):
		// Written under this claim, so only this owner can have published it, and no publication is in flight.
		p.addCandidate(row)
	case s.barrierFellBefore(p.sweep.start), now.Sub(max(row.DueAt, row.UpdatedAt)) >= p.limits.LongBound:
		// An earlier owner may have published it, but the event is not in the queue any more.
		p.addCandidate(row)
	}
}

// isLost reports whether a publication counts as lost although the ack floor has not passed it.
func (p *Partition) isLost(pub *publication) bool {
	return pub.acked && !pub.republishing && p.sweep.now.Sub(pub.at) >= p.limits.LongBound
}

// addCandidate adds a row to publish. If there are too many, the oldest are kept.
func (p *Partition) addCandidate(row *store.DueRow) {
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

// finishSweep queues the rows to publish, and moves the sweep floors. It also removes states from the in-flight set
// whose rows the walk has not found. So a message that is never acknowledged, and blocks the ack floor, does not fill
// the set.
func (p *Partition) finishSweep() {
	p.sweep.running = false
	oldest := p.oldestRead()
	for state, pub := range p.inFlight {
		gone := pub.acked && !pub.republishing && pub.tick < p.sweep.start && pub.seen != p.sweep.number
		if gone && p.covered(&pub.row) && !p.removeRecorded(state, pub, oldest) {
			break // the next sweep continues
		}
	}
	p.sweep.trim(p.limits.SweepPublish)
	for _, row := range p.sweep.found {
		s := p.shard(row.Ref.Shard)
		if s == nil {
			continue
		}
		state := timerheap.StateOf(&row)
		pub, inFlight := p.inFlight[state]
		switch {
		case inFlight && !p.isLost(pub):
			// The state was armed and published while the sweep was reading.
			continue
		case inFlight:
			pub.republishing = true
		case p.timers.Contains(state) || len(p.inFlight) >= p.limits.MaxInFlight:
			// It was armed in the meantime, or the in-flight set is full: the next sweep decides.
			continue
		default:
			p.addInFlight(state, &publication{row: row, namespace: s.namespace, republishing: true})
		}
		p.republish = append(p.republish, p.outgoing(s, row))
		p.sweep.queued++
	}
	p.sweep.found = nil
	p.moveSweepFloors()
	p.markIdle()
}

// moveSweepFloors sets where the next walks begin: before the first row that this walk found, and not after the end of
// the covered range, nor after its start less the margin. A row that is committed later is due later than that (I6), so
// no row is before.
func (p *Partition) moveSweepFloors() {
	limit := p.sweep.now.Add(-p.limits.SweepMargin)
	for id, w := range p.sweep.walks {
		s := p.shard(id)
		if s == nil || s.claim != w.claim {
			continue
		}
		s.sweepFrom = notBeyond(w.upto, limit)
		if w.occupied && !w.first.After(s.sweepFrom) {
			s.sweepFrom = before(w.first)
		}
		if w.full {
			s.fullAt = p.sweep.now
		}
	}
}

// covered reports whether the walk has read the row's key.
func (p *Partition) covered(row *store.DueRow) bool {
	w, walked := p.sweep.walks[row.Ref.Shard]
	return walked && row.DueAt <= p.sweep.now && row.Key().After(w.from) && !row.Key().After(w.upto)
}

// SweepFinds returns how many rows the last sweep queued for publication.
func (p *Partition) SweepFinds() int { return p.sweep.queued }
