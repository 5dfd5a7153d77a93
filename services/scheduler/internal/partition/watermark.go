package partition

import (
	"maps"
	"math"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Advances lists the watermarks that can move (I6): to the end of the unbroken run of keys, at most R, whose
// publication the bus has confirmed, but never past the present minus the slack. If the queue is lost with the process, the ack floor
// must have passed the publications. The caller passes the answers to Advanced.
func (p *Partition) Advances(now timer.Millis) []store.Advance {
	first := make(map[shard.ID]store.Key)
	block := func(row *store.DueRow) {
		key, ok := first[row.Ref.Shard]
		if !ok || key.After(row.Key()) {
			first[row.Ref.Shard] = row.Key()
		}
	}
	p.timers.Each(block)
	for _, pub := range p.inFlight {
		if !pub.confirmed || p.limits.LocalQueue {
			block(&pub.row)
		}
	}
	var items []store.Advance
	for _, id := range slices.Sorted(maps.Keys(p.behind)) {
		s := p.behind[id]
		if !s.read.After(s.watermark) { // R went back
			delete(p.behind, id)
			continue
		}
		to := s.read
		if blocked, ok := first[s.claim.Shard]; ok && !blocked.After(to) {
			to = before(blocked)
		}
		to = notBeyond(to, now.Add(-p.limits.Slack))
		if to.After(s.watermark) {
			items = append(items, store.Advance{Claim: s.claim, Watermark: to})
		}
	}
	return items
}

// Advanced processes the answers. It returns the shards that were fenced.
func (p *Partition) Advanced(items []store.Advance, answers []error) (fenced []shard.ID) {
	for i, item := range items {
		s := p.shard(item.Claim.Shard)
		if s == nil || s.claim != item.Claim {
			continue
		}
		if isFenced(answers[i]) {
			p.RemoveFenced(item.Claim.Shard)
			fenced = append(fenced, item.Claim.Shard)
			continue
		}
		if answers[i] != nil {
			p.recordUnserved(answers[i])
			continue
		}
		if item.Watermark.After(s.watermark) {
			s.watermark = item.Watermark
		}
		if !s.read.After(s.watermark) {
			delete(p.behind, item.Claim.Shard)
		}
	}
	return fenced
}

// before returns the key just before k. No row with this key need exist.
func before(k store.Key) store.Key {
	for i := len(k.UUID) - 1; i >= 0; i-- {
		k.UUID[i]--
		if k.UUID[i] != 0xff {
			return k
		}
	}
	if k.DueAt == math.MinInt64 {
		return store.MinKey()
	}
	k.DueAt--
	return k
}

// Behind reports whether the watermark of a shard may have to advance.
func (p *Partition) Behind() bool { return len(p.behind) > 0 }

// advanceLater records that R of a shard has moved, so that its watermark may have to advance.
func (p *Partition) advanceLater(s *ownedShard) {
	if !s.watermarkHeld && s.read.After(s.watermark) {
		p.behind[s.claim.Shard] = s
	}
}
