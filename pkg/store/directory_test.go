package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// shelf is a source of namespaces that counts its calls.
type shelf struct {
	store.Namespaces // no other methods are called

	mu          sync.Mutex
	all         []store.Namespace
	gets, lists int
	failure     error
}

func (s *shelf) GetNamespace(_ context.Context, name string) (store.Namespace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gets++
	if s.failure != nil {
		return store.Namespace{}, s.failure
	}
	for _, ns := range s.all {
		if ns.Name == name {
			return ns, nil
		}
	}
	return store.Namespace{}, fmt.Errorf("get namespace %q: %w", name, store.ErrNotFound)
}

// ListNamespaces returns pages of two namespaces.
func (s *shelf) ListNamespaces(_ context.Context, after string, _ int) (store.NamespacePage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	var page store.NamespacePage
	if s.failure != nil {
		return page, s.failure
	}
	var bytes store.PageBytes
	for _, ns := range s.all {
		if ns.Name > after && !page.Add(ns, 2, &bytes) {
			break
		}
	}
	return page, nil
}

func namespace(name string, base shard.ID, count int) store.Namespace {
	return store.Namespace{Name: name, Shards: shard.Block{Base: base, Count: count}}
}

// newShelf orders the namespaces by name, as a store lists them. Their shard blocks are in a different order.
func newShelf() *shelf {
	return &shelf{all: []store.Namespace{namespace("a", 30, 5), namespace("b", 0, 10), namespace("c", 10, 20)}}
}

func names(all []*store.Namespace) []string {
	var out []string
	for _, ns := range all {
		out = append(out, ns.Name)
	}
	return out
}

// TestDirectoryRenew: a cached namespace may be too old, and so may one that was just read.
func TestDirectoryRenew(t *testing.T) {
	source := newShelf()
	d := store.NewDirectory(source)
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	source.all[0].Settings.EventTopics, source.all[0].Version = "orders.*", 5
	if ns, err := d.Lookup(t.Context(), "a"); err != nil || ns.Settings.EventTopics != "" {
		t.Errorf("known is %+v, %v", ns, err)
	}
	for range 2 {
		ns, err := d.Renew(t.Context(), "a")
		if err != nil || ns.Settings.EventTopics != "orders.*" {
			t.Errorf("renewed to %+v, %v", ns, err)
		}
		if of := d.OfShard(30); of != ns || len(d.All()) != 3 {
			t.Errorf("by shard it is %+v", of)
		}
	}
	if source.gets != 2 {
		t.Errorf("the source was asked %d times, want each time", source.gets)
	}
	later := source.all[0]
	later.Settings.EventTopics, later.Version = "", 6
	d.Learn(later)
	if ns, err := d.Renew(t.Context(), "a"); err != nil || *ns != later {
		t.Errorf("an earlier state took the place of a later one: %+v, %v", ns, err)
	}
	source.failure = store.ErrUnavailable
	if _, err := d.Renew(t.Context(), "a"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("renew: %v", err)
	}
	if _, err := d.Renew(t.Context(), "nobody"); err == nil {
		t.Error("nobody was found")
	}
}

func TestDirectoryRefresh(t *testing.T) {
	source := newShelf()
	d := store.NewDirectory(source)
	if len(d.All()) != 0 {
		t.Errorf("before the first refresh there is %v", d.All())
	}
	if d.OfShard(0) != nil {
		t.Error("before the first refresh a shard has a namespace")
	}
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := names(d.All()); !slices.Equal(got, []string{"b", "c", "a"}) {
		t.Errorf("by block: %v", got)
	}
	// If a refresh fails, the directory keeps its namespaces.
	source.all = append(source.all, namespace("d", 35, 1))
	source.failure = store.ErrUnavailable
	if err := d.Refresh(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("refresh: %v", err)
	}
	if len(d.All()) != 3 {
		t.Errorf("a failed refresh left %v", names(d.All()))
	}
	source.failure = nil
	if err := d.Refresh(t.Context()); err != nil || len(d.All()) != 4 {
		t.Errorf("refresh: %v, %v", names(d.All()), err)
	}
}

func TestDirectoryOfShard(t *testing.T) {
	d := store.NewDirectory(newShelf())
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The gap before this block is the block of a namespace that the directory does not know.
	d.Learn(namespace("far", 100, 1))
	for id, want := range map[shard.ID]string{
		0: "b", 9: "b", 10: "c", 29: "c", 30: "a", 34: "a", 35: "", 99: "", 100: "far", 101: "", 4_294_967_295: "",
	} {
		got := d.OfShard(id)
		if (got != nil) != (want != "") || got != nil && got.Name != want {
			t.Errorf("shard %s belongs to %+v, want %q", id, got, want)
		}
	}
}

