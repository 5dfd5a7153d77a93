package dispatcher

import (
	"context"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// aged is what one look at an old delivery asks for.
type aged struct {
	delivery *delivery
	// extend lists its messages, whose acknowledgement is still to come.
	extend []*bus.Delivery
	// lease is to be begun if it is not nil.
	lease *lease
	// postpone: it has waited too long to begin and was taken out of turn; refused: for its host, by what
	// its row said.
	postpone, refused bool
}

// keep looks after deliveries that take longer than most: until their messages are acknowledged these
// are extended, what has begun gets a row lease, and what cannot begin is postponed (I11).
func (s *Service) keep(ctx context.Context) {
	for {
		old, wait := s.board.aged(s.life, s.watch.Elapsed())
		for _, a := range old {
			for _, m := range a.extend {
				m.Extend()
			}
			if a.lease != nil {
				s.work.Go(func() { s.holdLease(a.lease) })
			}
			switch {
			case a.refused:
				s.putOff(a.delivery, entry{refused: refusedFull, delay: s.config.HostPatience})
			case a.postpone:
				s.work.Go(func() { s.postponeWaiting(a.delivery) })
			}
		}
		fires, stop := after(wait)
		select {
		case <-s.board.aging:
		case <-fires:
		case <-ctx.Done():
			stop()
			return
		}
		stop()
	}
}

// watch lets the keeper look at a delivery one interval from now. Intervals are all alike, so the list
// is in order without sorting.
func (b *board) watch(d *delivery, elapsed time.Duration) {
	if d.element != nil {
		return
	}
	if b.byAge.Len() == 0 {
		signal(b.aging)
	}
	d.deadline = elapsed + b.interval
	d.element = b.byAge.PushBack(d)
}

func (b *board) unwatch(d *delivery) {
	if d.element != nil {
		b.byAge.Remove(d.element)
		d.element = nil
	}
}

// aged returns the deliveries whose interval is over, each to be looked at again after another, and how
// long until the next; 0 if there is none.
func (b *board) aged(life context.Context, elapsed time.Duration) (old []aged, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.byAge.Front(); e != nil; e = b.byAge.Front() {
		d := e.Value.(*delivery) //nolint:errcheck // the list holds one type.
		if d.deadline > elapsed {
			return old, d.deadline - elapsed
		}
		b.unwatch(d)
		b.watch(d, elapsed)
		a := aged{delivery: d, extend: slices.Clone(d.messages)}
		switch {
		case d.stage == stageRunning && !d.concluding && d.lease == nil:
			d.lease = newLease(life, d)
			a.lease = d.lease
		case b.tooLong(d, elapsed):
			a.refused = d.stage == stageQueued || d.stage == stageSuspected && !b.gate.lets(d)
			b.drop(d)
			b.putOff(d)
			a.postpone = true
		}
		old = append(old, a)
	}
	return old, 0
}

// tooLong reports whether a delivery waits here though it might begin elsewhere, or though its host does not
// take it. While the checker waits for the store that is not so, and postponing would only add to the
// store's work. A redelivered event whose row was not read stays, and so does one that waits to be alone,
// unless its row alone makes it a suspect: its next event would be a first delivery, and that start would
// not be counted (I13). Those that a host refuses are counted before (decision 0015).
func (b *board) tooLong(d *delivery, elapsed time.Duration) bool {
	if b.checking || b.closed {
		return false
	}
	waited := elapsed - d.since
	switch d.stage {
	case stageQueued:
		queued := elapsed - d.queuedAt
		return queued >= 2*b.gate.patience && !b.ready.may(d, b.slotLimit-b.slots) || queued >= b.holdFor
	case stageReady:
		return waited >= b.holdFor && !d.redelivered
	case stageSuspected:
		return waited >= b.holdFor && (!d.redelivered || d.row.Starts >= 2 || !b.gate.lets(d))
	default:
		return false
	}
}

// drop takes a delivery out of its queue.
func (b *board) drop(d *delivery) {
	is := func(o *delivery) bool { return o == d }
	switch d.stage { //nolint:exhaustive // nothing else is dropped.
	case stageReady:
		b.ready.remove(is)
	case stageSuspected:
		b.suspects = slices.DeleteFunc(b.suspects, is)
	case stageQueued:
		b.gate.remove(d)
	}
}
