package kafkabus

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/pkg/bus"
)

// orderedSource reads one partition in order and commits the contiguous prefix of the acknowledged messages.
type orderedSource struct {
	session *session
	feed    *feed
	acks    *consume.Acks
	ledger  *ledger
}

func (o *orderedSource) start(at place) {
	s := o.session
	missed := s.noteGap(at)
	if at.found && at.progress.next > at.next { // the brokers have lost acknowledged messages
		s.bus.log.Error("log does not contain the committed position", "topic", s.membership.topic,
			"partition", int(s.partition), "committed", at.progress.next, "reading_from", at.next, "end", at.end)
	}
	o.acks = consume.NewAcks(s.Session, &s.membership.spec, at.next-1)
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
	s.Missed(gap)
	return true
}

func (o *orderedSource) progress() (progress, bool) {
	p := progress{next: o.acks.Committed() + 1, topic: o.session.membership.identity.id.String()}
	return p, !o.session.Void()
}

func (o *orderedSource) next(ctx context.Context) (*bus.Delivery, error) {
	for {
		restart, resumeAt := o.acks.Restarting()
		if restart && !time.Now().Before(resumeAt) {
			o.acks.Restarted()
			o.feed.seek(o.acks.Committed() + 1)
			continue
		}
		arrived := o.feed.arrived
		if restart || o.acks.Full() {
			arrived = nil
		} else if record, err := o.feed.next(); err != nil {
			return nil, err
		} else if record != nil {
			if d := o.accept(record); d != nil {
				return d, nil
			}
			continue
		}
		timer, stop := consume.At(resumeAt)
		select {
		case <-arrived:
		case <-timer:
		case <-o.acks.Wake:
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		}
		stop()
	}
}

// accept converts a record to a delivery. It returns nil if a Nack has requested a restart, which reads this record
// again, or if the session ends.
func (o *orderedSource) accept(record *kgo.Record) *bus.Delivery {
	return o.acks.Accept(record.Offset, size(record), bus.Delivery{
		Message:  decode(record),
		Position: position(o.session.partition, o.session.membership.identity.epoch, record.Offset),
		Time:     taken(record),
	})
}

func (o *orderedSource) finish(ctx context.Context, commit bool) error {
	o.feed.close()
	o.acks.Seal()
	defer o.session.membership.committer.remove(o.ledger)
	if !commit {
		return nil
	}
	return o.session.membership.committer.settle(ctx, o.ledger)
}
