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
	"github.com/timerbus/timerbus/services/scheduler/internal/agenda"
)

// Limits are the settings in section 2 of docs/design.md that concern a partition.
type Limits struct {
	LookAhead  time.Duration
	BusyPoll   time.Duration
	HintWindow time.Duration
	// Slack is the minimum time by which a watermark stays behind the present.
	Slack time.Duration
	// Grace is the time after its due_at at which a row counts as overdue.
	Grace time.Duration
	// LongBound is the age at which a publication counts as lost, regardless of the ack floor.
	LongBound  time.Duration
	ClockBound time.Duration
	// Outstanding and Agenda bound the states in flight and the armed states.
	Outstanding, Agenda int
	PollPerShard        int
	PollTotal           int
	// QueueDepth is the depth of the due queue at which publishing stops.
	QueueDepth int
	// SweepPublish bounds the rows that one sweep publishes.
	SweepPublish int
	// SweepMargin is how far before the start of the last sweep the next one begins to read. It must cover the time
	// from a write's due_at, which is not before the present, to its commit.
	SweepMargin time.Duration
	// FullSweep is the interval between sweeps that begin at the first key.
	FullSweep time.Duration
	// ActiveFor is how long a shard stays active after a row of it was read or armed (idle.go).
	ActiveFor time.Duration
	// PollShards bounds the shards of one poll.
	PollShards int
	Planted    Planted
}

// Planted disables single rules. Only simulations that must fail set it.
type Planted struct {
	// SweepAtOnce publishes every overdue row in every sweep, which violates I12.
	SweepAtOnce bool
	// ForgetAtOnce removes states from the in-flight set before the ack floor has passed their positions.
	ForgetAtOnce bool
	// Early publishes states earlier than their due_at by this time.
	Early time.Duration
	// FirstComeFirstServed gives namespaces no shares, which violates I16.
	FirstComeFirstServed bool
	// IdleFromR polls idle shards from R, like other shards, so that nothing reads the rows before R.
	IdleFromR bool
}

// Partition is the state of a partition's owner.
type Partition struct {
	limits Limits
	shards []*ownedShard // by id
	// A partition may have very many idle shards, so no step of a session reads all shards. These contain the shards
	// that steps need: polls has all shards, ordered by their next poll; active the shards that are not idle; behind
	// the shards whose watermark is behind R. standing counts the shards whose handover barrier has not fallen.
	polls    pollHeap
	active   map[shard.ID]*ownedShard
	behind   map[shard.ID]*ownedShard
	standing int
	// polledFirst is the first shard of the last poll.
	polledFirst shard.ID
	agenda      *agenda.Agenda
	// out is the in-flight set; inFlight counts it by namespace.
	out      map[agenda.State]*publication
	inFlight map[string]int
	// forgotten has the states that left the in-flight set during a poll or a sweep, with the tick. The answer may have
	// their rows although their outcomes have been written since.
	forgotten map[agenda.State]uint64
	// pollTick is the tick at which the running poll began; 0 if none runs.
	pollTick uint64
	// repeat has the events that a sweep decided to publish, oldest first.
	repeat   []Outgoing
	sequence uint64
	// ticks orders publications and sweeps without a clock.
	ticks uint64
	floor bus.Floor
	// epochSince is when the floor entered its topic epoch.
	epochSince timer.Millis
	// liftedAt is when a handover barrier fell, and staleAt when publications of earlier epochs may be repeated. Both
	// are Never if a sweep has started since.
	liftedAt, staleAt timer.Millis
	// idleSince is when a shard last became idle.
	idleSince timer.Millis
	// misses is the number of shards that the store could not serve while it served others; missed is the first error.
	misses int
	missed error
	// sweep is the running or the last sweep.
	sweep sweep
}

// ownedShard is a claimed shard.
type ownedShard struct {
	claim store.Claim
	group string
	// claimedAt is a time after the commit of the claim, by this node's clock.
	claimedAt timer.Millis
	watermark store.Key // W
	read      store.Key // R
	// takeover is the state found by the claim; nil once it is not needed any more.
	takeover *takeover
	// sent is the largest key published.
	sent   store.Key
	pollAt timer.Millis
	// place is the shard's index in polls.
	place int32
	// standing: the handover barrier has not fallen, so keys up to it may have been published. held (P > W): until then
	// the watermark does not move.
	standing, held bool
	cut            bool
	// polling: a Due with this shard is running. wentBack: R has gone back since it began.
	polling, wentBack bool
	// idle: no timer of it is known to be due, armed or in flight, and its polls replace sweeps.
	idle bool
	// usedAt is when a row of it was last read or armed.
	usedAt timer.Millis
	// sweepFrom is where the next sweep begins to read; fullAt is when the last sweep from the first key began.
	sweepFrom store.Key
	fullAt    timer.Millis
}

