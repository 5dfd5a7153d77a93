package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
)

// lastFlowWins overwrites a concurrent change.
type lastFlowWins struct{ broken }

func (b *lastFlowWins) SwapFlow(ctx context.Context, from int64, flow store.Flow) error {
	err := b.Store.SwapFlow(ctx, from, flow)
	if errors.Is(err, store.ErrConflict) {
		present, _ := b.GetFlow(ctx, flow.FlowKey)
		err = b.Store.SwapFlow(ctx, present.Version, flow)
	}
	return err
}

func TestSuiteCatchesFlowsThatAreNotCompared(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &lastFlowWins{broken{Store: s}} }, "Flows/SwapComparesTheVersion")
}

// flowsStay answers a removal without applying it.
type flowsStay struct{ broken }

func (b *flowsStay) SwapFlow(ctx context.Context, from int64, flow store.Flow) error {
	if flow.State == "" {
		return nil
	}
	return b.Store.SwapFlow(ctx, from, flow)
}

func TestSuiteCatchesFlowsThatAreNotRemoved(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &flowsStay{broken{Store: s}} }, "Flows/AnEmptyStateRemoves")
}

// flowsOfAll lists the flows of all namespaces.
type flowsOfAll struct{ broken }

func (b *flowsOfAll) ListFlows(ctx context.Context, namespace, after string, limit int) ([]store.Flow, error) {
	own, err := b.Store.ListFlows(ctx, namespace, after, limit)
	others, _ := b.Store.ListFlows(ctx, namespace+"2", after, limit)
	return append(own, others...), err
}

func TestSuiteCatchesFlowsOfOtherNamespaces(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &flowsOfAll{broken{Store: s}} }, "Flows/AreStoredUnchanged")
}
