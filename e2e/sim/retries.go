package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The retry policy of every timer; some have a maxAttemptsDuration, too (Op.Limit).
const (
	maxAttempts     = 4
	initialInterval = time.Second
	multiplier      = 2
	maxInterval     = 4 * time.Second
)

// postponeMost is the maximum postponement by a dispatcher.
const postponeMost = time.Minute

// flowPostponeMost is that of a timer that waits for its flow.
const flowPostponeMost = 10 * time.Minute

type result struct {
	event.Result

	at time.Duration
}

func (r *result) attempt() attempt {
	return attempt{timer: r.TimerID, generation: r.Generation, number: r.Attempt}
}

// uncalled reports whether an attempt was used without a call, because the circuit of the host was open, or was answered 401.
func uncalled(reason string) bool { return strings.HasPrefix(reason, "not called:") || denied(reason) }

// denied reports whether the receiver did not accept the token.
func denied(reason string) bool { return strings.HasPrefix(reason, "the receiver answered 401 ") }

// backoff returns the range of the delay after an attempt: min(maxInterval, initialInterval · multiplier^(n−1)) ±
// jitter, and a Retry-After within [backoff, maxInterval]. Times are truncated to milliseconds.
func backoff(number timer.Attempt, retryAfter time.Duration) (shortest, longest time.Duration) {
	delay := min(maxInterval, time.Duration(float64(initialInterval)*math.Pow(multiplier, float64(number-1))))
	jitter := time.Duration(float64(delay) * timer.Jitter)
	asked := min(retryAfter, maxInterval)
	return max(delay-jitter, asked) - time.Millisecond, max(delay+jitter, asked)
}

// end is an answer of a receiver, with the time by the clock of the dispatcher that made the call.
type end struct {
	at timer.Millis
	// cut: the dispatcher has cancelled the call, because the permits of the flow have ended, or it stops.
	cut bool
	// later: the attempt ends later, because the clock was not trusted, or another token is requested after a 401.
	later bool
	// limit is the last time at which the policy allows an attempt; Never without maxAttemptsDuration.
	limit timer.Millis
}

// outcomes are the possible outcomes of an attempt with this answer; none if the answer kills the dispatcher.
func (s *Step) outcomes(number timer.Attempt, e end) []store.Outcome {
	shortest, longest := backoff(number, s.retryAfter())
	switch {
	case s.Answer.Kills():
		return nil
	case s.Answer.Again():
		return []store.Outcome{store.OutcomeRescheduled}
	case s.Answer == AnswerGone, s.Answer == AnswerBad:
		return []store.Outcome{store.OutcomeDead}
	case !s.Answer.Failed():
		return []store.Outcome{store.OutcomeDone}
	default:
		return failedOutcomes(number, e, shortest, longest)
	}
}

// failedOutcomes are the possible outcomes of a failed attempt: the policy allows the next one unless its number would
// exceed maxAttempts or its time the limit. The jitter may decide the latter.
func failedOutcomes(number timer.Attempt, e end, shortest, longest time.Duration) []store.Outcome {
	switch {
	case number >= maxAttempts, e.at.Add(shortest) > e.limit && !e.later:
		return []store.Outcome{store.OutcomeDead}
	case e.limit == timer.Never, e.at.Add(longest) <= e.limit && !e.later:
		return []store.Outcome{store.OutcomeFailed}
	default:
		return []store.Outcome{store.OutcomeFailed, store.OutcomeDead}
	}
}

// failure is a failed attempt that is retried, according to a result event or a write.
type failure struct {
	attempt

	at                            time.Duration
	uncalled                      bool
	startedAt, finishedAt, nextAt timer.Millis
	executeAt                     timer.Millis
}

// failures lists the failed attempts of result events and writes.
func (r *recording) failures() []failure {
	var all []failure
	for i := range r.results {
		if told := &r.results[i]; store.Outcome(told.Outcome) == store.OutcomeFailed && told.NextAt != nil {
			all = append(all, failure{told.attempt(), told.at, uncalled(told.Error), told.StartedAt, told.FinishedAt, *told.NextAt, told.ExecuteAt})
		}
	}
	for i := range r.finishes {
		if f := &r.finishes[i]; f.Kind == store.FinishRetry {
			all = append(all, failure{f.attempt(), f.at, uncalled(f.Record.Error), f.Record.StartedAt, f.Record.FinishedAt, f.NextAt, f.before.ExecuteAt})
		}
	}
	return all
}

// retriesFollowThePolicy checks when failed attempts ended and when the next one is planned. Attempts that no receiver
// has seen violate another rule.
func (r *recording) retriesFollowThePolicy(seen map[attempt]*sighting) []Violation {
	var broken []Violation
	for _, f := range r.failures() {
		s, retryAfter := seen[f.attempt], time.Duration(0)
		if s != nil && !f.uncalled {
			retryAfter = s.step.retryAfter()
			// If the clock was set back during the attempt, it ends at the time at which it began.
			if !slices.ContainsFunc(s.ends, func(e end) bool { return e.later || max(e.at, f.startedAt) == f.finishedAt }) {
				broken = append(broken, f.violation("finished", f.at, "began at %v and ended at %v, and the answers arrived at %v",
					f.startedAt, f.finishedAt, s.ends))
			}
		}
		delay := f.nextAt.Sub(f.finishedAt)
		if shortest, longest := backoff(f.number, retryAfter); (delay < shortest && !r.expires(&f, s)) || delay > longest {
			broken = append(broken, f.violation("backoff", f.at, "is followed by the next after %v, want %v to %v", delay, shortest, longest))
		}
	}
	return broken
}

