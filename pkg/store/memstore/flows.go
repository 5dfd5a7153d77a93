package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
)

// GetFlow implements store.Flows.
func (s *Store) GetFlow(ctx context.Context, key store.FlowKey) (store.Flow, error) {
	op := fmt.Sprintf("get flow %q of %q", key.Key, key.Namespace)
	if err := s.lock(ctx, op); err != nil {
		return store.Flow{}, err
	}
	defer s.db.mu.Unlock()
	flow, there := s.db.flows[key]
	if !there {
		return flow, fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
	return flow, nil
}

// ListFlows implements store.Flows.
func (s *Store) ListFlows(ctx context.Context, namespace, after string, limit int) ([]store.Flow, error) {
	if err := s.lock(ctx, "list flows"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	var found []store.Flow
	for _, flow := range s.db.flows {
		if flow.Namespace == namespace && flow.Key > after {
			found = append(found, flow)
		}
	}
	slices.SortFunc(found, func(a, b store.Flow) int { return cmp.Compare(a.Key, b.Key) })
	return found[:min(limit, len(found))], nil
}

// SwapFlow implements store.Flows.
func (s *Store) SwapFlow(ctx context.Context, from int64, flow store.Flow) error {
	op := fmt.Sprintf("write flow %q of %q", flow.Key, flow.Namespace)
	if err := s.lock(ctx, op); err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	switch {
	case s.db.flows[flow.FlowKey].Version != from:
		return fmt.Errorf("%s: %w", op, store.ErrConflict)
	case flow.State == "":
		delete(s.db.flows, flow.FlowKey)
	default:
		s.db.flows[flow.FlowKey] = flow
	}
	return nil
}
