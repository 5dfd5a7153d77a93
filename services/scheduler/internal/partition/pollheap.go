package partition

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/timerbus/timerbus/pkg/timer"
)

// pollHeap has the owned shards, the next one to poll first.
type pollHeap []*ownedShard

func (h pollHeap) Len() int           { return len(h) }
func (h pollHeap) Less(i, j int) bool { return h[i].pollAt < h[j].pollAt }

func (h pollHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapIndex, h[j].heapIndex = int32(i), int32(j)
}

func (h *pollHeap) Push(x any) {
	s, _ := x.(*ownedShard)
	s.heapIndex = int32(len(*h))
	*h = append(*h, s)
}

func (h *pollHeap) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return s
}

// nextPoll returns the earliest pollAt of the shards at or below index at of the heap for which may is true, or best if
// that is earlier. It visits only shards with a pollAt before the result.
func nextPoll(h pollHeap, at int, best timer.Millis, may func(*ownedShard) bool) timer.Millis {
	if at >= len(h) || h[at].pollAt >= best {
		return best
	}
	if may(h[at]) {
		return h[at].pollAt
	}
	best = nextPoll(h, 2*at+1, best, may)
	return nextPoll(h, 2*at+2, best, may)
}

// duePolls appends to found the shards at or below index at of the heap that are to be polled by now and for which may
// is true. It visits only shards that are to be polled by now.
func duePolls(h pollHeap, at int, found []*ownedShard, now timer.Millis, may func(*ownedShard) bool) []*ownedShard {
	if at >= len(h) || h[at].pollAt > now {
		return found
	}
	if may(h[at]) {
		found = append(found, h[at])
	}
	found = duePolls(h, 2*at+1, found, now, may)
	return duePolls(h, 2*at+2, found, now, may)
}

// setPoll sets the time of a shard's next poll.
func (p *Partition) setPoll(s *ownedShard, at timer.Millis) {
	if s.pollAt != at {
		s.pollAt = at
		heap.Fix(&p.polls, int(s.heapIndex))
	}
}

// pollBy sets the next poll of a shard to at, unless it is already earlier.
func (p *Partition) pollBy(s *ownedShard, at timer.Millis) { p.setPoll(s, min(s.pollAt, at)) }

// shardsPerPollSlot is the number of consecutive shards, over all partitions, that are polled at the same time.
const shardsPerPollSlot = 1024

// idlePollAt returns when a shard is polled if no row of it is known to be due: within half a hint window, at a time
// that depends on its number. These times are BusyPoll apart, so one query reads many shards, but never all of them.
// Neighbours are polled at the same time, by all partitions, because their entries share pages of the store.
func (p *Partition) idlePollAt(s *ownedShard, now timer.Millis) timer.Millis {
	period, step := p.limits.HintWindow.Milliseconds()/2, p.limits.BusyPoll.Milliseconds()
	if step <= 0 || step >= period {
		return now.Add(p.limits.HintWindow / 2)
	}
	offset := int64(s.claim.Shard/shardsPerPollSlot) % (period / step) * step
	latest := int64(now) + period
	return timer.Millis(latest - ((latest-offset)%period+period)%period)
}

func sortByID(shards []*ownedShard) {
	slices.SortFunc(shards, func(a, b *ownedShard) int { return cmp.Compare(a.claim.Shard, b.claim.Shard) })
}
