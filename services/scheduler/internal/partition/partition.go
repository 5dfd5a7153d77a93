package partition

import (
	"container/heap"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/timerheap"
)

// Limits are the settings in section 2 of docs/design.md that concern a partition.
type Limits struct {
	LookAhead  time.Duration
	BusyPoll   time.Duration
	HintWindow time.Duration
	// Slack is the minimum time by which a watermark stays behind the present.
	Slack time.Duration
	// Grace is how long a row must have been due before a sweep publishes it.
	Grace time.Duration
	// LongBound is the age at which a publication counts as lost, regardless of the ack floor.
	LongBound  time.Duration
	ClockBound time.Duration
	// MaxInFlight and MaxArmed bound the states that are in flight and armed. A state is the (uuid, revision) of a row.
	MaxInFlight, MaxArmed int
	PollPerShard          int
	PollTotal             int
	// LocalQueue: the due queue is in the memory of this process.
	LocalQueue bool
	// AloneSince: only this process has published rows that were written at this time or later; 0 if there is no such time.
	AloneSince timer.Millis
	// QueueDepth is the depth of the due queue at which publishing stops.
	QueueDepth int
	// SweepPublish bounds the rows that one sweep publishes.
	SweepPublish int
	// SweepMargin is how far before the start of the last sweep the next one begins to read. A write's due_at is not before the
	// time of the write, so SweepMargin must be longer than a write takes to commit.
	SweepMargin time.Duration
	// FullSweep is the interval between sweeps that begin at the first key.
	FullSweep time.Duration
	// ActiveFor is how long a shard stays active after a row of it was read or armed (idle.go).
	ActiveFor time.Duration
	// PollShards bounds the shards of one poll.
	PollShards int
}

// Partition is what a partition's owner keeps in memory.
type Partition struct {
	limits Limits
	shards []*ownedShard // by id
	// A partition may have very many idle shards. So that frequent steps do not read all shards, polls has all of them, ordered by
	// their next poll; active has those that are not idle; behind has those with W < R.
	polls  pollHeap
	active map[shard.ID]*ownedShard
	behind map[shard.ID]*ownedShard
	// barriers is the number of shards whose handover barrier is in place.
	barriers int
	// polledFirst is the first shard of the last poll.
	polledFirst shard.ID
	timers      *timerheap.Heap
	// inFlight is the in-flight set; inFlightByNamespace counts it by namespace.
	inFlight            map[timerheap.State]*publication
	inFlightByNamespace map[string]int
	// removed maps each state that left the in-flight set during a poll or a sweep to the tick of its removal. The rows that this read
	// returns may be older than the outcomes of these states.
	removed map[timerheap.State]uint64
	// pollTick is the tick at which the running poll began; 0 if none runs.
	pollTick uint64
	// fromSweep has the events that a sweep decided to publish, oldest first.
	fromSweep []Outgoing
	sequence  uint64
	// ticks is a logical clock. It orders publications, polls, sweeps, and removals of states and barriers.
	ticks uint64
	floor bus.Floor
	// epochSince is when the floor entered its topic epoch.
	epochSince timer.Millis
	// barrierRemovedAt is when a handover barrier was last removed. staleEpochAt is when publications of earlier epochs begin to count
	// as passed, bus.AckWait after the floor entered its epoch. A sweep that starts at this time or later resets it to Never.
	barrierRemovedAt, staleEpochAt timer.Millis
	// lastShardIdleAt is when a shard last became idle.
	lastShardIdleAt timer.Millis
	// unserved is the number of shards that the store could not serve while it served others; unservedErr is the first
	// error.
	unserved    int
	unservedErr error
	// sweep is the running or the last sweep.
	sweep sweep
}

