package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// fetchWait is how long the brokers delay the reply to a fetch that finds no message.
	fetchWait = 250 * time.Millisecond
	// fetchMaxBytes bounds the reply of a broker to one fetch, over all partitions.
	fetchMaxBytes = 8 << 20
	// leaveWait is how long a leaving member waits for the coordinator's reply.
	leaveWait = 2 * time.Second
)

// errRecreated ends a membership whose topic was deleted and created again: the clients keep using the topic id that
// they looked up first.
var errRecreated = errors.New("the topic was recreated")

// membership is one membership of a Consume in a consumer group. The group client maintains it and fetches nothing;
// the reader fetches.
type membership struct {
	bus      *Bus
	spec     bus.Spec
	open     bus.OpenSession
	base     context.Context
	topic    string
	groupID  string
	identity identity
	// partitions is how many of the topic's partitions are read.
	partitions int

	client    *kgo.Client
	reader    *reader
	committer *committer
	health    *health.Consumer
	broken    chan error    // has the first reason to end the membership
	doubt     chan struct{} // the topic may have been recreated

	mu       sync.Mutex
	stopping bool
	assigned map[int32]*assignment
	running  sync.WaitGroup // assignments
}

// consumeGroup runs memberships, one after the other, until ctx ends or an error is permanent.
func (b *Bus) consumeGroup(ctx context.Context, spec bus.Spec, open bus.OpenSession, h *health.Consumer) error {
	for ctx.Err() == nil {
		err := b.consumeOnce(ctx, spec, open, h)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // Consume is ending, so the error does not matter
		}
		if errors.Is(err, bus.ErrUnsupported) {
			return err
		}
		if final(err) {
			return fmt.Errorf("%w: group %s: %w", bus.ErrUnavailable, b.opts.groupID(spec.Topic, spec.Group), err)
		}
		failures := 0
		if errors.Is(err, errGrown) || errors.Is(err, errRecreated) {
			h.Waiting(health.Member, err)
			b.log.Info("joining the group again", "group", b.opts.groupID(spec.Topic, spec.Group), "reason", err)
		} else {
			failures = h.Failed(health.Member, err)
		}
		timer.Sleep(ctx, health.Backoff(b.opts.RetryPause, failures))
	}
	return nil
}

