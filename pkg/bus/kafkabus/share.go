package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// sharing is one Consume of the queue in a share group: one session at a time, which receives messages from several
// lanes. A lane is a member of the group. The client library treats a poll as the acknowledgement of all messages
// that the previous poll has returned, so a lane polls only when its batch is settled. With several lanes, a slow
// message delays one batch only.
type sharing struct {
	bus    *Bus
	spec   bus.Spec
	base   context.Context
	health *health.Consumer

	mu      sync.Mutex
	session *shareSession // nil between two sessions
	changed chan struct{} // closed when session changes
}

func (b *Bus) consumeShared(ctx context.Context, spec bus.Spec, open bus.OpenSession, h *health.Consumer) error {
	s := &sharing{bus: b, spec: spec, base: context.WithoutCancel(ctx), health: h, changed: make(chan struct{})}
	if err := s.configure(ctx); err != nil {
		if final(err) {
			return fmt.Errorf("%w: share group %s: %w", bus.ErrUnavailable, s.groupID(), err)
		}
		b.log.Warn("share group not configured", "group", s.groupID(), "error", err)
	}
	lanes := s.lanes()
	loops, stop := context.WithCancelCause(s.base)
	defer stop(nil)
	var running sync.WaitGroup
	for i := range lanes {
		batch := spec.MaxInFlight/lanes + min(1, max(0, spec.MaxInFlight%lanes-i))
		part := health.Part(fmt.Sprint("lane ", i))
		h.Opening(part)
		running.Go(func() {
			if err := s.lane(loops, batch, part); err != nil {
				stop(err)
			}
		})
	}
	ended, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(loops, cancel)()
	for ended.Err() == nil {
		timer.Sleep(ended, health.Backoff(b.opts.RetryPause, s.run(ended, open)))
	}
	err := context.Cause(loops)
	stop(bus.ErrStopping)
	running.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (s *sharing) topic() string   { return s.bus.opts.topic(s.spec.Topic) }
func (s *sharing) lanes() int      { return min(s.bus.opts.ShareLanes, s.spec.MaxInFlight) }
func (s *sharing) groupID() string { return s.bus.opts.groupID(s.spec.Topic, s.spec.Group) }

// configure sets where a new group starts. The default is the end, which would skip messages published before the
// group's first member joined.
func (s *sharing) configure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.bus.opts.AckTimeout)
	defer cancel()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, s.groupID()
	for name, value := range map[string]string{
		"share.auto.offset.reset": "earliest",
		// The shortest duration that brokers accept by default. Members release messages earlier; this duration is
		// for a member that hangs without losing its connection.
		"share.record.lock.duration.ms": "15000",
	} {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = name, new(value)
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(ctx, s.bus.client)
	if err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	for _, r := range resp.Resources {
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			message := ""
			if r.ErrorMessage != nil {
				message = *r.ErrorMessage
			}
			return fmt.Errorf("configure: %w (%s)", err, message)
		}
	}
	return nil
}

// run runs one session. It returns how many consecutive sessions have failed, including this one; 0 if it has not
// failed.
func (s *sharing) run(ended context.Context, open bus.OpenSession) (failures int) {
	one := newShareSession(s)
	defer one.cancel(nil)
	defer context.AfterFunc(ended, func() { one.end(bus.ErrStopping) })()
	handler, err := open(one.ctx, 0)
	if err != nil {
		if one.why() == nil {
			failures = s.health.Failed(sessions, fmt.Errorf("open: %w", err))
		}
		return failures
	}
	s.health.Opened(sessions, 0)
	one.handler = handler
	s.attach(one)
	<-one.ctx.Done()
	s.attach(nil)
	one.close()
	return one.failures
}

// sessions is the part for sessions of a share group, which has one session for all partitions.
const sessions = health.Member

func (s *sharing) attach(one *shareSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = one
	close(s.changed)
	s.changed = make(chan struct{})
}

