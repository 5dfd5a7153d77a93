package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// committer writes the positions of all sessions of one membership. It sends one request at a time: two concurrent
// requests could arrive in reverse order, and the older one would move the positions back.
type committer struct {
	group    *kgo.Client // the commits carry the membership of this client
	member   func() (id string, generation int32)
	groupID  string
	topic    string
	topicID  kadm.TopicID
	instance string
	every    time.Duration
	gone     func() // called when the brokers do not know the topic
	log      *slog.Logger
	health   *health.Consumer
	failures prometheus.Counter

	wake chan struct{} // a caller waits for a commit

	mu      sync.Mutex
	sources map[int32]*ledger
	waiting []waiter
}

// ledger is the committer's state of one session.
type ledger struct {
	partition int32
	// progress returns the position of the session; false: nothing may be committed (any more).
	progress func() (progress, bool)
	// wrote is called with the progress of a successful commit.
	wrote func(progress)

	// Used by the committer's loop only.
	last string // text of the last commit
}

// waiter waits until the ledger's progress at the time of the request is committed.
type waiter struct {
	ledger *ledger
	done   chan error
}

func (c *committer) add(l *ledger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources[l.partition] = l
}

func (c *committer) remove(l *ledger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sources[l.partition] == l {
		delete(c.sources, l.partition)
	}
}

// flush commits a session's progress immediately. Concurrent callers share the request.
func (c *committer) flush(ctx context.Context, l *ledger) error {
	w := waiter{ledger: l, done: make(chan error, 1)}
	c.mu.Lock()
	c.waiting = append(c.waiting, w)
	c.mu.Unlock()
	c.poke()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("commit partition %d: %w", l.partition, ctx.Err())
	}
}

// poke makes the loop commit immediately, without waiting for it.
func (c *committer) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run commits until ctx ends.
func (c *committer) run(ctx context.Context) {
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.wake:
		case <-ctx.Done():
		}
		waiting := c.takeWaiting()
		if ctx.Err() != nil {
			for _, w := range waiting {
				w.done <- ctx.Err()
			}
			return
		}
		err := c.commit(ctx, waiting)
		c.report(ctx, err)
		for _, w := range waiting {
			w.done <- err
		}
	}
}

// report records the result of a commit. During a rebalance, refused commits are normal: either the membership ends,
// or the next attempt succeeds.
func (c *committer) report(ctx context.Context, err error) {
	switch {
	case err == nil:
		c.health.Works(health.Commits)
	case ctx.Err() != nil: // cancelled, not refused
	case moving(err):
		c.log.Debug("commit postponed by a rebalance", "group", c.groupID, "error", err)
	default:
		c.failures.Inc()
		c.health.Failed(health.Commits, err)
		if gone(err) {
			c.gone()
		}
	}
}

// moving reports whether a commit was refused because of a rebalance.
func moving(err error) bool {
	for _, cause := range []error{
		kerr.RebalanceInProgress, kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.StaleMemberEpoch, kerr.FencedMemberEpoch,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

func (c *committer) takeWaiting() []waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := c.waiting
	c.waiting = nil
	return waiting
}

// entry is the part of a commit for one partition.
type entry struct {
	ledger   *ledger
	progress progress
	text     string
}

func (c *committer) commit(ctx context.Context, waiting []waiter) error {
	// The membership is read before the progress: if the partition is lost in between, the commit carries a
	// membership that the coordinator refuses.
	member, generation := c.member()
	var entries []entry
	add := func(l *ledger) {
		p, ok := l.progress()
		if !ok {
			return
		}
		if t := text(p); t != l.last {
			entries = append(entries, entry{l, p, t})
		}
	}
	asked := make(map[*ledger]bool, len(waiting))
	for _, w := range waiting {
		if !asked[w.ledger] {
			asked[w.ledger] = true
			add(w.ledger)
		}
	}
	c.mu.Lock()
	sources := make([]*ledger, 0, len(c.sources))
	for _, l := range c.sources {
		if !asked[l] {
			sources = append(sources, l)
		}
	}
	c.mu.Unlock()
	for _, l := range sources {
		add(l)
	}
	if len(entries) == 0 {
		return nil
	}
	if err := c.send(ctx, member, generation, entries); err != nil {
		return err
	}
	for _, e := range entries {
		e.ledger.last = e.text
		e.ledger.wrote(e.progress)
	}
	return nil
}

// text returns the content of a commit, for comparison.
func text(p progress) string { return fmt.Sprint(p.next, " ", p.metadata()) }

func (c *committer) send(ctx context.Context, member string, generation int32, entries []entry) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = c.groupID, member, generation
	if c.instance != "" {
		req.InstanceID = &c.instance
	}
	t := kmsg.NewOffsetCommitRequestTopic()
	// If the brokers support it, commit by topic id, so that nothing is committed to a recreated topic.
	t.Topic, t.TopicID = c.topic, c.topicID
	for _, e := range entries {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset = e.ledger.partition, e.progress.next
		p.Metadata = new(e.progress.metadata())
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c.group)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("commit partition %d: %w", p.Partition, err)
			}
		}
	}
	return nil
}

// settle is the last flush of a session: it retries while the coordinator refuses the commit temporarily, and ends
// when the membership is gone.
func (c *committer) settle(ctx context.Context, l *ledger) error {
	for {
		err := c.flush(ctx, l)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return err
		case errors.Is(err, kerr.UnknownMemberID), errors.Is(err, kerr.FencedInstanceID), errors.Is(err, kerr.UnknownTopicID):
			return fmt.Errorf("%w: %w", bus.ErrLost, err)
		}
		if !timer.Sleep(ctx, 20*time.Millisecond) {
			return err
		}
	}
}
