package sim_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/sim"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// planted changes, each of which the oracle must notice by one of the given rules. Other violations do not count. They
// are made in the configuration of the services and in their dependencies: store, bus, revisions or numbers. Changes of
// the services' code are patches (e2e/mutants/sim-*.patch, with SIM_RULES).
var planted = []struct {
	name   string
	rules  []string
	change func() func(*sim.Configs)
}{
	{"no sweep", []string{"stuck", "lost", "late"}, always(func(c *sim.Configs) { c.Scheduler.Sweep = 1000 * time.Hour })},
	// A missing row is still found missing; events of states that have been replaced are delivered.
	{"no row check", []string{"duplicate", "superseded"}, always(func(c *sim.Configs) {
		c.Dispatcher.Store = &unchecked{c.Dispatcher.Store}
	})},
	{"Finish without compare-and-set", []string{"lost"}, always(func(c *sim.Configs) {
		c.Dispatcher.Store = &unguarded{c.Dispatcher.Store}
	})},
	// If an older state has the same number, receivers and the bus take the new one for it.
	{"counter revisions", []string{"webhook-id", "prompt", "late"}, always(func(c *sim.Configs) {
		zero := func() timer.Millis { return 0 }
		counter := timer.NewRevisions(zero, func() uint64 { return 0 })
		c.Ingest.Revisions, c.Dispatcher.Revisions = counter, counter
	})},
	{"long bound of five seconds", []string{"amplified"}, always(func(c *sim.Configs) {
		c.Scheduler.LongBound = 5 * time.Second
	})},
	{"no margin before sweeps", []string{"late"}, always(func(c *sim.Configs) { c.Scheduler.SweepMargin = time.Millisecond })},
	{"cursor-based sweep", []string{"stuck", "lost", "late"}, cursors},
	{"unfenced Advance", []string{"fence"}, forged(func(f *forger) { f.advance = true })},
	{"unfenced Due", []string{"fence"}, forged(func(f *forger) { f.due = true })},
	{"unfenced Overdue", []string{"fence"}, forged(func(f *forger) { f.overdue = true })},
	// Claims differ only by owner.
	{"claims without versions", []string{"fence"}, forged(func(f *forger) { f.oneVersion, f.advance, f.due = true, true, true })},
	{"no slack", []string{"slack"}, always(func(c *sim.Configs) { c.Scheduler.Slack = time.Millisecond })},
	{"watermarks up to the slack, read or not", []string{"range"}, always(func(c *sim.Configs) {
		c.Scheduler.Store = &hasty{Shards: c.Scheduler.Store}
	})},
	{"watermarks up to R, published or not", []string{"prefix"}, always(func(c *sim.Configs) {
		c.Scheduler.Store = &hasty{Shards: c.Scheduler.Store, read: map[store.Claim]store.Key{}}
	})},
	{"claims released without P", []string{"released"}, always(func(c *sim.Configs) {
		c.Scheduler.Store = &silent{c.Scheduler.Store}
	})},
	{"commands applied without their position", []string{"twice"}, always(func(c *sim.Configs) { c.Ingest.Positions = nil })},
	{"epochs of the due queue ignored", []string{"late", "stuck"}, always(func(c *sim.Configs) {
		c.Scheduler.Bus = &oneEpoch{c.Scheduler.Bus}
	})},
	{"dead events of writes that missed", []string{"outbox"}, always(func(c *sim.Configs) {
		c.Dispatcher.Store = &deadAnyway{c.Dispatcher.Store}
	})},
	{"parked events without a write", []string{"outbox"}, always(func(c *sim.Configs) {
		c.Dispatcher.Store = &parkedUnwritten{c.Dispatcher.Store}
	})},
	{"late answers for timers that are far from due", []string{"needless"}, always(func(c *sim.Configs) {
		c.Ingest.ClockBound = 3 * time.Second
	})},
	{"answers of the store dropped", []string{"needless"}, always(func(c *sim.Configs) {
		c.Ingest.Store = &deafWrites{Store: c.Ingest.Store}
	})},
	{"commands written twice", []string{"needless"}, always(func(c *sim.Configs) {
		c.Ingest.Positions = &deafPositions{Positions: c.Ingest.Positions}
	})},
	{"parked after three starts", []string{"starts"}, always(func(c *sim.Configs) { c.Dispatcher.ParkAfter = 3 })},
	{"every other start not counted", []string{"starts"}, func() func(*sim.Configs) {
		var counts atomic.Int64
		return func(c *sim.Configs) { c.Dispatcher.Store = &forgetful{c.Dispatcher.Store, &counts} }
	}},
	{"every other start with a lease not counted", []string{"starts"}, func() func(*sim.Configs) {
		var counts atomic.Int64
		return func(c *sim.Configs) { c.Dispatcher.Store = &forgetfulLeases{c.Dispatcher.Store, &counts} }
	}},
	{"a pause before starts that are made alone", []string{"prompt"}, always(func(c *sim.Configs) {
		c.Dispatcher.Store = &quieting{Store: c.Dispatcher.Store, turn: make(chan struct{}, 1)}
	})},
	// The two rules about repetitions need a crash, by a poison timer or a fault.
	{"messages of a process that crashed given to two others", []string{"duplicate"}, func() func(*sim.Configs) {
		var called sync.Map
		return func(c *sim.Configs) {
			c.Dispatcher.Bus = &generous{c.Dispatcher.Bus, &called}
			c.Dispatcher.Caller = &noting{c.Dispatcher.Caller, &called}
		}
	}},
	{"rows read once for each state", []string{"duplicate"}, func() func(*sim.Configs) {
		var rows sync.Map
		return func(c *sim.Configs) { c.Dispatcher.Store = &remembering{c.Dispatcher.Store, &rows} }
	}},
	{"no jitter", []string{"jitter"}, always(func(c *sim.Configs) {
		c.Dispatcher.Random = func() uint64 { return 1 << 63 }
	})},
	{"constant backoff", []string{"backoff"}, misread(func(t *timer.Timer) { t.Retry.BackoffMultiplier = 1 })},
	{"backoff and Retry-After without a cap", []string{"backoff"}, misread(func(t *timer.Timer) { t.Retry.MaxInterval = time.Hour })},
	{"Retry-After ignored", []string{"backoff"}, always(func(c *sim.Configs) {
		c.Dispatcher.Caller = &impatient{c.Dispatcher.Caller}
	})},
	{"backoff from the beginning of the attempt", []string{"finished", "backoff"}, always(func(c *sim.Configs) {
		c.Dispatcher.Store = &early{c.Dispatcher.Store}
	})},
	{"retries at another time than results say", []string{"planned"}, always(func(c *sim.Configs) {
		c.Dispatcher.Store = &tardy{c.Dispatcher.Store}
	})},
	{"maxAttemptsDuration ignored", []string{"history", "untrue"}, misread(func(t *timer.Timer) { t.Retry.MaxAttemptsDuration = 0 })},
	{"maxAttemptsDuration from the planned time", []string{"history", "untrue"}, misread(func(t *timer.Timer) {
		if t.Retry.MaxAttemptsDuration > 0 {
			t.Retry.MaxAttemptsDuration += t.PlannedAt.Sub(t.ExecuteAt)
		}
	})},
	{"postponements of a dead host without an attempt", []string{"postponed"}, misread(func(t *timer.Timer) { t.PlannedAt = t.DueAt })},
	{"circuits that open at once", []string{"uncalled"}, always(func(c *sim.Configs) { c.Dispatcher.CircuitAfter = 1 })},
	{"cut-off processes keep their work", []string{"cut"}, always(func(c *sim.Configs) {
		c.Scheduler.Reach, c.Dispatcher.Reach = nil, nil
	})},
	// All services use the wall clock, and do not wait until a clock is trusted.
	{"wall clocks", []string{"clocks"}, always(func(c *sim.Configs) {
		c.Ingest.Clock, c.Scheduler.Clock, c.Dispatcher.Clock = c.Wall, c.Wall, c.Wall
		c.Ingest.StoreClock, c.Scheduler.StoreClock, c.Dispatcher.StoreClock = nil, nil, nil
	})},
	{"partitions kept while the clock is not trusted", []string{"clocks", "late", "stuck", "lost"}, always(func(c *sim.Configs) { c.Scheduler.StoreClock = nil })},
	{"deliveries while the clock is not trusted", []string{"far early"}, always(func(c *sim.Configs) {
		c.Scheduler.StoreClock, c.Dispatcher.StoreClock = nil, nil
	})},
	{"answers in time while the clock is not trusted", []string{"in time"}, always(func(c *sim.Configs) { c.Ingest.StoreClock = nil })},
	{"events of the earlier release refused", []string{"stuck", "lost", "late"}, refusing(bus.Due, func(size int) bool { return size < dueSize })},
	{"events with more fields refused", []string{"stuck", "lost", "late"}, refusing(bus.Due, func(size int) bool { return size > dueSize })},
	{"hints of the earlier release refused", []string{"prompt", "fair"}, refusing(bus.Shards, func(size int) bool { return size < hintSize })},
	{"deliveries cut off by a stop", []string{"duplicate"}, always(func(c *sim.Configs) { c.Dispatcher.Drain = time.Millisecond })},
	{"results published once, whatever the bus answers", []string{"untold"}, always(func(c *sim.Configs) {
		c.Dispatcher.Bus = &careless{c.Dispatcher.Bus}
	})},
}

