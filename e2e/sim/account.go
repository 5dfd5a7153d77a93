package sim

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// report returns the final report.
func (o *oracle) report(ctx context.Context, settled bool) *Report {
	handle := o.world.db.Open()
	timers := map[int]bool{}
	for _, s := range o.ops {
		if !timers[s.op.Timer] && s.op.Verb.onTimer() {
			timers[s.op.Timer] = true
			o.account(ctx, handle, s.op)
		}
	}
	if len(o.world.removals.lives) > 0 {
		o.world.removals.account(ctx, handle)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finishesHaveFollowUps(ctx, handle)
	o.world.schedules.check(ctx, handle)
	o.world.locals.check(ctx, handle)
	o.checkRate()
	if !settled {
		o.broken("stuck", "timers are still pending, or commands unanswered, %v after all faults ended", settleLimit)
	}
	r := o.counts
	r.Foreign = o.world.recording.foreignEvents()
	r.Violations = slices.Concat(o.violations, o.world.recording.violations(o))
	return &r
}

// account compares the end of a timer with the answers that its client got.
func (o *oracle) account(ctx context.Context, handle store.Store, op *Op) {
	number, id := op.Timer, timerID(op.Timer)
	block, deletion := o.world.blocks[op.space()], false
	if op.Removed {
		block, deletion = o.world.removals.last()
	}
	ref := store.Ref{Shard: block.Place(id), UUID: timer.UUIDOf(op.space(), id)}
	t, err := handle.Get(ctx, timer.SystemClock(), ref)
	found := err == nil
	history, err := handle.History(ctx, timer.SystemClock(), ref, 1000)
	must(err)
	o.mu.Lock()
	defer o.mu.Unlock()
	results := o.world.plan.resultsOf(op.space())
	o.checkTold(id, history, &t, found, results)
	purged := o.mayBePurged(op)
	if !purged && !deletion {
		o.checkResults(id, history, results)
	}
	if found {
		o.checkPurged(&t, op)
	}
	o.checkAnswered(number)
	o.accountPaused(number, &t, found)
	final, certain := o.final(number)
	certain = certain && (final == nil || !o.world.removals.outlived(final))
	deleted := certain && final != nil && final.op.Verb == Delete
	switch {
	case !found, deleted: // after a delete, get returns the end of an earlier life
		o.counts.Deleted++
	case t.Status == timer.StatusDone:
		o.counts.Done++
	case t.Status == timer.StatusDead:
		o.counts.Dead++
	case t.Status == timer.StatusParked:
		o.counts.Parked++
	case t.Status == timer.StatusPaused:
		o.counts.Paused++
	default:
		o.broken("stuck", "%s still exists with status %s", id, t.Status)
	}
	switch {
	case !certain:
	case deleted && found && t.Status != timer.StatusDone && t.Status != timer.StatusDead:
		o.broken("appeared", "%s exists with status %s although op %d deleted it", id, t.Status, final.op.ID)
	case deleted:
	case final == nil && found:
		o.broken("appeared", "%s exists with status %s although no operation on it was applied", id, t.Status)
	case final == nil:
	case purged && !found:
	case !found:
		o.broken("lost", "%s does not exist although no operation deleted it (last: op %d)", id, final.op.ID)
	case purged: // perhaps the end of an earlier generation
	case t.Status == timer.StatusPaused: // accountPaused
	default:
		o.checkEnd(final, t.Status, history)
	}
}

// checkAnswered compares the generations in answers with those in deliveries.
func (o *oracle) checkAnswered(number int) {
	for _, s := range o.ops {
		if s.op.Timer != number || s.generation == "" || len(s.lives) == 0 || s.lives[0] == s.generation || len(o.runs(s)) > 0 {
			continue
		}
		rule := "webhook-id"
		if s.op.Topic {
			rule = "twice" // one application was answered and a second one delivered
		}
		o.broken(rule, "op %d was answered with generation %s and delivered as %s", s.op.ID, s.generation, s.lives[0])
	}
}

// final returns the operation that decides a timer's end. certain is false if an operation with unknown outcome may
// decide it: any such operation after it, or, if writes may be applied long after they failed, any such operation.
func (o *oracle) final(number int) (last *opState, certain bool) {
	late := slices.ContainsFunc(o.world.plan.Faults, func(f Fault) bool {
		return f.Kind == StoreLate || f.Kind == StoreHangs
	})
	certain = true
	for _, s := range o.ops {
		if s.op.Timer != number || s.op.Verb.holds() {
			continue
		}
		switch {
		case !s.known || s.answer.unknown:
			certain = false
		case s.answer.applied():
			last, certain = s, certain || !late
		}
	}
	return last, certain
}

// checkEnd checks the end of a timer by the operation that decides it. A run-now begins a new generation of the timer that it
// found; if it was answered as late, that may follow deliveries of the earlier one.
func (o *oracle) checkEnd(final *opState, end timer.Status, history []store.HistoryEntry) {
	if final.op.Verb != RunNow {
		o.checkScript(final, "", end, history)
		return
	}
	if s := o.ranOn(final); s != nil && final.answer.inTime() && final.generation != "" {
		o.checkScript(s, final.generation, end, history)
	}
}

// checkScript follows the receiver's script from a generation on, the first one if it is empty: every attempt up to the last one must have been delivered, reported and
// recorded in history, and the timer must have ended as the last one requires. A crash is no excuse: no other operation
// followed, so a delivery that a crashed dispatcher did not report is delivered again.
func (o *oracle) checkScript(s *opState, from string, end timer.Status, history []store.HistoryEntry) {
	if kills(s.op.Script) {
		// An open circuit may use its attempts (decision 0026), or it expires.
		last := slices.ContainsFunc(history, func(h store.HistoryEntry) bool {
			return h.Outcome == store.OutcomeDead && o.withoutCall(attempt{timerID(s.op.Timer), h.Generation.String(), h.Attempt})
		})
		if end != timer.StatusParked && !(end == timer.StatusDead && last) {
			o.broken("poison", "op %d kills its dispatchers and ended as %s", s.op.ID, end)
		}
		return
	}
	id, life := timerID(s.op.Timer), max(0, slices.Index(s.lives, from))
	for number := timer.Attempt(1); ; number++ {
		a := attempt{timer: id, number: number, generation: from}
		if from == "" {
			a.generation = o.generation(s, life, history)
		}
		at := slices.IndexFunc(history, func(h store.HistoryEntry) bool {
			return h.Generation.String() == a.generation && h.Attempt == number
		})
		if o.seen[a] == nil && !o.withoutCall(a) {
			o.broken("lost", "op %d: attempt %d of life %d was never delivered; the timer ended as %s", s.op.ID, number, life, end)
			return
		}
		if at < 0 {
			o.broken("history", "op %d: attempt %d of life %d (possible outcomes: %v) is not in history", s.op.ID, number, life, o.outcomes(a))
			return
		}
		want := timer.StatusDone
		switch history[at].Outcome {
		case store.OutcomeFailed:
			continue
		case store.OutcomeRescheduled:
			life, number, from = life+1, 0, ""
			continue
		case store.OutcomeDead:
			want = timer.StatusDead
		case store.OutcomeDone, store.OutcomeExpired: // expired is never stored
		}
		if end != want && !s.endsUnordered(&history[at], history) {
			o.broken("outcome", "op %d ended as %s, want %s", s.op.ID, end, want)
		}
		return
	}
}

// endsUnordered reports whether get may return the end of an earlier generation, because the operation's write took too
// long to be compared with it (store.EndMargin), and the dispatcher of that end had a clock ahead.
func (s *opState) endsUnordered(end *store.HistoryEntry, history []store.HistoryEntry) bool {
	return s.wasSent && s.at-s.sent >= store.EndMargin-clockBound && slices.ContainsFunc(history, func(h store.HistoryEntry) bool {
		final := h.Outcome == store.OutcomeDone || h.Outcome == store.OutcomeDead
		ahead := h.FinishedAt.Sub(end.FinishedAt)
		return final && h.Generation != end.Generation && ahead >= 0 && ahead <= clockBound
	})
}

// generation returns the generation of one of an operation's lives. A life that was never delivered, because the
// circuit of its host was open at all of its attempts, is found in history; it is the last one.
func (o *oracle) generation(s *opState, life int, history []store.HistoryEntry) string {
	if life < len(s.lives) {
		return s.lives[life]
	}
	for _, h := range history {
		generation := h.Generation.String()
		if o.withoutCall(attempt{timer: timerID(s.op.Timer), generation: generation, number: h.Attempt}) &&
			!slices.ContainsFunc(o.ops, func(other *opState) bool { return slices.Contains(other.lives, generation) }) {
			return generation
		}
	}
	return ""
}

// checkTold implements I14: every outcome in history that the namespace selects was reported on results, and every dead or parked timer
// has its event.
func (o *oracle) checkTold(id string, history []store.HistoryEntry, t *timer.Timer, found bool, results store.Results) {
	for _, h := range history {
		if results.Publishes(h.Outcome) && !o.tells(attempt{timer: id, generation: h.Generation.String(), number: h.Attempt}, h.Outcome) {
			o.broken("untold", "%s: attempt %d of generation %s ended as %s, and no result was published", id, h.Attempt, h.Generation, h.Outcome)
		}
		if h.Outcome == store.OutcomeDead && !o.world.recording.announced(id, h.Generation, timer.StatusDead) {
			o.broken("untold", "%s became dead as generation %s, and no dead event was published", id, h.Generation)
		}
	}
	if found && t.Status == timer.StatusParked && !o.world.recording.announced(id, t.Generation, timer.StatusParked) {
		o.broken("untold", "%s was parked, and no event was published", id)
	}
}
