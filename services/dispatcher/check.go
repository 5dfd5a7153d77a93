package dispatcher

import (
	"context"
	"errors"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
)

// checkLoop starts deliveries as soon as the queue admits them. There is one checker: while it reads one batch, the
// next batch fills.
func (s *Service) checkLoop(ctx context.Context) {
	for {
		stepped := s.config.StoreClock.Stepped()
		if !s.config.StoreClock.AwaitTrust(ctx) {
			return
		}
		var r admission.Decision
		now, elapsed := s.config.Clock(), s.stopwatch.Elapsed()
		inaccuracy, _ := s.config.StoreClock.Doubt()
		s.intake.step(func(q *admission.Queue) {
			q.SetClockError(inaccuracy)
			r = q.Decide(now, elapsed)
		})
		s.metrics.hostWaited.Add(float64(r.Queued))
		for _, p := range r.Postpone {
			s.postponeRefused(deliveryOf(p.Ticket), p.Answer)
		}
		if len(r.Check) > 0 {
			batch := make([]*delivery, len(r.Check))
			for i, t := range r.Check {
				batch[i] = deliveryOf(t)
			}
			s.check(ctx, batch, r.Quarantined)
			continue
		}
		fires, stop := timerAfter(r.Wait)
		select {
		case <-s.intake.wake:
		case <-fires:
		case <-stepped:
		case <-ctx.Done():
			stop()
			return
		}
		stop()
	}
}

// check reads the rows of deliveries, and immediately starts those whose row has the revision of the event. Each delivery in batch has
// a slot, and its due time has come. The last read before a start is the row check (I7). The reads depend on the starts that the row
// had before this one (I13):
//   - The event was not redelivered, and the row had at most one start: one read.
//   - The event was redelivered, and the row had no start: two reads. Only the second one counts the start, because the delivery may
//     still be postponed after the first.
//   - Otherwise the delivery waits in quarantine after the first read. Then one more read counts the start.
//
// There is no queue between the last read and the request. So a delivery has its host's permit before its row is read.
// If its target was not known before the read, it needs a permit after the read; without one it waits, and its row is read again.
func (s *Service) check(ctx context.Context, batch []*delivery, quarantined bool) {
	checks := make([]store.Check, len(batch))
	for i, d := range batch {
		checks[i] = checkOf(d)
		checks[i].CountStart = quarantined && !d.startMaybeCounted
	}
	began := s.config.Clock()
	rows, ok := s.readRows(ctx, checks, false)
	if !ok {
		s.discardAll(batch)
		return
	}
	began = s.trustedOrZero(began)
	var recheck []*delivery
	for i, d := range batch {
		if !s.servedOrDelay(d, &rows[i]) {
			continue
		}
		d.startMaybeCounted = d.startMaybeCounted || quarantined
		if !s.verifyRow(d, &rows[i], began) {
			continue
		}
		starts := d.startsBefore(&rows[i])
		switch {
		case quarantined:
			d.startCounted = true
			if s.requestFlow(d) {
				s.start(d)
			}
		case d.ticket.Redelivered && starts > 0 || starts >= 2:
			s.quarantine(d, starts+1)
		case !s.requestPermit(d), !s.requestFlow(d):
		case d.ticket.Redelivered:
			recheck = append(recheck, d)
		default:
			s.start(d)
		}
	}
	if len(recheck) == 0 {
		return
	}
	checks = checks[:len(recheck)]
	for i, d := range recheck {
		checks[i] = checkOf(d)
		checks[i].CountStart = !d.startMaybeCounted
	}
	began = s.config.Clock()
	if rows, ok = s.readRows(ctx, checks, false); !ok {
		s.discardAll(recheck)
		return
	}
	began = s.trustedOrZero(began)
	for i, d := range recheck {
		if !s.servedOrDelay(d, &rows[i]) {
			continue
		}
		d.startMaybeCounted = true
		if s.verifyRow(d, &rows[i], began) {
			d.startCounted = true
			s.start(d)
		}
	}
}

// refusedRowDelay is the delay before another read of a row that the store refused while it served other rows.
const refusedRowDelay = 500 * time.Millisecond

// servedOrDelay returns true if the store served the row. Otherwise, for example because its shard is throttled, it delays the
// delivery. The other rows of the batch do not wait for it.
func (s *Service) servedOrDelay(d *delivery, row *store.Checked) bool {
	if row.Err == nil {
		return true
	}
	s.recordFailure("check rows", row.Err)
	d.startMaybeCounted = d.startMaybeCounted || !errors.Is(row.Err, store.ErrUnavailable)
	s.delay(d, s.config.Clock().Add(s.jitter(refusedRowDelay)))
	return false
}

// trustedOrZero returns began, or 0 if the clock is not trusted after the read: if the clock was set during the read,
// it may have been wrong before. 0 makes verifyRow delay the delivery.
func (s *Service) trustedOrZero(began timer.Millis) timer.Millis {
	if !s.config.StoreClock.Trusted() {
		return 0
	}
	return began
}

