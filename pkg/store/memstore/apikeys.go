package memstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
)

// GetAPIKey implements store.APIKeys.
func (s *Store) GetAPIKey(ctx context.Context, name string) (store.APIKey, error) {
	op := fmt.Sprintf("get API key %q", name)
	if err := s.lock(ctx, op); err != nil {
		return store.APIKey{}, err
	}
	defer s.db.mu.Unlock()
	key, there := s.db.apiKeys[name]
	if !there {
		return key, fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
	return key, nil
}

// ListAPIKeys implements store.APIKeys.
func (s *Store) ListAPIKeys(ctx context.Context) ([]store.APIKey, error) {
	if err := s.lock(ctx, "list API keys"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	return slices.Collect(maps.Values(s.db.apiKeys)), nil
}

// PutAPIKey implements store.APIKeys.
func (s *Store) PutAPIKey(ctx context.Context, key store.APIKey) error {
	op := fmt.Sprintf("put API key %q", key.Name)
	if err := s.lock(ctx, op); err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	present, there := s.db.apiKeys[key.Name]
	switch {
	case there && key.Version == 0:
		return fmt.Errorf("%s: %w", op, store.ErrExists)
	case !there && key.Version != 0:
		return fmt.Errorf("%s: %w", op, store.ErrNotFound)
	case present.Version != key.Version:
		return fmt.Errorf("%s: %w", op, store.ErrConflict)
	}
	key.Version++
	s.db.apiKeys[key.Name] = key
	return nil
}

// DeleteAPIKey implements store.APIKeys.
func (s *Store) DeleteAPIKey(ctx context.Context, name string) error {
	op := fmt.Sprintf("delete API key %q", name)
	if err := s.lock(ctx, op); err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	if _, there := s.db.apiKeys[name]; !there {
		return fmt.Errorf("%s: %w", op, store.ErrNotFound)
	}
	delete(s.db.apiKeys, name)
	return nil
}
