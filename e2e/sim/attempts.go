package sim

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// attempt identifies one attempt of one generation of one timer, as in deliveries, result events and history.
type attempt struct {
	timer, generation string
	number            timer.Attempt
}

func (a attempt) of(number timer.Attempt) attempt { a.number = number; return a }

// sighting is an attempt as seen by receivers. A repetition gets the same answer as the first delivery.
type sighting struct {
	op    *opState
	life  int
	step  Step
	count int
	// first is the time of the first delivery.
	first time.Duration
	// by are the processes that made the callback, ends the times of its answers; both are empty for events.
	by   []*life
	ends []end
}

// outcomes returns the possible outcomes of an attempt: for one that was answered, one that was used without a call, or
// both if two dispatchers had it.
func (o *oracle) outcomes(a attempt) []store.Outcome {
	var may []store.Outcome
	if o.uncalled[a] {
		e, denied := o.denied[a]
		if !denied {
			e.limit = timer.Never
		}
		shortest, longest := backoff(a.number, 0)
		may = append(may, failedOutcomes(a.number, e, shortest, longest)...)
	}
	if o.expired[a] {
		may = append(may, store.OutcomeDead)
	}
	seen := o.seen[a]
	switch {
	case seen == nil:
	case !seen.step.Answer.Failed():
		may = append(may, seen.step.outcomes(a.number, end{})...)
	default:
		for _, e := range seen.ends {
			may = append(may, seen.step.outcomes(a.number, e)...)
		}
	}
	return may
}

// withoutCall reports whether an attempt was used, or an expiry written instead of it, without a call.
func (o *oracle) withoutCall(a attempt) bool { return o.uncalled[a] || o.expired[a] }

// mayBe reports whether an outcome is possible for an attempt.
func (o *oracle) mayBe(a attempt, outcome store.Outcome) bool {
	return slices.Contains(o.outcomes(a), outcome)
}

// see records a delivery of the operation's generation number life.
func (o *oracle) see(s *opState, life int, d *delivered) *sighting {
	a := d.attempt()
	seen := o.seen[a]
	if seen == nil {
		seen = &sighting{op: s, life: life, step: s.step(life, int(d.Attempt)), first: o.world.since()}
		o.seen[a] = seen
		o.checkAttempt(s, a)
	}
	seen.count++
	o.world.recording.delivered(a, d, seen.step.Answer == AnswerHang || seen.step.Answer == AnswerRefuse)
	if d.by != nil {
		seen.by = append(seen.by, d.by)
	}
	return seen
}

// checkAttempt implements I2 as seen by receivers: another attempt requires a failed one before it.
func (o *oracle) checkAttempt(s *opState, a attempt) {
	if a.number == 1 {
		return
	}
	if !o.mayBe(a.of(a.number-1), store.OutcomeFailed) {
		o.broken("attempt", "op %d was delivered as attempt %d of generation %s, and attempt %d had not failed",
			s.op.ID, a.number, a.generation, a.number-1)
	}
}

// checkResults compares results and history with the deliveries and answers of receivers.
func (o *oracle) checkResults(id string, history []store.HistoryEntry, results store.Results) {
	written := map[attempt]store.Outcome{}
	for _, h := range history {
		a := attempt{timer: id, generation: h.Generation.String(), number: h.Attempt}
		written[a] = h.Outcome
		seen := o.seen[a]
		switch {
		case seen == nil && !o.withoutCall(a):
			o.broken("history", "%s: attempt %d of generation %s is in history as %s, and no receiver was called",
				id, a.number, a.generation, h.Outcome)
		case !o.mayBe(a, h.Outcome):
			o.broken("history", "%s: attempt %d of generation %s (possible outcomes: %v) is in history as %s",
				id, a.number, a.generation, o.outcomes(a), h.Outcome)
		case seen == nil || seen.op.op.Event:
		case h.StatusCode != seen.step.answer().Status && !uncalled(h.Error) && !strings.HasPrefix(h.Error, timer.ExpiredError):
			o.broken("history", "op %d: attempt %d of generation %s was answered %s and has status %d in history",
				seen.op.op.ID, a.number, a.generation, seen.step.Answer, h.StatusCode)
		}
	}
	for _, a := range attemptsOf(o.told, id) {
		for _, outcome := range o.told[a] {
			if !o.mayBe(a, outcome) {
				o.broken("untrue", "a result says that attempt %d of generation %s of %s ended as %s, possible: %v",
					a.number, a.generation, id, outcome, o.outcomes(a))
			}
		}
	}
	for _, a := range attemptsOf(o.seen, id) {
		seen := o.seen[a]
		if _, ok := written[a]; !ok && o.followed(a, seen) {
			o.broken("history", "op %d: attempt %d of generation %s was followed by another delivery and is not in history",
				seen.op.op.ID, a.number, a.generation)
		}
		told := slices.ContainsFunc(o.told[a], func(outcome store.Outcome) bool { return o.mayBe(a, outcome) })
		selected := !slices.ContainsFunc(seen.step.outcomes(a.number, end{}), func(o store.Outcome) bool { return !results.Publishes(o) })
		cut := slices.ContainsFunc(seen.ends, func(e end) bool { return e.cut }) // the attempt does not count
		if selected && !seen.step.Answer.Kills() && !told && !cut && slices.ContainsFunc(seen.by, (*life).alive) {
			o.broken("untold", "op %d: attempt %d of generation %s was answered %s, its dispatcher kept running, and no result was published",
				seen.op.op.ID, a.number, a.generation, seen.step.Answer)
		}
	}
}

// followed reports whether there was a delivery that only the attempt's outcome can have caused.
func (o *oracle) followed(a attempt, seen *sighting) bool {
	if seen.step.Answer.Again() {
		return len(seen.op.lives) > seen.life+1 && len(o.runs(seen.op)) == 0
	}
	return o.mayBe(a, store.OutcomeFailed) && o.seen[a.of(a.number+1)] != nil
}

// tells reports whether a result event had this outcome of the attempt.
func (o *oracle) tells(a attempt, outcome store.Outcome) bool {
	return slices.Contains(o.told[a], outcome)
}

// attemptsOf lists a timer's attempts in a fixed order, so that reports are repeatable.
func attemptsOf[V any](all map[attempt]V, id string) []attempt {
	var of []attempt
	for a := range all {
		if a.timer == id {
			of = append(of, a)
		}
	}
	slices.SortFunc(of, func(a, b attempt) int {
		return cmp.Or(cmp.Compare(a.generation, b.generation), cmp.Compare(a.number, b.number))
	})
	return of
}
