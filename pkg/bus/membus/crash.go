package membus

import (
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// recentItems is how many acknowledged messages a queue keeps for CrashQueue.
const recentItems = 256

// recentItem is an acknowledged message; finish has removed the message from its item.
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

// CrashQueue simulates a crash of the queue's server. The newest lost messages, acknowledged or not, are removed and
// their offsets are assigned again in a new epoch. Of the older messages, the last restored acknowledged ones become
// undelivered again. Sessions continue and can still acknowledge the remaining messages. Only the IDs of messages
// that are still queued are deduplicated.
func (b *Broker) CrashQueue(topic bus.Topic, lost, restored int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[topic]
	if q == nil {
		return
	}
	q.epoch++
	q.truncate(max(1, q.end0()-int64(lost)))
	q.restore(restored)
	q.recent = nil
	q.ids = seen{}
	for _, it := range q.items {
		if it.state != acked {
			q.ids.add(it.ID, it.position(it.Partition), it.at.Add(b.opts.DedupeWindow))
		}
	}
	q.dispatch(time.Now())
}

// truncate removes all messages at or above an offset.
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
		f.inbox = slices.DeleteFunc(f.inbox, func(d *bus.Delivery) bool { return d.Position.Offset >= end })
	}
}

// restore makes the last n acknowledged messages undelivered again.
func (q *queue) restore(n int) {
	back := q.recent[max(0, len(q.recent)-n):]
	lowest := q.first
	for _, r := range back {
		lowest = min(lowest, r.item.offset)
	}
	if gap := q.first - lowest; gap > 0 {
		filled := make([]*item, gap, int(gap)+len(q.items))
		for i := range filled {
			filled[i] = &item{offset: lowest + int64(i), epoch: q.epoch - 1, state: acked}
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

// TruncateLog simulates a power failure of a server that does not fsync: it removes the newest lost messages of each
// partition of a log. Their offsets are assigned again in the same epoch. Sessions of the topic end with ErrLost, and
// committed positions beyond the end move to the end.
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
			if committed := &g.parts[p].committed; committed.Epoch == l.epoch {
				committed.Offset = min(committed.Offset, part.end()-1)
			}
		}
	}
	b.loseSessions(topic)
}

// LoseSessions ends the sessions of a log or queue with ErrLost, as if its server had restarted. The messages of a
// queue are repeated after AckWait.
func (b *Broker) LoseSessions(topic bus.Topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
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
