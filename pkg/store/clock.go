package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// confirmAfter is the time from a correction to the reading that must confirm it.
	confirmAfter = 250 * time.Millisecond
	// rereadAfter is the time between two readings while the machine's wall clock and monotonic clock disagree and no
	// reading succeeds.
	rereadAfter = 100 * time.Millisecond
	// distrustFor is how long a clock may be untrusted before its process gives up its work.
	distrustFor = 500 * time.Millisecond
	// startFor bounds how long Start reads the clock.
	startFor = 5 * time.Second
)

// errMachine is the error of a reading during which the machine's clocks jumped.
var errMachine = errors.New("the machine's clocks jumped during the reading")

// Machine reads the wall clock and the monotonic clock of a machine at the same time.
type Machine func() (wall time.Time, elapsed time.Duration)

// ThisMachine returns the clocks of this process's machine.
func ThisMachine() Machine {
	start := time.Now()
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now, now.Sub(start)
	}
}

// ClockConfig configures a Clock.
type ClockConfig struct {
	// Bound is the largest allowed difference between the clocks of two processes. Each may differ from the store's
	// clock by half of it.
	Bound time.Duration
	// Shared is set if the store serves other processes too. They can take over the work of this process, which gives
	// it up while its clock is not trusted. If Shared is not set, the store's clock is this machine's wall clock, and
	// the Clock follows a step of it immediately.
	Shared bool
	// Virtual is set if Machine is the clock of a test. It is only moved forward, and only while nothing is due. The
	// Clock follows a step of any size immediately. A step wakes those that wait for a time (Stepped). Nothing is planned
	// again, because a planned time has passed or is still in the future. Shared must not be set.
	Virtual bool
	// Machine is ThisMachine() by default.
	Machine Machine
	// Logger discards by default.
	Logger *slog.Logger
}

// Clock is the clock of a process: the store's clock, which all processes of a cluster use. Between two readings of the
// store's clock it advances with the machine's monotonic clock, so a step of the machine's wall clock does not change
// it.
//
// A Clock is trusted if it is certain to be within half the clock bound of the store's clock, according to the readings
// so far. It is not trusted
//   - before the first reading;
//   - when the possible error, from the time that readings take and from the drift since then, is larger. Each reading
//     bounds the error, and all bounds apply, so the fastest reading counts most, and slow readings do not loosen its
//     bound;
//   - when the wall clock and the monotonic clock of the machine have diverged since the last reading, because then one
//     of them was set, or the machine was suspended; the store's clock is then read immediately;
//   - after a reading of a shared store that contradicts the earlier ones has corrected the clock by more than half the
//     bound, until a second reading confirms the correction.
//
// While it is not trusted, no delivery begins and no answer promises that a delivery will not follow (I8, I15). A nil
// *Clock is always trusted.
type Clock struct {
	machine Machine
	limit   time.Duration // half the bound
	shared  bool
	virtual bool
	// follow is the largest divergence of the machine's clocks that is not a step of its wall clock.
	follow time.Duration
	logger *slog.Logger

	last atomic.Pointer[reading]
	// poked has a token when the store's clock should be read immediately.
	poked chan struct{}

	mu sync.Mutex
	// answered is closed at the next reading, and when the clock is trusted again without one; stepped at the next
	// correction by more than the limit, or step of a virtual clock; and replan when the clock is lost, or is corrected by
	// more than the limit and is not virtual.
	answered, stepped, replan chan struct{}
	// alarm runs while the clock is not trusted. When it fires, the clock is lost.
	alarm *time.Timer
	lost  bool
	ended bool // Run has returned
	// gone is closed when the clock is lost, and back when it is trusted again.
	gone, back chan struct{}
	lostAt     time.Time
	why        string // the reason, while the clock is lost
}