type ownedShard struct {
	claim     store.Claim
	namespace string
	// claimedAt is a time after the commit of the claim, by this node's clock.
	claimedAt timer.Millis
	watermark store.Key // W
	read      store.Key // R
	// takeover is what the claim found; nil once it is not needed any more.
	takeover *takeover
	// published is the largest key published.
	published store.Key
	pollAt    timer.Millis
	// heapIndex is the shard's index in polls.
	heapIndex int32
	// barrierInPlace: the handover barrier is not removed, so an earlier owner may have published keys up to it. watermarkHeld: the
	// claim found P > W, so W does not move while the barrier is in place.
	barrierInPlace, watermarkHeld bool
	// cut: the last poll did not arm all rows, or rows were removed from the timer heap, so unread rows after R are expected.
	cut bool
	// polling: a store.Due call with this shard is running. rewound: R has gone back since it began.
	polling, rewound bool
	// idle: no timer of it is known to be due, armed or in flight, and its polls replace sweeps.
	idle bool
	// usedAt is when a row of it was last read or armed.
	usedAt timer.Millis
	// sweepFloor is where the next sweep begins to read; fullAt is when the last sweep from the first key began.
	sweepFloor store.Key
	fullAt     timer.Millis
}

// takeover is what a claim found.
type takeover struct {
	// end is the end of the due queue, read before the claim. Events published before that read are before it.
	end bus.Position
	// resume is W, but not later than the present plus ClockBound minus Slack. R starts at the barrier. If that is later than resume,
	// R goes back to resume once, when the barrier is removed.
	resume store.Key
	// barrier is the handover barrier: the larger of resume and P, which is limited to the present plus ClockBound. It is removed when
	// the dispatchers' ack floor has passed end.
	barrier store.Key
	// removedAt is the tick at which the barrier was removed.
	removedAt uint64
}

// publication is a state in flight: published and not yet passed by the ack floor.
type publication struct {
	row       store.DueRow
	namespace string
	// confirmed: the bus has confirmed the publish. position, at (this node's clock) and tick describe the confirmation.
	confirmed bool
	position  bus.Position
	at        timer.Millis
	tick      uint64
	// bySweep: a sweep decided to publish it. It is in fromSweep, or is being published.
	bySweep bool
	// seen is the number of the last sweep that found its row.
	seen uint64
}

// New returns a partition without shards.
func New(limits Limits) *Partition {
	return &Partition{
		limits: limits, timers: timerheap.New(),
		active: map[shard.ID]*ownedShard{}, behind: map[shard.ID]*ownedShard{},
		inFlight: map[timerheap.State]*publication{}, inFlightByNamespace: map[string]int{}, removed: map[timerheap.State]uint64{},
		barrierRemovedAt: timer.Never, staleEpochAt: timer.Never,
	}
}

// isFenced reports whether an error means that the shard is lost. Any other error means that it was not served.
func isFenced(err error) bool { return errors.Is(err, store.ErrFenced) }

// recordUnserved records a shard that the store could not serve, for example a hot one. A later call includes it again.
func (p *Partition) recordUnserved(err error) {
	p.unserved++
	if p.unservedErr == nil {
		p.unservedErr = err
	}
}

// Unserved returns how many shards were not served since its last call, and the first error.
func (p *Partition) Unserved() (n int, why error) {
	n, why = p.unserved, p.unservedErr
	p.unserved, p.unservedErr = 0, nil
	return n, why
}

// Claim adds a shard that was just claimed. now must be read after the claim's answer; end is the end of the due queue
// read before the claim.
func (p *Partition) Claim(now timer.Millis, namespace string, c store.Claimed, end bus.Position) {
	// If the clock was set back, W and P may be in the future and new timers due before them, so W and P are limited by the present.
	// Clocks differ by up to ClockBound.
	resume := notBeyond(c.Watermark, now.Add(p.limits.ClockBound-p.limits.Slack))
	published := notBeyond(c.Published, now.Add(p.limits.ClockBound))
	s := &ownedShard{
		claim: c.Claim, namespace: namespace, claimedAt: now, watermark: c.Watermark, read: resume,
		takeover: &takeover{end: end, resume: resume, barrier: resume}, barrierInPlace: true,
		published: store.MinKey(), pollAt: now, sweepFloor: store.MinKey(),
	}
	s.fullAt = now.Add(-p.limits.FullSweep)
	if published.After(resume) {
		s.read, s.takeover.barrier, s.watermarkHeld = published, published, true
	}
	at, known := p.find(c.Claim.Shard)
	if known {
		p.drop(p.shards[at])
		p.shards[at] = s
	} else {
		p.shards = slices.Insert(p.shards, at, s)
	}
	heap.Push(&p.polls, s)
	p.active[s.claim.Shard] = s
	p.barriers++
	p.advanceLater(s)
}

