package sim

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// recording has the events of one life, in order. The rules in outbox.go, poison.go, amplification.go and retries.go
// are functions of it.
type recording struct {
	start time.Time

	mu         sync.Mutex
	strikes    []strike
	results    []result
	finishes   []finish
	notices    []notice
	events     []dueEvent
	sequences  map[sequence]int // indexes of events
	deliveries []delivery
	handovers  map[subject][]handover
	// foreign counts due events that a dispatcher of another release got; rollouts is when processes were replaced.
	foreign  int
	rollouts []rollout
}

// strike is a fault at the time when it took effect. node and role identify the struck process; node is noNode if the
// fault struck the bus.
type strike struct {
	kind        FaultKind
	node        int
	role        nodeRole
	partition   shard.Partition
	from, until time.Duration
}

const noNode = -1

// queue reports whether the fault struck the due queue.
func (s strike) queue() bool {
	return s.kind == Redeliver || s.kind == LoseQueue || s.kind == CrashQueue
}

// rollout is the time during which a process is replaced and partitions get their new owners.
type rollout struct {
	span

	role nodeRole
}

// finish is an outcome that the store applied. before is the row before the write, now the time of the write by its
// writer.
type finish struct {
	store.Finish

	at     time.Duration
	now    timer.Millis
	before timer.Timer
}

func (f *finish) attempt() attempt {
	return attempt{timer: f.before.ID, generation: f.before.Generation.String(), number: f.before.Attempts + 1}
}

// notice is a dead or parked event. finished is the number of outcomes applied before it.
type notice struct {
	event.Notice

	at       time.Duration
	finished int
}

func (r *recording) now() time.Duration { return time.Since(r.start) }

// struck records that a fault of a process takes effect now and lasts for a time.
func (r *recording) struck(kind FaultKind, n *node, lasts time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.strikes = append(r.strikes, strike{kind: kind, node: n.index, role: n.role, from: r.now(), until: r.now() + lasts})
}

// replaces records that a process is being replaced, until the returned function is called. An ingest may refuse its
// pending requests then.
func (r *recording) replaces(n *node) (replaced func()) {
	if n.role == roleIngest {
		r.struck(Replace, n, 0)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := len(r.rollouts)
	r.rollouts = append(r.rollouts, rollout{role: n.role, span: span{r.now(), math.MaxInt64}})
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.rollouts[i].until = r.now() + openingFor
	}
}

// openingFor is how long a partition may take to get its new owner and to be read by it.
const openingFor = time.Second

// replaced returns the times at which processes of the roles that meet a condition are replaced. A process that is replaced takes no work, and the
// partitions of a scheduler move.
func (r *recording) replaced(has func(nodeRole) bool) []span {
	r.mu.Lock()
	defer r.mu.Unlock()
	var spans []span
	for _, by := range r.rollouts {
		if has(by.role) {
			spans = append(spans, by.span)
		}
	}
	return spans
}

func (r *recording) resulted(e *event.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, result{Result: *e, at: r.now()})
}

// noticed records a dead or parked event.
func (r *recording) noticed(n *event.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notices = append(r.notices, notice{Notice: *n, at: r.now(), finished: len(r.finishes)})
}

// hintFaults records the faults of hints, which affect every hint published during that time.
func (r *recording) hintFaults(p *Plan) {
	for _, f := range p.Faults {
		if f.Kind == HintsTwice || f.Kind == HintsDelayed {
			r.strikes = append(r.strikes, strike{kind: f.Kind, node: noNode, from: f.At, until: f.At + f.For + f.Delay})
		}
	}
}

// struckBus records that a fault of the bus takes effect now.
func (r *recording) struckBus(f *Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.strikes = append(r.strikes, strike{
		kind: f.Kind, node: noNode, partition: shard.Partition(f.Partition % partitions), from: r.now(), until: r.now(),
	})
}

// delivered records a delivery.
func (r *recording) delivered(a attempt, d *delivered, silent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	node := noNode
	if d.by != nil {
		node = d.by.node.index
	}
	r.deliveries = append(r.deliveries, delivery{attempt: a, op: d.op, node: node, at: r.now(), silent: silent})
}

