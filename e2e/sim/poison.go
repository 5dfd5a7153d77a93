package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The dispatchers' defaults: a timer is parked after parkAfter starts, and a delivery takes a row lease after leaseAfter.
const (
	parkAfter  = 5
	leaseAfter = 2 * time.Second
	// longestCallback is the longest time that a receiver of the simulation takes.
	longestCallback = 10 * time.Second
	// writeTime is longer than a dispatcher takes to write an outcome and to publish its hint while nothing fails. It includes
	// the offset of the dispatcher's clock.
	writeTime = clockBound
)

// poisoned is the effect of poison timers on a process.
type poisoned struct {
	// alone are the deliveries that the process began alone.
	alone []isolated
	// killed is when one killed the process; 0 if none has.
	killed time.Duration
}

// isolated is the start of a delivery that is made alone.
type isolated struct {
	attempt attempt
	at      time.Duration
	// others is when the process made other repeated deliveries before it.
	others []span
}

// poison returns the effect of poison timers on a process, creating it if absent.
func (o *oracle) poison(l *life) *poisoned {
	p := o.poisoned[l]
	if p == nil {
		p = &poisoned{}
		o.poisoned[l] = p
	}
	return p
}

// kills records that a poison timer is about to kill the process.
func (o *oracle) kills(l *life) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.poison(l).killed = o.world.since()
}

// runsAlone records that a poison timer is delivered alone, for one of the last times before it is parked.
func (o *oracle) runsAlone(d *delivered) {
	if seen := o.seen[d.attempt()]; d.by != nil && seen != nil && seen.step.Answer.Kills() && seen.count >= parkAfter-2 {
		p := o.poison(d.by)
		p.alone = append(p.alone, isolated{d.attempt(), o.world.since(), o.repeated(d)})
	}
}

// repeated returns when the process of a delivery may have made other deliveries that were repetitions.
func (o *oracle) repeated(d *delivered) []span {
	var spans []span
	for _, other := range o.world.recording.deliveredBy(d.by.node.index, o.world.since()-longestCallback) {
		seen := o.seen[other.attempt]
		if other.attempt == d.attempt() || seen == nil || seen.count < 2 {
			continue
		}
		took := seen.step.After
		if other.silent {
			took = longestCallback
		}
		spans = append(spans, span{other.at, other.at + took + writeTime})
	}
	return spans
}

// heldByPoison returns when a poison timer may delay an attempt. It delays attempts whose event was delivered to a
// process that delivered the poison timer. Before a start that is made alone, the process begins no other delivery
// until the running ones have ended or have a lease, and then until that start has a lease. The start itself also
// waits until every other repeated delivery of the process has ended, with a lease or without. After the process is killed,
// the bus redelivers its events after bus.AckWait.
func (o *oracle) heldByPoison(d *delivered) []span {
	var held []span
	for _, h := range o.world.recording.handedOver(d.subject()) {
		p := o.poisoned[h.to]
		if p == nil {
			continue
		}
		for _, alone := range p.alone {
			if h.at <= alone.at+leaseAfter {
				held = append(held, span{alone.at - leaseAfter, alone.at + leaseAfter})
			}
			if alone.attempt == d.attempt() {
				held = append(held, alone.others...)
			}
		}
		if p.killed >= h.at {
			held = append(held, span{p.killed, p.killed + bus.AckWait})
		}
	}
	return held
}

// killedAtItsAnswer reports whether a poison timer killed the process that made an attempt while it wrote the outcome.
func (o *oracle) killedAtItsAnswer(a attempt) bool {
	seen := o.seen[a]
	return seen != nil && slices.ContainsFunc(seen.by, func(l *life) bool {
		p := o.poisoned[l]
		if p == nil {
			return false
		}
		killed := timer.FromTime(o.world.start.Add(p.killed))
		return slices.ContainsFunc(seen.ends, func(e end) bool { return killed.Sub(e.at).Abs() <= writeTime })
	})
}

// lateness returns how long after its due time, and after since, a delivery is made. It omits the time by which a
// poison timer or a new owner of its partition may have delayed it, and the time in others. The repetition of a delivery
// by a process that was killed counts from the kill.
func (o *oracle) lateness(d *delivered, since time.Duration, others ...span) time.Duration {
	if d.Namespace == flowNamespace {
		return 0 // it waits for its flow
	}
	from := max(d.ScheduledFor.Sub(timer.FromTime(o.world.start)), since)
	if seen := o.seen[d.attempt()]; seen != nil {
		for _, l := range seen.by {
			if p := o.poisoned[l]; p != nil {
				from = max(from, p.killed)
			}
		}
	}
	return outside(from, o.world.since(), slices.Concat(o.heldByPoison(d), o.world.recording.replaced(nodeRole.schedules), others))
}

// span is the time between two times.
type span struct{ from, until time.Duration }

// outside returns how much of the time between from and until is in none of the spans.
func outside(from, until time.Duration, spans []span) time.Duration {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var sum time.Duration
	for _, s := range spans {
		if s.from >= until {
			break
		}
		sum += max(0, s.from-from)
		from = max(from, s.until)
	}
	return sum + max(0, until-from)
}

// parkedAfterEnoughStarts implements I13: a row is parked after parkAfter counted starts. The first start by each due
// event need not be counted, unless it took a row lease, and a take-over may publish a second event. Every fault of the
// due queue, or of a dispatcher that had one of the events, may lose the count of a start, or cause a counted start
// that was not made.
func (r *recording) parkedAfterEnoughStarts(starts map[attempt]*sighting) []Violation {
	var broken []Violation
	for _, f := range r.finishes {
		if f.Kind != store.FinishParked {
			continue
		}
		a := f.attempt()
		count, first := 0, f.at
		if seen := starts[a]; seen != nil {
			count, first = seen.count, seen.first
		}
		most := parkAfter + r.unleased(&f)
		excused := r.dispatcherFaults(&f, first) - count // its own kills are among them
		if count < parkAfter-max(excused, 0) || count > most+max(excused, 0) {
			broken = append(broken, Violation{Rule: "starts", Text: fmt.Sprintf(
				"%v: %s was parked after %d starts of attempt %d of generation %s, want %d to %d; %d faults meanwhile",
				f.at, a.timer, count, a.number, a.generation, parkAfter, most, max(excused, 0))})
		}
	}
	return broken
}

// unleased counts the due events of a finish's attempt whose states were not leased.
func (r *recording) unleased(f *finish) int {
	n := 0
	for i := range r.events {
		e := &r.events[i]
		if e.UUID == f.Ref.UUID && e.Generation == f.before.Generation && e.Attempt == f.before.Attempts+1 && e.at <= f.at &&
			!slices.ContainsFunc(r.finishes, func(l finish) bool {
				return l.Kind == store.FinishLeased && l.Ref.UUID == e.UUID && l.If.Revision == e.Revision
			}) {
			n++
		}
	}
	return n
}

// dispatcherFaults counts the faults, before a finish, of the due queue and of dispatchers that had an event of its
// attempt.
func (r *recording) dispatcherFaults(f *finish, from time.Duration) int {
	handed := r.handovers[subject{f.Ref.UUID, f.before.Generation.String(), f.before.Attempts + 1}]
	n := 0
	for _, s := range r.strikes {
		had := func(h handover) bool { return h.to.node.index == s.node && h.at <= s.until }
		if s.from <= f.at && s.until >= from && (s.queue() || s.role.delivers() && slices.ContainsFunc(handed, had)) {
			n++
		}
	}
	return n
}