// NewClock returns a clock that shows the machine's wall clock until Read succeeds.
func NewClock(config ClockConfig) *Clock {
	if config.Machine == nil {
		config.Machine = ThisMachine()
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Clock{
		machine: config.Machine, limit: config.Bound / 2, shared: config.Shared, virtual: config.Virtual, follow: config.Bound / 2,
		logger: config.Logger.With("component", "clock"),
		poked:  make(chan struct{}, 1), answered: make(chan struct{}), stepped: make(chan struct{}), replan: make(chan struct{}),
		gone: make(chan struct{}), back: make(chan struct{}),
	}
	close(c.back)
	if c.virtual {
		c.follow = 0
	}
	wall, elapsed := c.machine()
	apart := wall.UnixNano() - int64(elapsed)
	c.last.Store(&reading{offset: apart, apart: apart, at: elapsed})
	return c
}

// Now returns the clock's time. It is a timer.Clock.
func (c *Clock) Now() timer.Millis {
	r, _, elapsed := c.present()
	return r.show(elapsed)
}

// Settled is Now, but first waits until the clock is trusted or lost. It is for times that are stored.
func (c *Clock) Settled() timer.Millis {
	for {
		if r, wall, elapsed := c.present(); r.trusted(wall, elapsed, c.limit) {
			return r.show(elapsed)
		}
		c.mu.Lock()
		answered, gone := c.answered, c.gone
		c.mu.Unlock()
		if c.Trusted() {
			continue
		}
		c.notice()
		select {
		case <-answered:
		case <-gone:
			return c.Now()
		}
	}
}

// Certain calls now, which must read this clock, and returns its time and whether the clock was trusted at that moment.
// A call of Trusted after now is not enough, because the clock may be corrected between the two calls.
func (c *Clock) Certain(now timer.Clock) (at timer.Millis, ok bool) {
	if c == nil {
		return now(), true
	}
	for range 3 { // now may be Settled, which waits until the clock is trusted
		before := c.last.Load()
		at = now()
		if c.Trusted() && c.last.Load() == before {
			return at, true
		}
	}
	return at, false
}

// present returns the last reading and the machine's clocks. If these have diverged, it requests another reading, or follows
// the wall clock if the store is not shared.
func (c *Clock) present() (r *reading, wall time.Time, elapsed time.Duration) {
	r = c.last.Load() // before the clocks: if another goroutine follows a step now, following it again changes nothing
	wall, elapsed = c.machine()
	if r.diverged(wall, elapsed).Abs() <= c.follow {
		return r, wall, elapsed
	}
	if c.shared || !r.read {
		c.poke()
	} else {
		c.observe(wall, elapsed, elapsed, Instant{At: timer.FromTime(wall), Within: time.Millisecond})
		r = c.last.Load()
	}
	return r, wall, elapsed
}

// Trusted reports whether the clock is trusted.
func (c *Clock) Trusted() bool {
	if c == nil {
		return true
	}
	r, wall, elapsed := c.present()
	return r.trusted(wall, elapsed, c.limit)
}

// Doubt returns why the clock is not trusted, "" if it is trusted, and by how much it may differ from the store's.
func (c *Clock) Doubt() (by time.Duration, why string) {
	if c == nil {
		return 0, ""
	}
	r, wall, elapsed := c.present()
	return r.doubt(wall, elapsed, c.limit)
}

// Read reads the store's clock. It returns the change of this clock, and how long the answer took.
func (c *Clock) Read(ctx context.Context, s Cluster) (changed, took time.Duration, err error) {
	defer c.notice()
	before, asked := c.machine()
	there, err := s.Time(ctx)
	wall, answered := c.machine()
	took = answered - asked
	if jumped := wall.Sub(before.Round(0)) - took; err == nil && (took < 0 || jumped.Abs() > c.follow) {
		c.poke()
		err = errMachine
	}
	if err != nil {
		return 0, took, fmt.Errorf("read the store's clock: %w", err)
	}
	return c.observe(wall, asked, answered, there), took, nil
}

// Start reads the store's clock until this clock is trusted, for startFor at most. It returns an error if the first
// reading fails.
func (c *Clock) Start(ctx context.Context, s Cluster) error {
	limited, cancel := context.WithTimeout(ctx, startFor)
	defer cancel()
	if _, _, err := c.Read(limited, s); err != nil {
		return err
	}
	for !c.Trusted() {
		wait, _ := c.pause(rereadAfter)
		if !timer.Sleep(limited, wait) {
			return ctx.Err()
		}
		_, _, _ = c.Read(limited, s) // if it fails, the clock stays untrusted
	}
	return nil
}

// observe corrects the clock by one reading: the store's clock showed there at some moment between asked and answered.
// The change is the smallest that is consistent with this reading and, if possible, with those before it. If the store
// is not shared, its clock is the wall clock, and this clock follows the wall clock.
func (c *Clock) observe(wall time.Time, asked, answered time.Duration, there Instant) (changed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown := there.At.Time().UnixNano()
	was := c.last.Load()
	is := &reading{
		least: shown - int64(answered), most: shown + int64(there.Within) - 1 - int64(asked),
		at: answered, apart: wall.UnixNano() - int64(answered), read: true,
		took: answered - asked, within: there.Within, number: was.number + 1,
	}
	moved := c.virtual && is.apart != was.apart
	if moved && is.apart < was.apart {
		return 0 // another goroutine has followed a later step
	}
	contradicts := was.read && !moved && !is.narrow(was, int64(was.drift(answered)), int64(c.limit))
	wanted := was.offset // the wall clock's offset before the first reading
	if !c.shared {
		wanted = is.apart
	}
	is.offset = min(max(wanted, is.least), is.most)
	// At an edge of the possible range the error may be the whole round trip; in the middle it is at most half of it.
	// If the store's clock is coarse (within > limit), the next readings narrow the range, so that a wall clock that is
	// right is not changed.
	if half := (is.most-is.least)/2 + 1; half <= int64(c.limit) && is.within <= c.limit {
		within := max(half, int64(c.limit)/2)
		is.offset = min(max(is.offset, is.most-within), is.least+within)
	}
	changed = time.Duration(is.offset - was.offset)
	stepped := was.read && (moved || changed.Abs() > c.limit)
	switch {
	case stepped && contradicts && c.shared:
		is.corrected, is.correctedAt, is.corrections = changed, answered, was.corrections+1
	case was.corrected != 0 && answered-was.correctedAt < confirmAfter:
		is.corrected, is.correctedAt, is.corrections = was.corrected, was.correctedAt, was.corrections
	}
	c.last.Store(is)
	c.answered = renew(c.answered)
	if stepped {
		c.stepped = renew(c.stepped)
	}
	if stepped && !c.virtual {
		c.replan = renew(c.replan)
	}
	return changed
}

// pause returns how long to wait before the next reading, and whether a poke ends the wait.
func (c *Clock) pause(every time.Duration) (wait time.Duration, interruptible bool) {
	wall, elapsed := c.machine()
	r := c.last.Load()
	switch {
	case r.diverged(wall, elapsed).Abs() > c.limit:
		return rereadAfter, false
	case r.corrected != 0: // each correction in a row doubles the time to the next reading
		every = min(every, confirmAfter<<min(r.corrections-1, 8))
	}
	if r.within > c.limit {
		return r.untilChange(every, elapsed, c.limit), true
	}
	return every, true
}

// Run calls read at intervals of every, and when a reading is requested, until ctx ends.
func (c *Clock) Run(ctx context.Context, every time.Duration, read func(ctx context.Context)) {
	defer c.end()
	for {
		read(ctx)
		wait, interruptible := c.pause(every)
		poked := c.poked
		if !interruptible {
			poked = nil
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-poked:
		case <-ctx.Done():
			pause.Stop()
			return
		}
		pause.Stop()
	}
}

// poke requests a reading immediately.
func (c *Clock) poke() {
	select {
	case c.poked <- struct{}{}:
		c.notice()
	default: // a reading is already requested
	}
}

// notice starts the alarm if the clock is not trusted, and stops it if it is.
func (c *Clock) notice() {
	wall, elapsed := c.machine()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	_, why := c.last.Load().doubt(wall, elapsed, c.limit)
	switch {
	case why != "" && c.alarm == nil:
		c.alarm = time.AfterFunc(distrustFor, c.lose)
	case why == "" && c.alarm != nil:
		c.alarm.Stop()
		c.alarm = nil
		c.answered = renew(c.answered)
		if c.lost {
			c.find()
		}
	}
}

// lose marks the clock as lost, so that the process gives up its work.
func (c *Clock) lose() {
	by, why := c.Doubt()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alarm == nil || c.lost || c.ended {
		return
	}
	if why == "" {
		c.alarm = nil // notice starts the next one
		c.answered = renew(c.answered)
		return
	}
	c.logger.Warn("clock: not trusted, deliveries stop", "offset", by, "bound", c.limit, "reason", why)
	c.lost, c.lostAt = true, time.Now()
	c.why = fmt.Sprintf("the clock may differ by %v from the store's, more than %v, so deliveries wait: %s",
		by.Round(time.Millisecond), c.limit, why)
	close(c.gone)
	c.back = make(chan struct{})
	if c.shared {
		c.replan = renew(c.replan)
	}
}

// find marks the clock as trusted again, so that the process takes work again. The caller holds the lock.
func (c *Clock) find() {
	c.logger.Info("clock: trusted again", "after", time.Since(c.lostAt))
	c.lost, c.why = false, ""
	close(c.back)
	c.gone = make(chan struct{})
}

// end stops the alarm and wakes callers of Settled.
func (c *Clock) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alarm != nil {
		c.alarm.Stop()
	}
	if !c.lost {
		close(c.gone)
	}
	c.ended = true
}