// readRow reads one row like readRows does, and repeats the read while the store refuses this row.
func (s *Service) readRow(ctx context.Context, check store.Check, waitIfLost bool) (store.Checked, bool) {
	backoff := storeBackoff{service: s}
	for {
		rows, ok := s.readRows(ctx, []store.Check{check}, waitIfLost)
		if !ok {
			return store.Checked{}, false
		}
		if rows[0].Err == nil {
			return rows[0], true
		}
		s.recordFailure("check rows", rows[0].Err)
		check.CountStart = check.CountStart && errors.Is(rows[0].Err, store.ErrUnavailable)
		if !backoff.waitForStore(ctx, waitIfLost) {
			return store.Checked{}, false
		}
	}
}

func checkOf(d *delivery) store.Check {
	return store.Check{Ref: d.ref, DueAt: d.due.DueAt, Revision: d.due.Revision}
}

// verifyRow reports whether the delivery may start. If not, it drops, parks or delays the delivery. began is when the read began. If
// that was before the due time, ingest may have deleted the row after the read and answered that it will not be delivered (I7). So the
// delivery is delayed, and the row is read again.
func (s *Service) verifyRow(d *delivery, row *store.Checked, began timer.Millis) bool {
	if !row.Matches(d.due.Revision) || row.Timer.Status.Held() {
		s.metrics.stale.Inc()
		s.ackAndRemove(d)
		return false
	}
	d.row = row.Timer
	d.knownRevision, d.knownDueAt = row.Timer.Revision, row.Timer.DueAt
	s.learnRow(d)
	if starts := d.startsBefore(row); starts >= s.config.ParkAfter {
		skipped := false
		s.intake.step(func(q *admission.Queue) { skipped = q.SkipAttempt(&d.ticket) })
		if skipped {
			s.work.Go(func() { s.park(d, starts) })
		}
		return false
	}
	// Not before the due_at and the executeAt of the row. The due time of the event is not trusted.
	if until := max(row.Timer.DueAt, row.Timer.ExecuteAt); began < until {
		s.delay(d, until)
		return false
	}
	return true
}

// startsBefore returns the number of starts without a result that the row had before this one. If an earlier read for this
// delivery may have counted its start, and this read did not, one is subtracted.
func (d *delivery) startsBefore(row *store.Checked) int {
	if d.startMaybeCounted && !row.Counted {
		return max(0, row.Timer.Starts-1)
	}
	return row.Timer.Starts
}

// learnRow passes the facts in a row to the admission queue.
func (s *Service) learnRow(d *delivery) {
	row := admission.Row{Namespace: d.row.Namespace, Bytes: len(d.row.Payload) + len(d.row.Headers)}
	row.Host, row.Target = d.row.NamedTarget()
	s.intake.step(func(q *admission.Queue) { q.LearnRow(&d.ticket, &row) })
}

// delay makes a delivery wait until a later time.
func (s *Service) delay(d *delivery, until timer.Millis) {
	s.requeue(d, func(q *admission.Queue) { q.WaitUntil(&d.ticket, until) })
}

// requeue makes a delivery wait in the queue. Its row will be read again, so its payload is dropped.
func (s *Service) requeue(d *delivery, step func(q *admission.Queue)) {
	d.row.Payload = nil
	s.intake.step(step)
}

// requestPermit requests a permit of the host that the row calls, unless the row calls none or the delivery has a
// permit.
func (s *Service) requestPermit(d *delivery) bool {
	var g admission.Answer
	var ok bool
	age, elapsed := s.config.Clock().Sub(d.row.ExecuteAt), s.stopwatch.Elapsed()
	s.intake.step(func(q *admission.Queue) {
		if g, ok = q.RequestPermit(&d.ticket, age, elapsed); ok && !g.OK && g.Refused == "" {
			d.row.Payload = nil
			s.metrics.hostWaited.Inc()
		}
	})
	if g.Refused != "" {
		s.postponeRefused(d, g)
	}
	return ok && g.OK
}

func (s *Service) start(d *delivery) {
	started, elapsed := false, s.stopwatch.Elapsed()
	d.ctx, d.cancel = context.WithCancelCause(s.life)
	s.intake.step(func(q *admission.Queue) { started = q.Start(&d.ticket, elapsed) })
	if started {
		s.metrics.inFlight.Inc()
		s.work.Go(func() { s.deliver(d); s.metrics.inFlight.Dec(); d.cancel(nil) })
	} else {
		d.cancel(nil)
	}
}

// readRows repeats the read until it succeeds. It returns false if ctx ends or the store is closed, and, unless waitIfLost is set, if
// the store is lost (Reach.Lost).
//
// After any error except ErrUnavailable, the store may have counted the starts, so the repetition does not count them. If one start
// were counted twice, an innocent timer would come nearer to being parked; if one is not counted, a poison timer gets one more start.
func (s *Service) readRows(ctx context.Context, checks []store.Check, waitIfLost bool) ([]store.Checked, bool) {
	backoff := storeBackoff{service: s}
	for {
		call, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
		rows, err := s.config.Store.Current(call, checks)
		cancel()
		s.recordResult("check rows", err)
		if err == nil {
			s.metrics.rowsRead.Add(float64(len(checks)))
			return rows, true
		}
		if !errors.Is(err, store.ErrUnavailable) {
			for i := range checks {
				checks[i].CountStart = false
			}
		}
		if errors.Is(err, store.ErrClosed) || !backoff.waitForStore(ctx, waitIfLost) {
			return nil, false
		}
	}
}

// discardAll discards deliveries. The bus redelivers their messages to this or another process.
func (s *Service) discardAll(ds []*delivery) {
	for _, d := range ds {
		s.discard(d)
	}
}
