package dispatcher

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// complete publishes the result, writes the outcome, and acknowledges the messages, in this order (I14, I10). mode is
// the timer's delivery mode, or scheduleMode; it is a label of metrics.
func (s *Service) complete(d *delivery, mode timer.Deliver, r *attemptResult) {
	if r.fired != nil {
		// The first publish of the fired event failed, so publish it again, also if the callback failed.
		switch err := s.sendWithRetry(s.fired, *r.fired); {
		case errors.Is(err, bus.ErrTooLarge):
			r.refuseEvent(err)
		case err != nil:
			s.abandon(d, mode, err)
			return
		}
	}
	f := s.finishOf(d, r)
	if !r.postpone {
		e := resultEvent(d, r, &f)
		publish, err := s.applySettings(d, &f, e)
		if err != nil {
			// It is not known whether the namespace's settings name an onDone or onDead URL, so postpone the timer. A delivery with a
			// callback reads the settings before the callback, so after this error there was no callback. If this attempt published a
			// fired event, the next one publishes it again.
			r = &attemptResult{postpone: true, Verdict: callback.Verdict{Reason: err.Error()}, finishedAt: r.finishedAt, host: r.host}
			f = s.finishOf(d, r)
		} else if publish {
			if err := s.publishResult(d, e); err != nil {
				s.abandon(d, mode, err)
				return
			}
		}
	}
	s.endLease(d)
	if f.If.Revision != 0 {
		f.If.Revision = d.knownRevision // the revision of the lease, if there is one
	}
	written := s.writeFinish(s.life, d, &f)
	if written == gaveUp {
		if (r.postpone || d.notCalled) && s.life.Err() == nil {
			// No callback result is lost: there was no callback, or its result does not count (attemptResult.postpone). The bus
			// redelivers the message, or the row lease expires.
			s.discard(d)
		} else {
			s.abandon(d, mode, errUnconfirmed)
		}
		return
	}
	s.ackAndRemove(d)
	if written == missed {
		s.metrics.fires.WithLabelValues(string(mode), "missed").Inc()
		return
	}
	// After rowGone, this write may have been applied. Most often it was, so the counters include it.
	s.metrics.fires.WithLabelValues(string(mode), outcomeName(r)).Inc()
	if f.FollowUp != nil {
		s.hintFollowUp(f.FollowUp, d.write.now)
	}
	switch f.Kind { //nolint:exhaustive // the other kinds have no counter.
	case store.FinishRetry:
		s.metrics.retries.Inc()
	case store.FinishPostponed:
		s.metrics.postponed.Inc()
	case store.FinishDead:
		s.metrics.dead.Inc()
		// After rowGone, the scheduler publishes the outbox entry if this write removed the row.
		if written == applied {
			s.publishDeadTimer(d, &f)
		}
	}
}

// endLease stops the lease renewer of a delivery, and prevents a new one. It precedes the write of the outcome, because
// two concurrent writes would conflict.
func (s *Service) endLease(d *delivery) {
	var l *lease
	s.intake.step(func(q *admission.Queue) {
		q.BeginWrite(&d.ticket)
		l = d.lease
	})
	if l != nil {
		l.end()
	}
}

// finishOf returns the write that records a result, with its guard (I2).
func (s *Service) finishOf(d *delivery, r *attemptResult) store.Finish {
	f := store.Finish{
		NextAt: r.NextAt,
		Record: store.Record{
			Attempt: d.row.Attempts + 1, StartedAt: d.startedAt, FinishedAt: r.finishedAt,
			StatusCode: r.Status, Error: r.Reason,
		},
	}
	generation := store.Guard{Generation: d.row.Generation}
	revision := store.Guard{Revision: d.row.Revision} // complete replaces it by the known revision before the write
	switch {
	case r.postpone:
		f.Kind, f.If, f.Next, f.ReturnStart = store.FinishPostponed, revision, s.postponedRevision(d), d.startCounted
		now, by := s.timeForOutcome(d), s.jitter(s.config.PostponeFor)
		if r.persistent {
			// The postponement grows with the time since executeAt, as it does while a host's circuit is open.
			by = s.spread(max(s.config.PostponeFor, min(now.Sub(d.row.ExecuteAt), s.config.MaxPostpone)))
		}
		if r.postponeFor > 0 {
			by = s.jitter(r.postponeFor)
		}
		// If the timer expires before the postponement ends, it is due when it expires, and its outcome is written then (I18).
		f.NextAt = min(now.Add(by), max(d.row.ExpiresAt(), now))
	case r.Kind == callback.Done:
		f.Kind, f.If = store.FinishDone, generation
	case r.Kind == callback.Rescheduled:
		f.Kind, f.If = store.FinishRescheduled, generation
	case r.Kind == callback.Dead:
		f.Kind, f.If = store.FinishDead, generation
	case r.Kind == callback.Exhausted:
		f.Kind, f.If = store.FinishDead, revision
	default:
		f.Kind, f.If = store.FinishRetry, revision
	}
	if f.Kind == store.FinishRescheduled || f.Kind == store.FinishRetry {
		f.Next = s.config.Revisions.Next()
	}
	return f
}

