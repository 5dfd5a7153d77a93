package partition

import (
	"cmp"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/agenda"
)

// PollAt returns when the next poll is worth making: when a shard's next row comes into the look-ahead,
// but not before the timer heap has room for it.
func (p *Partition) PollAt() timer.Millis {
	may := p.mayPoll()
	return nextPoll(p.polls, 0, timer.Never, func(s *ownedShard) bool { return !s.polling && may(s) })
}

// Poll returns the question for the shards whose time has come, PollShards at most. It must be followed by Polled or
// PollFailed with the same question.
func (p *Partition) Poll(now timer.Millis) store.DueQuery {
	q := store.DueQuery{
		Horizon:  now.Add(p.limits.LookAhead),
		PerShard: p.limits.PollPerShard,
		Total:    p.limits.PollTotal,
	}
	room, may := p.room(), p.mayPoll()
	shards := duePolls(p.polls, 0, nil, now, func(s *ownedShard) bool { return !s.polling && may(s) })
	if len(shards) > p.limits.PollShards {
		slices.SortFunc(shards, func(a, b *ownedShard) int {
			return cmp.Or(cmp.Compare(a.pollAt, b.pollAt), cmp.Compare(a.claim.Shard, b.claim.Shard))
		})
		shards = shards[:p.limits.PollShards]
	}
	sortByID(shards)
	for _, s := range shards {
		room = max(room, p.heapShare(s.group)-p.agenda.LenOf(s.group))
		s.polling, s.wentBack = true, false
		// A hint that arrives while the poll runs must not be overwritten by its answer.
		p.setPoll(s, timer.Never)
		q.Shards = append(q.Shards, store.DueAfter{Claim: s.claim, After: p.from(s, now)})
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
			p.pollBy(s, retryAt)
		}
	}
}

// Polled takes in the answer to Poll's question. It returns the shards that were fenced, which are
// forgotten already.
func (p *Partition) Polled(now timer.Millis, q store.DueQuery, answer []store.DueShard) (fenced []shard.ID) {
	for i, asked := range q.Shards {
		s := p.shard(asked.Claim.Shard)
		if s == nil || s.claim != asked.Claim {
			continue
		}
		if isFenced(answer[i].Err) {
			p.Fenced(asked.Claim.Shard)
			fenced = append(fenced, asked.Claim.Shard)
			continue
		}
		s.polling = false
		if answer[i].Err != nil {
			p.miss(answer[i].Err)
			p.pollBy(s, now.Add(p.limits.BusyPoll))
			continue
		}
		if s.wentBack {
			continue // the poll started too far ahead
		}
		if s.idle && len(answer[i].Rows) == 0 && !answer[i].Cut {
			p.walked(s, asked.After, q.Horizon.Add(-p.limits.LookAhead))
		}
		p.take(now, s, &answer[i])
	}
	p.pollTick = 0
	return fenced
}

// take arms the rows of a shard.
func (p *Partition) take(now timer.Millis, s *ownedShard, found *store.DueShard) {
	if len(found.Rows) > 0 {
		p.use(s, now)
	}
	defer p.advanceLater(s)
	for i := range found.Rows {
		row := &found.Rows[i]
		if !row.Key().After(s.read) {
			// The shard was idle, so the poll began before R. The next sweep judges this row.
			if !row.Key().After(s.sweepFrom) {
				s.sweepFrom = before(row.Key())
			}
			continue
		}
		if state := agenda.StateOf(row); !p.known(state) && !p.forgottenSince(p.pollTick, state) {
			if !p.arm(s, agenda.Entry{Row: *row, Again: s.again(now, row)}) {
				s.cut = true
				p.setPoll(s, now)
				return
			}
		}
		s.read = row.Key()
	}
	s.cut = found.Cut
	if found.Cut {
		p.setPoll(s, now)
		return
	}
	next := p.lookAt(s, now)
	if found.NextDueAt != timer.Never {
		next = min(next, found.NextDueAt.Add(-p.limits.LookAhead))
	}
	p.pollBy(s, max(next, now.Add(p.limits.BusyPoll)))
}