// renew closes a channel and returns another.
func renew(c chan struct{}) chan struct{} {
	close(c)
	return make(chan struct{})
}

// Distrusted returns the reason that /readyz reports while the clock is lost, "" otherwise.
func (c *Clock) Distrusted() string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// Lost returns a channel that is closed while the clock is lost, or when it is lost next. The clock is lost when it was
// not trusted for distrustFor. The channel is nil if the store is not shared, because then no other process could take
// over.
func (c *Clock) Lost() <-chan struct{} {
	if c == nil || !c.shared {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

// Next waits until the clock is not lost or ctx ends, and returns a channel that is closed when it is lost.
func (c *Clock) Next(ctx context.Context) <-chan struct{} {
	c.await(ctx)
	return c.Lost()
}

// NextPlan waits like Next. It returns a channel that is closed when the clock is lost or corrected by more than half
// the bound, because times that were planned by the clock are then wrong.
func (c *Clock) NextPlan(ctx context.Context) <-chan struct{} {
	if c == nil {
		return nil
	}
	for {
		c.await(ctx)
		c.mu.Lock()
		replan, lost := c.replan, c.lost && c.shared
		c.mu.Unlock()
		if !lost || ctx.Err() != nil {
			return replan
		}
	}
}

func (c *Clock) await(ctx context.Context) {
	if c == nil || !c.shared {
		return
	}
	c.mu.Lock()
	back := c.back
	c.mu.Unlock()
	select {
	case <-back:
	case <-ctx.Done():
	}
}

// Stepped returns a channel that is closed when the clock is next corrected by more than half the bound, or when a virtual
// clock moves forward.
func (c *Clock) Stepped() <-chan struct{} {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stepped
}

// VirtualStep returns a channel that is closed when a virtual clock next moves forward; nil for other clocks.
func (c *Clock) VirtualStep() <-chan struct{} {
	if c == nil || !c.virtual {
		return nil
	}
	return c.Stepped()
}

// AwaitTrust waits until the clock is trusted. It returns false if ctx ends first.
func (c *Clock) AwaitTrust(ctx context.Context) bool {
	for c != nil {
		c.mu.Lock()
		answered := c.answered
		c.mu.Unlock()
		if c.Trusted() {
			break
		}
		select {
		case <-answered:
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}