// expires reports whether the next attempt is planned for the expiry of the timer, or for now if that has passed, when its outcome is written.
func (r *recording) expires(f *failure, seen *sighting) bool {
	if slices.ContainsFunc(r.finishes, func(row finish) bool {
		return row.before.ID == f.timer && row.before.Generation.String() == f.generation && max(row.before.ExpiresAt(), f.finishedAt) == f.nextAt
	}) {
		return true
	}
	if seen == nil || seen.op.op.Expire == 0 {
		return false
	}
	latest := f.executeAt.Add(seen.op.op.Expire)
	return f.nextAt == f.finishedAt && f.nextAt >= latest.Add(-seen.op.op.Window) ||
		f.nextAt <= latest && f.nextAt >= latest.Add(-seen.op.op.Window)
}

func (a attempt) violation(rule string, at time.Duration, format string, args ...any) Violation {
	return Violation{Rule: rule, Text: fmt.Sprintf("%v: attempt %d of generation %s of %s ", at, a.number, a.generation, a.timer) +
		fmt.Sprintf(format, args...)}
}

// delaysAreJittered checks that delays that should differ by their jitter are not all equal.
func (r *recording) delaysAreJittered(seen map[attempt]*sighting) []Violation {
	const enough, least = 8, 0.002
	var shares []float64
	for _, f := range r.failures() {
		if s := seen[f.attempt]; s == nil || s.step.Answer != AnswerBusy {
			_, longest := backoff(f.number, 0)
			shares = append(shares, float64(f.nextAt.Sub(f.finishedAt))/float64(longest))
		}
	}
	if len(shares) < enough || slices.Max(shares)-slices.Min(shares) >= least {
		return nil
	}
	return []Violation{{Rule: "jitter", Text: fmt.Sprintf("the delays after %d failed attempts are all %v to %v of the longest",
		len(shares), slices.Min(shares), slices.Max(shares))}}
}

// rowsKeepThePlan: a retry is due at the time in its result event, and leases and postponements keep that as the
// planned time, unless the timer was paused and resumed. If an attempt was made twice, the bus may drop the second result as a duplicate of the first.
func (r *recording) rowsKeepThePlan(o *oracle) []Violation {
	seen := o.seen
	var broken []Violation
	planned := map[attempt]timer.Millis{}
	for i := range r.finishes {
		f := &r.finishes[i]
		a := f.attempt()
		if want, ok := planned[a]; ok && f.before.PlannedAt != want && (f.before.PlannedAt < want || o.pauses.sent[f.before.ID] == nil) {
			broken = append(broken, a.violation("planned", f.at, "was planned for %v, and the row says %v", want, f.before.PlannedAt))
		}
		if f.Kind != store.FinishRetry {
			continue
		}
		planned[a.of(a.number+1)] = max(f.NextAt, f.now)
		selected := o.world.plan.resultsOf(f.before.Namespace).Publishes(store.OutcomeFailed)
		if s := seen[a]; selected && s != nil && s.count == 1 && !uncalled(f.Record.Error) && !r.anyResult(a, func(told *result) bool {
			return told.NextAt != nil && *told.NextAt == f.NextAt || uncalled(told.Error)
		}) {
			broken = append(broken, a.violation("planned", f.at, "is retried at %v, which no result contains", f.NextAt))
		}
	}
	return broken
}

// anyResult reports whether a result of an attempt meets the condition.
func (r *recording) anyResult(a attempt, meets func(*result) bool) bool {
	return slices.ContainsFunc(r.results, func(told result) bool { return told.attempt() == a && meets(&told) })
}

// postponementsAreShort implements I11: a row is postponed by at most a minute. Without faults, only an open circuit
// postpones callbacks, and not beyond the first interval of the policy after the planned time: then an attempt is used
// instead.
func (r *recording) postponementsAreShort(p *Plan) []Violation {
	var broken []Violation
	quiet := p.Narrow == 0 && !slices.ContainsFunc(r.strikes, func(s strike) bool { return s.role != roleIngest })
	for i := range r.finishes {
		f := &r.finishes[i]
		if f.Kind != store.FinishPostponed {
			continue
		}
		by, late := f.NextAt.Sub(f.now), f.NextAt.Sub(f.before.PlannedAt)
		if f.before.FlowKey != "" {
			if by > flowPostponeMost {
				broken = append(broken, f.attempt().violation("postponed", f.at, "is postponed by %v because of its flow", by))
			}
			continue
		}
		if by > postponeMost || quiet && f.before.Way() == timer.DeliverCallback && f.before.Schedule == "" && late > initialInterval {
			broken = append(broken, f.attempt().violation("postponed", f.at, "is postponed by %v, %v after its planned time", by, late))
		}
	}
	return broken
}

// attemptsAreCalled: an attempt is used without a call only after so many unanswered callbacks that the circuit of
// their host may be open.
func (r *recording) attemptsAreCalled(p *Plan) []Violation {
	var broken []Violation
	for i := range r.results {
		told := &r.results[i]
		if !uncalled(told.Error) || denied(told.Error) && p.Lifetime > 0 {
			continue
		}
		silent := 0
		for _, d := range r.deliveries {
			if d.silent && d.at <= told.at { // a refused connection takes no time
				silent++
			}
		}
		if p.Circuit == 0 || silent < p.Circuit {
			broken = append(broken, told.attempt().violation("uncalled", told.at, "was used without a call after %d callbacks without an answer", silent))
		}
	}
	return broken
}
