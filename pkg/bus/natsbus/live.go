package natsbus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// liveBuffer is how many hints may be queued for a slow session before the client drops new ones.
const liveBuffer = 1 << 13

// interestSpread is how long the servers of a cluster get to propagate a subscription. They usually take less than a
// millisecond, but no server reports completion. If one takes longer, hints are lost, and the next poll finds their
// timers.
const interestSpread = 50 * time.Millisecond

// liveSource receives one partition's hints through a plain subscription; no hint is stored.
type liveSource struct {
	session *session
	hold    *holding
	sub     *nats.Subscription
	arrived chan *nats.Msg
	link    <-chan struct{}
}

func newLiveSource(s *session, h *holding) *liveSource {
	return &liveSource{session: s, hold: h, arrived: make(chan *nats.Msg, liveBuffer)}
}

// start subscribes and waits until the server has the subscription, so that hints published after the call of open
// arrive.
func (l *liveSource) start(ctx context.Context) error {
	b := l.session.bus
	l.link = b.link.next()
	subject := b.opts.subject(l.session.spec.Topic, l.session.partition)
	sub, err := b.nc.ChanSubscribe(subject, l.arrived)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	l.sub = sub
	ctx, cancel := context.WithTimeout(ctx, b.opts.AckTimeout)
	defer cancel()
	if err := b.nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	if b.nc.ConnectedClusterName() != "" && !timer.Sleep(ctx, interestSpread) {
		return fmt.Errorf("subscribe to %s: %w", subject, context.Cause(ctx))
	}
	return nil
}

// next returns an error when the connection is lost: hints published during the outage are lost, and only a new
// session makes the owner read the store.
func (l *liveSource) next(ctx context.Context) (*bus.Delivery, error) {
	select {
	case m := <-l.arrived:
		p := l.session.partition
		return &bus.Delivery{
			Message:  decode(m, p),
			Position: bus.Position{Partition: p},
			Acker:    consume.NoAck{},
		}, nil
	case <-l.link:
		return nil, errLinkChanged
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *liveSource) finish(ctx context.Context, _ bool) error {
	if l.sub != nil {
		_ = l.sub.Unsubscribe() // fails only without a connection, and then the subscription is gone
	}
	if !l.session.releases() {
		return nil
	}
	return l.hold.release(ctx)
}
