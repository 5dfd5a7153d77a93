package postgresstore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
)

// CreateNamespace implements store.Namespaces.
func (s *Store) CreateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	s.makeDaysFor(ctx, ns.Settings.DoneRetention())
	return s.core.CreateNamespace(ctx, ns)
}

// UpdateNamespace implements store.Namespaces.
func (s *Store) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	s.makeDaysFor(ctx, ns.Settings.DoneRetention())
	return s.core.UpdateNamespace(ctx, ns)
}
