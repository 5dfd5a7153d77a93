package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/bus/localqueue"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// dueEvent is a due event with the state at its first publication.
type dueEvent struct {
	event.Due

	at   time.Duration
	node int
	// queue is the queue in memory that has the event; nil: the bus has it.
	queue *localqueue.Bus
	// position is the bus's position of the event; zero if the bus never returned one.
	position bus.Position
	// floor is the dispatchers' ack floor before the publication.
	floor bus.Position
	// there: the row was in the event's state.
	there bool
	// begin is where the publisher's claim began to read: max(P, W).
	begin store.Key
	// claimed is when the claim was made.
	claimed time.Duration
}

// samePlace reports whether two events have the same position in the same queue.
func (e *dueEvent) samePlace(other *dueEvent) bool {
	return e.queue == other.queue && e.position == other.position
}

func (e *dueEvent) state() dueState { return dueState{e.UUID, e.Revision} }

// delivery is one delivery of an attempt. node is noNode for events, because their sender is not known.
type delivery struct {
	attempt

	op, node int
	at       time.Duration
	// silent: the receiver gives no answer.
	silent bool
}

// Upper bounds for the effects of a fault after its end: writeLasts until a message or a row lease of a dead dispatcher
// expires and the next sweep or poll finds the row; heldFor is how long a message waits in a dispatcher before it is
// delivered.
const (
	writeLasts = 20 * time.Second
	heldFor    = 15 * time.Second
	// noticedWithin is the longest time between two polls of an idle shard.
	noticedWithin = 30 * time.Second
)

// sweepsDoNotAmplify implements I12 as seen by the bus: a state is published again only by an owner that took the shard
// over without knowing the previous owner's publications, or if its event is gone from the queue. Each case needs a
// fault that explains it.
func (r *recording) sweepsDoNotAmplify() []Violation {
	var broken []Violation
	last := map[dueState]dueEvent{}
	unanswered := map[dueState]time.Duration{} // since when publications have had no answer
	for _, e := range r.events {
		before, repeated := last[e.state()]
		since, unknown := unanswered[e.state()]
		switch {
		case e.position == (bus.Position{}) && unknown, repeated && before.samePlace(&e):
			continue // in the second case, the bus has dropped the repetition
		case e.position == (bus.Position{}):
			unanswered[e.state()] = e.at
			continue
		}
		kept := e
		if unknown { // the bus may have had it since then, and lost it
			kept.at = since
		}
		last[e.state()] = kept
		delete(unanswered, e.state())
		if !repeated {
			continue
		}
		why := ""
		switch {
		case e.queue != nil && claimOf(&before.Due) != claimOf(&e.Due):
			// The earlier owner has withdrawn its event, or its queue was lost with the process. deliveriesRepeatForAReason checks that
			// this causes no duplicate without a fault.
		case takenOver(&before, &e) || r.early(&before):
			// If the row was gone, a hint caused the second publication. If it was not there before, a hint caused the first one, and
			// the write of the row was applied later.
			if !r.explainsTakeOver(&before, &e) && (before.there && e.there || !r.explainsLoss(&before, &e)) {
				why = "no fault of its owner or of the partition explains the take-over"
			}
		case before.there && e.there && before.queue == e.queue && !before.position.Before(e.floor) && !r.restored(&before, &e):
			// An owner forgets a publication that was made before the commit of its row.
			why = fmt.Sprintf("the event is still in the queue, whose floor is %v", e.floor)
		case !r.explainsLoss(&before, &e):
			why = "no fault before may have lost the event"
		}
		if why != "" {
			broken = append(broken, Violation{Rule: "amplified", Text: fmt.Sprintf(
				"%v: version %d publishes revision %s of %s (attempt %d, due %v) again, after version %d did at %v (%v): %s",
				e.at, e.ClaimVersion, e.Revision, e.UUID, e.Attempt, e.DueAt, before.ClaimVersion, before.at, before.position, why)})
		}
	}
	return broken
}

// takenOver reports whether a new owner of the shard cannot avoid the second publication: its key is beyond max(P, W)
// of the claim, or the earlier owner published it after the claim.
func takenOver(before, e *dueEvent) bool {
	return claimOf(&before.Due) != claimOf(&e.Due) && (keyOf(&e.Due).After(e.begin) || before.at >= e.claimed)
}

// early reports whether an event was published before its due time, by an owner whose clock was ahead. The next owner
// limits that owner's P to the present.
func (r *recording) early(e *dueEvent) bool {
	return timer.FromTime(r.start.Add(e.at+clockBound)) < e.DueAt
}

