package ingest

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// Missed implements bus.GapSession.
func (t *session) Missed(_ context.Context, gap bus.Gap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gaps = append(t.gaps, gap)
	t.signal()
}

// countLost counts the commands of the reported gaps. The bus reports a gap once, so its commands are counted even if
// the store's position cannot be read.
func (t *session) countLost() (failed error) {
	t.mu.Lock()
	gaps := t.gaps
	t.gaps = nil
	t.mu.Unlock()
	for _, gap := range gaps {
		if t.cfg.Positions != nil && !t.known && failed == nil {
			failed = t.readPosition()
		}
		lost := t.missedCommands(gap)
		if lost <= 0 {
			continue
		}
		t.metrics.lost.Add(float64(lost))
		t.cfg.Logger.Error("commands lost: the bus removed them before they were applied", "commands", lost, "partition", t.partition,
			"after", gap.After.Offset, "first_kept", gap.First.Offset)
	}
	return failed
}

// missedCommands returns how many commands of a gap were not applied. The bus compares with the acknowledged position;
// the store's position may be ahead of it.
func (t *session) missedCommands(gap bus.Gap) int64 {
	switch {
	case t.known && t.position.Epoch == gap.First.Epoch:
		return min(gap.Messages, gap.First.Offset-1-t.position.Offset)
	case gap.After == (bus.Position{}):
		return 0 // neither the bus nor the store has a position: the topic is new to this cluster
	default:
		return gap.Messages
	}
}

// backlogEvery is the interval at which the backlog of commands is read.
const backlogEvery = 15 * time.Second

// backlog is the last read number of waiting commands; NaN while the bus does not respond.
type backlog struct{ bits atomic.Uint64 }

func (b *backlog) set(n float64)  { b.bits.Store(math.Float64bits(n)) }
func (b *backlog) value() float64 { return math.Float64frombits(b.bits.Load()) }

// watchBacklog reads the backlog until ctx ends.
func (s *Service) watchBacklog(ctx context.Context) {
	tick := time.NewTicker(backlogEvery)
	defer tick.Stop()
	for {
		s.readBacklog(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Service) readBacklog(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StoreTimeout)
	defer cancel()
	floors, err := s.cfg.Bus.Floor(ctx, bus.Commands, Group)
	if err != nil {
		s.backlog.set(math.NaN())
		if !errors.Is(err, context.Canceled) {
			s.outage.Failed("read backlog of commands", err)
		}
		return
	}
	s.outage.Succeeded("read backlog of commands")
	waiting := 0
	for _, f := range floors {
		waiting += f.Depth
	}
	s.backlog.set(float64(waiting))
}
