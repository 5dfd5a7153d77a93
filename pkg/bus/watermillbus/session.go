package watermillbus

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// session passes one partition's deliveries to handlers, each until it is acknowledged. The session itself delivers a
// message again after a Nack: a Nack to the bus would repeat the prefetched messages as well.
type session struct {
	sub *subscription
	ctx context.Context // when it ends, the session passes on no more messages
	// queue has room for all deliveries that the bus sends without an acknowledgement, so Deliver does not wait.
	queue   chan *bus.Delivery
	workers sync.WaitGroup

	// given ends when the session stops waiting for acknowledgements.
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

// Close implements bus.Session. Acknowledgements until it returns are committed, so Close gives handlers time to
// finish. If the partition is lost, nothing would be committed, and Close does not wait.
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
		s.sub.config.Logger.Warn("messages not acknowledged in time, they will be redelivered", "topic", s.sub.name)
	case <-ctx.Done():
	}
	return nil
}

// work handles one message after the other.
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

// handle offers a delivery to handlers until it is acknowledged. It returns false if it was not acknowledged.
func (s *session) handle(d *bus.Delivery) bool {
	for s.ctx.Err() == nil {
		switch s.offer(decode(s.sub.name, d)) {
		case acked:
			d.Ack()
			return true
		case refused:
			if !timer.Sleep(s.ctx, s.sub.config.NackPause) {
				return false
			}
		case ended:
			return false
		}
	}
	return false
}

// answer is the result of an offer.
type answer int

const (
	ended   answer = iota // the session ended before the message was received or acknowledged
	acked                 // by Ack
	refused               // by Nack, or because AckWait has passed
)

// offer sends a message to the subscription's channel and awaits its acknowledgement. The message's context ends with
// the acknowledgement and with the subscription.
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
