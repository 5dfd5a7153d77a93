package storetest

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// walksInDueOrder lists by due time if the list is filtered by due time. That is the order of the index that polls use.
type walksInDueOrder struct{ broken }

func (b *walksInDueOrder) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	if q.DueFrom == 0 && q.DueBefore == 0 || q.Status.Finished() {
		return b.Store.List(ctx, now, q)
	}
	var all []timer.Timer
	whole := q
	whole.After, whole.Limit = nil, 1000
	for {
		page, err := b.Store.List(ctx, now, whole)
		if err != nil {
			return page, err
		}
		all = append(all, page.Timers...)
		if whole.After = page.Next; len(page.Next) == 0 {
			break
		}
	}
	key := func(t *timer.Timer) store.Key { return store.Key{DueAt: t.DueAt, UUID: t.UUID} }
	slices.SortFunc(all, func(a, b timer.Timer) int { return key(&a).Compare(key(&b)) })
	after := store.MinKey()
	if len(q.After) == 24 {
		after = store.Key{DueAt: timer.Millis(binary.BigEndian.Uint64(q.After)), UUID: timer.UUID(q.After[8:])}
	}
	all = slices.DeleteFunc(all, func(t timer.Timer) bool { return !key(&t).After(after) })
	page := store.Page{Timers: all[:min(q.Limit, len(all))]}
	var bytes store.PageBytes
	for i := range page.Timers {
		if !bytes.Fits(&page.Timers[i]) {
			page.Timers = page.Timers[:i]
			break
		}
	}
	if n := len(page.Timers); n < len(all) {
		last := key(&page.Timers[n-1])
		page.Next = append(binary.BigEndian.AppendUint64(nil, uint64(last.DueAt)), last.UUID[:]...)
	}
	return page, nil
}

func TestSuiteCatchesAWalkInTheOrderOfDueTimes(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &walksInDueOrder{broken{Store: s}} },
		"List/AWalkByDueTimeIsStableWhileTimersMove")
}

// wholePages fills every page up to the limit, without a bound on the size of the payloads.
type wholePages struct{ broken }

func (b *wholePages) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	var out store.Page
	for limit := q.Limit; ; {
		q.Limit = limit - len(out.Timers)
		page, err := b.Store.List(ctx, now, q)
		if err != nil {
			return page, err
		}
		out.Timers = append(out.Timers, page.Timers...)
		if out.Next = page.Next; len(page.Next) == 0 || len(out.Timers) == limit {
			return out, nil
		}
		q.After = page.Next
	}
}

func TestSuiteCatchesPagesWithoutABoundInBytes(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &wholePages{broken{Store: s}} }, "List/APageIsBoundedInBytes")
}

// repeatsMade lists a timer whose correlation id was not set on every page.
type repeatsMade struct{ broken }

func (b *repeatsMade) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	page, err := b.Store.List(ctx, now, q)
	if err != nil || len(q.After) == 0 || q.CorrelationID == "" {
		return page, err
	}
	q.After, q.Limit = nil, 1000
	all, err := b.Store.List(ctx, now, q)
	for i := range all.Timers {
		if t := &all.Timers[i]; t.UUID.String() == q.CorrelationID && len(page.Timers) > 0 {
			page.Timers[len(page.Timers)-1] = *t
		}
	}
	return page, err
}

func TestSuiteCatchesAMadeCorrelationIDOnEveryPage(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &repeatsMade{broken{Store: s}} }, "List/ByCorrelation")
}

// withoutFilter declares that it does not support lists by correlation id. If it ignores the filter, it is broken.
type withoutFilter struct {
	broken

	ignores bool
}

func (*withoutFilter) ListFilters() store.Filters { return store.Filters{Status: true, Due: true} }

func (b *withoutFilter) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	if err := b.ListFilters().Check(&q); err != nil && !b.ignores {
		return store.Page{}, err
	}
	q.CorrelationID = ""
	return b.Store.List(ctx, now, q)
}

func TestSuitePassesWithoutAFilter(t *testing.T) {
	v := judge(t, factoryOf(func(s *memstore.Store) store.Store { return &withoutFilter{broken: broken{Store: s}} }))
	for _, name := range v.failed {
		t.Errorf("%s: %s", name, v.why[name])
	}
}

func TestSuiteCatchesAnIgnoredFilter(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &withoutFilter{broken: broken{Store: s}, ignores: true} },
		"List/AFilterThatIsNotDeclaredIsErrInvalid")
}

