package watermillsink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"golang.org/x/sync/semaphore"

	"github.com/timerbus/timerbus/pkg/bus"
)

// errGivenBack means that a message was neither acknowledged nor refused: its Pub/Sub must deliver it again. It wraps
// the error of a cancelled context, which routers do not log as a failure.
var errGivenBack = fmt.Errorf("returned to its Pub/Sub: %w", context.Canceled)

// intake converts the router's messages to deliveries of one session.
type intake struct {
	life context.Context
	// room has one token for each delivery without a reply; bytes counts the size of these deliveries.
	room   chan struct{}
	bytes  *semaphore.Weighted
	most   int64           // the capacity of bytes
	over   context.Context // when it ends, replies have no effect any more
	finish context.CancelFunc
	failed chan error // why the session must end; at most one error

	mu      sync.Mutex
	session bus.Session // nil when the session is closed
}

func newIntake(life context.Context, session bus.Session, spec *bus.Spec) *intake {
	in := &intake{
		life: life, session: session, most: int64(spec.MaxBytes), bytes: semaphore.NewWeighted(int64(spec.MaxBytes)),
		room: make(chan struct{}, spec.MaxInFlight), failed: make(chan error, 1),
	}
	in.over, in.finish = context.WithCancel(context.WithoutCancel(life))
	return in
}

// take passes a message to the session and waits for its reply; a nil error acknowledges the message.
func (in *intake) take(m *message.Message) error {
	gone := m.Context().Done()
	select {
	case in.room <- struct{}{}:
		defer func() { <-in.room }()
	case <-in.over.Done():
		return errGivenBack
	case <-gone:
		return errGivenBack
	}
	a := make(acker, 1)
	d := &bus.Delivery{Message: incoming(m), Acker: a}
	release, err := in.reserve(m.Context(), d.Size())
	if err != nil {
		return err
	}
	defer release()
	if err := in.deliver(d); err != nil {
		return err
	}
	select {
	case after := <-a:
		return in.answer(after, gone)
	case <-gone:
		return errGivenBack
	case <-in.over.Done():
	}
	select {
	case after := <-a: // the reply arrived before the end
		return in.answer(after, gone)
	default:
		return errGivenBack
	}
}

// reserve waits for room for the bytes of a delivery. A delivery that is larger than the bound passes alone.
func (in *intake) reserve(ctx context.Context, size int) (release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(in.over, cancel)()
	weight := min(int64(size), in.most)
	if in.bytes.Acquire(ctx, weight) != nil {
		return nil, errGivenBack
	}
	return func() { in.bytes.Release(weight) }, nil
}

// answer converts a session's reply to the result for the router.
func (in *intake) answer(after time.Duration, gone <-chan struct{}) error {
	if after == acknowledged {
		return nil
	}
	if after > 0 {
		again := time.NewTimer(after)
		defer again.Stop()
		select {
		case <-again.C:
		case <-gone:
		case <-in.over.Done():
		}
	}
	return errGivenBack
}

// throttle passes perSecond messages in a second. Watermill's throttle is not used, because with it the end would
// wait for all throttled messages.
func (in *intake) throttle(perSecond int) message.HandlerMiddleware {
	turns := time.NewTicker(time.Second / time.Duration(perSecond))
	return func(next message.HandlerFunc) message.HandlerFunc {
		return func(m *message.Message) ([]*message.Message, error) {
			select {
			case <-turns.C:
				return next(m)
			case <-in.over.Done():
			case <-m.Context().Done():
			}
			return nil, errGivenBack
		}
	}
}

// deliver calls the session, without concurrency.
func (in *intake) deliver(d *bus.Delivery) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.session == nil {
		<-in.over.Done()
		return errGivenBack
	}
	err := in.session.Deliver(in.life, d)
	if err == nil {
		return nil
	}
	select {
	case in.failed <- fmt.Errorf("the session failed: %w", err):
	default: // it has failed already
	}
	return errGivenBack
}

// close closes the session, and returns the messages without a reply to the Pub/Sub.
func (in *intake) close(ctx context.Context, cause error, patience time.Duration) error {
	defer in.finish()
	in.mu.Lock()
	session := in.session
	in.session = nil
	in.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := session.Close(ctx, cause); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("close the session: %w", err)
	}
	return nil
}

// acker carries the first reply to a delivery: acknowledged, or the delay of a Nack.
type acker chan time.Duration

const acknowledged time.Duration = -1

func (a acker) send(after time.Duration) {
	select {
	case a <- after:
	default: // only the first reply counts
	}
}

// Ack implements bus.Acker.
func (a acker) Ack() { a.send(acknowledged) }

// Nack implements bus.Acker.
func (a acker) Nack(after time.Duration) { a.send(max(after, 0)) }

// Extend implements bus.Acker; it has no effect, because commands are not in Queue mode.
func (a acker) Extend() {}
