package watermillbus

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
)

// session hands one partition's deliveries out, each until it is acknowledged. A message that was refused is
// handed out again from here: asking the bus would repeat what was read ahead as well.
type session struct {
	sub *subscription
	ctx context.Context // ends when nothing more is to be handed out
	// queue has room for all that the bus delivers without an acknowledgement, so Deliver does not wait.
	queue   chan *bus.Delivery
	workers sync.WaitGroup

	// given ends when nobody waits any more for what is handed out.
	given   context.Context
	abandon context.CancelFunc
}

func openSession(ctx context.Context, sub *subscription) *session {
	s := &session{sub: sub, ctx: ctx, queue: make(chan *bus.Delivery, sub.config.Unacked+sub.config.Prefetch)}
	s.given, s.abandon = context.WithCancel(context.Background())
	for range sub.config.Unacked {
		s.workers.Go(s.work)
	}
	return s
}

// Deliver implements bus.Session.
func (s *session) Deliver(ctx context.Context, d *bus.Delivery) error {
	select {
	case s.queue <- d:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements bus.Session. What handlers acknowledge until it returns still counts, so they get a while;
// unless the partition is lost, when it would be in vain.
func (s *session) Close(ctx context.Context, cause error) error {
	answered := make(chan struct{})
	go func() {
		s.workers.Wait()
		close(answered)
	}()
	defer func() {
		s.abandon()
		<-answered
	}()
	if errors.Is(cause, bus.ErrLost) {
		return nil
	}
	timeout := time.NewTimer(s.sub.config.CloseTimeout)
	defer timeout.Stop()
	select {
	case <-answered:
	case <-timeout.C:
		s.sub.config.Logger.Warn("messages not acknowledged in time will come again", "topic", s.sub.name)
	case <-ctx.Done():
	}
	return nil
}

// work hands out one message after the other.
func (s *session) work() {
	for {
		select {
		case d := <-s.queue:
			if !s.handle(d) {
				return
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// handle hands a delivery out until it is acknowledged; false if it was not.
func (s *session) handle(d *bus.Delivery) bool {
	for s.ctx.Err() == nil {
		switch s.offer(decode(s.sub.name, d)) {
		case acked:
			d.Ack()
			return true
		case refused:
			if !pause(s.ctx, s.sub.config.NackPause) {
				return false
			}
		case ended:
			return false
		}
	}
	return false
}

// answer is what became of a message that was offered.
type answer int

const (
	ended   answer = iota // nobody took it, or nobody waits for its answer any more
	acked                 //
	refused               // by Nack, or by silence
)

// offer hands a message out and awaits its answer. Its context ends with the answer, and with the subscription.
func (s *session) offer(m *message.Message) answer {
	ctx, cancel := context.WithCancel(s.sub.ctx)
	defer cancel()
	defer context.AfterFunc(s.given, cancel)()
	m.SetContext(ctx)
	select {
	case s.sub.out <- m:
	case <-s.ctx.Done():
		return ended
	}
	var silent <-chan time.Time
	if wait := s.sub.config.AckWait; wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		silent = timer.C
	}
	select {
	case <-m.Acked():
		return acked
	case <-m.Nacked():
		return refused
	case <-silent:
		return refused
	case <-s.given.Done():
		return ended
	}
}
