package partition

import (
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/timerheap"
)

// sweep is the state of one sweep: what it reads (SweepStart) and what it has found.
type sweep struct {
	number  uint64
	running bool
	// startTick is the value of Partition.ticks, a logical clock, when the sweep began. finishSweep compares publications with it.
	startTick uint64
	now       timer.Millis
	// shards has an entry for each shard of the sweep, except for shards that the store could not serve.
	shards map[shard.ID]*shardSweep
	// found has the rows to publish, at most 2 × SweepPublish. tooMany: there were more than SweepPublish.
	found   []store.DueRow
	tooMany bool
	// rowsRead counts the rows that the sweep has read. queued counts the rows that it has queued for publication.
	rowsRead, queued int
}

// shardSweep is the part of a sweep in one shard.
type shardSweep struct {
	claim store.Claim
	// The sweep reads the keys k of this shard with from < k ≤ upto that are due when it begins.
	from, upto store.Key
	// cursor is the shard's read cursor (R) at the start of the sweep.
	cursor store.Key
	// full: from is before the first key.
	full bool
	// first is the key of the first row read in this shard, published or not; occupied: there is one.
	first    store.Key
	occupied bool
	// cut: its last page may have left out rows.
	cut bool
}

// SweepBy returns the time at which the next sweep must begin even if the pause has not ended. It is the earlier of two times:
//   - the time at which a handover barrier was removed, which is not in the future, so the sweep is due now;
//   - AckWait after the ack floor has entered a new topic epoch.
//
// It is Never if there is neither. SweepStart resets each of the two that has passed.
func (p *Partition) SweepBy() timer.Millis { return min(p.barrierRemovedAt, p.staleEpochAt) }

// SweepPause returns the interval after a sweep: the configured one, and as much again for every 1,000 rows that the
// sweep read (in proportion), but at most five times the configured one. After a sweep with more than SweepPublish
// rows to publish it is the configured one.
func (p *Partition) SweepPause(configured time.Duration) time.Duration {
	if p.sweep.tooMany {
		return configured
	}
	return min(configured*time.Duration(p.sweep.rowsRead+sweepPage)/sweepPage, 5*configured)
}

// SweepStart begins a sweep and returns its first query. The caller first calls SetFloor with the present ack floor. An older
// floor is safe, but the sweep may publish fewer rows. If all shards are idle, no state is in flight, so an older floor is enough.
//
// In each shard, a sweep begins at the sweep floor: the key up to which the last sweep, or the last poll of the shard while it was
// idle, found no row. Once in each FullSweep interval it begins at the first key, because a write that takes
// longer than SweepMargin may add a row before the sweep floor (I4). In each shard a sweep ends when there are no more overdue
// rows, or after the first page that ends after R in this shard: it contains a row after R, or it had no room for rows of this shard and
// the sweep began after R. A row after R that has been due for longer than Grace usually
// means that a hint was lost, so its shard is polled as soon as its namespace may use room in the timer heap (mayPoll). If the
// last poll of the shard did not arm all rows, or rows were removed from the heap (cut), such rows are expected, and the sweep
// ends at R. Idle shards are polled instead of swept. A sweep includes an idle shard only if its poll is due and mayPoll does not
// allow it.
func (p *Partition) SweepStart(now timer.Millis) store.OverdueQuery {
	p.removePassed(now)
	p.ticks++
	p.barrierRemovedAt = timer.Never
	if p.staleEpochAt <= now {
		p.staleEpochAt = timer.Never
	}
	p.sweep = sweep{
		number: p.sweep.number + 1, running: true, startTick: p.ticks, now: now,
	}
	shards := p.toSweep(now)
	p.sweep.shards = make(map[shard.ID]*shardSweep, len(shards))
	ranges := make([]store.OverdueRange, 0, len(shards))
	for _, s := range shards {
		w := &shardSweep{claim: s.claim, from: s.sweepFloor, upto: s.read, cursor: s.read}
		if now.Sub(s.fullAt) >= p.limits.FullSweep {
			w.from, w.full = store.MinKey(), true
		}
		if !s.cut && store.MaxKeyAt(now).After(w.upto) {
			w.upto = store.MaxKeyAt(now)
		}
		p.sweep.shards[s.claim.Shard] = w
		ranges = append(ranges, store.OverdueRange{Claim: s.claim, From: w.from, Upto: w.upto})
	}
	return p.overdue(ranges)
}

// sweepPage is the number of rows of one page.
const sweepPage = 1000

func (p *Partition) overdue(ranges []store.OverdueRange) store.OverdueQuery {
	return store.OverdueQuery{Shards: ranges, Before: p.sweep.now + 1, Limit: sweepPage}
}

