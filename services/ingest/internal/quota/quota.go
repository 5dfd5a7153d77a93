// Package quota decides whether a namespace may create another timer.
//
// A process counts a namespace's timers in the store from time to time, and adds the timers that it has admitted since.
// So a namespace may exceed its quota for some seconds: other processes admit creates between two counts, and a create that
// was admitted before a count and is written after it is missed. A create that is written during a count may be included
// twice until the next one.
package quota

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The times between two counts of a namespace. A count that takes long is repeated after at least costFactor times its
// duration, so that the counts of one namespace use at most a twentieth of a connection.
const (
	farInterval  = 10 * time.Second // below nearPart of the quota
	nearInterval = time.Second
	nearPart     = 0.9
	costFactor   = 19
	// failedInterval is the time to the next count after one that failed.
	failedInterval = 5 * time.Second
	// countDelay is the time from the request of a count to the count, so that it contains the create that requested it.
	countDelay = 50 * time.Millisecond
)

// Name is the name of a quota, as in the settings of a namespace.
type Name string

// The quotas that Admit enforces.
const (
	MaxPending       Name = "maxPending"
	CreatesPerSecond Name = "createsPerSecond"
)

// ExceededError is the refusal of a create.
type ExceededError struct {
	Namespace string
	Quota     Name
	Limit     int
	// RetryAfter is when the next try may be admitted. It is at least a second.
	RetryAfter time.Duration
}

func (e *ExceededError) Error() string {
	if e.Quota == MaxPending {
		return fmt.Sprintf("namespace %q has as many pending timers as its quota %s of %d allows", e.Namespace, e.Quota, e.Limit)
	}
	return fmt.Sprintf("namespace %q creates more timers than its quota %s of %d allows in this process", e.Namespace, e.Quota, e.Limit)
}

// Config configures a Limiter. All fields are required.
type Config struct {
	// Count returns the number of a namespace's live timers, at most limit.
	Count func(ctx context.Context, ns store.Namespace, limit int) (int, error)
	// Counted is called with the result of every count.
	Counted func(err error)
	// Timeout bounds one count.
	Timeout time.Duration
}

// Limiter enforces the quotas of all namespaces in one process. It is safe for concurrent use.
type Limiter struct {
	cfg       Config
	wake      chan struct{}
	stopwatch timer.Stopwatch

	mu      sync.Mutex
	usages  map[string]*usage // by namespace, of those that have had a quota
	waiting []*usage          // to be counted, each once
}

// usage is what one namespace uses.
type usage struct {
	// counted and admitted are valid only for these shards and this maxPending.
	shards     shard.Block
	maxPending int
	rate       *rate.Limiter // nil without this quota
	// counted is the result of the last count, 0 before the first. admitted are the creates since that count began.
	counted, admitted int
	queued            bool            // a count is requested
	namespace         store.Namespace // to be counted, if queued
	// everCounted is set after the first count: ended is when the last one ended, took is its duration.
	everCounted bool
	ended, took time.Duration
	failed      bool
}

// New returns a Limiter. It admits creates immediately and counts while Run runs.
func New(cfg Config) *Limiter {
	return &Limiter{
		cfg: cfg, wake: make(chan struct{}, 1), stopwatch: timer.NewStopwatch(), usages: map[string]*usage{},
	}
}

// Admit admits a create in a namespace, or returns an *ExceededError. Before the first count after a start or after a change
// of MaxPending, that quota bounds only what this process admits. If a count fails, the last one stays in use.
func (l *Limiter) Admit(ns *store.Namespace) error {
	q := &ns.Settings.Quota
	if q.MaxPending == 0 && q.CreatesPerSecond == 0 {
		return nil
	}
	now := l.stopwatch.Elapsed()
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.usageOf(ns)
	if q.MaxPending > 0 {
		total := u.counted + u.admitted
		next := u.next(float64(total) >= nearPart*float64(q.MaxPending))
		if !u.queued && now >= next {
			l.queue(u, ns)
		}
		if total >= q.MaxPending {
			return exceeded(ns, MaxPending, q.MaxPending, next-now)
		}
	}
	if u.rate != nil && !u.rate.AllowN(time.UnixMilli(0).Add(now), 1) {
		return exceeded(ns, CreatesPerSecond, q.CreatesPerSecond, 0) // a second is enough at every rate
	}
	u.admitted++
	return nil
}

func exceeded(ns *store.Namespace, quota Name, limit int, wait time.Duration) error {
	return &ExceededError{Namespace: ns.Name, Quota: quota, Limit: limit, RetryAfter: max(time.Second, wait)}
}

// usageOf returns the usage of a namespace with its present settings. The caller holds the lock.
func (l *Limiter) usageOf(ns *store.Namespace) *usage {
	u := l.usages[ns.Name]
	maxPending, perSecond := ns.Settings.Quota.MaxPending, ns.Settings.Quota.CreatesPerSecond
	// A count stops at MaxPending, so it says nothing about a higher limit. A namespace that was created again has new shards.
	if u == nil || u.shards != ns.Shards || u.maxPending != maxPending {
		renewed := &usage{shards: ns.Shards, maxPending: maxPending}
		if u != nil && u.shards == ns.Shards {
			renewed.rate = u.rate
		}
		u = renewed
		l.usages[ns.Name] = u
	}
	switch {
	case perSecond == 0:
		u.rate = nil
	case u.rate == nil || u.rate.Burst() != perSecond:
		u.rate = rate.NewLimiter(rate.Limit(perSecond), perSecond)
	}
	return u
}

// next returns when the namespace may be counted again.
func (u *usage) next(near bool) time.Duration {
	wait := farInterval
	switch {
	case !u.everCounted:
		return 0
	case u.failed:
		wait = failedInterval
	case near:
		wait = nearInterval
	}
	return u.ended + max(wait, costFactor*u.took)
}

// queue requests a count. The caller holds the lock.
func (l *Limiter) queue(u *usage, ns *store.Namespace) {
	u.queued, u.namespace = true, *ns
	l.waiting = append(l.waiting, u)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run counts, one namespace at a time, until ctx ends.
func (l *Limiter) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		requested := l.takeAll()
		timer.Sleep(ctx, countDelay)
		for _, u := range requested {
			if ctx.Err() != nil {
				return
			}
			l.count(ctx, u)
		}
	}
}

// takeAll removes the requests for counts.
func (l *Limiter) takeAll() []*usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.waiting
	l.waiting = nil
	return all
}

func (l *Limiter) count(ctx context.Context, u *usage) {
	l.mu.Lock()
	ns, before := u.namespace, u.admitted
	l.mu.Unlock()
	began := l.stopwatch.Elapsed()
	call, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	n, err := l.cfg.Count(call, ns, ns.Settings.Quota.MaxPending)
	cancel()
	if ctx.Err() == nil {
		l.cfg.Counted(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	u.queued, u.everCounted, u.failed = false, true, err != nil
	u.ended = l.stopwatch.Elapsed()
	u.took = u.ended - began
	if err == nil {
		u.counted, u.admitted = n, u.admitted-before
	}
}
