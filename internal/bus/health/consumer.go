package health

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/pkg/bus"
)

// Part names a part of a Consume that can fail independently. Logs and errors contain the name.
type Part string

const (
	// Member is the membership in the group.
	Member Part = "membership"
	// Commits are writes of the group's position.
	Commits Part = "commits"
)

// Partition returns the Part for the sessions of one partition.
func Partition[N ~int | ~int32](n N) Part { return Part("partition " + strconv.Itoa(int(n))) }

const (
	// provenAfter is how long a session must last before the failures of earlier sessions are forgotten. If
	// permissions are missing or a message cannot be handled, every session opens and fails within milliseconds.
	provenAfter = 3 * time.Second
	// openWithin is how long a session may take to open before its Consume is reported as not ready.
	openWithin = 10 * time.Second
	// maxPause is the upper bound of Backoff.
	maxPause = 2 * time.Second
)

var (
	errNotJoined = errors.New("the group is not joined yet")
	errNotOpen   = errors.New("the session is not open yet")
)

// Consumer is the health record of one Consume call. Its methods are safe for concurrent use.
type Consumer struct {
	registry *Registry
	topic    bus.Topic
	group    string
	outage   *outage.Log

	mu     sync.Mutex
	ended  bool
	worked bool // at some time there were no faults
	faults map[Part]*fault
}

// fault is the reason why a part does not work.
type fault struct {
	err      error
	from     time.Time // Ready reports the fault from this time on
	failures int       // consecutive; 0 means that the part has not failed but does not work yet
	proof    *time.Timer
}

// Waiting records that a part does not work without having failed: it must join, or it lost its connection, which is
// logged elsewhere.
func (c *Consumer) Waiting(p Part, err error) { c.wait(p, err, 0) }

// Opening records that a session is being opened.
func (c *Consumer) Opening(p Part) { c.wait(p, errNotOpen, openWithin) }

func (c *Consumer) wait(p Part, err error, patience time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.faults[p] != nil {
		return
	}
	f := &fault{err: err, from: time.Now()}
	if c.worked {
		f.from = f.from.Add(patience)
	}
	c.faults[p] = f
}

// Failed records that a part has failed and will be retried. It returns the number of consecutive failures.
func (c *Consumer) Failed(p Part, err error) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return 1
	}
	f := c.faults[p]
	if f == nil {
		f = &fault{}
		c.faults[p] = f
	}
	f.stop()
	f.err, f.from = err, time.Now()
	f.failures++
	c.outage.Failed(string(p), err)
	return f.failures
}

// Opened records that a session is open. The part counts as working after settle, which is how long the bus may take
// to reject the session's first request; after failures, at least provenAfter must pass.
func (c *Consumer) Opened(p Part, settle time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.faults[p]
	if c.ended || f == nil || f.proof != nil {
		return
	}
	if f.failures > 0 {
		settle = max(settle, provenAfter)
	}
	if settle == 0 {
		c.clear(p)
		return
	}
	f.proof = time.AfterFunc(settle, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.faults[p] == f && f.proof != nil { // no failure, clear or end since
			c.clear(p)
		}
	})
}

// Works records that a part works, or that this member does not have it any more.
func (c *Consumer) Works(p Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.clear(p)
	}
}

// clear removes a part's fault. The caller must lock mu.
func (c *Consumer) clear(p Part) {
	if f := c.faults[p]; f != nil {
		f.stop()
		delete(c.faults, p)
	}
	c.worked = c.worked || len(c.faults) == 0
	c.outage.Succeeded(string(p))
}

func (f *fault) stop() {
	if f.proof != nil {
		f.proof.Stop()
		f.proof = nil
	}
}

// End removes the record when its Consume ends.
func (c *Consumer) End() {
	c.registry.remove(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, f := range c.faults {
		f.stop()
	}
	clear(c.faults)
	c.outage.Stop()
}

// err returns the fault of the first part that has one.
func (c *Consumer) err(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []Part
	for p, f := range c.faults {
		if !now.Before(f.from) {
			parts = append(parts, p)
		}
	}
	slices.Sort(parts) // "membership" comes before "partition 0"
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: %w", parts[0], c.faults[parts[0]].err)
	default:
		return fmt.Errorf("%s (and %d more): %w", parts[0], len(parts)-1, c.faults[parts[0]].err)
	}
}

// Backoff returns the wait after a number of consecutive failures: base after the first, doubled with each further
// failure, at most the larger of base and 2 s.
func Backoff(base time.Duration, failures int) time.Duration {
	return min(base<<min(max(failures-1, 0), 8), max(base, maxPause))
}
