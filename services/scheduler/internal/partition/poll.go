package partition

import (
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/agenda"
)

// PollAt returns when the next poll is worth making: when a shard's next row comes into the look-ahead,
// but not before the timer heap has room for it.
func (p *Partition) PollAt() timer.Millis {
	next, may := timer.Never, p.mayPoll()
	for _, s := range p.shards {
		if !s.polling && s.pollAt < next && may(s) {
			next = min(next, s.pollAt)
		}
	}
	return next
}

// Poll returns the question for all shards whose time has come. It must be followed by Polled or
// PollFailed with the same question.
func (p *Partition) Poll(now timer.Millis) store.DueQuery {
	q := store.DueQuery{
		Horizon:  now.Add(p.limits.LookAhead),
		PerShard: p.limits.PollPerShard,
		Total:    p.limits.PollTotal,
	}
	room, may := p.room(), p.mayPoll()
	for _, s := range p.shards {
		if s.polling || s.pollAt > now || !may(s) {
			continue
		}
		room = max(room, p.heapShare(s.group)-p.agenda.LenOf(s.group))
		s.polling = true
		// A hint that arrives while the poll runs must not be overwritten by its answer.
		s.pollAt = timer.Never
		q.Shards = append(q.Shards, store.DueAfter{Claim: s.claim, After: p.from(s)})
	}
	p.ticks++
	p.pollTick = p.ticks
	q.PerShard, q.Total = min(q.PerShard, room), min(q.Total, room)
	q.Shards = p.takeTurns(q.Shards)
	p.fewestFirst(q.Shards)
	return q
}

// takeTurns lets another shard be first each time: shards are served in the order asked, and one with a
// backlog takes all that one answer holds.
func (p *Partition) takeTurns(asked []store.DueAfter) []store.DueAfter {
	if len(asked) == 0 {
		return nil
	}
	next := max(0, slices.IndexFunc(asked, func(a store.DueAfter) bool { return a.Claim.Shard > p.polledFirst }))
	p.polledFirst = asked[next].Claim.Shard
	return slices.Concat(asked[next:], asked[:next])
}

// PollFailed brings the question's shards back at a later time.
func (p *Partition) PollFailed(q store.DueQuery, retryAt timer.Millis) {
	p.pollTick = 0
	for _, asked := range q.Shards {
		if s := p.shard(asked.Claim.Shard); s != nil && s.claim == asked.Claim {
			s.polling = false
			s.pollAt = min(s.pollAt, retryAt)
		}
	}
}

// Polled takes in the answer to Poll's question. It returns the shards that were fenced, which are
// forgotten already.
func (p *Partition) Polled(now timer.Millis, q store.DueQuery, answer []store.DueShard) (fenced int) {
	for i, asked := range q.Shards {
		s := p.shard(asked.Claim.Shard)
		if s == nil || s.claim != asked.Claim {
			continue
		}
		if isFenced(answer[i].Err) {
			p.Fenced(asked.Claim.Shard)
			fenced++
			continue
		}
		s.polling = false
		if answer[i].Err != nil {
			p.miss(answer[i].Err)
			s.pollAt = min(s.pollAt, now.Add(p.limits.BusyPoll))
			continue
		}
		if s.read.Compare(asked.After) < 0 {
			// The barrier fell while this poll ran: it started too far ahead.
			continue
		}
		p.take(now, s, &answer[i])
	}
	p.pollTick = 0
	return fenced
}

// take arms the rows of a shard.
func (p *Partition) take(now timer.Millis, s *ownedShard, found *store.DueShard) {
	s.resting = s.resting && len(found.Rows) == 0
	for i := range found.Rows {
		row := &found.Rows[i]
		if !row.Key().After(s.read) {
			// The shard was at rest, so the poll began at the first key. The next sweep judges this row.
			if !row.Key().After(s.sweepFrom) {
				s.sweepFrom = before(row.Key())
			}
			continue
		}
		if state := agenda.StateOf(row); !p.known(state) && !p.forgottenSince(p.pollTick, state) {
			if !p.arm(s, agenda.Entry{Row: *row, Again: s.again(now, row)}) {
				s.cut, s.pollAt = true, now
				return
			}
		}
		s.read = row.Key()
	}
	s.cut = found.Cut
	if found.Cut {
		s.pollAt = now
		return
	}
	next := timer.Never
	if found.NextDueAt != timer.Never {
		next = found.NextDueAt.Add(-p.limits.LookAhead)
	}
	next = max(next, now.Add(p.limits.BusyPoll))
	s.pollAt = min(s.pollAt, next, now.Add(p.limits.HintWindow/2))
}