// resultEvent returns the data of the result event of an attempt.
func resultEvent(d *delivery, r *attemptResult, f *store.Finish) *event.Result {
	result := event.Result{
		Namespace: d.row.Namespace, TimerID: d.row.ID, Generation: d.row.Generation.String(),
		Attempt: f.Record.Attempt, CorrelationID: d.row.Correlation(), Outcome: outcomeName(r),
		ExecuteAt: d.row.ExecuteAt, StartedAt: d.startedAt, FinishedAt: r.finishedAt,
		StatusCode: r.Status, Error: r.Reason, Body: r.Body,
	}
	if r.NextAt != 0 {
		result.NextAt = &r.NextAt
	}
	return &result
}

// publishResult publishes the result event of an attempt. If the bus refuses the event as too large, publishResult skips
// it, because the outcome of the attempt must be written nevertheless.
func (s *Service) publishResult(d *delivery, result *event.Result) error {
	e, err := event.ResultOf(s.config.Source, &d.row, result)
	if err != nil {
		return err
	}
	m, err := s.message(e, d.ref.Shard, "")
	if err != nil {
		return err
	}
	if err := s.sendWithRetry(s.results, m); err != nil && !errors.Is(err, bus.ErrTooLarge) {
		return err
	}
	return nil
}

// abandon ends a delivery that has no outcome, or whose outcome is perhaps not in the store: the service stops, the store or the
// bus is closed, or the event of its result cannot be encoded. It tries to make the row due immediately and to subtract the counted
// start of this delivery, because a stop must not count toward ParkAfter (I13). The new revision still records whether the event was
// redelivered. If this write fails too, or is not made (clockLost), the bus redelivers the message or the lease expires.
func (s *Service) abandon(d *delivery, mode timer.Deliver, cause error) {
	s.endLease(d)
	ctx, cancel := context.WithTimeout(s.calls, returnRowsTimeout)
	defer cancel()
	f := store.Finish{
		Kind: store.FinishPostponed, If: store.Guard{Revision: d.knownRevision}, Next: s.abandonedRevision(d),
		ReturnStart: d.startCounted,
	}
	result := s.writeFinish(ctx, d, &f)
	if result != gaveUp {
		s.ackAndRemove(d)
	} else {
		s.discard(d)
	}
	s.metrics.fires.WithLabelValues(string(mode), "abandoned").Inc()
	s.config.Logger.Info("delivery ended without a confirmed outcome", "namespace", d.row.Namespace,
		"timer", d.row.ID, "made_due", result == applied, "cause", cause)
}

// park parks a timer that was started at least ParkAfter times without a result (I13).
func (s *Service) park(d *delivery, starts int) {
	f := store.Finish{
		Kind: store.FinishParked, If: store.Guard{Revision: d.knownRevision}, Next: s.config.Revisions.Next(),
		Record: store.Record{
			Error: "started " + strconv.Itoa(starts) + " times without a result",
		},
	}
	result := s.writeFinish(s.life, d, &f)
	if result == gaveUp {
		s.discard(d)
		return
	}
	s.ackAndRemove(d)
	if result == applied {
		s.metrics.parked.Inc()
		s.publishParkedTimer(d, &f)
	}
}

