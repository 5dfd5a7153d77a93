package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// giveUpAfter is how long a store may leave calls unanswered before it counts as lost. It doubles each time the
	// store is lost within calmAfter, up to giveUpMost.
	giveUpAfter = 2 * time.Second
	giveUpMost  = 30 * time.Second
	calmAfter   = time.Minute
	// slowAfter is how long a call may take before the store is probed.
	slowAfter = 500 * time.Millisecond
	// probeEvery is the shortest time between two probes, and probeTimeout bounds each of them.
	probeEvery   = 250 * time.Millisecond
	probeTimeout = time.Second
)

// Reach is a decorator that forwards calls to a store and detects whether this process can reach it. The store is lost
// when it has not answered for two seconds although there were calls. Reach then cancels running calls, and later calls
// fail with ErrUnavailable, until a probe (Ping) is answered.
//
// Reach probes only while a call is slow and after one has failed, because some stores charge for reads. So a process
// that makes no calls does not notice that it cannot reach the store.
//
// Reach watches only the calls of schedulers and dispatchers: Shards, Outcomes without Rearm and Forget, and reads of Namespaces.
// It forwards other calls without cancelling or refusing them. A nil *Reach represents a store that is never lost.
type Reach struct {
	Store

	elapsed func() time.Duration // monotonic
	logger  *slog.Logger
	wake    chan struct{} // a token: Run must check the state

	mu sync.Mutex
	// life is cancelled when the store is lost. found is closed when it is reachable again.
	life  context.Context //nolint:containedctx // it ends when the store is lost.
	end   context.CancelFunc
	found chan struct{}
	lost  bool
	// running is the number of watched calls. unanswered: since the store last answered, a call has begun, at since or
	// later. failed: one of these calls has failed.
	running            int
	unanswered, failed bool
	since              time.Duration
	awake              bool // Run checks the state later without a token
	probedAt           time.Duration
	patience           time.Duration // giveUpAfter or more
	changedAt          time.Duration // when the store was lost or found
}

// NewReach returns a Reach of a store. Run sends the probes.
func NewReach(s Store, logger *slog.Logger) *Reach {
	watch := timer.NewStopwatch()
	r := &Reach{
		Store: s, elapsed: watch.Elapsed, logger: logger.With("component", "store"), wake: make(chan struct{}, 1),
		found: make(chan struct{}), probedAt: -probeEvery, patience: giveUpAfter,
	}
	r.life, r.end = context.WithCancel(context.Background())
	close(r.found)
	return r
}

// Unwrap returns the store, for As.
func (r *Reach) Unwrap() Store { return r.Store }

// Next waits until the store is not lost or ctx ends, and returns a channel that is closed when it is lost.
func (r *Reach) Next(ctx context.Context) <-chan struct{} {
	r.Await(ctx)
	return r.Lost()
}

// Lost returns a channel that is closed when the store is lost. It is closed already if the store is lost now.
func (r *Reach) Lost() <-chan struct{} {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life.Done()
}

