package health

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/outage"
)

// Part is a part of a Consume that can fail by itself, by its name in logs and errors.
type Part string

const (
	// Member is the membership in the group.
	Member Part = "membership"
	// Commits are writes of the group's position.
	Commits Part = "commits"
)

// Partition is the sessions of one partition.
func Partition[N ~int | ~int32](n N) Part { return Part("partition " + strconv.Itoa(int(n))) }

const (
	// provenAfter is how long a session must last before the failures of those before it are forgotten. Where rights
	// are missing or a message cannot be handled, every session opens and fails within milliseconds.
	provenAfter = 3 * time.Second
	// openWithin is how long a session may take to open before its Consume is not ready.
	openWithin = 10 * time.Second
	// maxPause bounds Backoff.
	maxPause = 2 * time.Second
)

var (
	errNotJoined = errors.New("the group is not joined yet")
	errNotOpen   = errors.New("the session is not open yet")
)

// Consumer is one Consume call. Its methods are safe for concurrent use.
type Consumer struct {
	registry *Registry
	topic    bus.Topic
	group    string
	outage   *outage.Log

	mu     sync.Mutex
	ended  bool
	worked bool // there was a time without faults
	faults map[Part]*fault
}

// fault is why a part does not work.
type fault struct {
	err      error
	from     time.Time // Ready reports it from then on
	failures int       // in a row; 0: it has not failed, it does not work yet
	proof    *time.Timer
}

// Waiting says that a part does not work, without being a failure: it has to join, or its connection was lost, which is
// logged elsewhere.
func (c *Consumer) Waiting(p Part, err error) { c.wait(p, err, 0) }

// Opening says that a session is being opened.
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

// Failed says that a part has failed and will be tried again. It returns how often in a row it has failed.
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

// Opened says that a session is open. After failures it counts as working once it has lasted, and otherwise after settle,
// which is how long the bus may take to refuse what the session does first.
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
		if c.faults[p] == f && f.proof != nil { // not failed, cleared or ended since
			c.clear(p)
		}
	})
}

// Works says that a part works, or is not this member's any more.
func (c *Consumer) Works(p Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.clear(p)
	}
}

// clear removes a part's fault; mu is held.
func (c *Consumer) clear(p Part) {
	if f := c.faults[p]; f != nil {
		f.stop()
		delete(c.faults, p)
	}
	c.worked = c.worked || len(c.faults) == 0
	c.outage.Worked(string(p))
}

func (f *fault) stop() {
	if f.proof != nil {
		f.proof.Stop()
		f.proof = nil
	}
}

// End ends the record with its Consume.
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

// err is the fault of the first part that has one.
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

// Backoff is how long to wait after a number of failures in a row: base, then twice as long each time, up to 2 s.
func Backoff(base time.Duration, failures int) time.Duration {
	return min(base<<min(max(failures-1, 0), 8), max(base, maxPause))
}
