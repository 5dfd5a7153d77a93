package partition

import (
	"cmp"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/timerheap"
)

// PollAt returns when the next poll is useful: when a shard's next row comes into the look-ahead, but not before the
// timer heap has room for it.
func (p *Partition) PollAt() timer.Millis {
	may := p.mayPoll()
	return nextPoll(p.polls, 0, timer.Never, func(s *ownedShard) bool { return !s.polling && may(s) })
}

// Poll returns the query for the shards that are to be polled now, at most PollShards. The caller must pass the same
// query to Polled or PollFailed.
func (p *Partition) Poll(now timer.Millis) store.DueQuery {
	q := store.DueQuery{
		Horizon:  now.Add(p.limits.LookAhead),
		PerShard: p.limits.PollPerShard,
		Total:    p.limits.PollTotal,
	}
	room, may := p.armRoom(), p.mayPoll()
	shards := duePolls(p.polls, 0, nil, now, func(s *ownedShard) bool { return !s.polling && may(s) })
	if len(shards) > p.limits.PollShards {
		slices.SortFunc(shards, func(a, b *ownedShard) int {
			return cmp.Or(cmp.Compare(a.pollAt, b.pollAt), cmp.Compare(a.claim.Shard, b.claim.Shard))
		})
		shards = shards[:p.limits.PollShards]
	}
	sortByID(shards)
	for _, s := range shards {
		room = max(room, p.heapShare(s.namespace)-p.timers.LenOf(s.namespace))
		s.polling, s.rewound = true, false
		// The answer must not overwrite a hint that arrives while the poll runs.
		p.setPoll(s, timer.Never)
		q.Shards = append(q.Shards, store.DueAfter{Claim: s.claim, After: p.pollFrom(s, now)})
	}
	p.ticks++
	p.pollTick = p.ticks
	q.PerShard, q.Total = min(q.PerShard, room), min(q.Total, room)
	q.Shards = p.rotate(q.Shards)
	p.sortByArmed(q.Shards)
	return q
}

// rotate rotates the shards so that a different one is first each time: the store serves shards in the order of the
// query, and one with a backlog may use the whole limit of an answer.
func (p *Partition) rotate(asked []store.DueAfter) []store.DueAfter {
	if len(asked) == 0 {
		return nil
	}
	next := max(0, slices.IndexFunc(asked, func(a store.DueAfter) bool { return a.Claim.Shard > p.polledFirst }))
	p.polledFirst = asked[next].Claim.Shard
	return slices.Concat(asked[next:], asked[:next])
}

// PollFailed schedules the query's shards for a later poll.
func (p *Partition) PollFailed(q store.DueQuery, retryAt timer.Millis) {
	p.pollTick = 0
	for _, asked := range q.Shards {
		if s := p.shard(asked.Claim.Shard); s != nil && s.claim == asked.Claim {
			s.polling = false
			p.pollBy(s, retryAt)
		}
	}
}

// Polled processes the answer to Poll's query. It returns the shards that were fenced, which are already removed.
func (p *Partition) Polled(now timer.Millis, q store.DueQuery, answer []store.DueShard) (fenced []shard.ID) {
	for i, asked := range q.Shards {
		s := p.shard(asked.Claim.Shard)
		if s == nil || s.claim != asked.Claim {
			continue
		}
		if isFenced(answer[i].Err) {
			p.RemoveFenced(asked.Claim.Shard)
			fenced = append(fenced, asked.Claim.Shard)
			continue
		}
		s.polling = false
		if answer[i].Err != nil {
			p.recordUnserved(answer[i].Err)
			p.pollBy(s, now.Add(p.limits.BusyPoll))
			continue
		}
		if s.rewound {
			continue // the poll began after rows that must be read again
		}
		if s.idle && len(answer[i].Rows) == 0 && !answer[i].Cut {
			p.recordEmptyPoll(s, asked.After, q.Horizon.Add(-p.limits.LookAhead))
		}
		p.armRows(now, s, &answer[i])
	}
	p.pollTick = 0
	return fenced
}

func (p *Partition) armRows(now timer.Millis, s *ownedShard, found *store.DueShard) {
	if len(found.Rows) > 0 {
		p.markUsed(s, now)
	}
	defer p.advanceLater(s)
	for i := range found.Rows {
		row := &found.Rows[i]
		if !row.Key().After(s.read) {
			// The shard was idle, so the poll began before R. The next sweep judges this row.
			if !row.Key().After(s.sweepFloor) {
				s.sweepFloor = before(row.Key())
			}
			continue
		}
		if state := timerheap.StateOf(row); !p.known(state) && !p.removedSince(p.pollTick, state) {
			if !p.arm(s, row) {
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
	next := p.idlePollAt(s, now)
	if found.NextDueAt != timer.Never {
		next = min(next, found.NextDueAt.Add(-p.limits.LookAhead))
	}
	p.pollBy(s, max(next, now.Add(p.limits.BusyPoll)))
}