// Await waits until the store is not lost. It returns false if ctx ends first.
func (r *Reach) Await(ctx context.Context) bool {
	if r == nil {
		return ctx.Err() == nil
	}
	r.mu.Lock()
	found := r.found
	r.mu.Unlock()
	select {
	case <-found:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Run probes the store when necessary until ctx ends, and returns nil.
func (r *Reach) Run(ctx context.Context) error {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		probe, wait := r.look()
		if probe > 0 {
			r.probe(ctx, probe)
			continue
		}
		alarm.Stop()
		if wait > 0 {
			alarm.Reset(wait)
		}
		select {
		case <-alarm.C:
		case <-r.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// look marks the store as lost if its time is over. If a probe is due, it returns the probe's timeout. Otherwise it
// returns the time after which to look again; 0 means at the next token.
func (r *Reach) look() (probe, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.elapsed()
	if !r.lost && now-r.changedAt >= calmAfter {
		r.patience = giveUpAfter
	}
	if !r.lost && r.unanswered && now-r.since >= r.patience {
		r.lose(now)
	}
	r.awake = r.unanswered || r.lost
	if !r.awake {
		return 0, 0
	}
	at, limit := r.since+slowAfter, now+probeTimeout
	if r.failed || r.lost {
		at = now
	}
	at = max(at, r.probedAt+probeEvery)
	if !r.lost {
		limit = min(limit, r.since+r.patience)
	}
	if at > now {
		return 0, min(at, limit) - now
	}
	return limit - now, 0
}

func (r *Reach) probe(ctx context.Context, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_ = r.Ping(ctx) // Ping records the answer
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probedAt = r.elapsed()
}

// Ping implements Cluster. It calls the store even if that is lost.
func (r *Reach) Ping(ctx context.Context) error {
	r.mu.Lock()
	r.begin()
	r.mu.Unlock()
	err := r.Store.Ping(ctx)
	r.done(ctx, answers(err))
	return err
}

// Time implements Cluster. It calls the store even if that is lost. Its answer also shows that the store is reachable.
func (r *Reach) Time(ctx context.Context) (Instant, error) {
	r.mu.Lock()
	r.begin()
	r.mu.Unlock()
	now, err := r.Store.Time(ctx)
	r.done(ctx, answers(err))
	return now, err
}

// begin records the begin of a call. The caller holds the lock.
func (r *Reach) begin() {
	r.running++
	if r.unanswered {
		return
	}
	r.unanswered, r.since = true, r.elapsed()
	if !r.awake {
		r.awake = true
		r.signal()
	}
}

// done records the end of a call. A call that its caller has cancelled does not count as a failure.
func (r *Reach) done(ctx context.Context, answered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	switch {
	case answered:
		r.unanswered, r.failed, r.since = r.running > 0, false, r.elapsed()
		if r.lost {
			r.find(r.since)
		}
	case !r.failed && !errors.Is(ctx.Err(), context.Canceled):
		r.failed = true
		r.signal()
	}
}

func (r *Reach) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// lose marks the store as lost and cancels the running calls. The caller holds the lock.
func (r *Reach) lose(now time.Duration) {
	r.logger.Warn("store unreachable, giving up partitions and messages", "for", now-r.since)
	r.patience = min(2*r.patience, giveUpMost)
	r.lost, r.changedAt, r.found = true, now, make(chan struct{})
	r.end()
}

// find marks the store as reachable. The caller holds the lock.
func (r *Reach) find(now time.Duration) {
	r.logger.Info("store reachable again, resuming work", "after", now-r.changedAt)
	r.lost, r.changedAt = false, now
	r.life, r.end = context.WithCancel(context.Background())
	close(r.found)
}

// answers reports whether a store that returned the error has answered.
func answers(err error) bool {
	return errors.Is(err, ErrFull) ||
		!IsTransient(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// anyAnswers reports whether the store has answered a call that has an error for each item.
func anyAnswers[T any](items []T, errOf func(T) error) bool {
	return len(items) == 0 || slices.ContainsFunc(items, func(item T) bool { return answers(errOf(item)) })
}

// errLost is the error of calls while the store is lost.
var errLost = fmt.Errorf("%w: it does not answer", ErrUnavailable)

// call is a watched call of the store.
type call[T any] struct {
	// cut is the error of a call that Reach cancelled because the store was lost.
	cut error
	// answered reports whether a result without an error is an answer of the store; nil means that it is.
	answered func(T) bool
	do       func(ctx context.Context) (T, error)
}

func through[T any](ctx context.Context, r *Reach, c call[T]) (T, error) {
	r.mu.Lock()
	if r.lost {
		r.mu.Unlock()
		var none T
		return none, errLost
	}
	life := r.life
	r.begin()
	r.mu.Unlock()
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	out, err := c.do(limited)
	answered := answers(err)
	if err == nil && c.answered != nil {
		answered = c.answered(out)
	}
	r.done(ctx, answered)
	if err != nil && !answered && !IsTransient(err) && life.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", c.cut, err)
	}
	return out, err
}

func read[T any](ctx context.Context, r *Reach, do func(ctx context.Context) (T, error)) (T, error) {
	return through(ctx, r, call[T]{cut: ErrUnavailable, do: do})
}

func batch[T any](
	ctx context.Context, r *Reach, items int, cut error, errOf func(T) error, do func(ctx context.Context) ([]T, error),
) ([]T, error) {
	if items == 0 {
		return do(ctx) // there is no request to the store
	}
	return through(ctx, r, call[[]T]{
		cut: cut, do: do, answered: func(out []T) bool { return anyAnswers(out, errOf) },
	})
}

func itself(err error) error { return err }

// Claim implements Shards.
func (r *Reach) Claim(ctx context.Context, now timer.Millis, owner Owner, shards []shard.ID) ([]Claimed, error) {
	return batch(ctx, r, len(shards), ErrOutcomeUnknown, func(c Claimed) error { return c.Err },
		func(ctx context.Context) ([]Claimed, error) { return r.Store.Claim(ctx, now, owner, shards) })
}

// Release implements Shards.
func (r *Reach) Release(ctx context.Context, now timer.Millis, items []Release) ([]error, error) {
	return batch(ctx, r, len(items), ErrOutcomeUnknown, itself,
		func(ctx context.Context) ([]error, error) { return r.Store.Release(ctx, now, items) })
}

// Due implements Shards.
func (r *Reach) Due(ctx context.Context, q DueQuery) ([]DueShard, error) {
	return batch(ctx, r, len(q.Shards), ErrUnavailable, func(d DueShard) error { return d.Err },
		func(ctx context.Context) ([]DueShard, error) { return r.Store.Due(ctx, q) })
}

// Overdue implements Shards.
func (r *Reach) Overdue(ctx context.Context, q OverdueQuery) ([]OverdueShard, error) {
	return batch(ctx, r, len(q.Shards), ErrUnavailable, func(d OverdueShard) error { return d.Err },
		func(ctx context.Context) ([]OverdueShard, error) { return r.Store.Overdue(ctx, q) })
}

// Advance implements Shards.
func (r *Reach) Advance(ctx context.Context, now timer.Millis, items []Advance) ([]error, error) {
	return batch(ctx, r, len(items), ErrOutcomeUnknown, itself,
		func(ctx context.Context) ([]error, error) { return r.Store.Advance(ctx, now, items) })
}

// Outbox implements Shards.
func (r *Reach) Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]OutboxEntry, error) {
	return batch(ctx, r, len(shards), ErrUnavailable, func(OutboxEntry) error { return nil },
		func(ctx context.Context) ([]OutboxEntry, error) { return r.Store.Outbox(ctx, shards, before, limit) })
}

// RemoveFromOutbox implements Shards.
func (r *Reach) RemoveFromOutbox(ctx context.Context, ids []OutboxID) error {
	_, err := batch(ctx, r, len(ids), ErrOutcomeUnknown, itself,
		func(ctx context.Context) ([]error, error) { return nil, r.Store.RemoveFromOutbox(ctx, ids) })
	return err
}

// Current implements Outcomes.
func (r *Reach) Current(ctx context.Context, checks []Check) ([]Checked, error) {
	return batch(ctx, r, len(checks), ErrOutcomeUnknown, func(c Checked) error { return c.Err },
		func(ctx context.Context) ([]Checked, error) { return r.Store.Current(ctx, checks) })
}

// Finish implements Outcomes.
func (r *Reach) Finish(ctx context.Context, now timer.Millis, items []Finish) ([]error, error) {
	return batch(ctx, r, len(items), ErrOutcomeUnknown, itself,
		func(ctx context.Context) ([]error, error) { return r.Store.Finish(ctx, now, items) })
}

// Purge implements Outcomes.
func (r *Reach) Purge(ctx context.Context, now timer.Millis, limit int) (int, error) {
	return through(ctx, r, call[int]{
		cut: ErrOutcomeUnknown, do: func(ctx context.Context) (int, error) { return r.Store.Purge(ctx, now, limit) },
	})
}

// GetNamespace implements Namespaces.
func (r *Reach) GetNamespace(ctx context.Context, name string) (Namespace, error) {
	return read(ctx, r, func(ctx context.Context) (Namespace, error) { return r.Store.GetNamespace(ctx, name) })
}

// ListNamespaces implements Namespaces.
func (r *Reach) ListNamespaces(ctx context.Context, after string, limit int) (NamespacePage, error) {
	return read(ctx, r, func(ctx context.Context) (NamespacePage, error) { return r.Store.ListNamespaces(ctx, after, limit) })
}