// takeover is the state found by a claim.
type takeover struct {
	// end is the end of the due queue before the claim: all events published before the claim are before it.
	end bus.Position
	// resume is the initial R: W, unless the clock was set back since W was written.
	resume store.Key
	// barrier is the handover barrier, max(P, W). It falls when the dispatchers' ack floor has passed end. From then
	// on, states up to it are published with an ID that the bus cannot take for a repetition.
	barrier store.Key
	// fellAt is the tick at which it fell.
	fellAt uint64
}

// publication is a state in flight: published and not yet passed by the ack floor.
type publication struct {
	row   store.DueRow
	group string
	// acked: the bus has acknowledged it, at position, at time at (this node's clock) and tick.
	acked    bool
	position bus.Position
	at       timer.Millis
	tick     uint64
	// repeating: it is in repeat, or is being published again.
	repeating bool
	// seen is the number of the last sweep that found its row.
	seen uint64
}

// New returns the state of a partition without shards.
func New(limits Limits) *Partition {
	return &Partition{
		limits: limits, agenda: agenda.New(),
		active: map[shard.ID]*ownedShard{}, behind: map[shard.ID]*ownedShard{},
		out: map[agenda.State]*publication{}, inFlight: map[string]int{}, forgotten: map[agenda.State]uint64{},
		liftedAt: timer.Never, staleAt: timer.Never,
	}
}

// isFenced reports whether an error means that the shard is lost. Any other error means that it was not served.
func isFenced(err error) bool { return errors.Is(err, store.ErrFenced) }

// miss records a shard that the store could not serve, for example a hot one. A later call includes it again.
func (p *Partition) miss(err error) {
	p.misses++
	if p.missed == nil {
		p.missed = err
	}
}

// Missed returns how many shards were missed since its last call, and the first error.
func (p *Partition) Missed() (n int, why error) {
	n, why = p.misses, p.missed
	p.misses, p.missed = 0, nil
	return n, why
}

