package dispatcher

import (
	"context"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
)

// runAging handles deliveries that take long (I11). It extends the wait of their unacknowledged messages, leases the
// rows of deliveries that have begun, and postpones deliveries that cannot begin.
func (s *Service) runAging(ctx context.Context) {
	for {
		fires, stop := timerAfter(s.handleAged())
		select {
		case <-s.intake.aging:
		case <-fires:
		case <-ctx.Done():
			stop()
			return
		}
		stop()
	}
}

// handleAged handles the deliveries whose interval is over, and returns the time until the next one; 0 if there is
// none.
func (s *Service) handleAged() (wait time.Duration) {
	var old []admission.AgedDelivery
	var extend []*bus.Delivery
	at := s.flowTime(s.config.Clock())
	s.intake.step(func(q *admission.Queue) {
		old, wait = q.Aged(&at)
		for _, a := range old {
			d := deliveryOf(a.Ticket)
			extend = append(extend, d.messages...)
			if a.Lease {
				d.lease = newLease(s.life, d)
			}
		}
	})
	for _, m := range extend {
		m.Extend()
	}
	for _, a := range old {
		d := deliveryOf(a.Ticket)
		switch {
		case a.Lease:
			s.work.Go(func() { s.renewLease(d.lease) })
		case a.Refused != "":
			s.postponeRefused(d, a.Answer)
		case a.Postpone:
			s.work.Go(func() { s.postpone(d, s.jitter(s.config.PostponeFor), 0, true) })
		}
	}
	return wait
}

// lease is the row lease of one long delivery (I11). Its goroutine, the lease renewer, exists only for deliveries that
// take longer than LeaseAfter.
type lease struct {
	delivery *delivery
	ctx      context.Context
	stop     context.CancelFunc
	done     chan struct{} // closed when the lease renewer has ended
}

func newLease(parent context.Context, d *delivery) *lease {
	ctx, stop := context.WithCancel(parent)
	return &lease{delivery: d, ctx: ctx, stop: stop, done: make(chan struct{})}
}

// renewLease is the lease renewer. It moves the row's due_at ahead, acknowledges the message, and renews the lease
// until end is called or the row has changed. If the row has changed, the callback continues without a lease, and the guard of
// its outcome prevents a wrong write.
func (s *Service) renewLease(l *lease) {
	defer close(l.done)
	defer l.stop()
	d := l.delivery
	for {
		f := store.Finish{
			Kind: store.FinishLeased, If: store.Guard{Revision: d.knownRevision}, Next: s.config.Revisions.Next(),
			CountStart: !d.startCounted, // tryWrite sets NextAt
		}
		switch s.writeFinish(l.ctx, d, &f) {
		case applied:
			s.metrics.leases.WithLabelValues("held").Inc()
			d.startCounted = true
			s.ackLeased(d, f.Next)
		case gaveUp:
			// The lease may be in the row, and this start counted with it.
			d.startCounted = d.startCounted || d.unconfirmedRevision == f.Next
			return
		case missed, rowGone:
			s.metrics.leases.WithLabelValues("missed").Inc()
			s.ackLeased(d, 0)
			return
		}
		if !timer.Sleep(l.ctx, s.config.LeaseRenew) {
			return
		}
	}
}

// end stops the lease renewer and waits for the answer to its write in flight, so that the revision in the row is known
// if possible.
func (l *lease) end() {
	l.stop()
	<-l.done
}
