package kafkabus

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/bus/window"
	"github.com/timerbus/timerbus/pkg/bus"
)

// orderedSource reads one partition in order and commits the contiguous prefix of the acknowledged messages.
type orderedSource struct {
	session *session
	feed    *feed
	window  *window.Window
	ledger  *ledger
	wake    chan struct{} // an acknowledgement made room, or a Nack requests a restart

	mu       sync.Mutex
	restart  bool
	resumeAt time.Time
}

func newOrderedSource(s *session) *orderedSource {
	return &orderedSource{session: s, wake: make(chan struct{}, 1)}
}

func (o *orderedSource) start(at place) {
	s := o.session
	missed := s.noteGap(at)
	if at.found && at.progress.next > at.next { // the brokers have lost acknowledged messages
		s.bus.log.Error("log does not contain the committed position", "topic", s.membership.topic,
			"partition", int(s.partition), "committed", at.progress.next, "reading_from", at.next, "end", at.end)
	}
	o.window = window.New(s.membership.spec.MaxInFlight, s.membership.spec.MaxBytes, at.next-1)
	o.ledger = &ledger{
		partition: int32(s.partition),
		progress:  o.progress,
		wrote:     func(progress) {},
	}
	if p, _ := o.progress(); !missed {
		o.ledger.last = text(p) // the first commit follows the first change
	}
	s.membership.committer.add(o.ledger)
	o.feed = s.membership.reader.open(int32(s.partition), at.next)
}

// noteGap records a gap between the group's position and the first message in the log, and reports whether there is
// one. If messages are removed during a session, the next fetch fails (OFFSET_OUT_OF_RANGE), and a new session calls
// noteGap.
func (s *session) noteGap(at place) bool {
	if at.next == at.progress.next || at.found && at.progress.next > at.next {
		return false
	}
	epoch := s.membership.identity.epoch
	gap := bus.Gap{First: position(s.partition, epoch, at.next), Messages: at.next - at.progress.next}
	if at.found {
		gap.After = position(s.partition, epoch, at.progress.next-1)
	}
	s.gaps = append(s.gaps, gap)
	return true
}

func (o *orderedSource) progress() (progress, bool) {
	p := progress{next: o.window.Committed() + 1, topic: o.session.membership.identity.id.String()}
	return p, !o.session.void.Load()
}

func (o *orderedSource) next(ctx context.Context) (*bus.Delivery, error) {
	for {
		restart, resumeAt := o.restarting()
		if restart && !time.Now().Before(resumeAt) {
			o.rewind()
			continue
		}
		arrived := o.feed.arrived
		if restart || o.window.Full() {
			arrived = nil
		} else if record, err := o.feed.next(); err != nil {
			return nil, err
		} else if record != nil {
			if d := o.accept(record); d != nil {
				return d, nil
			}
			continue
		}
		timer, stop := later(resumeAt)
		select {
		case <-arrived:
		case <-timer:
		case <-o.wake:
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		}
		stop()
	}
}

func (o *orderedSource) restarting() (bool, time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.restart {
		return false, time.Time{}
	}
	return true, o.resumeAt
}

// accept converts a record to a delivery. It returns nil if a Nack arrived concurrently; the restart reads this
// record again.
func (o *orderedSource) accept(record *kgo.Record) *bus.Delivery {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.restart {
		return nil
	}
	slot, ok := o.window.Push(record.Offset, size(record))
	if !ok {
		return nil // sealed: the session ends
	}
	out := &orderedDelivery{source: o, slot: slot}
	out.Delivery = bus.Delivery{
		Message:  decode(record),
		Position: position(o.session.partition, o.session.membership.identity.epoch, record.Offset),
		Time:     taken(record),
		Acker:    out,
	}
	return &out.Delivery
}

// rewind performs the restart that a Nack has requested.
func (o *orderedSource) rewind() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.restart = false
	o.feed.seek(o.window.Committed() + 1)
}

func (o *orderedSource) finish(ctx context.Context, commit bool) error {
	o.feed.close()
	o.window.Seal()
	defer o.session.membership.committer.remove(o.ledger)
	if !commit {
		o.session.void.Store(true)
		return nil
	}
	return o.session.membership.committer.settle(ctx, o.ledger)
}

// orderedDelivery is a delivery and its Acker in one allocation.
type orderedDelivery struct {
	bus.Delivery
	source *orderedSource
	slot   window.Slot
}

func (d *orderedDelivery) Ack() {
	if o := d.source; !o.session.void.Load() {
		o.window.Done(d.slot)
		signal(o.wake)
	}
}

func (d *orderedDelivery) Nack(after time.Duration) {
	o := d.source
	if o.session.void.Load() {
		return
	}
	// The window and the restart flag change under one lock, so that no record is pushed in between.
	o.mu.Lock()
	if _, restarted := o.window.Restart(d.slot); restarted {
		o.restart = true
		o.resumeAt = time.Now().Add(after)
	}
	o.mu.Unlock()
	signal(o.wake)
}

func (d *orderedDelivery) Extend() {}

func signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // there is a token already
	}
}

// later returns a timer channel; nil for a zero time.
func later(t time.Time) (<-chan time.Time, func()) {
	if t.IsZero() {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(t))
	return timer.C, func() { timer.Stop() }
}