// outcomeName returns the name of the outcome in result events and metrics; "postponed" is used in metrics only.
func outcomeName(r *attemptResult) string {
	switch {
	case r.postpone:
		return "postponed"
	case r.Kind == callback.Done:
		return string(store.OutcomeDone)
	case r.Kind == callback.Rescheduled:
		return string(store.OutcomeRescheduled)
	case r.Kind == callback.Retry:
		return string(store.OutcomeFailed)
	default:
		return string(store.OutcomeDead.Reported(r.Reason))
	}
}

func decimal(a timer.Attempt) string { return strconv.Itoa(int(a)) }

type writeResult int

const (
	// applied: the write was applied. After done and dead the row is gone.
	applied writeResult = iota + 1
	// missed: the last try was not applied, because the row no longer matches the guard. Either another writer changed or removed the
	// row, or an earlier write of this delivery stored the result and its answer was lost. An earlier try whose answer was lost may have
	// been applied before another writer changed the row.
	missed
	// rowGone: the row does not exist, and an earlier try of this write may have been applied. Done and dead remove the row;
	// after the other kinds another writer has removed it.
	rowGone
	// gaveUp: the write ended without a final answer of the store, and may have been applied. Reasons: ctx ended; the store
	// was closed; the service ended before the clock was certain; the store does not answer, and this write does not wait until it does.
	gaveUp
)

// nextStep is the next step after one try of a write.
type nextStep int

const (
	noRetry nextStep = iota
	// retryNow and retryLater: try again, immediately or after a backoff.
	retryNow
	retryLater
)

// finishJob carries one write to the batch, and its answer back.
type finishJob struct {
	finish store.Finish
	now    timer.Millis // the time passed to the store with the write
	err    error
	done   chan struct{}
}

// writeFinish writes an outcome, a lease, a postponement or a parking by compare-and-set, and repeats the write until the
// answer is final (I2). Every try writes the same next revision; done and dead remove the row and have none. The guard matches
// only the state before this write. If an earlier try was applied, the guard of the next one no longer matches, so nothing is written
// twice.
//
// If the store is lost (Reach.Lost: it has not answered for a while), the write waits until it answers again. Two kinds of writes do
// not wait: postponements, and outcomes of deliveries with notCalled (the timer expired, the circuit was open, the token endpoint
// refused to issue a token, or the row is a schedule). For these, writeFinish gives up, and the bus redelivers the message, or the row
// lease expires.
//
// After an applied write, the delivery holds the new revision. If a write was applied, or may have been, and the row is due again
// within the hint window, the scheduler gets a hint.
func (s *Service) writeFinish(ctx context.Context, d *delivery, f *store.Finish) writeResult {
	if d.clockLost.Load() {
		return gaveUp
	}
	f.Ref = d.ref
	backoff := storeBackoff{service: s}
	waitIfLost := f.Kind != store.FinishPostponed && !d.notCalled
	unknown := false
	for {
		result, next := s.tryWrite(ctx, d, f, waitIfLost, &unknown)
		switch {
		case next == retryNow, next == retryLater && backoff.waitForStore(ctx, waitIfLost):
			// try again
		case next == retryLater, result == gaveUp: // the wait for the store ended early, or the try gave up
			s.recordUnknown(d, f, unknown)
			return gaveUp
		default:
			// If a row is gone after an unknown answer, a write that removes it was probably applied.
			if result == applied || result == rowGone && (f.Kind == store.FinishDone || f.Kind == store.FinishDead) {
				s.addOutcome(d, f)
			}
			return result
		}
	}
}

