package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// lastNamespaceWins overwrites a concurrent update, but increments the version.
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

// conflictWithoutState returns a conflict without the present state, so that a caller tries the same update again.
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

// wholeNamespaceList returns all namespaces in one page.
type wholeNamespaceList struct{ broken }

func (b *wholeNamespaceList) ListNamespaces(ctx context.Context, after string, _ int) (store.NamespacePage, error) {
	var out store.NamespacePage
	for ns, err := range store.AllNamespaces(ctx, b.Store) {
		if err != nil {
			return out, err
		}
		if ns.Name > after {
			out.Namespaces = append(out.Namespaces, ns)
		}
	}
	return out, nil
}

func TestSuiteCatchesAListOfNamespacesWithoutPages(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &wholeNamespaceList{broken{Store: s}} },
		"Namespaces/ListPages", "Namespaces/APageIsBoundedInBytes")
}

// payloadsAnyway ignores WithoutPayloads.
type payloadsAnyway struct{ broken }

func (b *payloadsAnyway) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	q.WithoutPayloads = false
	return b.Store.List(ctx, now, q)
}

func TestSuiteCatchesPayloadsThatAreNotWanted(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &payloadsAnyway{broken{Store: s}} }, "List/WithoutPayloads")
}

// reusedBlock allocates the block of a deleted namespace again.
type reusedBlock struct {
	broken

	free map[int]shard.Block
}

func (b *reusedBlock) DeleteNamespace(ctx context.Context, name string, version int64) error {
	ns, _ := b.GetNamespace(ctx, name)
	err := b.Store.DeleteNamespace(ctx, name, version)
	if err == nil {
		b.free[ns.Shards.Count] = ns.Shards
	}
	return err
}

func (b *reusedBlock) CreateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	made, err := b.Store.CreateNamespace(ctx, ns)
	if block, ok := b.free[made.Shards.Count]; ok && err == nil {
		made.Shards = block
	}
	return made, err
}

func TestSuiteCatchesReusedBlocks(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &reusedBlock{broken{Store: s}, map[int]shard.Block{}} },
		"Namespaces/BlocksOfDeletedNamespacesAreNotReused")
}

// anyVersion deletes a namespace that has changed.
type anyVersion struct{ broken }

func (b *anyVersion) DeleteNamespace(ctx context.Context, name string, _ int64) error {
	ns, _ := b.GetNamespace(ctx, name)
	return b.Store.DeleteNamespace(ctx, name, ns.Version)
}

func TestSuiteCatchesDeletionsThatDoNotCompare(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &anyVersion{broken{Store: s}} }, "Namespaces/DeleteIsACompareAndSet")
}