// final reports whether retrying cannot succeed.
func final(err error) bool {
	for _, cause := range []error{
		kerr.FencedInstanceID, kerr.UnsupportedVersion, kerr.InvalidSessionTimeout, kerr.InconsistentGroupProtocol,
		kerr.InvalidGroupID, kerr.UnsupportedAssignor, kerr.UnreleasedInstanceID, bus.ErrNoTopic,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

func (b *Bus) consumeOnce(ctx context.Context, spec bus.Spec, open bus.OpenSession, h *health.Consumer) error {
	topic := b.opts.topic(spec.Topic)
	partitions, err := b.partitionsOf(ctx, spec.Topic)
	if err != nil {
		return err
	}
	m := &membership{
		bus: b, spec: spec, open: open, base: context.WithoutCancel(ctx),
		topic: topic, groupID: b.opts.groupID(spec.Topic, spec.Group), identity: b.identities.get(topic),
		partitions: partitions,
		health:     h,
		broken:     make(chan error, 1),
		doubt:      make(chan struct{}, 1),
		assigned:   make(map[int32]*assignment),
	}
	if m.reader, err = newReader(&b.opts, topic, &spec); err != nil {
		return err
	}
	// The committer uses the client, which may call its callbacks before NewClient has returned.
	ready := make(chan struct{})
	m.client, err = b.opts.client(m.joining(ready)...)
	if err != nil {
		m.reader.client.Close()
		return err
	}
	m.client.PauseFetchTopics(topic)
	m.committer = &committer{
		group: m.client, member: m.client.GroupMetadata,
		groupID: m.groupID, topic: topic, topicID: m.identity.id, instance: b.opts.InstanceID,
		gone:  func() { consume.Signal(m.doubt) },
		every: b.opts.CommitEvery, log: b.log, health: h, failures: b.commitFailures.WithLabelValues(string(spec.Topic)),
		wake: make(chan struct{}, 1), sources: make(map[int32]*ledger),
	}
	close(ready)
	defer h.Works(health.Commits) // of this membership

	loops, stop := context.WithCancel(m.base)
	var running sync.WaitGroup
	running.Go(func() { m.reader.run(loops) })
	running.Go(func() { m.committer.run(loops) })
	running.Go(func() { m.watch(loops) })
	running.Go(func() { m.drain(loops) })

	cause := bus.ErrStopping
	select {
	case <-ctx.Done():
	case err = <-m.broken:
		cause = fmt.Errorf("%w: %w", bus.ErrLost, err)
		if errors.Is(err, errGrown) {
			cause = bus.ErrRevoked // sessions commit their acknowledgements
		}
	}
	m.stop(cause)
	m.leave() // first, because the next owners wait for it
	stop()
	running.Wait()
	m.client.Close()
	return err
}

// joining returns the options of the group client.
func (m *membership) joining(ready <-chan struct{}) []kgo.Opt {
	o := &m.bus.opts
	options := []kgo.Opt{
		kgo.ConsumerGroup(m.groupID),
		kgo.ConsumeTopics(m.topic),
		// Not used, because the reader sets the offsets. It is set because the default looks up offsets of a minute
		// ago.
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(o.Session),
		kgo.HeartbeatInterval(o.Heartbeat),
		// How long the group waits for a member that is closing its sessions.
		kgo.RebalanceTimeout(2*o.CloseWait + o.Session),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, added map[string][]int32) {
			<-ready
			m.assign(added[m.topic])
			m.health.Works(health.Member) // after its partitions are recorded as opening
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
			<-ready
			m.end(gone[m.topic], bus.ErrRevoked)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
			<-ready
			m.end(gone[m.topic], bus.ErrLost)
		}),
		kgo.WithHooks(m),
	}
	switch {
	case o.ServerBalancer:
		options = append(options, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	case m.spec.Topic.Kind() == bus.KindLog:
		options = append(options, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	default:
		options = append(options, kgo.Balancers(newCapped(m.partitions)))
	}
	if o.InstanceID != "" {
		options = append(options, kgo.InstanceID(o.InstanceID))
	}
	return options
}

// OnGroupManageError implements kgo.HookGroupManageError. The client retries after an error; after a permanent error
// the membership ends.
func (m *membership) OnGroupManageError(err error) {
	if final(err) {
		m.fail(err)
		return
	}
	m.health.Failed(health.Member, fmt.Errorf("join group %s: %w", m.groupID, err))
}

// fail ends the membership.
func (m *membership) fail(err error) {
	select {
	case m.broken <- err:
	default: // there is a reason already
	}
}

// assign starts the assigned partitions. It looks up their positions once for all of them.
func (m *membership) assign(partitions []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopping || len(partitions) == 0 {
		return
	}
	together := sync.OnceValues(func() ([]place, error) { return m.places(m.base) })
	for _, p := range partitions {
		if int(p) >= m.partitions {
			m.grown(int(p) + 1)
			continue
		}
		m.health.Opening(health.Partition(p))
		a := newAssignment(m, p)
		m.assigned[p] = a
		m.running.Go(func() { a.run(together) })
	}
}

// errGrown ends a membership whose topic has got more partitions: the next membership reads them too.
var errGrown = errors.New("partitions were added to the topic")

// grown is called when the topic has more partitions than are read. Added partitions of topics other than logs are
// ignored.
func (m *membership) grown(has int) {
	if m.spec.Topic.Kind() == bus.KindLog {
		m.fail(fmt.Errorf("%w: it has %d, %d were read", errGrown, has, m.partitions))
	}
}

// places returns the group's positions in the topic of this membership.
func (m *membership) places(ctx context.Context) ([]place, error) {
	ctx, cancel := context.WithTimeout(ctx, m.bus.opts.Session)
	defer cancel()
	if err := m.same(ctx); err != nil {
		return nil, err
	}
	if m.spec.Mode == bus.Live {
		return m.bus.ends(ctx, m.topic, m.partitions)
	}
	return m.bus.places(ctx, m.topic, m.partitions, m.groupID, m.identity)
}

// same returns an error if the topic is not the one of this membership any more.
func (m *membership) same(ctx context.Context) error {
	if err := m.bus.identify(ctx, m.topic); err != nil {
		if _, own := m.spec.Topic.OwnName(); own && gone(err) {
			err = errNoTopic(m.topic) // which this process must not create
			m.fail(err)
		}
		return err
	}
	if m.bus.identities.get(m.topic) != m.identity {
		m.fail(errRecreated)
		return errRecreated
	}
	if has := m.bus.identities.count(m.topic); has > m.partitions {
		m.grown(has)
	}
	return nil
}

// watch checks periodically whether the topic is still the same. The clients would detect it only after 15 seconds,
// and added partitions only after a minute.
func (m *membership) watch(ctx context.Context) {
	tick := time.NewTicker(m.bus.opts.Session / 3)
	defer tick.Stop()
	var found strays
	for {
		select {
		case <-tick.C:
		case <-m.doubt:
		case <-ctx.Done():
			return
		}
		if err := m.same(ctx); err != nil && ctx.Err() == nil {
			m.bus.log.Debug("topic check failed", "topic", m.topic, "error", err)
		}
		if err := m.bus.checkStrays(ctx, m.topic, m.partitions, &found); err != nil && ctx.Err() == nil {
			m.bus.log.Debug("added partitions not checked", "topic", m.topic, "error", err)
		}
	}
}

// drain polls the group's client. The client fetches nothing, but stores an error for each failed join until the next
// poll, without a bound.
func (m *membership) drain(ctx context.Context) {
	for ctx.Err() == nil {
		m.client.PollFetches(ctx)
	}
}

// end ends assignments and waits until their partitions may move to other members.
func (m *membership) end(partitions []int32, cause error) {
	m.mu.Lock()
	var ending []*assignment
	for _, p := range partitions {
		if a := m.assigned[p]; a != nil {
			ending = append(ending, a)
			delete(m.assigned, p)
		}
	}
	m.mu.Unlock()
	for _, a := range ending {
		a.end(cause)
	}
	for _, a := range ending {
		<-a.released
	}
}

// stop ends all assignments and waits for them, including those that were already ending.
func (m *membership) stop(cause error) {
	m.mu.Lock()
	m.stopping = true
	var partitions []int32
	for p := range m.assigned {
		partitions = append(partitions, p)
	}
	m.mu.Unlock()
	m.end(partitions, cause)
	m.running.Wait()
}

// leave leaves the group, so that the group need not wait for the session timeout.
func (m *membership) leave() {
	ctx, cancel := context.WithTimeout(m.base, leaveWait)
	defer cancel()
	if err := m.client.LeaveGroupContext(ctx); err != nil {
		m.bus.log.Debug("leave group failed", "group", m.groupID, "error", err)
	}
}
