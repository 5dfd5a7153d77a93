package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
)

// Directory caches the namespaces in memory, because every request needs one and they rarely change. Its answers may be
// as old as the last Refresh, except that an unknown name is read from the store immediately. It is safe for concurrent
// use.
type Directory struct {
	source Namespaces
	// turn has a token while no Refresh runs. refreshing is when the last successful Refresh began.
	turn       chan struct{}
	refreshing time.Time

	mu     sync.RWMutex
	byName map[string]entry
	byBase []*Namespace // by Shards.Base
	reads  uint64       // counts insertions
	layout uint64       // counts changes of the shard blocks
}

// entry is a namespace, and the number of the read or write that it came from. The namespace is immutable.
type entry struct {
	*Namespace

	read uint64
}

// NewDirectory returns an empty directory. Call Refresh before the first use of All or OfShard.
func NewDirectory(source Namespaces) *Directory {
	d := &Directory{source: source, turn: make(chan struct{}, 1), byName: map[string]entry{}}
	d.turn <- struct{}{}
	return d
}

// Refresh replaces the cached namespaces by those of the store. The interval at which a service calls it bounds how
// late the service sees settings that another node has changed. Concurrent callers share a read that begins after their
// calls, because the sessions of all partitions open at the same time.
func (d *Directory) Refresh(ctx context.Context) error {
	called := time.Now()
	select {
	case <-d.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { d.turn <- struct{}{} }()
	if d.refreshing.After(called) {
		return nil
	}
	began := time.Now()
	err := d.refresh(ctx)
	if err == nil {
		d.refreshing = began
	}
	return err
}

func (d *Directory) refresh(ctx context.Context) error {
	d.mu.RLock()
	began := d.reads
	d.mu.RUnlock()
	var all []*Namespace
	for ns, err := range AllNamespaces(ctx, d.source) {
		if err != nil {
			return err
		}
		all = append(all, &ns)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads++
	byName := make(map[string]entry, len(all))
	for _, ns := range all {
		if known, ok := d.byName[ns.Name]; ok && *known.Namespace == *ns {
			ns = known.Namespace // share the memory with earlier results of All
		}
		byName[ns.Name] = entry{ns, d.reads}
	}
	// A namespace that was learned while the list was read may be newer than the list, or missing from it. One that was
	// learned before is not newer, even if it has a larger version: a failover of the store may have lost a write.
	for name, known := range d.byName {
		if listed, ok := byName[name]; known.read > began && (!ok || newer(known.Namespace, listed.Namespace)) {
			byName[name] = known
		}
	}
	d.byName = byName
	byBase := make([]*Namespace, 0, len(byName))
	for _, known := range byName {
		byBase = append(byBase, known.Namespace)
	}
	slices.SortFunc(byBase, byBlock)
	if !slices.EqualFunc(d.byBase, byBase, func(a, b *Namespace) bool { return a.Shards == b.Shards }) {
		d.layout++
	}
	d.byBase = byBase
	return nil
}

// Lookup returns a namespace by name, or ErrNotFound. The caller must not change it.
func (d *Directory) Lookup(ctx context.Context, name string) (*Namespace, error) {
	d.mu.RLock()
	known, ok := d.byName[name]
	d.mu.RUnlock()
	if ok {
		return known.Namespace, nil
	}
	return d.Renew(ctx, name)
}

// Renew reads a namespace from the store, for callers that cannot use a cached state. The caller must not change it.
func (d *Directory) Renew(ctx context.Context, name string) (*Namespace, error) {
	ns, err := d.source.GetNamespace(ctx, name)
	if err != nil {
		return nil, err
	}
	return d.learn(&ns), nil
}

// Learn stores a namespace that the caller just created, changed or read.
func (d *Directory) Learn(ns Namespace) { d.learn(&ns) }

// learn stores a namespace and returns the newer of it and the cached one, because a change may have been learned while
// an earlier state was read.
func (d *Directory) learn(ns *Namespace) *Namespace {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, known := d.byName[ns.Name]
	if known && newer(old.Namespace, ns) {
		return old.Namespace
	}
	d.reads++
	d.byName[ns.Name] = entry{ns, d.reads}
	// All returns this slice to callers, so it is never changed.
	d.byBase = slices.Clone(d.byBase)
	if known && old.Shards != ns.Shards { // it was deleted, and created again
		d.byBase = slices.DeleteFunc(d.byBase, func(other *Namespace) bool { return other == old.Namespace })
		known = false
	}
	at, _ := slices.BinarySearchFunc(d.byBase, ns, byBlock)
	if known {
		d.byBase[at] = ns
	} else {
		d.byBase = slices.Insert(d.byBase, at, ns)
		d.layout++
	}
	return ns
}

// newer reports whether state a of a namespace is newer than state b. A namespace that was deleted and created again has a
// later block, and starts at version 1.
func newer(a, b *Namespace) bool {
	if a.Shards.Base != b.Shards.Base {
		return a.Shards.Base > b.Shards.Base
	}
	return a.Version > b.Version
}

// OfShard returns the namespace that a shard belongs to, or nil. The caller must not change it.
func (d *Directory) OfShard(id shard.ID) *Namespace {
	d.mu.RLock()
	defer d.mu.RUnlock()
	at, exact := slices.BinarySearchFunc(d.byBase, id, func(ns *Namespace, id shard.ID) int {
		return int(int64(ns.Shards.Base) - int64(id))
	})
	if !exact {
		at--
	}
	if at < 0 || !d.byBase[at].Shards.Contains(id) {
		return nil
	}
	return d.byBase[at]
}

// All returns the namespaces ordered by shard block. The caller must change neither them nor the slice.
func (d *Directory) All() []*Namespace {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byBase
}

// Layout returns a number that changes when the shard blocks of All change.
func (d *Directory) Layout() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.layout
}

func byBlock(a, b *Namespace) int {
	return int(int64(a.Shards.Base) - int64(b.Shards.Base))
}

// IsTransient reports whether a later retry can succeed.
func IsTransient(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown)
}
