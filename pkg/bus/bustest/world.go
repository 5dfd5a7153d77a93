package bustest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

var (
	ordered = bus.Spec{Topic: bus.Commands, Group: "ingest", Mode: bus.Ordered}
	live    = bus.Spec{Topic: bus.Shards, Group: "scheduler", Mode: bus.Live}
	queue   = bus.Spec{Topic: bus.Due, Group: "dispatcher", Mode: bus.Queue}
)

// world is the recorder of one check: the bus, and all events on it in one order.
type world struct {
	T
	sys System

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each event
	clock   int           // counts events
}

func newWorld(t T, sys System) *world {
	sys.AckWait = cmp.Or(sys.AckWait, bus.AckWait)
	return &world{T: t, sys: sys, changed: make(chan struct{})}
}

// note runs change as one event.
func (w *world) note(change func(at int)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock++
	change(w.clock)
	close(w.changed)
	w.changed = make(chan struct{})
}

// holds waits up to d until cond is true. It evaluates cond under w.mu after every event.
func (w *world) holds(d time.Duration, cond func() bool) bool {
	timeout := time.NewTimer(d)
	defer timeout.Stop()
	for {
		w.mu.Lock()
		ok, changed := cond(), w.changed
		w.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-timeout.C:
			return false
		}
	}
}

// await fails the check unless cond becomes true within Patience.
func (w *world) await(what string, cond func() bool) {
	w.Helper()
	w.awaitWithin(0, what, cond)
}

// awaitWithin is await with the extra time that the contract allows.
func (w *world) awaitWithin(extra time.Duration, what string, cond func() bool) {
	w.Helper()
	if !w.holds(extra+w.sys.Patience, cond) {
		w.Fatalf("did not happen: %s", what)
	}
}

// never fails the check if cond becomes true within Settle.
func (w *world) never(what string, cond func() bool) {
	w.Helper()
	if w.holds(w.sys.Settle, cond) {
		w.Fatalf("must not happen: %s", what)
	}
}

// poll is await for a condition that no event signals, such as a floor.
func (w *world) poll(what string, cond func() error) {
	w.Helper()
	w.pollWithin(0, what, cond)
}

