package faultstore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
)

// Flows returns a decorator that injects the plan's faults into the calls of store.Flows. Wrap does not include it: store.As finds
// the inner one.
func (f *Faults) Flows(inner store.Flows) store.Flows {
	return &faultyFlows{&faulty{faults: f}, inner}
}

type faultyFlows struct {
	s     *faulty
	inner store.Flows
}

// GetFlow implements store.Flows.
func (f *faultyFlows) GetFlow(ctx context.Context, key store.FlowKey) (store.Flow, error) {
	return read(ctx, f.s, "GetFlow", func(ctx context.Context) (store.Flow, error) { return f.inner.GetFlow(ctx, key) })
}

// ListFlows implements store.Flows.
func (f *faultyFlows) ListFlows(ctx context.Context, namespace, after string, limit int) ([]store.Flow, error) {
	return read(ctx, f.s, "ListFlows", func(ctx context.Context) ([]store.Flow, error) {
		return f.inner.ListFlows(ctx, namespace, after, limit)
	})
}

// SwapFlow implements store.Flows.
func (f *faultyFlows) SwapFlow(ctx context.Context, from int64, flow store.Flow) error {
	_, err := write(ctx, f.s, "SwapFlow", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, f.inner.SwapFlow(ctx, from, flow)
	})
	return err
}