// Swept processes a page. It returns the next query, or done when the sweep has ended. fenced lists the shards
// that were lost: a newer claim exists, or the namespace was deleted.
func (p *Partition) Swept(q store.OverdueQuery, page []store.OverdueShard) (next store.OverdueQuery, done bool, fenced []shard.ID) {
	var ranges []store.OverdueRange
	for i, asked := range q.Shards {
		s := p.shard(asked.Claim.Shard)
		if s == nil || s.claim != asked.Claim {
			continue
		}
		if isFenced(page[i].Err) {
			p.RemoveFenced(asked.Claim.Shard)
			fenced = append(fenced, asked.Claim.Shard)
			continue
		}
		w := p.sweep.shards[asked.Claim.Shard]
		if page[i].Err != nil {
			// The sweep does not cover this shard. So finishSweep leaves its states in flight, because their rows may exist.
			p.recordUnserved(page[i].Err)
			delete(p.sweep.shards, asked.Claim.Shard)
			continue
		}
		rows := page[i].Rows
		p.sweep.rowsRead += len(rows)
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
		if asked.From.After(w.cursor) { // one page beyond R is enough
			w.upto, w.cut = asked.From, true
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

// SweepFailed ends the sweep. It publishes nothing, and no sweep floor moves.
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
	case p.removedSince(p.sweep.startTick, state):
		// The sweep probably read the row before its outcome was written. If not, the next sweep finds the row again.
		return
	case row.Key().After(s.read):
		p.pollBy(s, now)
	case row.UpdatedAt > s.claimedAt.Add(p.limits.ClockBound):
		// Written under this claim, so only this owner can have published it, and no publication is in flight.
		p.addCandidate(row)
	case s.barrierRemovedBefore(p.sweep.startTick), now.Sub(max(row.DueAt, row.UpdatedAt)) >= p.limits.LongBound:
		// An earlier owner may have published the row. But the ack floor has passed that event, or the row has been due for so
		// long that the event counts as lost.
		p.addCandidate(row)
	}
}

// isLost reports whether a publication in flight counts as lost: the bus confirmed it at least LongBound ago, and no sweep is
// publishing it again. It is in flight because the ack floor, which dispatchers move by acknowledging events, has not passed it.
func (p *Partition) isLost(pub *publication) bool {
	return pub.confirmed && !pub.bySweep && p.sweep.now.Sub(pub.at) >= p.limits.LongBound
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
	w.tooMany = w.tooMany || len(w.found) > limit
	w.found = w.found[:min(limit, len(w.found))]
}

// finishSweep queues the rows to publish, and moves the sweep floors. It also removes states from the in-flight set whose rows are
// gone: the bus had confirmed the publication before the sweep began, the sweep read the range with the row's key and did not find
// the row, and no sweep is publishing the state again. Without this, the set could become full while one message that no dispatcher
// acknowledges holds back the ack floor.
func (p *Partition) finishSweep() {
	p.sweep.running = false
	oldest := p.oldestRead()
	for state, pub := range p.inFlight {
		gone := pub.confirmed && !pub.bySweep && pub.tick < p.sweep.startTick && pub.seen != p.sweep.number
		if gone && p.covered(&pub.row) && !p.removeAndRecord(state, pub, oldest) {
			break // there is no room to record more removals: the next sweep continues
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
			pub.bySweep = true
		case p.timers.Contains(state) || len(p.inFlight) >= p.limits.MaxInFlight:
			// It was armed in the meantime, or the in-flight set is full: the next sweep decides.
			continue
		default:
			p.addInFlight(state, &publication{row: row, namespace: s.namespace, bySweep: true})
		}
		p.fromSweep = append(p.fromSweep, p.outgoing(s, row))
		p.sweep.queued++
	}
	p.sweep.found = nil
	p.moveSweepFloors()
	p.markIdle()
}

// moveSweepFloors sets where the next sweep begins in each shard. It is the earliest of: just before the first row
// that this sweep read; the end of the range that it read; SweepMargin before this sweep began. A row committed
// after the sweep has read its shard is due after this floor (I6), unless its write took longer than SweepMargin: such rows are
// found by a full sweep.
func (p *Partition) moveSweepFloors() {
	limit := p.sweep.now.Add(-p.limits.SweepMargin)
	for id, w := range p.sweep.shards {
		s := p.shard(id)
		if s == nil || s.claim != w.claim {
			continue
		}
		s.sweepFloor = notBeyond(w.upto, limit)
		if w.occupied && !w.first.After(s.sweepFloor) {
			s.sweepFloor = before(w.first)
		}
		if w.full {
			s.fullAt = p.sweep.now
		}
	}
}

// covered reports whether the row's key is in the range that the sweep has read.
func (p *Partition) covered(row *store.DueRow) bool {
	w, swept := p.sweep.shards[row.Ref.Shard]
	return swept && row.DueAt <= p.sweep.now && row.Key().After(w.from) && !row.Key().After(w.upto)
}

// SweepQueued returns how many rows the last sweep queued for publication.
func (p *Partition) SweepQueued() int { return p.sweep.queued }
