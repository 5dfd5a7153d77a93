package faultstore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Wrap returns a decorator that injects the plan's faults into the calls of a store. It has Positions and Census, with
// faults, only if the store has them: store.As finds a capability by its methods, so there is a type for each
// combination. store.As finds other capabilities on the inner store, where calls get no faults.
func (f *Faults) Wrap(inner store.Store) store.Store {
	s := &faulty{inner: inner, faults: f}
	p, positions := store.As[store.Positions](inner)
	c, census := store.As[store.Census](inner)
	withPositions := &faultyPositions{s, p}
	withCensus := &faultyCensus{s, c}
	switch {
	case positions && census:
		return &struct {
			*faulty
			store.Positions
			store.Census
		}{s, withPositions, withCensus}
	case positions:
		return &struct {
			*faulty
			store.Positions
		}{s, withPositions}
	case census:
		return &struct {
			*faulty
			store.Census
		}{s, withCensus}
	default:
		return s
	}
}

// AsksByShard implements store.ByShard with the inner store's answer. It is not a call to the database, so it gets no
// faults.
func (s *faulty) AsksByShard() bool { return store.AsksByShard(s.inner) }

type faultyPositions struct {
	s     *faulty
	inner store.Positions
}

// WriteAt implements store.Positions. It is one transaction, so FailPartly applies nothing.
func (p *faultyPositions) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, move store.Move) ([]store.Written, error) {
	ops = copied(ops)
	return write(ctx, p.s, "WriteAt", func(ctx context.Context) ([]store.Written, error) {
		return p.inner.WriteAt(ctx, now, ops, move)
	})
}

// Position implements store.Positions.
func (p *faultyPositions) Position(ctx context.Context, topic string, partition int) (store.Position, error) {
	return read(ctx, p.s, "Position", func(ctx context.Context) (store.Position, error) {
		return p.inner.Position(ctx, topic, partition)
	})
}

type faultyCensus struct {
	s     *faulty
	inner store.Census
}

// Count implements store.Census.
func (c *faultyCensus) Count(ctx context.Context, now timer.Millis) (store.Counts, error) {
	return read(ctx, c.s, "Count", func(ctx context.Context) (store.Counts, error) { return c.inner.Count(ctx, now) })
}
