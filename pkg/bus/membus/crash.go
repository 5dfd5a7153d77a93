package membus

import (
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// recentItems bounds how many acknowledged messages a queue keeps for Crash.
const recentItems = 256

// recentItem is an acknowledged message. Its item no longer holds it.
type recentItem struct {
	item    *item
	message bus.Message
}

func (q *queue) remember(it *item) {
	if len(q.recent) == recentItems {
		q.recent = slices.Delete(q.recent, 0, 1)
	}
	q.recent = append(q.recent, recentItem{item: it, message: it.Message})
}

// CrashQueue leaves a queue as a crash of its server may: its newest messages are lost, so many positions of
// them, and so many of the messages acknowledged last before these are delivered again. Members stay, and
// what they hold of the rest is still theirs to acknowledge. The queue remembers the IDs of the messages that
// it has left. Positions go on in a new incarnation.
func (b *Broker) CrashQueue(topic bus.Topic, lost, again int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[topic]
	if q == nil {
		return
	}
	q.incarnation++
	q.truncate(max(1, q.end0()-int64(lost)))
	q.bringBack(again)
	q.recent = nil
	q.ids = seen{}
	for _, it := range q.items {
		if it.state != acked {
			q.ids.add(it.ID, it.position(it.Partition), it.at.Add(b.opts.DedupeWindow))
		}
	}
	q.dispatch(time.Now())
}

// truncate loses what lies at an offset or after it.
func (q *queue) truncate(end int64) {
	for i := range q.items {
		if it := q.items[i]; it.offset >= end && it.state != acked {
			it.release()
			q.move(it, acked, time.Time{})
			q.depth--
		}
	}
	q.items = q.items[:max(0, min(int64(len(q.items)), end-q.first))]
	q.first = min(q.first, end)
	q.recent = slices.DeleteFunc(q.recent, func(r recentItem) bool { return r.item.offset >= end })
	for _, f := range q.feeds {
		f.inbox = slices.DeleteFunc(f.inbox, func(d *bus.Delivery) bool { return d.Acker.(*queueDelivery).item.offset >= end })
	}
}

// bringBack makes the last n acknowledged messages ready again.
func (q *queue) bringBack(n int) {
	back := q.recent[max(0, len(q.recent)-n):]
	lowest := q.first
	for _, r := range back {
		lowest = min(lowest, r.item.offset)
	}
	if gap := q.first - lowest; gap > 0 {
		filled := make([]*item, gap, int(gap)+len(q.items))
		for i := range filled {
			filled[i] = &item{offset: lowest + int64(i), incarnation: q.incarnation - 1, state: acked}
		}
		q.items = append(filled, q.items...)
		q.first = lowest
	}
	for _, r := range back {
		it := r.item
		it.Message = r.message
		q.items[it.offset-q.first] = it
		q.depth++
		q.repeat(it)
	}
}

// TruncateLog loses the newest messages of each partition of a log, so many, as a server that does not sync may
// when the machine loses its power. Their offsets are given out again in the same incarnation. Sessions of the
// topic end with ErrLost; groups go on at the end if they had come further.
func (b *Broker) TruncateLog(topic bus.Topic, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.logOf(topic)
	if l == nil {
		return
	}
	for p := range l.parts {
		part := &l.parts[p]
		part.records = part.records[:max(0, len(part.records)-lost)]
		for g := range b.groupsOf(topic) {
			if committed := &g.parts[p].committed; committed.Incarnation == l.incarnation {
				committed.Offset = min(committed.Offset, part.end()-1)
			}
		}
	}
	b.loseSessions(topic)
}

// loseSessions ends the sessions of a log or queue.
func (b *Broker) loseSessions(topic bus.Topic) {
	for g := range b.groupsOf(topic) {
		if g.mode == bus.Live {
			continue
		}
		for _, c := range g.consumers {
			for _, s := range c.owned() {
				s.end(bus.ErrLost)
			}
		}
	}
}