// tryWrite makes one try of writeFinish. unknown reports whether an earlier try may have been applied; tryWrite sets it if this
// one may have been.
func (s *Service) tryWrite(ctx context.Context, d *delivery, f *store.Finish, waitIfLost bool, unknown *bool) (writeResult, nextStep) {
	f.DueAt = d.knownDueAt
	if f.Kind == store.FinishLeased {
		now, certain := s.awaitCertainTime(ctx)
		if !certain {
			return gaveUp, noRetry
		}
		// Computed for each try: a lease time computed before an outage could be over when the write succeeds.
		f.NextAt = now.Add(s.config.LeaseFor)
	}
	now, err := s.submit(d, f)
	switch {
	case err == nil:
		s.recordApplied(d, f, dueAfter(d, f, now), now)
		return applied, noRetry
	case errors.Is(err, store.ErrNotFound):
		if *unknown {
			return rowGone, noRetry
		}
		return missed, noRetry
	case errors.Is(err, store.ErrConflict):
		return s.resolveConflict(ctx, d, f, waitIfLost, *unknown)
	case errors.Is(err, errUncertain):
		if s.config.StoreClock.AwaitTrust(ctx) {
			return 0, retryNow
		}
		return gaveUp, noRetry
	case errors.Is(err, store.ErrClosed):
		return gaveUp, noRetry
	case errors.Is(err, store.ErrUnavailable):
		return 0, retryLater
	}
	*unknown = true // any other error does not say whether the write was applied
	if f.Next == 0 {
		// Done and dead write no revision that a read could find, so the write is tried again. It removes the row, or the store
		// answers ErrNotFound (an earlier try or another writer removed it) or ErrConflict (resolveConflict finds out why).
		return 0, retryLater
	}
	if row, ok := s.reread(ctx, d, waitIfLost); ok && row.Matches(f.Next) {
		s.recordApplied(d, f, row.Timer.DueAt, row.Timer.UpdatedAt)
		return applied, noRetry
	}
	return 0, retryLater
}

// resolveConflict finds out why the row is not in the state that a try expects.
func (s *Service) resolveConflict(ctx context.Context, d *delivery, f *store.Finish, waitIfLost, unknown bool) (writeResult, nextStep) {
	if !unknown && (d.unconfirmedRevision == 0 || f.If.Revision == 0) {
		// Another writer caused the conflict, and not an earlier write of this delivery:
		//   - If the guard has a revision, then unconfirmedRevision is 0 here. So the answer to every lease and postponement of this
		//     delivery is known, and the guard has the revision that the last of them wrote.
		//   - If the guard has a generation, the write is an outcome. Only leases and postponements precede the outcome in a delivery, and
		//     they do not change the generation.
		return missed, noRetry
	}
	row, ok := s.reread(ctx, d, waitIfLost)
	switch {
	case !ok:
		return gaveUp, noRetry
	case unknown && f.Next != 0 && row.Matches(f.Next):
		s.recordApplied(d, f, row.Timer.DueAt, row.Timer.UpdatedAt)
		return applied, noRetry
	case d.unconfirmedRevision != 0 && f.If.Revision != 0 && row.Matches(d.unconfirmedRevision):
		// An earlier write of this delivery, such as a lease, was applied, and its answer was lost.
		if d.resultUnconfirmed {
			return missed, noRetry // the row has a result of this attempt, which this write must not replace
		}
		d.knownRevision, d.knownDueAt, d.unconfirmedRevision = row.Timer.Revision, row.Timer.DueAt, 0
		f.If.Revision = d.knownRevision
		return 0, retryNow
	default:
		return missed, noRetry
	}
}

// awaitCertainTime waits until the clock is certain (I8), and then returns the time. certain is false if ctx ends first.
func (s *Service) awaitCertainTime(ctx context.Context) (now timer.Millis, certain bool) {
	for {
		if now, certain = s.config.StoreClock.Certain(s.config.Clock); certain || !s.config.StoreClock.AwaitTrust(ctx) {
			return now, certain
		}
	}
}

// timeForOutcome waits until the clock is certain (I8), and returns the time from which the due time of an outcome is computed.
// A due time computed from a wrong clock would be stored and stay wrong. If the service ends before the clock is certain, the
// delivery writes nothing more.
func (s *Service) timeForOutcome(d *delivery) timer.Millis {
	now, certain := s.awaitCertainTime(s.life)
	if !certain {
		d.clockLost.Store(true)
	}
	return now
}

// errUnconfirmed is the cause of an abandoned delivery whose outcome the store has not confirmed.
var errUnconfirmed = errors.New("the store has not confirmed the outcome")

// errUncertain is the error of writes that were not made because the clock was uncertain (I8).
var errUncertain = errors.New("not written: the clock is uncertain")

// recordApplied records the revision and the due time of the row after an applied write, and sends the hint.
func (s *Service) recordApplied(d *delivery, f *store.Finish, dueAt, updatedAt timer.Millis) {
	if f.Next == 0 {
		return
	}
	d.knownRevision, d.knownDueAt, d.unconfirmedRevision = f.Next, dueAt, 0
	s.hint(d, f, dueAt, updatedAt)
}