func always(change func(*sim.Configs)) func() func(*sim.Configs) {
	return func() func(*sim.Configs) { return change }
}

func TestPlantedChangesAreCaught(t *testing.T) {
	most := lives().search
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			others := map[string]int{}
			for seed := range uint64(most) {
				plan := sim.Draw(seed)
				for _, v := range sim.Run(t, &plan, sim.Options{Change: p.change()}).Violations {
					if slices.Contains(p.rules, v.Rule) {
						t.Logf("caught after %d seeds: %v", seed+1, v)
						return
					}
					others[v.Rule]++
				}
			}
			if testing.Short() {
				t.Skipf("not caught by %v in %d seeds; without -short more are played", p.rules, most)
			}
			t.Errorf("not caught by %v in %d seeds; violations of other rules: %v", p.rules, most, others)
		})
	}
}

// TestASeedReproduces runs failing lives repeatedly.
func TestASeedReproduces(t *testing.T) {
	many, times := lives().failing, lives().times
	change := planted[0].change
	found, again := 0, 0
	for seed := uint64(0); found < many && seed < 500; seed++ {
		plan := sim.Draw(seed)
		if len(sim.Run(t, &plan, sim.Options{Change: change()}).Violations) == 0 {
			continue
		}
		found++
		for range times {
			if len(sim.Run(t, &plan, sim.Options{Change: change()}).Violations) > 0 {
				again++
			}
		}
	}
	t.Logf("%d failing seeds, played %d times each, failed again %d times of %d (goroutines shuffled: %v)",
		found, times, again, found*times, shuffled)
	if found == 0 || !shuffled && again < found*times*9/10 {
		t.Error("a failing seed must fail again, near certainly")
	}
}

