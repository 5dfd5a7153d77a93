package outage

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// remindEvery is the interval of log lines during an outage.
	remindEvery = time.Minute
	// settleFor is the minimum time between the last failure of an outage and its end. Without it, an outage would
	// begin and end with every call while some calls succeed and others fail.
	settleFor = 5 * time.Second
	// forgetAfter is how long a failed operation that is not retried prevents an outage from ending.
	forgetAfter = time.Minute
)

// Log logs the outages of one component. Its operations fail and succeed independently; an outage lasts while any of
// them fails. Its methods are safe for concurrent use, and Succeeded is cheap while there is no outage.
type Log struct {
	log                 *slog.Logger
	begin, ongoing, end string
	key                 string

	lasts atomic.Bool // true during an outage; read without mu

	mu        sync.Mutex
	failing   map[string]time.Time // the failing operations, with their last failure
	failures  int                  // of this outage
	began     time.Time            // start of this outage, by the monotonic clock
	last      time.Time            // the last failure
	logged    time.Time            // the last log line
	succeeded time.Time            // since when no operation fails
	settled   *time.Timer          // ends the outage; nil unless no operation fails
}

// New returns a Log. Messages begin with component, and key is the attribute that names the failed operation.
func New(log *slog.Logger, component, key string) *Log {
	return &Log{
		log: log, key: key, failing: make(map[string]time.Time),
		begin: component + " failing, retrying", ongoing: component + " still failing", end: component + " recovered",
	}
}

// Failed records that an operation failed and will be retried or compensated for. err may be nil. The attributes
// describe this failure; they are logged if this failure is logged.
func (l *Log) Failed(operation string, err error, attrs ...any) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopTimer()
	l.failures++
	l.failing[operation] = now
	l.last = now
	switch {
	case l.failures == 1:
		l.began = now
		l.lasts.Store(true)
	case now.Sub(l.logged) < remindEvery:
		return
	}
	l.logged = now
	line := []any{l.key, operation}
	if err != nil {
		line = append(line, "error", err)
	}
	line = append(line, attrs...)
	if l.failures == 1 {
		l.log.Warn(l.begin, line...) //nolint:sloglint // the message is constant for each Log.
		return
	}
	line = append(line, "failures", l.failures, "failing", len(l.failing), "since", l.began)
	l.log.Warn(l.ongoing, line...) //nolint:sloglint // as above.
}

// Succeeded records that an operation succeeded, or that this process no longer runs it. The outage ends when no
// operation fails. An operation that has not been tried for a minute while others succeed does not count as failing.
func (l *Log) Succeeded(operation string) {
	if !l.lasts.Load() {
		return
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.failing, operation)
	for other, at := range l.failing {
		if now.Sub(at) >= forgetAfter {
			delete(l.failing, other)
		}
	}
	if l.failures == 0 || len(l.failing) > 0 || l.settled != nil {
		return
	}
	l.succeeded = now
	if left := settleFor - now.Sub(l.last); left > 0 {
		l.settled = time.AfterFunc(left, l.expire)
		return
	}
	l.over()
}

// Recovered ends the outage immediately. All operations have worked since the given time.
func (l *Log) Recovered(since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures > 0 {
		l.succeeded = since
		l.over()
	}
}

// Stop discards the outage without a log line.
func (l *Log) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reset()
}

func (l *Log) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settled != nil && time.Since(l.last) >= settleFor { // no failure since the timer was set
		l.over()
	}
}

// over logs the end of the outage. The caller holds mu.
func (l *Log) over() {
	l.log.Info(l.end, "failures", l.failures, "after", l.succeeded.Sub(l.began).Round(time.Millisecond)) //nolint:sloglint // as above.
	l.reset()
}

func (l *Log) reset() {
	l.stopTimer()
	clear(l.failing)
	l.failures = 0
	l.lasts.Store(false)
}

func (l *Log) stopTimer() {
	if l.settled != nil {
		l.settled.Stop()
		l.settled = nil
	}
}