// recordUnknown is called when writeFinish gives up after a try. If the write may have been applied, it records its revision and
// sends the hint.
func (s *Service) recordUnknown(d *delivery, f *store.Finish, unknown bool) {
	if unknown && f.Next != 0 {
		d.unconfirmedRevision = f.Next
		d.resultUnconfirmed = f.Kind == store.FinishRetry || f.Kind == store.FinishRescheduled
		now := s.config.Clock()
		s.hint(d, f, dueAfter(d, f, now), now)
	}
}

// dueAfter returns the due time of the row after the write f, by the store's contract. For FinishParked, which
// keeps due_at, the result is wrong. Nothing uses it: hint sends nothing after FinishParked, and parking is the last write of a
// delivery.
func dueAfter(d *delivery, f *store.Finish, now timer.Millis) timer.Millis {
	executeAt := d.row.ExecuteAt
	if f.Kind == store.FinishRescheduled {
		executeAt = f.NextAt
	}
	return max(f.NextAt, executeAt, now)
}

// submit adds one write to the next batch and waits for its answer. There are two queues, each of at most Room jobs: one for
// postponements that may wait for outcomes (afterOutcomes), and one for all other writes. The call of each batch has a timeout, and the
// pause after a batch of postponements is limited. So the waits for room in the queue and for the answer are bounded.
func (s *Service) submit(d *delivery, f *store.Finish) (timer.Millis, error) {
	job := &d.write
	job.finish, job.err = *f, nil
	if job.done == nil {
		job.done = make(chan struct{}, 1)
	}
	to := s.writes
	if d.afterOutcomes {
		to = s.postponements
	}
	to.add(job)
	<-job.done
	return job.now, job.err
}

// While outcomes are being written or are queued, the worker of the postponements pauses after each batch: postponePauseFactor times
// as long as the batch took, at most maxPostponePause.
const (
	postponePauseFactor = 3
	maxPostponePause    = 500 * time.Millisecond
)

// flushPostponements writes one batch of the postponements that may wait for outcomes (delivery.afterOutcomes), and pauses if
// outcomes are being written or are queued. After an outage a process may receive thousands of events of one host within a second, and
// postpone most of them. Without the pauses, these writes would slow down those of outcomes, so the deliveries with outcomes would
// hold their room longer, and fewer row checks would begin.
func (s *Service) flushPostponements(jobs []*finishJob) {
	began := s.stopwatch.Elapsed()
	s.writeBatch(jobs)
	if s.writing.Load() > 0 || len(s.writes.queue) > 0 {
		timer.Sleep(s.intakeEnd, min(postponePauseFactor*(s.stopwatch.Elapsed()-began), maxPostponePause))
	}
}

// flushWrites writes one batch of the writes that do not wait: outcomes, leases, parkings, and the other postponements.
func (s *Service) flushWrites(jobs []*finishJob) {
	s.writing.Add(1)
	defer s.writing.Add(-1)
	s.writeBatch(jobs)
}

// writeBatch writes one batch.
func (s *Service) writeBatch(jobs []*finishJob) {
	items := make([]store.Finish, len(jobs))
	for i, job := range jobs {
		items[i] = job.finish
	}
	ctx, cancel := context.WithTimeout(s.calls, s.config.CallTimeout)
	defer cancel()
	now, certain := s.config.StoreClock.Certain(s.config.Clock)
	answers, err := []error(nil), errUncertain
	if certain {
		answers, err = s.config.Store.Finish(ctx, now, items)
		s.recordResult("finish", err)
	}
	for i, job := range jobs {
		job.now = now
		if job.err = err; err == nil {
			job.err = answers[i]
			if job.err != nil && !errors.Is(job.err, store.ErrConflict) && !errors.Is(job.err, store.ErrNotFound) {
				s.recordFailure("finish", job.err)
			}
		}
		job.done <- struct{}{}
	}
}

// reread reads the row of a delivery again. It returns false if readRow gives up.
func (s *Service) reread(ctx context.Context, d *delivery, waitIfLost bool) (store.Checked, bool) {
	return s.readRow(ctx, store.Check{Ref: d.ref, DueAt: d.knownDueAt, Revision: d.knownRevision}, waitIfLost)
}