// deliveredBy returns the deliveries that a process has made since a time.
func (r *recording) deliveredBy(node int, since time.Duration) []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []delivery
	for i := len(r.deliveries) - 1; i >= 0 && r.deliveries[i].at >= since; i-- {
		if r.deliveries[i].node == node {
			found = append(found, r.deliveries[i])
		}
	}
	return found
}

// anyStrike reports whether a fault that meets the condition was in effect between two times.
func (r *recording) anyStrike(from, until time.Duration, meets func(strike) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.strikeIn(from, until, meets)
}

// strikeIn is anyStrike for callers that hold the lock.
func (r *recording) strikeIn(from, until time.Duration, meets func(strike) bool) bool {
	return slices.ContainsFunc(r.strikes, func(s strike) bool { return s.from <= until && s.until >= from && meets(s) })
}

// witness records a process's writes to the store. It is below the faults, so that it sees what is applied.
type witness struct {
	store.Store

	life *life
}

// Unwrap is used by store.As.
func (s *witness) Unwrap() store.Store { return s.Store }

// Finish records the applied outcomes. The recording is locked during the call, so that events that follow from an
// outcome are recorded after it.
func (s *witness) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	applied, answers, err := s.finish(ctx, now, items)
	for i := range applied {
		s.life.node.world.oracle.wrote(&applied[i])
	}
	return answers, err
}

func (s *witness) finish(ctx context.Context, now timer.Millis, items []store.Finish) (applied []finish, answers []error, err error) {
	r := s.life.node.world.recording
	r.mu.Lock()
	defer r.mu.Unlock()
	checks := make([]store.Check, len(items))
	for i := range items {
		checks[i] = store.Check{Ref: items[i].Ref, DueAt: items[i].DueAt}
	}
	before, err := s.Store.Current(ctx, checks)
	if err != nil {
		return nil, nil, err
	}
	answers, err = s.Store.Finish(ctx, now, items)
	if err != nil {
		return nil, nil, err
	}
	for i := range items {
		if answers[i] == nil {
			applied = append(applied, finish{Finish: items[i], at: r.now(), now: now, before: before[i].Timer})
		}
	}
	r.finishes = append(r.finishes, applied...)
	s.life.node.world.quotas.count(ctx)
	return applied, answers, nil
}

// Write counts the pending timers after each write.
func (s *witness) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	written, err := s.Store.Write(ctx, now, ops)
	s.wrote(ctx, ops, written)
	return written, err
}

// WriteAt implements store.Positions.
func (s *witness) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, move store.Move) ([]store.Written, error) {
	positions, _ := store.As[store.Positions](s.Store)
	written, err := positions.WriteAt(ctx, now, ops, move)
	s.wrote(ctx, ops, written)
	return written, err
}

// Position implements store.Positions.
func (s *witness) Position(ctx context.Context, topic string, partition int) (store.Position, error) {
	positions, _ := store.As[store.Positions](s.Store)
	return positions.Position(ctx, topic, partition)
}

// wrote records the operations that were applied.
func (s *witness) wrote(ctx context.Context, ops []store.Op, written []store.Written) {
	w := s.life.node.world
	w.oracle.resumed(ops, written)
	w.schedules.wrote(ops, written)
	w.locals.wrote(s.life, ops, written)
	w.quotas.count(ctx)
}

// UpdateNamespace passes the versions of time zone databases that are recorded.
func (s *witness) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	recorded, err := s.Store.UpdateNamespace(ctx, ns)
	if err == nil {
		s.life.node.world.locals.recorded(ctx, s.life, &recorded)
	}
	return recorded, err
}

// violations checks the whole life.
func (r *recording) violations(o *oracle) []Violation {
	p, seen := o.world.plan, o.seen
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(
		r.noticesAreTrue(), r.parkedAfterEnoughStarts(seen), r.sweepsDoNotAmplify(), r.deliveriesRepeatForAReason(o),
		r.retriesFollowThePolicy(seen), r.delaysAreJittered(seen), r.rowsKeepThePlan(o), r.postponementsAreShort(p),
		r.attemptsAreCalled(p), r.deadIsAnnounced(),
	)
}

// announced reports whether there was an event for a dead or parked timer.
func (r *recording) announced(id string, generation timer.Generation, status timer.Status) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.notices, func(n notice) bool {
		return n.TimerID == id && n.Generation == generation.String() && n.Status == status
	})
}
