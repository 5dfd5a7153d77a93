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
		ns.Version, ns.Shards = out.Version, out.Shards
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

func (b *reusedBlock) DeleteNamespace(ctx context.Context, ns store.Namespace) error {
	err := b.Store.DeleteNamespace(ctx, ns)
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

func (b *anyVersion) DeleteNamespace(ctx context.Context, ns store.Namespace) error {
	present, _ := b.GetNamespace(ctx, ns.Name)
	if present.Shards.Base == ns.Shards.Base {
		ns.Version = present.Version
	}
	return b.Store.DeleteNamespace(ctx, ns)
}

func TestSuiteCatchesDeletionsThatDoNotCompare(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &anyVersion{broken{Store: s}} }, "Namespaces/DeleteIsACompareAndSet")
}

// anyBlock compares only the version of a namespace.
type anyBlock struct {
	broken

	updates, deletions bool
}

func (b *anyBlock) present(ctx context.Context, ns store.Namespace) store.Namespace {
	present, _ := b.GetNamespace(ctx, ns.Name)
	ns.Shards = present.Shards
	return ns
}

func (b *anyBlock) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	if b.updates {
		ns = b.present(ctx, ns)
	}
	return b.Store.UpdateNamespace(ctx, ns)
}

func (b *anyBlock) DeleteNamespace(ctx context.Context, ns store.Namespace) error {
	if b.deletions {
		ns = b.present(ctx, ns)
	}
	return b.Store.DeleteNamespace(ctx, ns)
}

func TestSuiteCatchesLateWritesToANewNamespace(t *testing.T) {
	for _, updates := range []bool{true, false} {
		catches(t, func(s *memstore.Store) store.Store { return &anyBlock{broken{Store: s}, updates, !updates} },
			"Namespaces/LateWritesSpareTheNewNamespace")
	}
}
