package consume

import (
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/bus/window"
	"github.com/timerbus/timerbus/pkg/bus"
)

// Acks are the acknowledgements of a session in Ordered mode. A Nack requests a restart: the source must read again
// after the committed offset.
type Acks struct {
	*window.Window

	// Wake gets a token when an acknowledgement has made room, or when a Nack requests a restart.
	Wake chan struct{}

	session  *Session
	mu       sync.Mutex
	restart  bool
	resumeAt time.Time
}

// NewAcks returns the acknowledgements of a session that starts after an offset.
func NewAcks(s *Session, spec *bus.Spec, committed int64) *Acks {
	return &Acks{
		Window: window.New(spec.MaxInFlight, spec.MaxBytes, committed), Wake: make(chan struct{}, 1), session: s,
	}
}

// Restarting returns whether a Nack has requested a restart, and when to perform it.
func (a *Acks) Restarting() (bool, time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.restart, a.resumeAt
}

// Restarted ends a restart. The source must then read after Committed.
func (a *Acks) Restarted() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.restart, a.resumeAt = false, time.Time{}
}

// Accept adds a delivery to the window. It returns nil if the window has no room, or if a Nack has requested a restart,
// which will read the message again.
func (a *Acks) Accept(offset int64, size int, d bus.Delivery) *bus.Delivery {
	// The window and the restart flag change under one lock, so that no message is pushed after a Nack.
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.restart {
		return nil
	}
	slot, ok := a.Push(offset, size)
	if !ok {
		return nil
	}
	out := &delivery{Delivery: d, acks: a, slot: slot}
	out.Acker = out
	return &out.Delivery
}

// delivery is a delivery and its Acker in one allocation.
type delivery struct {
	bus.Delivery
	acks *Acks
	slot window.Slot
}

func (d *delivery) Ack() {
	if !d.acks.session.Void() {
		d.acks.Done(d.slot)
		Signal(d.acks.Wake)
	}
}

func (d *delivery) Nack(after time.Duration) {
	a := d.acks
	if a.session.Void() {
		return
	}
	a.mu.Lock()
	if _, restarted := a.Restart(d.slot); restarted {
		a.restart, a.resumeAt = true, time.Now().Add(after)
	}
	a.mu.Unlock()
	Signal(a.Wake)
}

func (d *delivery) Extend() {}

// NoAck is the Acker of hints, which are not repeated and therefore not acknowledged.
type NoAck struct{}

// Ack implements bus.Acker.
func (NoAck) Ack() {}

// Nack implements bus.Acker.
func (NoAck) Nack(time.Duration) {}

// Extend implements bus.Acker.
func (NoAck) Extend() {}

// Signal adds a token to a channel that has room for one.
func Signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // there is a token already
	}
}

// At returns a channel that gets a value at time t, or nil if t is zero. Callers that do not receive from it call stop.
func At(t time.Time) (at <-chan time.Time, stop func()) {
	if t.IsZero() {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(t))
	return timer.C, func() { timer.Stop() }
}