// pollWithin is poll with the extra time that the contract allows.
func (w *world) pollWithin(extra time.Duration, what string, cond func() error) {
	w.Helper()
	deadline := time.Now().Add(extra + w.sys.Patience)
	for {
		err := cond()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("did not happen: %s: %v", what, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// always fails the check if cond fails at any time within Settle.
func (w *world) always(what string, cond func() error) {
	w.Helper()
	for deadline := time.Now().Add(w.sys.Settle); time.Now().Before(deadline); time.Sleep(w.sys.Settle / 20) {
		if err := cond(); err != nil {
			w.Fatalf("did not stay so: %s: %v", what, err)
		}
	}
}

// member is one process.
type member struct {
	Member
	w *world
}

func (w *world) join() *member {
	w.Helper()
	return w.adopt(w.sys.Join(w.T))
}

func (w *world) adopt(m Member) *member {
	w.Cleanup(func() {
		if err := m.Bus.Close(); err != nil {
			w.Logf("close at the end: %v", err)
		}
	})
	return &member{Member: m, w: w}
}

// publish sends one message for each body to the partition, with a key derived from the partition, and returns the
// positions.
func (m *member) publish(topic bus.Topic, p shard.Partition, bodies ...string) []bus.Position {
	m.w.Helper()
	messages := make([]bus.Message, len(bodies))
	for i, body := range bodies {
		messages[i] = bus.Message{Partition: p, Key: fmt.Sprintf("key-%d", p), Body: []byte(body)}
	}
	positions, err := m.Bus.Publish(m.w.Context(), topic, messages...)
	if err != nil {
		m.w.Fatalf("publish to %s: %v", topic, err)
	}
	if len(positions) != len(messages) {
		m.w.Fatalf("publish to %s: %d positions for %d messages", topic, len(positions), len(messages))
	}
	return positions
}

// behaviour defines what a consumer under test does; nil functions do nothing.
type behaviour struct {
	ack     bool // acknowledge each delivery immediately
	open    func(ctx context.Context, p shard.Partition) error
	deliver func(ctx context.Context, d *bus.Delivery) error
	close   func(ctx context.Context, p shard.Partition, cause error)
}

// consumer is one Consume call and its recorded events.
type consumer struct {
	w      *world
	spec   bus.Spec
	does   behaviour
	cancel context.CancelFunc

	// Guarded by w.mu.
	sessions []*session
	all      []*bus.Delivery
	gaps     []bus.Gap
	times    []time.Time // arrival times of all
	returned bool
	err      error
}

// session is one assignment. Times are values of the world's clock; 0 means not yet.
type session struct {
	c         *consumer
	p         shard.Partition
	ctx       context.Context
	openAt    int // open was called
	closingAt int // Close was called
	closedAt  int // Close returned
	cause     error
	ctxCause  error // the cause of the session's ctx when Close was called
	got       []*bus.Delivery
}

// consume starts a Consume and stops it at the end of the check, if it still runs.
func (m *member) consume(spec bus.Spec, does behaviour) *consumer {
	ctx, cancel := context.WithCancel(context.Background())
	c := &consumer{w: m.w, spec: spec, does: does, cancel: cancel}
	go func() {
		err := m.Bus.Consume(ctx, spec, c.open)
		m.w.note(func(int) { c.returned, c.err = true, err })
	}()
	m.w.Cleanup(func() {
		cancel()
		if !m.w.holds(m.w.sys.Patience, func() bool { return c.returned }) {
			m.w.Errorf("Consume of %s did not return after its context had ended", spec.Topic)
		}
	})
	return c
}

// stop ends the Consume gracefully and waits until it has returned.
func (c *consumer) stop() {
	c.w.Helper()
	c.cancel()
	c.w.await("Consume returns after its context has ended", func() bool { return c.returned })
	if c.err != nil {
		c.w.Fatalf("Consume returned %v after its context had ended, want nil", c.err)
	}
}

func (c *consumer) open(ctx context.Context, p shard.Partition) (bus.Session, error) {
	s := &session{c: c, p: p, ctx: ctx}
	c.w.note(func(at int) { s.openAt = at })
	if c.does.open != nil {
		if err := c.does.open(ctx, p); err != nil {
			return nil, err
		}
	}
	c.w.note(func(int) { c.sessions = append(c.sessions, s) })
	return s, nil
}

func (s *session) Deliver(ctx context.Context, d *bus.Delivery) error {
	if s.c.does.deliver != nil {
		if err := s.c.does.deliver(ctx, d); err != nil {
			return err
		}
	}
	s.c.w.note(func(int) {
		s.got = append(s.got, d)
		s.c.all = append(s.c.all, d)
		s.c.times = append(s.c.times, time.Now())
	})
	if s.c.does.ack {
		d.Ack()
	}
	return nil
}

// Missed implements bus.GapSession.
func (s *session) Missed(_ context.Context, gap bus.Gap) {
	s.c.w.note(func(int) { s.c.gaps = append(s.c.gaps, gap) })
}

func (s *session) Close(ctx context.Context, cause error) error {
	s.c.w.note(func(at int) { s.closingAt, s.cause, s.ctxCause = at, cause, context.Cause(s.ctx) })
	if s.c.does.close != nil {
		s.c.does.close(ctx, s.p, cause)
	}
	s.c.w.note(func(at int) { s.closedAt = at })
	return nil
}

// The functions below are called in conditions, under w.mu, unless their comments state otherwise.

// bodies lists the bodies of the consumer's deliveries, in order.
func (c *consumer) bodies() string { return join(c.all) }

func join(all []*bus.Delivery) string {
	var b []string
	for _, d := range all {
		b = append(b, string(d.Body))
	}
	return strings.Join(b, " ")
}

// owns lists the partitions of the consumer's open sessions.
func (c *consumer) owns() []shard.Partition {
	var owned []shard.Partition
	for _, s := range c.sessions {
		if s.closingAt == 0 && s.ctx.Err() == nil {
			owned = append(owned, s.p)
		}
	}
	slices.Sort(owned)
	return owned
}

// delivery returns the n-th delivery of a body, counted from 1; nil if there is none.
func (c *consumer) delivery(body string, n int) *bus.Delivery {
	for _, d := range c.all {
		if string(d.Body) == body {
			if n--; n == 0 {
				return d
			}
		}
	}
	return nil
}

// arrived returns when the n-th delivery of a body arrived.
func (c *consumer) arrived(body string, n int) time.Time {
	for i, d := range c.all {
		if string(d.Body) == body {
			if n--; n == 0 {
				return c.times[i]
			}
		}
	}
	return time.Time{}
}

// expect waits until the consumer's deliveries have exactly these bodies in this order. It locks w.mu itself.
func (c *consumer) expect(bodies ...string) {
	c.w.Helper()
	c.expectWithin(0, bodies...)
}

func (c *consumer) expectWithin(extra time.Duration, bodies ...string) {
	c.w.Helper()
	want := strings.Join(bodies, " ")
	reached := c.w.holds(extra+c.w.sys.Patience, func() bool {
		got := c.bodies()
		return got == want || len(got) > len(want)
	})
	c.w.mu.Lock()
	got := c.bodies()
	c.w.mu.Unlock()
	if !reached || got != want {
		c.w.Fatalf("%s delivered %q, want %q", c.spec.Topic, got, want)
	}
}

// expectAll waits until the consumer's deliveries have exactly these bodies, in any order, because messages of
// different partitions may overtake each other. It locks w.mu itself.
func (c *consumer) expectAll(bodies ...string) {
	c.w.Helper()
	slices.Sort(bodies)
	var got []string
	reached := c.w.holds(c.w.sys.Patience, func() bool {
		got = strings.Fields(c.bodies())
		slices.Sort(got)
		return len(got) >= len(bodies)
	})
	if !reached || !slices.Equal(got, bodies) {
		c.w.Fatalf("%s delivered %q, want %q", c.spec.Topic, got, bodies)
	}
}

// ack acknowledges the last delivery of each body. It locks w.mu itself.
func (c *consumer) ack(bodies ...string) {
	c.w.Helper()
	for _, d := range c.last(bodies...) {
		d.Ack()
	}
}

// last returns the last delivery of each body. It locks w.mu itself.
func (c *consumer) last(bodies ...string) []*bus.Delivery {
	c.w.Helper()
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	var found []*bus.Delivery
	for _, body := range bodies {
		i := len(c.all) - 1
		for i >= 0 && string(c.all[i].Body) != body {
			i--
		}
		if i < 0 {
			c.w.Fatalf("%q was not delivered", body)
		}
		found = append(found, c.all[i])
	}
	return found
}

// causeOf returns the cause of Close of the consumer's n-th session, counted from 0. It locks w.mu itself.
func (c *consumer) causeOf(n int) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return c.sessions[n].cause
}

// awaitOpen waits until the consumer owns n partitions.
func (c *consumer) awaitOpen(n int) {
	c.w.Helper()
	c.w.awaitWithin(c.w.sys.LeaseTTL, fmt.Sprintf("%d sessions of %s are open", n, c.spec.Topic),
		func() bool { return len(c.owns()) == n })
}

// numbers returns the bodies from..to.
func numbers(from, to int) []string {
	var n []string
	for i := from; i <= to; i++ {
		n = append(n, fmt.Sprint(i))
	}
	return n
}

// floor returns one partition's floor.
func (m *member) floor(topic bus.Topic, group string, p shard.Partition) bus.Floor {
	m.w.Helper()
	floors, err := m.Bus.Floor(m.w.Context(), topic, group)
	if err != nil {
		m.w.Fatalf("floor of %s: %v", topic, err)
	}
	if len(floors) != m.Bus.Partitions() {
		m.w.Fatalf("floor of %s has %d entries for %d partitions", topic, len(floors), m.Bus.Partitions())
	}
	return floors[p]
}

// awaitFloor waits until a floor's Floor and Depth have these values; a nil position means End.
func (m *member) awaitFloor(topic bus.Topic, group string, p shard.Partition, at *bus.Position, depth int) {
	m.w.Helper()
	m.w.poll(fmt.Sprintf("the floor of %s partition %d", topic, p), func() error {
		return floorIs(m.floor(topic, group, p), at, depth)
	})
}

func floorIs(f bus.Floor, at *bus.Position, depth int) error {
	want := f.End
	if at != nil {
		want = *at
	}
	if f.Floor != want || f.Depth != depth {
		return fmt.Errorf("got %+v, want floor %+v and depth %d", f, want, depth)
	}
	return nil
}
