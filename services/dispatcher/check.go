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
		now, elapsed := s.config.Clock(), s.watch.Elapsed()
		s.intake.step(func(q *admission.Queue) { r = q.Decide(now, elapsed) })
		s.metrics.waited.Add(float64(r.Queued))
		for _, p := range r.Postpone {
			s.postponeRefused(of(p.Ticket), p.Grant)
		}
		if len(r.Check) > 0 {
			batch := make([]*delivery, len(r.Check))
			for i, t := range r.Check {
				batch[i] = of(t)
			}
			s.check(ctx, batch, r.Suspects)
			continue
		}
		fires, stop := after(r.Wait)
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

// check is the row check (I7). Each delivery in batch has a slot, and its due time has come. check reads the rows, and
// immediately starts the deliveries whose row has the revision of the event.
//
// A delivery found to be a suspect is not started: it waits for a group and is then read again. A redelivered event is
// first read without counting its start, because a start must be counted when it happens and not when it is postponed
// (I13). The second read counts the start and is the row check. A suspect's start is always counted: if it was
// postponed while it waited, its event is a new one that was never redelivered.
//
// There is no queue between the last read and the request. So a delivery has its host's permit before its row is read.
// If its target was not known before the read, it needs a permit after the read; without one it waits, and is read
// again.
func (s *Service) check(ctx context.Context, batch []*delivery, suspects bool) {
	checks := make([]store.Check, len(batch))
	for i, d := range batch {
		checks[i] = checkOf(d)
		checks[i].CountStart = suspects && !d.maybeCounted
	}
	began := s.config.Clock()
	rows, ok := s.read(ctx, checks, false)
	if !ok {
		s.forget(batch)
		return
	}
	began = s.ifTrusted(began)
	var recount []*delivery
	for i, d := range batch {
		if !s.answered(d, &rows[i]) {
			continue
		}
		d.maybeCounted = d.maybeCounted || suspects
		if !s.judge(d, &rows[i], began) {
			continue
		}
		starts := d.startsBefore(&rows[i])
		switch {
		case suspects:
			d.counted = true
			s.begin(d)
		case d.ticket.Redelivered && starts > 0 || starts >= 2:
			s.metrics.suspects.Inc()
			s.waitAgain(d, func(q *admission.Queue) { q.Quarantine(&d.ticket, starts+1) })
		case !s.enter(d):
		case d.ticket.Redelivered:
			recount = append(recount, d)
		default:
			s.begin(d)
		}
	}
	if len(recount) == 0 {
		return
	}
	checks = checks[:len(recount)]
	for i, d := range recount {
		checks[i] = checkOf(d)
		checks[i].CountStart = !d.maybeCounted
	}
	began = s.config.Clock()
	if rows, ok = s.read(ctx, checks, false); !ok {
		s.forget(recount)
		return
	}
	began = s.ifTrusted(began)
	for i, d := range recount {
		if !s.answered(d, &rows[i]) {
			continue
		}
		d.maybeCounted = true
		if s.judge(d, &rows[i], began) {
			d.counted = true
			s.begin(d)
		}
	}
}

// refusedRow is the delay before a row is read again that the store refused while it served other rows.
const refusedRow = 500 * time.Millisecond

// answered reports whether the row was read. If it was not, because its shard is hot, the delivery waits and is checked
// again. The other rows of the batch do not wait for it.
func (s *Service) answered(d *delivery, row *store.Checked) bool {
	if row.Err == nil {
		return true
	}
	s.failed("check rows", row.Err)
	d.maybeCounted = d.maybeCounted || !errors.Is(row.Err, store.ErrUnavailable)
	s.hold(d, s.config.Clock().Add(s.jitter(refusedRow)))
	return false
}

// ifTrusted returns began, or 0 if the clock is not trusted after the read: if the clock was set during the read, it
// may have been wrong before.
func (s *Service) ifTrusted(began timer.Millis) timer.Millis {
	if !s.config.StoreClock.Trusted() {
		return 0
	}
	return began
}

// readOne reads one row like read does, and repeats the read while the store refuses this row.
func (s *Service) readOne(ctx context.Context, check store.Check, untilFound bool) (store.Checked, bool) {
	pauses := s.pauses()
	for {
		rows, ok := s.read(ctx, []store.Check{check}, untilFound)
		if !ok {
			return store.Checked{}, false
		}
		if rows[0].Err == nil {
			return rows[0], true
		}
		s.failed("check rows", rows[0].Err)
		check.CountStart = check.CountStart && errors.Is(rows[0].Err, store.ErrUnavailable)
		if !pauses.waitForStore(ctx, untilFound) {
			return store.Checked{}, false
		}
	}
}

