package storetest

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// listInDueOrder lists by due time if the list is filtered by due time. That is the order of the index that polls use.
type listInDueOrder struct{ broken }

func (b *listInDueOrder) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
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
	catches(t, func(s *memstore.Store) store.Store { return &listInDueOrder{broken{Store: s}} },
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
	return min(int(counts.Pending+counts.Parked), limit), err
}

func TestSuiteCatchesACountOfAllNamespaces(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &countAll{broken{Store: s}} }, "CountLive/OfTheNamespaceUpToTheLimit")
}