// promisedFilter declares a filter that it refuses.
type promisedFilter struct{ withoutFilter }

func (*promisedFilter) ListFilters() store.Filters { return store.AllFilters() }

func TestSuiteCatchesADeclaredFilterThatIsRefused(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &promisedFilter{withoutFilter{broken: broken{Store: s}}} },
		"List/AFilterThatIsNotDeclaredIsErrInvalid", "List/ByCorrelation")
}

// countAll counts the timers of all namespaces.
type countAll struct{ broken }

func (b *countAll) CountLive(ctx context.Context, _ store.Namespace, limit int) (int, error) {
	counts, err := b.Count(ctx, 0)
	return min(int(counts.Pending+counts.Parked+counts.Paused), limit), err
}

func TestSuiteCatchesACountOfAllNamespaces(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &countAll{broken{Store: s}} }, "CountLive/OfTheNamespaceUpToTheLimit")
}

// dueKeysOf changes the answers of DueKeys.
type dueKeysOf struct {
	broken

	change func(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error)
}

func (b *dueKeysOf) DueKeys(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error) {
	return b.change(ctx, q)
}

// TestSuiteCatchesDueKeysOneShardAfterTheOther: each shard is in order, but not all together.
func TestSuiteCatchesDueKeysOneShardAfterTheOther(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		b := &dueKeysOf{broken: broken{Store: s}}
		b.change = func(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error) {
			page, err := s.DueKeys(ctx, q)
			slices.SortStableFunc(page.Keys, func(a, b store.DueKey) int { return int(a.Shard) - int(b.Shard) })
			return page, err
		}
		return b
	}, "DueKeys/InOrderOverAllShards", "DueKeys/AShardWithMostOfTheTimers")
}

// TestSuiteCatchesDueKeysWithoutTheCut: the first keys of each shard are merged up to the limit, although a shard may have
// more keys before the last one.
func TestSuiteCatchesDueKeysWithoutTheCut(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		b := &dueKeysOf{broken: broken{Store: s}}
		b.change = func(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error) {
			var found []store.DueKey
			for id := range q.Namespace.Shards.Count {
				one := q
				one.Namespace.Shards = shard.Block{Base: q.Namespace.Shards.Base + shard.ID(id), Count: 1}
				one.Limit = min(q.Limit, q.Limit/q.Namespace.Shards.Count+10)
				page, err := s.DueKeys(ctx, one)
				if err != nil {
					return page, err
				}
				found = append(found, page.Keys...)
			}
			slices.SortFunc(found, func(a, b store.DueKey) int { return a.Compare(b.Key) })
			return store.DueKeys{Keys: found[:min(q.Limit, len(found))], More: len(found) >= q.Limit}, nil
		}
		return b
	}, "DueKeys/AShardWithMostOfTheTimers")
}

// TestSuiteCatchesDueKeysByTimeOnly: a page begins after the due time of the last key, so timers with the same time are missed.
func TestSuiteCatchesDueKeysByTimeOnly(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		b := &dueKeysOf{broken: broken{Store: s}}
		b.change = func(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error) {
			q.After = store.MaxKeyAt(q.After.DueAt)
			return s.DueKeys(ctx, q)
		}
		return b
	}, "DueKeys/InOrderOverAllShards")
}

// keyOrderOnly ignores InDueOrder.
type keyOrderOnly struct{ broken }

func (b *keyOrderOnly) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	q.InDueOrder = false
	return b.Store.List(ctx, now, q)
}

func TestSuiteCatchesAListThatIgnoresTheOrder(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &keyOrderOnly{broken{Store: s}} },
		"List/InDueOrder", "List/InDueOrderForeignCursorsAreErrInvalid")
}

// repeatsInDueOrder shows the first timer again on each later page.
type repeatsInDueOrder struct{ broken }

func (b *repeatsInDueOrder) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	page, err := b.Store.List(ctx, now, q)
	if err != nil || !q.InDueOrder || q.Limit < 3 || len(q.After) == 0 {
		return page, err
	}
	q.After = nil
	whole, err := b.Store.List(ctx, now, q)
	if len(whole.Timers) > 0 && len(page.Timers) > 0 {
		page.Timers[0] = whole.Timers[0]
	}
	return page, err
}

func TestSuiteCatchesARepeatedTimerInDueOrder(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &repeatsInDueOrder{broken{Store: s}} },
		"List/InDueOrder", "List/InDueOrderIsStable")
}
