package membus

import (
	"fmt"
	"time"

	"github.com/timerbus/timerbus/internal/bus/window"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// log is one topic of KindLog. Guarded by broker.mu.
type log struct {
	broker *Broker
	topic  bus.Topic
	epoch  int64
	parts  []logPart
	ids    seen
	turn   int // counts messages without a key in a user topic
}

// logPart is one partition: messages with the offsets first, first+1, and so on.
type logPart struct {
	first   int64
	records []record
}

type record struct {
	bus.Message
	at time.Time
}

func newLog(b *Broker, topic bus.Topic, epoch int64) *log {
	l := &log{broker: b, topic: topic, epoch: epoch, parts: make([]logPart, b.opts.Partitions)}
	for i := range l.parts {
		l.parts[i].first = 1
	}
	return l
}

func (p *logPart) end() int64 { return p.first + int64(len(p.records)) }

func (l *log) position(p shard.Partition, offset int64) bus.Position {
	return bus.Position{Partition: p, Epoch: l.epoch, Offset: offset}
}

func (l *log) append(m bus.Message, now time.Time) (bus.Position, error) {
	if at, ok := l.ids.position(m.ID, now); ok {
		return at, nil
	}
	p := &l.parts[m.Partition]
	at := l.position(m.Partition, p.end())
	if over := len(p.records) + 1 - l.broker.opts.LogLimit; over > 0 {
		before := p.first + int64(over)
		if l.topic == bus.Commands && before > l.after(m.Partition, l.broker.committed(l.topic, bus.GroupIngest, m.Partition)) {
			return bus.Position{}, fmt.Errorf("%w: partition %d has %d messages that are not acknowledged",
				bus.ErrFull, m.Partition, len(p.records))
		}
		p.remove(before)
	}
	l.ids.add(m.ID, at, now.Add(l.broker.opts.DedupeWindow))
	p.records = append(p.records, record{Message: m, at: now})
	for g := range l.broker.groupsOf(l.topic) {
		if owner := g.parts[m.Partition].owner; owner != nil {
			owner.signal()
		}
	}
	return at, nil
}

// remove drops all messages before an offset.
func (p *logPart) remove(before int64) {
	n := min(before, p.end()) - p.first
	if n <= 0 {
		return
	}
	clear(p.records[:n])
	p.records = p.records[n:]
	p.first += n
}

// gap returns the gap between the position that a group has committed and the first message kept.
func (l *log) gap(p shard.Partition, committed bus.Position) (gap bus.Gap, missing bool) {
	if committed != (bus.Position{}) && committed.Epoch != l.epoch {
		return gap, false // committed in another topic epoch
	}
	first := l.position(p, l.parts[p].first)
	gap = bus.Gap{After: committed, First: first, Messages: first.Offset - 1 - committed.Offset}
	return gap, gap.Messages > 0
}

// after returns the first offset to deliver to a group that has committed up to a position.
func (l *log) after(p shard.Partition, committed bus.Position) int64 {
	first := l.parts[p].first
	if committed.Epoch != l.epoch {
		return first
	}
	return max(first, committed.Offset+1)
}

func (l *log) floor(p shard.Partition, committed bus.Position) bus.Floor {
	next, end := l.after(p, committed), l.parts[p].end()
	return bus.Floor{Floor: l.position(p, next), End: l.position(p, end), Depth: int(end - next)}
}

// logReader is the source of an Ordered session.
type logReader struct {
	session *session
	log     *log
	window  *window.Window
	at      int64 // next offset to deliver
	paused  bool  // after a Nack
	resume  *time.Timer
}

func newLogReader(s *session) *logReader {
	g := s.consumer.group
	l := g.broker.logOf(g.topic)
	part := &g.parts[s.partition]
	at := l.after(s.partition, part.committed)
	if gap, missing := l.gap(s.partition, part.committed); missing {
		s.gaps = append(s.gaps, gap)
		part.committed = l.position(s.partition, at-1)
	}
	return &logReader{session: s, log: l, window: window.New(s.consumer.spec.MaxInFlight, s.consumer.spec.MaxBytes, at-1), at: at}
}

// logDelivery is a delivery and its Acker in one allocation.
type logDelivery struct {
	bus.Delivery
	reader *logReader
	slot   window.Slot
}

func (r *logReader) next() *bus.Delivery {
	part := &r.log.parts[r.session.partition]
	if gap, missing := r.log.gap(r.session.partition, r.log.position(r.session.partition, r.at-1)); missing {
		r.session.gaps = append(r.session.gaps, gap)
		r.at = part.first
	}
	if r.paused || r.at >= part.end() || r.window.Full() {
		return nil
	}
	rec := &part.records[r.at-part.first]
	slot, ok := r.window.Push(r.at, rec.Size())
	if !ok {
		return nil
	}
	d := &logDelivery{reader: r, slot: slot}
	d.Delivery = bus.Delivery{
		Message:  rec.Message,
		Position: r.log.position(r.session.partition, r.at),
		Time:     rec.at,
		Acker:    d,
	}
	r.at++
	return &d.Delivery
}

// commit stores the window's committed offset. It is fenced: only the partition's owner moves the position.
func (r *logReader) commit() {
	part := &r.session.consumer.group.parts[r.session.partition]
	if part.owner == r.session {
		part.committed = r.log.position(r.session.partition, r.window.Committed())
	}
}

func (r *logReader) end(commit bool) {
	r.window.Seal()
	if commit {
		r.commit()
	}
	if r.resume != nil {
		r.resume.Stop()
	}
}

func (d *logDelivery) Ack() {
	r := d.reader
	b := r.log.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if !r.session.counts() {
		return
	}
	if r.window.Done(d.slot) {
		r.commit()
	}
	r.session.signal()
}

func (d *logDelivery) Nack(after time.Duration) {
	r := d.reader
	b := r.log.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if !r.session.counts() {
		return
	}
	committed, restarted := r.window.Restart(d.slot)
	if !restarted {
		return
	}
	r.at = committed + 1
	if after <= 0 {
		r.session.signal()
		return
	}
	r.paused = true
	r.resume = time.AfterFunc(after, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		r.paused = false
		r.session.signal()
	})
}

func (d *logDelivery) Extend() {}
