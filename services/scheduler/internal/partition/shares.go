package partition

import (
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/agenda"
)

// Namespaces share the bounded resources (I16): the timer heap, polls and the in-flight set. A namespace may use the
// unused share of others. A namespace that uses less than its share gets more room:
//
//   - in the timer heap from the namespace with the most armed timers, whose latest timers are read again later,
//   - in polls by being read first, even if the timer heap is full,
//   - in the in-flight set above its bound.

// withoutCredit is how many timers of a namespace may be due or in flight without credit of the process's budget.
const withoutCredit = 16

// share returns the equal share of each user of a limit.
func share(limit, users int) int { return max(1, limit/max(1, users)) }

// heapShare returns a namespace's share of the timer heap.
func (p *Partition) heapShare(group string) int {
	users := p.agenda.Groups()
	if p.agenda.LenOf(group) == 0 {
		users++
	}
	return share(p.limits.Agenda, users)
}

// arm arms a state if there is room, or if it can make room by removing timers of a namespace that has more armed.
func (p *Partition) arm(s *ownedShard, e agenda.Entry) bool {
	if p.room() == 0 {
		name, most := p.agenda.Largest()
		more := most - p.agenda.LenOf(s.group)
		if more < 2 || p.limits.Planted.FirstComeFirstServed {
			return false
		}
		// Remove several in one step, because finding the latest requires sorting.
		for _, last := range p.agenda.TakeLast(name, min(more/2, 1+most/16)) {
			p.leaveToPoll(&last.Row)
		}
	}
	p.agenda.Arm(s.group, e)
	return true
}

// leaveToPoll moves R back to before a row that is not armed any more, but not before the watermark: a row at or below
// the watermark was committed late, and the next sweep judges it. A running poll may have begun before the row was
// written, so its answer must not move R past the row.
func (p *Partition) leaveToPoll(row *store.DueRow) {
	s := p.shard(row.Ref.Shard)
	if s == nil {
		return
	}
	key := row.Key()
	if !key.After(s.sweepFrom) {
		s.sweepFrom = before(key)
	}
	if !key.After(s.read) {
		s.read = before(key)
		if s.watermark.After(s.read) {
			s.read = s.watermark
		}
	}
	s.cut, s.wentBack = true, true
	p.pollBy(s, row.DueAt.Add(-p.limits.LookAhead))
}

// mayPoll returns which shards may be polled. While a quarter of the timer heap is free, all may. Otherwise only shards
// of namespaces of which arm would accept a timer, and that have a quarter of their share free, so that a poll reads
// many rows.
func (p *Partition) mayPoll() func(*ownedShard) bool {
	if p.room() >= max(1, p.limits.Agenda/4) {
		return func(*ownedShard) bool { return true }
	}
	if p.limits.Planted.FirstComeFirstServed {
		return func(*ownedShard) bool { return false }
	}
	room := p.room()
	_, most := p.agenda.Largest()
	return func(s *ownedShard) bool {
		armed := p.agenda.LenOf(s.group)
		return (room > 0 || most-armed >= 2) && 4*armed < 3*p.heapShare(s.group)
	}
}

// fewestFirst moves shards of namespaces with the fewest armed timers to the front, because an answer has a limit.
func (p *Partition) fewestFirst(asked []store.DueAfter) {
	if p.agenda.Groups() == 0 || p.limits.Planted.FirstComeFirstServed {
		return
	}
	armed := func(a store.DueAfter) int { return p.agenda.LenOf(p.shard(a.Claim.Shard).group) }
	slices.SortStableFunc(asked, func(a, b store.DueAfter) int { return armed(a) - armed(b) })
}

// mayPublish returns which namespaces may have one more event in flight at now with this credit.
func (p *Partition) mayPublish(now timer.Millis, credit *int) func(group string) bool {
	return func(group string) bool {
		own, users := p.inFlight[group], len(p.inFlight)
		if own == 0 {
			users++
		}
		switch {
		case p.limits.Planted.FirstComeFirstServed:
			return len(p.out) < p.limits.Outstanding
		case len(p.out) < p.limits.Outstanding:
		case len(p.out) >= 2*p.limits.Outstanding, own >= share(p.limits.Outstanding, users):
			return false
		}
		// If publications without credit use all credit, the other namespaces may have as many in flight as the
		// average.
		return *credit > 0 || own*users < len(p.out) || !p.needsCredit(group, now)
	}
}

// needsCredit reports whether a namespace has more than a few timers due or in flight.
func (p *Partition) needsCredit(group string, now timer.Millis) bool {
	own := p.inFlight[group]
	return own > withoutCredit || own+p.agenda.DueOf(group, now, withoutCredit+1-own) > withoutCredit
}

// launch adds a state to the in-flight set.
func (p *Partition) launch(state agenda.State, pub *publication) {
	p.out[state] = pub
	p.inFlight[pub.group]++
}

// land removes a state from the in-flight set.
func (p *Partition) land(state agenda.State, pub *publication) {
	delete(p.out, state)
	p.inFlight[pub.group]--
	if p.inFlight[pub.group] == 0 {
		delete(p.inFlight, pub.group)
	}
}

// WantsCredit reports whether a due timer waits for credit, or a state is in flight, so that the ack floor should be
// requested when credit is low.
func (p *Partition) WantsCredit(now timer.Millis) bool {
	return len(p.repeat) > 0 || len(p.out) > 0 || p.agenda.NextDue(func(string) bool { return true }) <= now
}