// explainsTakeOver reports whether a fault of an owner or of the partition explains the take-over. A claim of any
// scheduler that is applied late takes a shard from its owner, which notices that at its next read of the shard.
func (r *recording) explainsTakeOver(before, e *dueEvent) bool {
	return r.strikeIn(before.at-writeLasts, e.at, func(s strike) bool {
		return s.node == before.node || s.node == e.node || s.kind == Lose && s.partition == before.position.Partition
	}) || r.strikeIn(before.at-writeLasts-noticedWithin, e.at, func(s strike) bool {
		return s.kind == StoreLate && s.role.schedules()
	})
}

// explainsLoss reports whether the event may have gone while its row remained: it was lost with the queue, or a late or
// early hint caused it before its row was committed or after the row was gone.
func (r *recording) explainsLoss(before, e *dueEvent) bool {
	lost := r.strikeIn(before.at, e.at, func(s strike) bool { return s.kind == LoseQueue || s.kind == CrashQueue })
	return lost || r.strikeIn(before.at-writeLasts, e.at, func(s strike) bool {
		switch s.kind {
		case HintsTwice, HintsDelayed:
			return true
		case StoreUnknown, StoreHangs, StoreLate, CrashAtCall:
			return s.role == roleIngest || s.role.delivers()
		default:
			return false
		}
	})
}

// restored reports whether the event may have been gone temporarily: a crash of the queue restores events that were
// acknowledged or lost before it.
func (r *recording) restored(before, e *dueEvent) bool {
	return r.strikeIn(before.at, e.at, func(s strike) bool { return s.kind == CrashQueue })
}

// deliveriesRepeatForAReason implements I12 as seen by receivers: a delivery is repeated only if a fault struck every
// process that made it before, or its event, and only while its outcome is not in the store. So the crashes by a poison
// timer explain only the repetitions of deliveries that were in flight in its processes.
func (r *recording) deliveriesRepeatForAReason(o *oracle) []Violation {
	var broken []Violation
	made := map[attempt][]delivery{}
	for _, d := range r.deliveries {
		before := made[d.attempt]
		made[d.attempt] = append(before, d)
		why := ""
		switch {
		case len(before) == 0:
		case d.node != noNode && r.concluded(&d):
			why = "its outcome was in the store"
		case o.pausedBetween(d.timer, before[0].at, d.at): // the outcome may have missed the row
		case !r.explainsRepetition(before, &d):
			why = "no fault before explains it"
		}
		if why != "" {
			broken = append(broken, Violation{Rule: "duplicate", Text: fmt.Sprintf(
				"%v: attempt %d of generation %s of %s (op %d) was delivered again, after %v, and %s",
				d.at, d.number, d.generation, d.timer, d.op, before[0].at, why)})
		}
	}
	return broken
}

// concluded reports whether the outcome of an attempt was written before its delivery.
func (r *recording) concluded(d *delivery) bool {
	return slices.ContainsFunc(r.finishes, func(f finish) bool {
		switch f.Kind {
		case store.FinishDone, store.FinishRescheduled, store.FinishRetry, store.FinishDead, store.FinishParked:
			return f.at < d.at && f.attempt() == d.attempt
		default:
			return false
		}
	})
}

// explainsRepetition reports whether a fault affected every process that delivered before, or a late lease of one of these
// processes made the outcome of another one miss the row, or the process that delivers again had held the event beyond bus.AckWait.
func (r *recording) explainsRepetition(before []delivery, d *delivery) bool {
	writesLate := func(s strike) bool {
		late := s.kind == StoreHangs || s.kind == StoreLate || s.kind == StoreUnknown
		return late && slices.ContainsFunc(before, func(b delivery) bool { return b.node == s.node })
	}
	heldTooLong := func(s strike) bool {
		return s.node == d.node && (s.kind == Zombie || s.kind == CutOff || s.kind == StoreHangs || s.kind == StoreCut)
	}
	return !slices.ContainsFunc(before, func(b delivery) bool {
		return !r.strikeIn(b.at-heldFor, d.at, func(s strike) bool {
			switch {
			case s.queue():
				return true
			case s.kind == Crash && s.until < b.at: // the delivering process started after it
				return false
			default:
				return s.role.delivers() && (s.node == b.node || b.node == noNode || writesLate(s) || heldTooLong(s))
			}
		})
	}) || r.publishedTwice(d)
}

// publishedTwice reports whether one state of the attempt had two due events, which sweepsDoNotAmplify checks. If the queue is in
// memory, a fault must explain the take-over, because an owner that gives up its partition withdraws its event.
func (r *recording) publishedTwice(d *delivery) bool {
	seen := map[dueState]*dueEvent{}
	for i := range r.events {
		e := &r.events[i]
		if e.at > d.at || e.Generation.String() != d.generation || e.Attempt != d.number {
			continue
		}
		if first := seen[e.state()]; first != nil && !first.samePlace(e) && (e.queue == nil || r.explainsTakeOver(first, e)) {
			return true
		}
		seen[e.state()] = e
	}
	return false
}
