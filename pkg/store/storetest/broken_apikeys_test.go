package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
)

// lastAPIKeyWins overwrites a concurrent change.
type lastAPIKeyWins struct{ broken }

func (b *lastAPIKeyWins) PutAPIKey(ctx context.Context, key store.APIKey) error {
	err := b.Store.PutAPIKey(ctx, key)
	for key.Version = 1; errors.Is(err, store.ErrConflict); key.Version++ {
		err = b.Store.PutAPIKey(ctx, key)
	}
	return err
}

func TestSuiteCatchesAPIKeysThatAreNotCompared(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &lastAPIKeyWins{broken{Store: s}} },
		"APIKeys/PutIsACompareAndSet")
}

// apiKeysAgain replaces an existing key when it creates one.
type apiKeysAgain struct{ broken }

func (b *apiKeysAgain) PutAPIKey(ctx context.Context, key store.APIKey) error {
	err := b.Store.PutAPIKey(ctx, key)
	if errors.Is(err, store.ErrExists) {
		if err = b.DeleteAPIKey(ctx, key.Name); err == nil {
			err = b.Store.PutAPIKey(ctx, key)
		}
	}
	return err
}

func TestSuiteCatchesAPIKeysThatAreReplaced(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &apiKeysAgain{broken{Store: s}} },
		"APIKeys/ATakenNameIsErrExists", "APIKeys/OfManyWithOneNameOneIsCreated")
}

// apiKeysStay answers a deletion without applying it.
type apiKeysStay struct{ broken }

func (b *apiKeysStay) DeleteAPIKey(context.Context, string) error { return nil }

func TestSuiteCatchesAPIKeysThatAreNotDeleted(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &apiKeysStay{broken{Store: s}} }, "APIKeys/DeleteRemovesOne")
}