func checkOf(d *delivery) store.Check {
	return store.Check{Ref: d.ref, DueAt: d.due.DueAt, Revision: d.due.Revision}
}

// judge handles every row that must not be delivered, and returns true for the others. began is when the read began: a
// row that was read before its due time may since have been deleted in time (I7).
func (s *Service) judge(d *delivery, row *store.Checked, began timer.Millis) bool {
	if !row.Matches(d.due.Revision) || row.Timer.Status == timer.StatusParked {
		s.metrics.stale.Inc()
		s.settle(d)
		return false
	}
	d.row = row.Timer
	d.held, d.heldDueAt = row.Timer.Revision, row.Timer.DueAt
	s.learn(d)
	if starts := d.startsBefore(row); starts >= s.config.ParkAfter {
		withdrawn := false
		s.intake.step(func(q *admission.Queue) { withdrawn = q.Withdraw(&d.ticket) })
		if withdrawn {
			s.work.Go(func() { s.park(d, starts) })
		}
		return false
	}
	// The due time of the row decides, not that of the event.
	if until := max(row.Timer.DueAt, row.Timer.ExecuteAt); began < until && !s.config.Mutant.ReadFirst {
		s.hold(d, until)
		return false
	}
	return true
}

// startsBefore returns the number of starts without a result that the row had before this one. An earlier read may have
// counted this start although it was then not made; the row's count then includes it.
func (d *delivery) startsBefore(row *store.Checked) int {
	if d.maybeCounted && !row.Counted {
		return max(0, row.Timer.Starts-1)
	}
	return row.Timer.Starts
}

// learn passes the facts in a row to the admission queue.
func (s *Service) learn(d *delivery) {
	row := admission.Row{Namespace: d.row.Namespace, Bytes: len(d.row.Payload) + len(d.row.Headers)}
	row.Host, row.Target = d.row.NamedTarget()
	s.intake.step(func(q *admission.Queue) { q.Learn(&d.ticket, &row) })
}

// hold makes a delivery wait until a later time.
func (s *Service) hold(d *delivery, until timer.Millis) {
	s.waitAgain(d, func(q *admission.Queue) { q.Hold(&d.ticket, until) })
}

// waitAgain takes a step after which the delivery waits. Its row will be read again, so its payload is dropped.
func (s *Service) waitAgain(d *delivery, step func(q *admission.Queue)) {
	d.row.Payload = nil
	s.intake.step(step)
}

// enter requests a permit of the host that the row calls, unless the row calls none or the delivery has a permit.
func (s *Service) enter(d *delivery) bool {
	var g admission.Grant
	var ok bool
	age, elapsed := s.config.Clock().Sub(d.row.ExecuteAt), s.watch.Elapsed()
	s.intake.step(func(q *admission.Queue) {
		if g, ok = q.Enter(&d.ticket, age, elapsed); ok && !g.OK && g.Refused == "" {
			d.row.Payload = nil
			s.metrics.waited.Inc()
		}
	})
	if g.Refused != "" {
		s.postponeRefused(d, g)
	}
	return ok && g.OK
}

func (s *Service) begin(d *delivery) {
	started, elapsed := false, s.watch.Elapsed()
	s.intake.step(func(q *admission.Queue) { started = q.Start(&d.ticket, elapsed) })
	if started {
		s.metrics.inFlight.Inc()
		s.work.Go(func() { s.deliver(d); s.metrics.inFlight.Dec() })
	}
}

// read repeats the read until it succeeds. It returns false if the service ends. If the store is lost, it waits for the
// store if untilFound is set, and returns false otherwise.
//
// A count whose answer was lost may have been written, and is not repeated. If one start were counted twice, an
// innocent timer would come nearer to being parked; if one is not counted, a poison timer gets one more start.
func (s *Service) read(ctx context.Context, checks []store.Check, untilFound bool) ([]store.Checked, bool) {
	pauses := s.pauses()
	for {
		call, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
		rows, err := s.config.Store.Current(call, checks)
		cancel()
		s.ended("check rows", err)
		if err == nil {
			s.metrics.rowsRead.Add(float64(len(checks)))
			return rows, true
		}
		if !errors.Is(err, store.ErrUnavailable) {
			for i := range checks {
				checks[i].CountStart = false
			}
		}
		if errors.Is(err, store.ErrClosed) || !pauses.waitForStore(ctx, untilFound) {
			return nil, false
		}
	}
}

// forget discards deliveries. The bus redelivers their messages to this or another process.
func (s *Service) forget(ds []*delivery) {
	for _, d := range ds {
		s.discard(d)
	}
}