// notBeyond returns the smaller of key and the largest key of a time.
func notBeyond(key store.Key, at timer.Millis) store.Key {
	if limit := store.MaxKeyAt(at); key.After(limit) {
		return limit
	}
	return key
}

// RemoveFenced removes a shard immediately, because a newer claim owns it or its namespace was deleted.
func (p *Partition) RemoveFenced(id shard.ID) {
	at, known := p.find(id)
	if !known {
		return
	}
	p.drop(p.shards[at])
	p.shards = slices.Delete(p.shards, at, at+1)
}

// drop removes a shard from everything except the list of shards.
func (p *Partition) drop(s *ownedShard) {
	id := s.claim.Shard
	heap.Remove(&p.polls, int(s.heapIndex))
	delete(p.active, id)
	delete(p.behind, id)
	if s.barrierInPlace {
		p.barriers--
	}
	p.timers.Drop(func(r *store.DueRow) bool { return r.Ref.Shard == id })
	for state, pub := range p.inFlight {
		if pub.row.Ref.Shard == id {
			p.removeInFlight(state, pub)
		}
	}
	p.fromSweep = slices.DeleteFunc(p.fromSweep, func(o Outgoing) bool { return o.Row.Ref.Shard == id })
}

// Owns reports whether the shard is claimed.
func (p *Partition) Owns(id shard.ID) bool {
	_, known := p.find(id)
	return known
}

// Shards lists the claimed shards, by id.
func (p *Partition) Shards() []shard.ID {
	ids := make([]shard.ID, len(p.shards))
	for i, s := range p.shards {
		ids[i] = s.claim.Shard
	}
	return ids
}

// Owned returns the number of claimed shards.
func (p *Partition) Owned() int { return len(p.shards) }

// Armed returns the number of armed states.
func (p *Partition) Armed() int { return p.timers.Len() }

// InFlight returns the number of states in flight.
func (p *Partition) InFlight() int { return len(p.inFlight) }

// ClaimReleases lists the claims to release when the partition gets another owner.
func (p *Partition) ClaimReleases() []store.Release {
	items := make([]store.Release, len(p.shards))
	for i, s := range p.shards {
		items[i] = store.Release{Claim: s.claim, Published: s.published}
		if p.limits.LocalQueue {
			items[i].Published = store.MinKey() // no event is left in a queue
		}
	}
	return items
}

// SetFloor processes a new ack floor: states that it has passed are not in flight any more. If f.Floor is older
// than the last one, only the other fields of f are used.
func (p *Partition) SetFloor(now timer.Millis, f bus.Floor) {
	if f.Floor.Before(p.floor.Floor) {
		f.Floor = p.floor.Floor
	}
	if f.Floor.Epoch > p.floor.Floor.Epoch {
		p.epochSince = now
		if p.floor.Floor.Epoch > 0 {
			p.staleEpochAt = now.Add(bus.AckWait)
		}
	}
	p.floor = f
	p.removePassed(now)
	if p.barriers == 0 {
		return
	}
	for _, s := range p.shards {
		if s.barrierInPlace && !f.Floor.Before(s.takeover.end) {
			p.removeBarrier(now, s)
			p.ticks++
			s.takeover.removedAt = p.ticks
			p.barrierRemovedAt = now
		}
	}
}

// removePassed removes the states that the ack floor has passed from the in-flight set.
func (p *Partition) removePassed(now timer.Millis) {
	oldest := p.oldestRead()
	maps.DeleteFunc(p.removed, func(_ timerheap.State, tick uint64) bool { return tick < oldest })
	for state, pub := range p.inFlight {
		if !p.passed(now, pub) {
			continue
		}
		if !p.removeAndRecord(state, pub, oldest) {
			return
		}
	}
}

