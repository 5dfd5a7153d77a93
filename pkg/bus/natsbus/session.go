package natsbus

import (
	"context"
	"errors"
	"fmt"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// source supplies the deliveries of one mode. Its methods are those of consume.Source.
type source interface {
	start(ctx context.Context) error
	next(ctx context.Context) (*bus.Delivery, error)
	finish(ctx context.Context, commit bool) error
}

// session is one assignment, and its consume.Source.
type session struct {
	*consume.Session

	bus       *Bus
	spec      bus.Spec
	giveUp    context.CancelCauseFunc // ends the whole Consume; nil in Queue mode
	term      *term                   // nil in Queue mode
	partition shard.Partition
	source    source
	health    *health.Consumer
}

func newSession(base context.Context, b *Bus, spec bus.Spec, p shard.Partition, open bus.OpenSession, h *health.Consumer) *session {
	s := &session{bus: b, spec: spec, partition: p, health: h}
	s.Session = consume.New(consume.Config{
		Base: base, Partition: p, Open: open,
		Log:       b.log.With("topic", spec.Topic, "group", spec.Group, "partition", int(p)),
		CloseWait: b.opts.CloseWait, FinishWait: b.opts.LeaseTTL,
		Opened: func() { h.Opened(health.Partition(p), 0) },
		Failed: s.failed,
	})
	return s
}

func newOwnedSession(g *group, t *term, p shard.Partition, e entry) *session {
	s := newSession(g.base, g.bus, g.spec, p, g.open, g.health)
	s.giveUp, s.term = g.giveUp, t
	h := &holding{bus: g.bus, key: recordKey(g.name, p), entry: e}
	if g.spec.Mode == bus.Live {
		s.source = newLiveSource(s, h)
	} else {
		s.source = newOrderedSource(s, h)
	}
	return s
}

func (s *session) run() {
	if s.term != nil {
		defer context.AfterFunc(s.term.ctx, func() { s.End(context.Cause(s.term.ctx)) })()
	}
	s.Run(s)
}

// failed records a failure of the session.
func (s *session) failed(err error) int {
	switch {
	case errors.Is(err, errExpired): // other members do not wait
		return 0
	case errors.Is(err, errLinkChanged): // logged by the connection's handlers
		s.health.Waiting(health.Partition(s.partition), err)
		return 1
	case errors.Is(err, bus.ErrNoTopic) && s.giveUp != nil:
		s.giveUp(err) // a user topic is gone, and this process must not create it
	}
	return s.health.Failed(health.Partition(s.partition), err)
}

var (
	errLinkChanged = errors.New("the connection was lost")
	errExpired     = errors.New("the lease has expired")
)

// Start implements consume.Source.
func (s *session) Start(ctx context.Context) error { return s.bus.plain(s.source.start(ctx)) }

// Next implements consume.Source.
func (s *session) Next(ctx context.Context) (*bus.Delivery, error) {
	d, err := s.source.next(ctx)
	if err == nil && s.term != nil && !s.term.valid() {
		// The process may have been suspended; the goroutine that ends the term may not have run yet.
		err = errExpired
	}
	return d, s.bus.plain(err)
}

// Finish implements consume.Source.
func (s *session) Finish(ctx context.Context, commit bool) error { return s.source.finish(ctx, commit) }

// releases reports whether the session should release its record: only while the lease is valid and the process is
// connected. Otherwise the next owner takes the record over.
func (s *session) releases() bool {
	return s.term.valid() && s.bus.nc.IsConnected()
}

// holding is a session's write access to its owner record.
type holding struct {
	bus *Bus
	key string
	entry
}

// put writes the record. On a conflict it checks whether an earlier write of this session succeeded although the
// reply was lost. If the record has another owner, the session is lost.
func (h *holding) put(ctx context.Context, r record) error {
	revision, err := h.bus.write(ctx, h.key, r, h.revision)
	if err != nil && conflict(err) {
		found, getErr := h.bus.owners.Get(ctx, h.key)
		if getErr != nil {
			return fmt.Errorf("read record %s: %w", h.key, getErr)
		}
		if ours, err := decodeRecord(found.Value()); err != nil || ours.Owner != h.Owner {
			return fmt.Errorf("record %s: %w: it has another owner", h.key, bus.ErrLost)
		}
		revision, err = h.bus.write(ctx, h.key, r, found.Revision())
	}
	if err != nil {
		return fmt.Errorf("write record %s: %w", h.key, err)
	}
	h.entry = entry{record: r, revision: revision}
	return nil
}

// release gives the partition up, at the last committed position.
func (h *holding) release(ctx context.Context) error {
	r := h.record
	r.Owner = ""
	return h.put(ctx, r)
}
