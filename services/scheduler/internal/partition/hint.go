package partition

import (
	"container/heap"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/timerheap"
)

// HintResult is the result of a hint.
type HintResult string

const (
	HintArmed   HintResult = "armed"   // it will be published when due
	HintLater   HintResult = "later"   // a poll will find it
	HintKnown   HintResult = "known"   // armed or in flight already
	HintBarred  HintResult = "barred"  // it may have been published already: the sweep decides
	HintForeign HintResult = "foreign" // the shard is not claimed
)

// Hint processes a hint that a state exists. Hints may be lost, repeated, stale or late: every armed state goes through
// the row check before it is delivered. A hint without Revision could not be decoded: a poll then reads its shard.
func (p *Partition) Hint(now timer.Millis, h event.Hint) HintResult {
	s := p.shard(h.Shard)
	if s == nil {
		return HintForeign
	}
	row := store.DueRow{
		Ref: store.Ref{Shard: h.Shard, UUID: h.UUID}, Revision: h.Revision, Generation: h.Generation,
		Attempt: h.Attempt, DueAt: h.DueAt, UpdatedAt: h.UpdatedAt, Target: h.Target,
	}
	switch {
	case h.Revision == 0:
		p.pollBy(s, now.Add(p.limits.BusyPoll)) // one poll serves many such hints
		return HintLater
	case p.known(timerheap.StateOf(&row)):
		return HintKnown
	case s.barrierInPlace && !row.Key().After(s.takeover.barrier):
		return HintBarred
	case h.DueAt <= now.Add(p.limits.LookAhead) && p.arm(s, &row):
		p.markUsed(s, now)
		return HintArmed
	default:
		p.pollBy(s, max(now, h.DueAt.Add(-p.limits.LookAhead)))
		return HintLater
	}
}

// HintsLost is called after hints were dropped. Every shard is polled; the sweep finds rows before the read cursors.
func (p *Partition) HintsLost(now timer.Millis) {
	for _, s := range p.shards {
		s.pollAt = min(s.pollAt, now)
	}
	heap.Init(&p.polls)
}