// removeAndRecord removes a state from the in-flight set, and records this while a read is running. oldest is the tick at which the
// oldest running read began. It returns false if removed is full because of a very long read.
func (p *Partition) removeAndRecord(state timerheap.State, pub *publication, oldest uint64) bool {
	if oldest != noRead {
		if len(p.removed) >= p.limits.MaxInFlight {
			return false
		}
		p.ticks++
		p.removed[state] = p.ticks
	}
	p.removeInFlight(state, pub)
	return true
}

// passed reports whether the dispatchers have acknowledged a publication, or the bus has lost it. A publication of an earlier epoch than
// the floor's counts as passed bus.AckWait after the later of its confirmation and the new epoch: by then, a delivery that started before
// the crash of the bus has finished or taken a row lease (I11).
func (p *Partition) passed(now timer.Millis, pub *publication) bool {
	switch {
	case pub.bySweep, pub.position == (bus.Position{}):
		// The bus does not have it yet, or has not returned its position.
		return false
	case pub.position.Epoch < p.floor.Floor.Epoch:
		return now.Sub(max(p.epochSince, pub.at)) >= bus.AckWait
	default:
		return pub.position.Before(p.floor.Floor)
	}
}

// noRead is what oldestRead returns if no read is running.
const noRead = math.MaxUint64

// oldestRead returns the tick at which the oldest running poll or sweep began.
func (p *Partition) oldestRead() uint64 {
	oldest := uint64(noRead)
	if p.pollTick > 0 {
		oldest = p.pollTick
	}
	if p.sweep.running {
		oldest = min(oldest, p.sweep.startTick)
	}
	return oldest
}

// removedSince reports whether the state left the in-flight set after a read had begun at tick.
func (p *Partition) removedSince(tick uint64, state timerheap.State) bool {
	at, ok := p.removed[state]
	return ok && at > tick
}

// removeBarrier removes the handover barrier: the dispatchers have acknowledged what earlier owners published. If P was later than W, R
// goes back to resume, to read the rows that were not delivered.
func (p *Partition) removeBarrier(now timer.Millis, s *ownedShard) {
	s.barrierInPlace = false
	p.barriers--
	if s.watermarkHeld {
		s.watermarkHeld = false
		s.read, s.rewound = s.takeover.resume, true
		p.setPoll(s, now)
	}
	p.advanceLater(s)
}

// barrierRemovedBefore reports whether the handover barrier of the shard was removed before a tick.
func (s *ownedShard) barrierRemovedBefore(tick uint64) bool {
	return !s.barrierInPlace && (s.takeover == nil || s.takeover.removedAt < tick)
}

// NeedsFloor reports whether the ack floor should be requested before the next sweep: the due queue is full, the in-flight set is at
// least half full, a handover barrier is in place, or the queue is local and a state is in flight, so watermarks wait for the floor.
func (p *Partition) NeedsFloor() bool {
	if p.floor.Depth >= p.limits.QueueDepth || 2*len(p.inFlight) >= p.limits.MaxInFlight {
		return true
	}
	if p.limits.LocalQueue && len(p.inFlight) > 0 {
		return true
	}
	return p.barriers > 0
}

func (p *Partition) find(id shard.ID) (int, bool) {
	return slices.BinarySearchFunc(p.shards, id, func(s *ownedShard, id shard.ID) int {
		return int(int64(s.claim.Shard) - int64(id))
	})
}

func (p *Partition) shard(id shard.ID) *ownedShard {
	if at, known := p.find(id); known {
		return p.shards[at]
	}
	return nil
}

// known reports whether this owner has the state armed or in flight.
func (p *Partition) known(state timerheap.State) bool {
	_, out := p.inFlight[state]
	return out || p.timers.Contains(state)
}

// armRoom returns how many more states may be armed.
func (p *Partition) armRoom() int { return max(0, p.limits.MaxArmed-p.timers.Len()) }