// Claim adds a shard that was just claimed. now must be read after the claim's answer; end is the end of the due queue
// read before the claim.
func (p *Partition) Claim(now timer.Millis, group string, c store.Claimed, end bus.Position) {
	// Timers written after the clock was set back may be due before W or P. Clocks differ by up to ClockBound.
	resume := notBeyond(c.Watermark, now.Add(p.limits.ClockBound-p.limits.Slack))
	published := notBeyond(c.Published, now.Add(p.limits.ClockBound))
	s := &ownedShard{
		claim: c.Claim, group: group, claimedAt: now, watermark: c.Watermark, read: resume,
		takeover: &takeover{end: end, resume: resume, barrier: resume}, standing: true,
		sent: store.MinKey(), pollAt: now, sweepFrom: store.MinKey(),
	}
	s.fullAt = now.Add(-p.limits.FullSweep)
	if published.After(resume) {
		s.read, s.takeover.barrier, s.held = published, published, true
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
	p.standing++
	p.advanceLater(s)
}

// notBeyond returns the smaller of key and the largest key of a time.
func notBeyond(key store.Key, at timer.Millis) store.Key {
	if limit := store.MaxKeyAt(at); key.After(limit) {
		return limit
	}
	return key
}

// Fenced removes a shard immediately, because a newer claim owns it.
func (p *Partition) Fenced(id shard.ID) {
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
	heap.Remove(&p.polls, int(s.place))
	delete(p.active, id)
	delete(p.behind, id)
	if s.standing {
		p.standing--
	}
	p.agenda.Drop(func(r *store.DueRow) bool { return r.Ref.Shard == id })
	for state, pub := range p.out {
		if pub.row.Ref.Shard == id {
			p.land(state, pub)
		}
	}
	p.repeat = slices.DeleteFunc(p.repeat, func(o Outgoing) bool { return o.Row.Ref.Shard == id })
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

// Armed returns the number of armed states.
func (p *Partition) Armed() int { return p.agenda.Len() }

// Outstanding returns the number of states in flight.
func (p *Partition) Outstanding() int { return len(p.out) }

// Releases lists the claims to release when the partition gets another owner.
func (p *Partition) Releases() []store.Release {
	items := make([]store.Release, len(p.shards))
	for i, s := range p.shards {
		items[i] = store.Release{Claim: s.claim, Published: s.sent}
	}
	return items
}

// Floor processes a new ack floor: states that it has passed are not in flight any more. A floor that is older than the
// last one changes only the depth.
func (p *Partition) Floor(now timer.Millis, f bus.Floor) {
	if f.Floor.Before(p.floor.Floor) {
		f.Floor = p.floor.Floor
	}
	if f.Floor.Incarnation > p.floor.Floor.Incarnation {
		p.epochSince = now
		if p.floor.Floor.Incarnation > 0 {
			p.staleAt = now.Add(bus.AckWait)
		}
	}
	p.floor = f
	p.forgetPassed(now)
	if p.standing == 0 {
		return
	}
	for _, s := range p.shards {
		if s.standing && !f.Floor.Before(s.takeover.end) {
			p.lift(now, s)
			p.ticks++
			s.takeover.fellAt = p.ticks
			p.liftedAt = now
		}
	}
}

// forgetPassed removes the states that the ack floor has passed from the in-flight set.
func (p *Partition) forgetPassed(now timer.Millis) {
	oldest := p.oldestRead()
	maps.DeleteFunc(p.forgotten, func(_ agenda.State, tick uint64) bool { return tick < oldest })
	for state, pub := range p.out {
		if !p.passed(now, pub) {
			continue
		}
		if !p.forget(state, pub, oldest) {
			return
		}
	}
}

// forget removes a state from the in-flight set. oldest is the tick of the oldest running read, whose answer may have
// the state's row. It returns false if forgotten is full because of a very long read.
func (p *Partition) forget(state agenda.State, pub *publication, oldest uint64) bool {
	if oldest != noRead {
		if len(p.forgotten) >= p.limits.Outstanding {
			return false
		}
		p.ticks++
		p.forgotten[state] = p.ticks
	}
	p.land(state, pub)
	return true
}

// passed reports whether the dispatchers have acknowledged a publication. If its epoch is earlier than the floor's, it
// was acknowledged, or lost in a crash of the bus. A delivery that had started before the crash finishes or takes a row
// lease within bus.AckWait (I11).
func (p *Partition) passed(now timer.Millis, pub *publication) bool {
	switch {
	case pub.repeating, pub.position == (bus.Position{}):
		// The bus does not have it yet, or has not returned its position.
		return false
	case p.limits.Planted.ForgetAtOnce:
		return true
	case pub.position.Incarnation < p.floor.Floor.Incarnation:
		return now.Sub(max(p.epochSince, pub.at)) >= bus.AckWait
	default:
		return pub.position.Before(p.floor.Floor)
	}
}

// noRead is the tick if no read is running.
const noRead = math.MaxUint64

// oldestRead returns the tick at which the oldest running poll or sweep began.
func (p *Partition) oldestRead() uint64 {
	oldest := uint64(noRead)
	if p.pollTick > 0 {
		oldest = p.pollTick
	}
	if p.sweep.running {
		oldest = min(oldest, p.sweep.start)
	}
	return oldest
}

// forgottenSince reports whether the state left the in-flight set after a read had begun at tick.
func (p *Partition) forgottenSince(tick uint64, state agenda.State) bool {
	at, ok := p.forgotten[state]
	return ok && at > tick
}

// lift removes the handover barrier: nothing published by an earlier owner is unacknowledged any more. R goes back to
// the watermark once, to read the rows that were not delivered.
func (p *Partition) lift(now timer.Millis, s *ownedShard) {
	s.standing = false
	p.standing--
	if s.held {
		s.held = false
		s.read, s.wentBack = s.takeover.resume, true
		p.setPoll(s, now)
	}
	p.advanceLater(s)
}

// fellBefore reports whether the handover barrier of the shard fell before a tick.
func (s *ownedShard) fellBefore(tick uint64) bool {
	return !s.standing && (s.takeover == nil || s.takeover.fellAt < tick)
}

// again reports whether the bus must not drop a publication of the row as a repetition. During a take-over it must drop
// repetitions. Once the barrier has fallen, a row that is past its due time may have been published before without
// effect: by an earlier owner, or by this one after a hint that came before the commit of its row, and then removed
// from the in-flight set.
func (s *ownedShard) again(now timer.Millis, row *store.DueRow) bool {
	if s.standing {
		return false
	}
	return row.DueAt < now || s.takeover != nil && !row.Key().After(s.takeover.barrier)
}

// NeedsFloor reports whether the ack floor should be requested before the next sweep: a handover barrier stands,
// publishing waits for the queue to drain, or half of the in-flight set is in use.
func (p *Partition) NeedsFloor() bool {
	if p.floor.Depth >= p.limits.QueueDepth || 2*len(p.out) >= p.limits.Outstanding {
		return true
	}
	return p.standing > 0
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
func (p *Partition) known(state agenda.State) bool {
	_, out := p.out[state]
	return out || p.agenda.Has(state)
}

// room returns how many more states may be armed.
func (p *Partition) room() int { return max(0, p.limits.Agenda-p.agenda.Len()) }
