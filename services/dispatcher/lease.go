package dispatcher

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
)

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