// careless treats every result as published.
type careless struct{ bus.Bus }

func (c *careless) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	positions, err := c.Bus.Publish(ctx, topic, messages...)
	if topic == bus.Results {
		return positions, nil
	}
	return positions, err
}

// The sizes of the internal messages of the present release.
var dueSize, hintSize = len(event.MarshalDue(event.Due{})), len(event.MarshalHint(event.Hint{}))

// refusing drops the messages of an internal topic that have certain sizes, in processes of the present release.
func refusing(topic bus.Topic, sizes func(size int) bool) func() func(*sim.Configs) {
	return always(func(c *sim.Configs) {
		if c.Release != sim.Present {
			return
		}
		c.Dispatcher.Bus = &refuser{c.Dispatcher.Bus, topic, sizes}
		c.Scheduler.Bus = &refuser{c.Scheduler.Bus, topic, sizes}
	})
}

type refuser struct {
	bus.Bus

	topic bus.Topic
	sizes func(size int) bool
}

func (r *refuser) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	if spec.Topic != r.topic {
		return r.Bus.Consume(ctx, spec, open)
	}
	return r.Bus.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		session, err := open(ctx, p)
		return &refusingSession{session, r.sizes}, err
	})
}

type refusingSession struct {
	bus.Session

	sizes func(size int) bool
}