// current waits for a session to deliver to.
func (s *sharing) current(ctx context.Context) *shareSession {
	for {
		s.mu.Lock()
		one, changed := s.session, s.changed
		s.mu.Unlock()
		if one != nil {
			return one
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// shareSession is one call of open and its deliveries.
type shareSession struct {
	sharing *sharing
	handler bus.Session
	ctx     context.Context
	cancel  context.CancelCauseFunc

	calls sync.Mutex // serialises Deliver calls

	failures int // consecutive failed sessions, including this one; used by Deliver's caller, and then by run

	mu    sync.Mutex
	cause error
	void  bool                        // acknowledgements have no effect any more
	held  map[*shareDelivery]struct{} // delivered and not settled
}

func newShareSession(s *sharing) *shareSession {
	one := &shareSession{sharing: s, held: make(map[*shareDelivery]struct{})}
	one.ctx, one.cancel = context.WithCancelCause(s.base)
	return one
}

func (s *shareSession) end(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil {
		s.cause = cause
		s.cancel(cause)
	}
}

func (s *shareSession) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// deliver reports whether the session accepted the delivery.
func (s *shareSession) deliver(d *shareDelivery) bool {
	s.calls.Lock()
	defer s.calls.Unlock()
	s.mu.Lock()
	ending := s.cause != nil
	if !ending {
		s.held[d] = struct{}{}
	}
	s.mu.Unlock()
	if ending {
		return false
	}
	if err := s.handler.Deliver(s.ctx, &d.Delivery); err != nil {
		s.failures = s.sharing.health.Failed(sessions, fmt.Errorf("deliver: %w", err))
		s.end(fmt.Errorf("%w: deliver: %w", bus.ErrLost, err))
	}
	return true
}

// close calls the service's Close, then releases the messages that are not settled. A share group has no partition
// owners, so only Consume waits for Close.
func (s *shareSession) close() {
	s.calls.Lock() // wait for a running Deliver
	defer s.calls.Unlock()
	ctx, cancel := context.WithTimeout(s.sharing.base, s.sharing.bus.opts.CloseWait)
	defer cancel()
	giveBack := sync.OnceFunc(func() {
		s.mu.Lock()
		s.void = true
		held := s.held
		s.held = nil
		s.mu.Unlock()
		for d := range held {
			d.lane.settle(d, kgo.AckRelease)
		}
	})
	cause := s.why()
	if errors.Is(cause, bus.ErrLost) {
		giveBack()
	}
	defer context.AfterFunc(ctx, giveBack)()
	if err := s.handler.Close(ctx, cause); err != nil {
		s.sharing.bus.log.Warn("session did not close cleanly", "topic", s.sharing.topic(), "error", err)
	}
	giveBack()
}

// take removes a delivery from held. It returns false if an acknowledgement has no effect any more.
func (s *shareSession) take(d *shareDelivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.held[d]; !ok || s.void {
		return false
	}
	delete(s.held, d)
	return true
}

// sharedFloors requests offsets from the share coordinator. The reported start is that of the write before the last,
// so a floor may be too low until every message is acknowledged, which the lag shows.
func (b *Bus) sharedFloors(ctx context.Context, topic, group string, is identity) (bus.Floors, error) {
	// Before the request for the lag: a message that is published in between must not count as acknowledged.
	starts, err := b.offsets(ctx, topic, b.opts.Partitions, atStart)
	if err != nil {
		return nil, err
	}
	ends, err := b.offsets(ctx, topic, b.opts.Partitions, atEnd)
	if err != nil {
		return nil, err
	}
	var described kadm.DescribedShareGroupsOffsets
	err = retryTransient(ctx, retryFor, func(ctx context.Context) (err error) {
		described, err = b.admin.DescribeShareGroupOffsets(ctx, group)
		if err == nil {
			err = described.Error()
		}
		return err
	})
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, fmt.Errorf("offsets of share group %s: %w", group, err)
	}
	floors := make(bus.Floors, b.opts.Partitions)
	for i := range floors {
		at, ok := described[group].Offsets.Lookup(topic, int32(i))
		if !ok || at.TopicID != (kadm.TopicID{}) && at.TopicID != is.id {
			at = kadm.ShareOffset{StartOffset: -1, Lag: -1}
		}
		end := max(starts[i], ends[i])
		next := min(max(at.StartOffset, starts[i]), end)
		acked := int64(0)
		switch {
		case at.Lag == 0:
			next = end
		case at.Lag > 0:
			acked = max(end-next-at.Lag, 0)
		}
		floors[i] = floorOf(shard.Partition(i), is, next, end, acked)
	}
	return floors, nil
}