func TestDirectoryLookup(t *testing.T) {
	source := newShelf()
	d := store.NewDirectory(source)
	for range 3 {
		ns, err := d.Lookup(t.Context(), "c")
		if err != nil || ns.Name != "c" {
			t.Fatalf("lookup: %+v, %v", ns, err)
		}
	}
	if source.gets != 1 {
		t.Errorf("the source was asked %d times for one name", source.gets)
	}
	if ns := d.OfShard(15); ns == nil || ns.Name != "c" {
		t.Errorf("what was looked up is not found by its shard: %+v", ns)
	}
	// An unknown name is read from the source every time, because it may exist by then.
	for range 2 {
		if _, err := d.Lookup(t.Context(), "nobody"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("lookup of nobody: %v", err)
		}
	}
	source.all = append(source.all, namespace("nobody", 50, 1))
	if ns, err := d.Lookup(t.Context(), "nobody"); err != nil || ns.Shards.Base != 50 {
		t.Errorf("lookup of a new namespace: %+v, %v", ns, err)
	}
	source.failure = store.ErrUnavailable
	if _, err := d.Lookup(t.Context(), "c"); err != nil {
		t.Errorf("a known name needs no database: %v", err)
	}
	if _, err := d.Lookup(t.Context(), "other"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("lookup without a database: %v", err)
	}
}

func TestDirectoryLearn(t *testing.T) {
	d := store.NewDirectory(newShelf())
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := d.All()
	d.Learn(namespace("d", 35, 1))
	changed := namespace("c", 10, 20)
	changed.Settings.HistoryRetention = store.MaxHistoryRetention
	d.Learn(changed)
	if got := names(d.All()); !slices.Equal(got, []string{"b", "c", "a", "d"}) {
		t.Errorf("by block: %v", got)
	}
	if ns := d.OfShard(10); ns.Settings.HistoryRetention != store.MaxHistoryRetention {
		t.Errorf("the shard's namespace has the old settings: %+v", ns)
	}
	if ns, _ := d.Lookup(t.Context(), "c"); ns.Settings.HistoryRetention != store.MaxHistoryRetention {
		t.Errorf("the name has the old settings: %+v", ns)
	}
	// A slice that All has returned is not changed.
	if len(before) != 3 || before[1].Settings.HistoryRetention != 0 {
		t.Errorf("what All had returned was changed: %+v", before)
	}
}

// TestDirectoryRefreshEndsStaleSettings: a refresh replaces namespaces that a node has learned before by the state of
// the store. Regression: two nodes updated a namespace at the same time, first the one whose clock was ahead. That node
// then kept its own settings until its restart. A failover of the store that lost a write had the same effect.
func TestDirectoryRefreshEndsStaleSettings(t *testing.T) {
	source := newShelf()
	d := store.NewDirectory(source)
	learned := source.all[0]
	learned.Settings.EventTopics, learned.UpdatedAt, learned.Version = "lost.*", 100, 2
	d.Learn(learned)
	for _, version := range []int64{3, 2, 1} {
		source.all[0].Settings.EventTopics, source.all[0].UpdatedAt, source.all[0].Version = "kept.*", 50, version
		if err := d.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ns, err := d.Lookup(t.Context(), "a"); err != nil || *ns != source.all[0] {
			t.Errorf("version %d in the store: known is %+v, %v", version, ns, err)
		}
		if ns := d.OfShard(30); ns == nil || *ns != source.all[0] {
			t.Errorf("version %d in the store: by shard it is %+v", version, ns)
		}
		d.Learn(learned)
	}
}

func TestDirectoryFromManyGoroutines(t *testing.T) {
	source := newShelf()
	d := store.NewDirectory(source)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 200 {
				d.Learn(namespace(fmt.Sprintf("%d/%d", g, i), shard.ID(1000+g*1000+i), 1))
				d.OfShard(shard.ID(i))
				for _, ns := range d.All() {
					_ = ns.Name
				}
				if _, err := d.Lookup(t.Context(), "b"); err != nil {
					t.Errorf("lookup: %v", err)
				}
				if i%50 == 0 {
					if err := d.Refresh(t.Context()); err != nil {
						t.Errorf("refresh: %v", err)
					}
				}
			}
		})
	}
	group.Wait()
	if !slices.IsSortedFunc(d.All(), func(a, b *store.Namespace) int { return int(a.Shards.Base) - int(b.Shards.Base) }) {
		t.Error("the blocks are out of order")
	}
}

// slowShelf runs a function before it answers a list.
type slowShelf struct {
	*shelf

	meanwhile func()
}