func (s *refusingSession) Deliver(ctx context.Context, m *bus.Delivery) error {
	if s.sizes(len(m.Body)) {
		m.Ack()
		return nil
	}
	return s.Session.Deliver(ctx, m)
}

// generous returns redelivered messages of timers that were called before to the bus, and delivers them nevertheless.
type generous struct {
	bus.Bus

	called *sync.Map // timer.UUID
}

func (g *generous) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return g.Bus.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		session, err := open(ctx, p)
		return &generousSession{session, g.called}, err
	})
}

type generousSession struct {
	bus.Session

	called *sync.Map
}

func (s *generousSession) Deliver(ctx context.Context, m *bus.Delivery) error {
	if due, err := event.UnmarshalDue(m.Body); err == nil && m.Deliveries == 2 {
		if _, called := s.called.Load(due.UUID); called {
			defer m.Nack(0)
		}
	}
	return s.Session.Deliver(ctx, m)
}

// noting records the timers that were called.
type noting struct {
	dispatcher.Caller

	called *sync.Map
}

func (n *noting) Call(ctx context.Context, r dispatcher.Request) dispatcher.Answer {
	n.called.Store(r.Timer.UUID, true)
	return n.Caller.Call(ctx, r)
}

// remembering returns the first answer for a state in every later read.
type remembering struct {
	dispatcher.Store

	rows *sync.Map // *store.Checked by store.Check
}

func (r *remembering) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	rows, err := r.Store.Current(ctx, checks)
	for i := range rows {
		now := rows[i]
		first, _ := r.rows.LoadOrStore(store.Check{Ref: checks[i].Ref, Revision: checks[i].Revision}, &now)
		if first := first.(*store.Checked); first.Matches(checks[i].Revision) { //nolint:errcheck // the map holds one type.
			rows[i] = *first
		}
	}
	return rows, err
}

// oneEpoch hides epochs from positions.
type oneEpoch struct{ bus.Bus }

func (l *oneEpoch) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	positions, err := l.Bus.Publish(ctx, topic, messages...)
	for i := range positions {
		positions[i].Epoch = 1
	}
	return positions, err
}

func (l *oneEpoch) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	floors, err := l.Bus.Floor(ctx, topic, group)
	for i := range floors {
		floors[i].Floor.Epoch, floors[i].End.Epoch = 1, 1
	}
	return floors, err
}

// unchecked answers that every row is in the requested state.
type unchecked struct{ dispatcher.Store }

func (u *unchecked) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	rows, err := u.Store.Current(ctx, checks)
	for i := range rows {
		if rows[i].Found {
			rows[i].Timer.Revision = checks[i].Revision
		}
	}
	return rows, err
}

// unguarded applies outcomes to the present state of the row.
type unguarded struct{ dispatcher.Store }

func (u *unguarded) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	checks := make([]store.Check, len(items))
	for i := range items {
		checks[i] = store.Check{Ref: items[i].Ref}
	}
	rows, err := u.Store.Current(ctx, checks)
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i].If = store.Guard{Revision: rows[i].Timer.Revision}
	}
	return u.Store.Finish(ctx, now, items)
}

// cursors makes sweeps continue where the last one of their process ended.
func cursors() func(*sim.Configs) {
	return func(c *sim.Configs) {
		c.Scheduler.Store = &cursor{Shards: c.Scheduler.Store, at: map[shard.ID]store.Key{}}
	}
}

type cursor struct {
	store.Shards

	mu sync.Mutex
	at map[shard.ID]store.Key
}

func (c *cursor) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	c.mu.Lock()
	for i := range q.Shards {
		if at, ok := c.at[q.Shards[i].Claim.Shard]; ok && at.After(q.Shards[i].From) {
			q.Shards[i].From = at
		}
	}
	c.mu.Unlock()
	answer, err := c.Shards.Overdue(ctx, q)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range answer {
		if n := len(answer[i].Rows); n > 0 {
			c.at[q.Shards[i].Claim.Shard] = answer[i].Rows[n-1].Key()
		}
	}
	return answer, err
}
