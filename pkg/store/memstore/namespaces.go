package memstore

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// CreateNamespace implements store.Namespaces.
func (s *Store) CreateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	if err := s.lock(ctx, "create namespace"); err != nil {
		return store.Namespace{}, err
	}
	defer s.db.mu.Unlock()
	if present, ok := s.db.namespaces[ns.Name]; ok {
		return present, fmt.Errorf("create namespace %q: %w", ns.Name, store.ErrExists)
	}
	if ns.Shards.Count < 1 || s.db.nextBase+uint64(ns.Shards.Count) > math.MaxUint32 {
		bad := timer.Invalid("numShards", ns.Shards.Count, "at least 1, and at most the number of free shard numbers")
		return store.Namespace{}, fmt.Errorf("create namespace %q: %w: %w", ns.Name, store.ErrInvalid, bad)
	}
	ns.Shards.Base, ns.Version = shard.ID(s.db.nextBase), 1
	s.db.nextBase += uint64(ns.Shards.Count)
	s.db.namespaces[ns.Name] = ns
	return ns, nil
}

// GetNamespace implements store.Namespaces.
func (s *Store) GetNamespace(ctx context.Context, name string) (store.Namespace, error) {
	if err := s.lock(ctx, "get namespace"); err != nil {
		return store.Namespace{}, err
	}
	defer s.db.mu.Unlock()
	ns, ok := s.db.namespaces[name]
	if !ok {
		return store.Namespace{}, fmt.Errorf("get namespace %q: %w", name, store.ErrNotFound)
	}
	return ns, nil
}

// ListNamespaces implements store.Namespaces.
func (s *Store) ListNamespaces(ctx context.Context, after string, limit int) (store.NamespacePage, error) {
	var page store.NamespacePage
	if err := s.lock(ctx, "list namespaces"); err != nil {
		return page, err
	}
	defer s.db.mu.Unlock()
	var bytes store.PageBytes
	for _, name := range slices.Sorted(maps.Keys(s.db.namespaces)) {
		if name > after && !page.Add(s.db.namespaces[name], limit, &bytes) {
			break
		}
	}
	return page, nil
}

// UpdateNamespace implements store.Namespaces.
func (s *Store) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	if err := s.lock(ctx, "update namespace"); err != nil {
		return store.Namespace{}, err
	}
	defer s.db.mu.Unlock()
	present, ok := s.db.namespaces[ns.Name]
	if !ok {
		return store.Namespace{}, fmt.Errorf("update namespace %q: %w", ns.Name, store.ErrNotFound)
	}
	if present.Version != ns.Version || present.Shards.Base != ns.Shards.Base {
		return present, fmt.Errorf("update namespace %q: %w", ns.Name, store.ErrConflict)
	}
	present.Settings, present.UpdatedAt = ns.Settings, ns.UpdatedAt
	present.Version++
	s.db.namespaces[ns.Name] = present
	return present, nil
}

// DeleteNamespace implements store.Namespaces. nextBase is kept, so that the block is not allocated again.
func (s *Store) DeleteNamespace(ctx context.Context, ns store.Namespace) error {
	if err := s.lock(ctx, "delete namespace"); err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	present, ok := s.db.namespaces[ns.Name]
	switch {
	case !ok:
		return fmt.Errorf("delete namespace %q: %w", ns.Name, store.ErrNotFound)
	case present.Version != ns.Version || present.Shards.Base != ns.Shards.Base:
		return fmt.Errorf("delete namespace %q: it has version %d and the shards %v: %w",
			ns.Name, present.Version, present.Shards, store.ErrConflict)
	}
	delete(s.db.namespaces, ns.Name)
	for _, id := range present.Shards.In(0, 1) {
		if sh := s.db.shards[id]; sh != nil {
			sh.fence = unclaimed()
		}
	}
	return nil
}
