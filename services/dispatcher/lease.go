package dispatcher

import (
	"context"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
)

// keep handles the deliveries that take long (I11). It extends their messages until these are acknowledged, leases the rows
// of those that have begun, and postpones those that cannot begin.
func (s *Service) keep(ctx context.Context) {
	for {
		fires, stop := after(s.age())
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

// age does so once, and returns how long until the next; 0 if there is none.
func (s *Service) age() (wait time.Duration) {
	var old []admission.Aged
	var extend []*bus.Delivery
	elapsed := s.watch.Elapsed()
	s.intake.step(func(q *admission.Queue) {
		old, wait = q.Aged(elapsed)
		for _, a := range old {
			d := of(a.Ticket)
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
		d := of(a.Ticket)
		switch {
		case a.Lease:
			s.work.Go(func() { s.holdLease(d.lease) })
		case a.Refused:
			s.postponeRefused(d, admission.Grant{Refused: admission.Saturated, Delay: s.config.HostPatience})
		case a.Postpone:
			s.work.Go(func() { s.postpone(d, s.jitter(s.config.PostponeFor)) })
		}
	}
	return wait
}

// lease is the row lease of one long delivery (I11). It has a goroutine of its own, which only
// deliveries that take longer than LeaseAfter need.
type lease struct {
	delivery *delivery
	ctx      context.Context
	stop     context.CancelFunc
	done     chan struct{} // closed when the goroutine has ended
}

func newLease(parent context.Context, d *delivery) *lease {
	ctx, stop := context.WithCancel(parent)
	return &lease{delivery: d, ctx: ctx, stop: stop, done: make(chan struct{})}
}

// holdLease moves the row's due_at ahead, acknowledges the message, and renews until end is called or
// the row is found changed: then the callback goes on without, and its own guards decide.
func (s *Service) holdLease(l *lease) {
	defer close(l.done)
	defer l.stop()
	d := l.delivery
	for {
		f := store.Finish{
			Kind: store.FinishLeased, If: store.Guard{Revision: d.held}, Next: s.config.Revisions.Next(),
			CountStart: !d.counted, // put fills in until when
		}
		switch s.put(l.ctx, d, &f) {
		case applied:
			s.metrics.leases.WithLabelValues("held").Inc()
			d.counted = true
			s.leased(d, f.Next)
		case abandoned:
			// It may be in the row, and counted with it.
			d.counted = d.counted || d.maybe == f.Next
			return
		case missed, vanished:
			s.metrics.leases.WithLabelValues("missed").Inc()
			s.leased(d, 0)
			return
		}
		if !sleep(l.ctx, s.config.LeaseRenew) {
			return
		}
	}
}

// end stops renewing and waits for the answer to what is on its way, so that the delivery's revision is
// known as well as it can be.
func (l *lease) end() {
	l.stop()
	<-l.done
}
