package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
)

// lastNamespaceWins writes over whatever another caller has written meanwhile, and counts versions all the same.
type lastNamespaceWins struct{ broken }

func (b *lastNamespaceWins) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	for {
		out, err := b.Store.UpdateNamespace(ctx, ns)
		if !errors.Is(err, store.ErrConflict) {
			return out, err
		}
		ns.Version = out.Version
	}
}

func TestSuiteCatchesNamespaceUpdatesThatDoNotCompare(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &lastNamespaceWins{broken{Store: s}} },
		"Namespaces/UpdateIsACompareAndSet")
}

// conflictWithoutState answers a conflict without the present state, so that a caller tries the same again.
type conflictWithoutState struct{ broken }

func (b *conflictWithoutState) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	out, err := b.Store.UpdateNamespace(ctx, ns)
	if errors.Is(err, store.ErrConflict) {
		return store.Namespace{}, err
	}
	return out, err
}

func TestSuiteCatchesAConflictWithoutThePresentNamespace(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &conflictWithoutState{broken{Store: s}} },
		"Namespaces/UpdateIsACompareAndSet")
}
