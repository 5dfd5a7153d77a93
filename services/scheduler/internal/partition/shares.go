package partition

import (
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/timerheap"
)

// Namespaces share the bounded resources (I16): the timer heap, polls and the in-flight set. A namespace may use the
// unused share of others. A namespace that uses less than its share gets more room:
//
//   - in the timer heap from the namespace with the most armed timers, whose latest timers are read again later,
//   - in polls by being read first, even if the timer heap is full,
//   - in the in-flight set above its bound.

// creditFree is how many timers of a namespace may be due or in flight without credit of the process's budget.
const creditFree = 16

// share returns the equal share of each user of a limit.
func share(limit, users int) int { return max(1, limit/max(1, users)) }

// heapShare returns a namespace's share of the timer heap.
func (p *Partition) heapShare(namespace string) int {
	users := p.timers.Namespaces()
	if p.timers.LenOf(namespace) == 0 {
		users++
	}
	return share(p.limits.MaxArmed, users)
}

// arm arms a state if there is room, or if it can make room by removing timers of a namespace that has more armed.
func (p *Partition) arm(s *ownedShard, row *store.DueRow) bool {
	if p.armRoom() == 0 {
		name, most := p.timers.Largest()
		more := most - p.timers.LenOf(s.namespace)
		if more < 2 {
			return false
		}
		// Remove several in one step, because finding the latest requires sorting.
		for _, last := range p.timers.RemoveLatest(name, min(more/2, 1+most/16)) {
			p.rewind(&last)
		}
	}
	p.timers.Arm(s.namespace, *row)
	return true
}

// rewind moves R back to before a row that is not armed any more, but not before the watermark: a row at or below
// the watermark was committed late, and the next sweep judges it. A running poll may have begun before the row was
// written, so its answer must not move R past the row.
func (p *Partition) rewind(row *store.DueRow) {
	s := p.shard(row.Ref.Shard)
	if s == nil {
		return
	}
	key := row.Key()
	if !key.After(s.sweepFloor) {
		s.sweepFloor = before(key)
	}
	if !key.After(s.read) {
		s.read = before(key)
		if s.watermark.After(s.read) {
			s.read = s.watermark
		}
	}
	s.cut, s.rewound = true, true
	p.pollBy(s, row.DueAt.Add(-p.limits.LookAhead))
}

// mayPoll returns which shards may be polled. While a quarter of the timer heap is free, all may. Otherwise only shards
// of namespaces of which arm would accept a timer, and that have a quarter of their share free, so that a poll reads
// many rows.
func (p *Partition) mayPoll() func(*ownedShard) bool {
	if p.armRoom() >= max(1, p.limits.MaxArmed/4) {
		return func(*ownedShard) bool { return true }
	}
	room := p.armRoom()
	_, most := p.timers.Largest()
	return func(s *ownedShard) bool {
		armed := p.timers.LenOf(s.namespace)
		return (room > 0 || most-armed >= 2) && 4*armed < 3*p.heapShare(s.namespace)
	}
}

// sortByArmed moves shards of namespaces with the fewest armed timers to the front, because an answer has a limit.
func (p *Partition) sortByArmed(asked []store.DueAfter) {
	if p.timers.Namespaces() == 0 {
		return
	}
	armed := func(a store.DueAfter) int { return p.timers.LenOf(p.shard(a.Claim.Shard).namespace) }
	slices.SortStableFunc(asked, func(a, b store.DueAfter) int { return armed(a) - armed(b) })
}

// mayPublish returns which namespaces may have one more event in flight at now with this credit.
func (p *Partition) mayPublish(now timer.Millis, credit *int) func(namespace string) bool {
	return func(namespace string) bool {
		own, users := p.inFlightByNamespace[namespace], len(p.inFlightByNamespace)
		if own == 0 {
			users++
		}
		switch {
		case len(p.inFlight) < p.limits.MaxInFlight:
		case len(p.inFlight) >= 2*p.limits.MaxInFlight, own >= share(p.limits.MaxInFlight, users):
			return false
		}
		// If publications without credit use all credit, the other namespaces may have as many in flight as the
		// average.
		return *credit > 0 || own*users < len(p.inFlight) || !p.needsCredit(namespace, now)
	}
}

// needsCredit reports whether a namespace has more than a few timers due or in flight.
func (p *Partition) needsCredit(namespace string, now timer.Millis) bool {
	own := p.inFlightByNamespace[namespace]
	return own > creditFree || own+p.timers.CountDue(namespace, now, creditFree+1-own) > creditFree
}

func (p *Partition) addInFlight(state timerheap.State, pub *publication) {
	p.inFlight[state] = pub
	p.inFlightByNamespace[pub.namespace]++
}

func (p *Partition) removeInFlight(state timerheap.State, pub *publication) {
	delete(p.inFlight, state)
	p.inFlightByNamespace[pub.namespace]--
	if p.inFlightByNamespace[pub.namespace] == 0 {
		delete(p.inFlightByNamespace, pub.namespace)
	}
}

// WantsCredit reports whether a due timer waits for credit, or a state is in flight, so that the ack floor should be
// requested when credit is low.
func (p *Partition) WantsCredit(now timer.Millis) bool {
	return len(p.fromSweep) > 0 || len(p.inFlight) > 0 || p.timers.NextDue(func(string) bool { return true }) <= now
}
