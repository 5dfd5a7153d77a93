package dispatcher

import (
	"context"
	"errors"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// fate is what became of one write.
type fate int

const (
	// applied: the row is as the write says.
	applied fate = iota + 1
	// missed: the row was changed by somebody else; nothing was written.
	missed
	// vanished: the row is gone, and whether this write or another removed it cannot be told.
	vanished
	// abandoned: the end of ctx, or without a call the loss of the store, came first; the write may be applied or not.
	abandoned
)

// finishJob carries one write to the batch and its answer back.
type finishJob struct {
	finish store.Finish
	now    timer.Millis // with which it was written
	err    error
	done   chan struct{}
}

// put writes one outcome by compare-and-set and repeats it until it is answered for good (I2). Nothing
// is written twice: a repetition has the same guard and the same next revision, so that of a write that
// was applied after all, at once or late, the repetition misses.
//
// If no call was made, the write is given up when the store is lost: the session returns the message, and another process
// delivers.
//
// What is applied changes what the delivery holds, and is hinted if it is due within the hint window.
func (s *Service) put(ctx context.Context, d *delivery, f *store.Finish) fate {
	f.Ref = d.ref
	pauses := s.pauses()
	untilFound := f.Kind != store.FinishPostponed && !d.uncalled
	unknown := false // a try before may have been applied
	for {
		f.DueAt = d.heldDueAt
		if f.Kind == store.FinishLeased {
			// Anew for each try: one that outlasted an outage would be over before it begins.
			f.NextAt = s.config.Clock().Add(s.config.LeaseFor)
		}
		now, err := s.submit(d, f)
		switch {
		case err == nil:
			s.took(d, f, dueAfter(d, f, now), now)
			return applied
		case errors.Is(err, store.ErrNotFound):
			if unknown {
				return vanished
			}
			return missed
		case errors.Is(err, store.ErrConflict):
			if !unknown && (d.maybe == 0 || f.If.Revision == 0) {
				return missed
			}
			row, ok := s.reread(ctx, d, untilFound)
			switch {
			case !ok:
				s.suspend(d, f, unknown)
				return abandoned
			case unknown && f.Next != 0 && row.Matches(f.Next):
				s.took(d, f, row.Timer.DueAt, row.Timer.UpdatedAt)
				return applied
			case d.maybe != 0 && f.If.Revision != 0 && row.Matches(d.maybe):
				// The lease whose answer was lost is in the row: it is the revision held.
				d.held, d.heldDueAt, d.maybe = row.Timer.Revision, row.Timer.DueAt, 0
				f.If.Revision = d.held
				continue
			default:
				return missed
			}
		case errors.Is(err, store.ErrClosed):
			s.suspend(d, f, unknown)
			return abandoned
		case !errors.Is(err, store.ErrUnavailable):
			unknown = true
			if f.Next == 0 {
				break // nothing to read: the row is gone, or the repetition will tell
			}
			row, ok := s.reread(ctx, d, untilFound)
			if ok && row.Matches(f.Next) {
				s.took(d, f, row.Timer.DueAt, row.Timer.UpdatedAt)
				return applied
			}
		}
		if !pauses.waitForStore(ctx, untilFound) {
			s.suspend(d, f, unknown)
			return abandoned
		}
	}
}

// took notes what an applied write made of the row.
func (s *Service) took(d *delivery, f *store.Finish, dueAt, updatedAt timer.Millis) {
	if f.Next == 0 {
		return
	}
	d.held, d.heldDueAt, d.maybe = f.Next, dueAt, 0
	s.hint(d, f, dueAt, updatedAt)
}

// suspend notes a write that was given up: if it may be in the row, that has to be known.
func (s *Service) suspend(d *delivery, f *store.Finish, unknown bool) {
	if unknown && f.Next != 0 {
		d.maybe = f.Next
		now := s.config.Clock()
		s.hint(d, f, dueAfter(d, f, now), now)
	}
}

// dueAfter is when the row is due after the write, as the store's contract says.
func dueAfter(d *delivery, f *store.Finish, now timer.Millis) timer.Millis {
	executeAt := d.row.ExecuteAt
	if f.Kind == store.FinishRescheduled {
		executeAt = f.NextAt
	}
	return max(f.NextAt, executeAt, now)
}

// submit hands one write to the batch and waits for its answer. The wait is bounded by the batch's calls.
func (s *Service) submit(d *delivery, f *store.Finish) (timer.Millis, error) {
	job := &d.write
	job.finish, job.err = *f, nil
	if job.done == nil {
		job.done = make(chan struct{}, 1)
	}
	s.finishes.add(job)
	<-job.done
	return job.now, job.err
}

// flushFinishes writes one batch.
func (s *Service) flushFinishes(jobs []*finishJob) {
	items := make([]store.Finish, len(jobs))
	for i, job := range jobs {
		items[i] = job.finish
	}
	ctx, cancel := context.WithTimeout(s.calls, s.config.CallTimeout)
	defer cancel()
	now := s.config.Clock()
	answers, err := s.config.Store.Finish(ctx, now, items)
	s.ended("finish", err)
	for i, job := range jobs {
		job.now = now
		if job.err = err; err == nil {
			job.err = answers[i]
			if store.IsTransient(job.err) {
				s.failed("finish", job.err)
			}
		}
		job.done <- struct{}{}
	}
}

// reread asks how the row stands.
func (s *Service) reread(ctx context.Context, d *delivery, untilFound bool) (store.Checked, bool) {
	return s.readOne(ctx, store.Check{Ref: d.ref, DueAt: d.heldDueAt, Revision: d.held}, untilFound)
}