func (s *slowShelf) ListNamespaces(ctx context.Context, after string, limit int) (store.NamespacePage, error) {
	all, err := s.shelf.ListNamespaces(ctx, after, limit)
	s.meanwhile()
	return all, err
}

func TestDirectoryKeepsWhatItLearnedWhileAListWasRead(t *testing.T) {
	source := &slowShelf{shelf: newShelf()}
	d := store.NewDirectory(source)
	changed, made := namespace("a", 30, 5), namespace("new", 40, 5)
	changed.Version, changed.Settings.HistoryRetention = 7, store.MinHistoryRetention
	source.meanwhile = func() { d.Learn(changed); d.Learn(made) }
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Lookup(t.Context(), "a"); err != nil || *got != changed {
		t.Errorf("a is %+v (%v), want what was learned", got, err)
	}
	if got := d.OfShard(42); got == nil || got.Name != "new" {
		t.Errorf("shard 42 belongs to %+v, want the namespace just made", got)
	}
}

// TestDirectoryRefreshIsShared: sessions that open at the same time wait for one read, which began after their calls.
func TestDirectoryRefreshIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowShelf{shelf: newShelf(), meanwhile: func() { time.Sleep(time.Second) }}
		d := store.NewDirectory(source)
		refresh := func() {
			if err := d.Refresh(t.Context()); err != nil {
				t.Errorf("refresh: %v", err)
			}
		}
		var group sync.WaitGroup
		for range 16 {
			group.Go(refresh)
		}
		group.Wait()
		const pages = 2 // a list has 2 pages of two namespaces each
		if source.lists != 2*pages {
			t.Errorf("16 callers read %d pages, want those of 2 reads: %d", source.lists, 2*pages)
		}
		refresh() // no read began after this call
		if source.lists != 3*pages {
			t.Errorf("a later caller gets an earlier read")
		}
	})
}

func TestDirectoryLayoutChangesWithTheShards(t *testing.T) {
	source := newShelf()
	d := store.NewDirectory(source)
	step := func(what string, changes bool, do func()) {
		before := d.Layout()
		do()
		if changed := d.Layout() != before; changed != changes {
			t.Errorf("%s changes the layout: %t, want %t", what, changed, changes)
		}
	}
	refresh := func() {
		if err := d.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	step("the first read", true, refresh)
	step("another read", false, refresh)
	changed := namespace("a", 30, 5)
	changed.Version, changed.Settings.HistoryRetention = 2, store.MinHistoryRetention
	step("a setting", false, func() { d.Learn(changed) })
	made := namespace("d", 35, 1)
	step("a namespace made here", true, func() { d.Learn(made) })
	source.all = append(source.all, made, namespace("e", 36, 1))
	step("a namespace made elsewhere", true, refresh)
}

// TestDirectoryOfANamespaceThatIsCreatedAgain: the new namespace replaces the deleted one, although its version is smaller.
func TestDirectoryOfANamespaceThatIsCreatedAgain(t *testing.T) {
	namespace := func(name string, base shard.ID, version int64) store.Namespace {
		return store.Namespace{Name: name, Shards: shard.Block{Base: base, Count: 2}, Version: version}
	}
	first, other, updated, again := namespace("a", 0, 1), namespace("b", 2, 1), namespace("a", 0, 2), namespace("a", 4, 1)
	source := &shelf{all: []store.Namespace{updated, other}}
	d := store.NewDirectory(source)
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	source.all = []store.Namespace{again, other}
	layout := d.Layout()
	wantAgain := func(what string) {
		t.Helper()
		if got, err := d.Lookup(t.Context(), "a"); err != nil || *got != again {
			t.Errorf("%s: %+v, %v, want %+v", what, got, err, again)
		}
		for id, want := range map[shard.ID]string{
			first.Shards.Base: "", first.Shards.Base + 1: "", other.Shards.Base: "b", again.Shards.Base: "a", again.Shards.Base + 1: "a",
		} {
			got := ""
			if ns := d.OfShard(id); ns != nil {
				got = ns.Name
			}
			if got != want {
				t.Errorf("%s: shard %s belongs to %q, want %q", what, id, got, want)
			}
		}
		if len(d.All()) != 2 || d.Layout() == layout {
			t.Errorf("%s: %d namespaces, layout %d as before", what, len(d.All()), d.Layout())
		}
	}
	d.Learn(again)
	wantAgain("learned")
	d.Learn(updated)
	wantAgain("after an earlier state")
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantAgain("refreshed")
	source.all = []store.Namespace{other}
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lookup(t.Context(), "a"); !errors.Is(err, store.ErrNotFound) || d.OfShard(again.Shards.Base) != nil {
		t.Errorf("after the deletion: %v, %v", err, d.OfShard(again.Shards.Base))
	}
}
