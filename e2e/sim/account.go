package sim

import (
	"context"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// report makes the final account.
func (o *oracle) report(ctx context.Context, settled bool) *Report {
	handle := o.world.db.Open()
	timers := map[int]bool{}
	for _, s := range o.ops {
		if !timers[s.op.Timer] && s.op.Verb != MakeNamespace {
			timers[s.op.Timer] = true
			o.account(ctx, handle, s.op)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !settled {
		o.broken("stuck", "timers are still pending, or commands unanswered, %v after everything was healed", settleLimit)
	}
	r := o.counts
	r.Violations = o.violations
	return &r
}

// account compares a timer's end with what its client knows.
func (o *oracle) account(ctx context.Context, handle store.Store, op *Op) {
	number, id := op.Timer, timerID(op.Timer)
	ref := store.Ref{Shard: o.world.blocks[op.space()].Place(id), UUID: timer.UUIDOf(op.space(), id)}
	t, err := handle.Get(ctx, timer.SystemClock(), ref)
	found := err == nil
	history, err := handle.History(ctx, timer.SystemClock(), ref, 1000)
	must(err)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.checkTold(id, history, &t, found)
	final, certain := o.final(number)
	switch {
	case !found:
		o.counts.Deleted++
		if certain && final != nil && final.op.Verb != Delete {
			o.broken("lost", "%s is gone, and nobody deleted it (last: op %d)", id, final.op.ID)
		}
		return
	case t.Status == timer.StatusDone:
		o.counts.Done++
	case t.Status == timer.StatusDead:
		o.counts.Dead++
	case t.Status == timer.StatusParked:
		o.counts.Parked++
	}
	switch {
	case !certain:
	case final == nil:
		o.broken("appeared", "%s is there as %s, and no operation on it was taken", id, t.Status)
	case final.op.Verb != Delete: // after a delete, the end of an earlier life is what there is
		o.checkScript(final, endOf(final, &t, history))
	}
}

// final finds the operation that decides a timer's end; certain is false if one of unknown outcome may. That
// is one after it, or, where writes may be applied long after they were given up, any.
func (o *oracle) final(number int) (last *opState, certain bool) {
	late := slices.ContainsFunc(o.world.plan.Faults, func(f Fault) bool {
		return f.Kind == StoreLate || f.Kind == StoreHangs
	})
	certain = true
	for _, s := range o.ops {
		if s.op.Timer != number {
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

// checkScript follows the receiver's script: every step up to the last must have been delivered, and the
// endOf is how the last life of an operation ended. The timer as Get shows it may be an earlier life, if both
// ended within the clock bound of each other: history is ordered by the clocks of the nodes that wrote it.
func endOf(s *opState, t *timer.Timer, history []store.HistoryEntry) timer.Status {
	if len(s.lives) == 0 {
		return t.Status
	}
	last := s.lives[len(s.lives)-1]
	for _, h := range history {
		if timer.WebhookID(t.UUID, h.Generation) != last {
			continue
		}
		switch h.Outcome {
		case store.OutcomeDone:
			return timer.StatusDone
		case store.OutcomeDead:
			return timer.StatusDead
		case store.OutcomeFailed, store.OutcomeRescheduled:
		}
	}
	return t.Status
}

// timer must have ended as it says.
func (o *oracle) checkScript(s *opState, end timer.Status) {
	if s.kills() {
		if end != timer.StatusParked {
			o.broken("poison", "op %d kills its dispatchers and ended as %s", s.op.ID, end)
		}
		return
	}
	want := timer.StatusDone
	life, attempt := 0, 1
	for {
		if !s.got[[2]int{life, attempt}] {
			o.broken("lost", "op %d: attempt %d of life %d was never delivered; the timer ended as %s", s.op.ID, attempt, life, end)
			return
		}
		step := s.step(life, attempt)
		switch {
		case step.Answer == AnswerAgain || step.Answer == AnswerNotAgain:
			life, attempt = life+1, 1
			continue
		case step.Answer.Failed() && attempt < maxAttempts:
			attempt++
			continue
		case step.Answer.Failed(), step.Answer == AnswerGone, step.Answer == AnswerBad:
			want = timer.StatusDead
		}
		break
	}
	if end != want {
		o.broken("outcome", "op %d ended as %s, want %s", s.op.ID, end, want)
	}
}

// checkTold is I14: every outcome in history was told on results, and every dead or parked timer has its
// notice.
func (o *oracle) checkTold(id string, history []store.HistoryEntry, t *timer.Timer, found bool) {
	for _, h := range history {
		if !o.told[fmt.Sprintf("%s/%s/%d/%s", id, h.Generation, h.Attempt, h.Outcome)] {
			o.broken("untold", "%s: attempt %d of generation %s ended as %s, and results never said so", id, h.Attempt, h.Generation, h.Outcome)
		}
		if h.Outcome == store.OutcomeDead && !o.notices[fmt.Sprintf("%s/%s/%s", id, h.Generation, timer.StatusDead)] {
			o.broken("untold", "%s died as generation %s, and no dead event said so", id, h.Generation)
		}
	}
	if found && t.Status == timer.StatusParked && !o.notices[fmt.Sprintf("%s/%s/%s", id, t.Generation, timer.StatusParked)] {
		o.broken("untold", "%s was parked, and no event said so", id)
	}
}
