package storetest

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Each store below has one mistake, which some design of this kind has made. The suite must fail on every one of them.

// broken is the base of these stores: a correct store, and a lock for their state.
type broken struct {
	*memstore.Store

	mu sync.Mutex
}

// current returns the present row, without the mistakes of the broken store's Current.
func (b *broken) current(ctx context.Context, ref store.Ref) (timer.Timer, bool) {
	out, err := b.Store.Current(ctx, []store.Check{{Ref: ref}})
	if err != nil {
		return timer.Timer{}, false
	}
	return out[0].Timer, out[0].Found
}

// rowsOf returns the live rows of shards.
func (b *broken) rowsOf(ctx context.Context, now timer.Millis, ids ...shard.ID) []timer.Timer {
	var all []timer.Timer
	for _, id := range ids {
		q := store.ListQuery{Namespace: store.Namespace{Shards: shard.Block{Base: id, Count: 1}}, Limit: 1000}
		page, err := b.List(ctx, now, q)
		if err != nil {
			return nil
		}
		all = append(all, page.Timers...)
	}
	return all
}

// --- counter revisions

// counterRevisions numbers a row's states 1, 2, 3, …, and starts again at 1 with every new row.
type counterRevisions struct{ broken }

func (b *counterRevisions) following(ctx context.Context, ref store.Ref) timer.Revision {
	row, _ := b.current(ctx, ref)
	return row.Revision + 1
}

func (b *counterRevisions) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []store.Written
	for _, op := range ops {
		switch o := op.(type) {
		case store.Put:
			o.Revision = b.following(ctx, o.Ref)
			op = o
		case store.Update:
			o.Revision = b.following(ctx, o.Ref)
			op = o
		}
		out, err := b.Store.Write(ctx, now, []store.Op{op})
		if err != nil {
			return nil, err
		}
		all = append(all, out...)
	}
	return all, nil
}

func TestSuiteCatchesCounterRevisions(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &counterRevisions{broken{Store: s}} },
		"I3_RevisionsAreTheCallersAndNeverRepeat")
}

// --- a sweep by cursor

// cursorSweep continues at a stored cursor, so that a row that is inserted before the cursor is never swept.
type cursorSweep struct {
	broken

	cursors map[shard.ID]store.Key
}

func (b *cursorSweep) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.Shards = slices.Clone(q.Shards)
	for i := range q.Shards {
		r := &q.Shards[i]
		if at, ok := b.cursors[r.Claim.Shard]; ok && at.After(r.From) {
			r.From = at
		}
	}
	out, err := b.Store.Overdue(ctx, q)
	for i := range out {
		if n := len(out[i].Rows); n > 0 {
			b.cursors[q.Shards[i].Claim.Shard] = out[i].Rows[n-1].Key()
		}
	}
	return out, err
}

func TestSuiteCatchesACursorBasedSweep(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &cursorSweep{broken{Store: s}, map[shard.ID]store.Key{}}
	}, "I4_TheSweepKeepsNoCursor")
}

// sweepFromMinKey ignores From and reads from the first key.
type sweepFromMinKey struct{ broken }

func (b *sweepFromMinKey) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	q.Shards = slices.Clone(q.Shards)
	for i := range q.Shards {
		q.Shards[i].From = store.MinKey()
	}
	return b.Store.Overdue(ctx, q)
}

func TestSuiteCatchesASweepThatIgnoresItsBeginning(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &sweepFromMinKey{broken{Store: s}} },
		"I4_TheSweepBeginsAfterFrom", "Overdue/BothBoundsOfTheRange")
}

// sweepFromWatermark returns only rows after the watermark, as if all rows before it were finished.
type sweepFromWatermark struct {
	broken

	watermarks map[shard.ID]store.Key
}

func (b *sweepFromWatermark) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs, err := b.Store.Advance(ctx, now, items)
	for i := range errs {
		if w := items[i].Watermark; errs[i] == nil && w.After(b.watermarks[items[i].Claim.Shard]) {
			b.watermarks[items[i].Claim.Shard] = w
		}
	}
	return errs, err
}

func (b *sweepFromWatermark) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.Shards = slices.Clone(q.Shards)
	for i := range q.Shards {
		if at := b.watermarks[q.Shards[i].Claim.Shard]; at.After(q.Shards[i].From) {
			q.Shards[i].From = at
		}
	}
	return b.Store.Overdue(ctx, q)
}

func TestSuiteCatchesASweepThatTrustsTheWatermark(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &sweepFromWatermark{broken{Store: s}, map[shard.ID]store.Key{}}
	}, "I4_TheSweepFindsWhatLiesBehindTheWatermark", "Advance/RemovesNoRow")
}

// --- missing fences

// unfenced replaces the claim of a statement by the newest one, so that any claim passes.
type unfenced struct {
	broken

	newest  map[shard.ID]store.Claim
	pardons func(given, newest store.Claim) bool
	advance bool // else: Due and Overdue
}

func unfencedBy(advance bool, pardons func(given, newest store.Claim) bool) func(*memstore.Store) store.Store {
	return func(s *memstore.Store) store.Store {
		return &unfenced{
			broken: broken{Store: s}, newest: map[shard.ID]store.Claim{}, pardons: pardons, advance: advance,
		}
	}
}

func (b *unfenced) Claim(ctx context.Context, now timer.Millis, o store.Owner, ids []shard.ID) ([]store.Claimed, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out, err := b.Store.Claim(ctx, now, o, ids)
	for _, c := range out {
		b.newest[c.Claim.Shard] = c.Claim
	}
	return out, err
}

func (b *unfenced) pardon(c store.Claim) store.Claim {
	if newest, ok := b.newest[c.Shard]; ok && b.pardons(c, newest) {
		return newest
	}
	return c
}

func (b *unfenced) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items = slices.Clone(items)
	for i := range items {
		if b.advance {
			items[i].Claim = b.pardon(items[i].Claim)
		}
	}
	return b.Store.Advance(ctx, now, items)
}

func (b *unfenced) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.Shards = slices.Clone(q.Shards)
	for i := range q.Shards {
		if !b.advance {
			q.Shards[i].Claim = b.pardon(q.Shards[i].Claim)
		}
	}
	return b.Store.Due(ctx, q)
}

func TestSuiteCatchesAnUnfencedAdvance(t *testing.T) {
	catches(t, unfencedBy(true, func(_, _ store.Claim) bool { return true }),
		"I5_OnlyTheNewestClaimMovesTheShardOrLearnsOfIt")
}

// lateFence checks the claim first and writes afterwards: a SELECT before an UPDATE.
type lateFence struct{ unfenced }

func (b *lateFence) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	asked := slices.Clone(items)
	for i := range asked {
		asked[i].Watermark = store.MinKey()
	}
	errs, err := b.Store.Advance(ctx, now, asked)
	for range 3 {
		runtime.Gosched() // time between the two statements
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range errs {
		if errs[i] == nil {
			late := items[i]
			late.Claim = b.newest[late.Claim.Shard]
			if _, err := b.Store.Advance(ctx, now, []store.Advance{late}); err != nil {
				return nil, err
			}
		}
	}
	return errs, err
}

func TestSuiteCatchesAFenceReadBeforeTheWrite(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &lateFence{unfenced{
			broken: broken{Store: s}, newest: map[shard.ID]store.Claim{},
			pardons: func(_, _ store.Claim) bool { return false },
		}}
	}, "I5_NoAdvanceLandsAfterATakeOver")
}

func TestSuiteCatchesAnUnfencedRead(t *testing.T) {
	catches(t, unfencedBy(false, func(_, _ store.Claim) bool { return true }),
		"I5_OnlyTheNewestClaimMovesTheShardOrLearnsOfIt", "I5_AFencedItemLeavesTheOthersAlone")
}

func TestSuiteCatchesAFenceByVersionOnly(t *testing.T) {
	catches(t, unfencedBy(true, func(given, newest store.Claim) bool { return given.Version == newest.Version }),
		"I5_AClaimComparesVersionAndOwner")
}

func TestSuiteCatchesAFenceByOwnerOnly(t *testing.T) {
	catches(t, unfencedBy(true, func(given, newest store.Claim) bool { return given.Owner == newest.Owner }),
		"I5_AClaimComparesVersionAndOwner", "I5_OnlyTheNewestClaimMovesTheShardOrLearnsOfIt")
}

// openRelease answers a release but does not release the claim.
type openRelease struct{ broken }

func (b *openRelease) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	// An advance to MinKey checks the fence and changes nothing.
	asked := make([]store.Advance, len(items))
	for i := range items {
		asked[i] = store.Advance{Claim: items[i].Claim, Watermark: store.MinKey()}
	}
	return b.Advance(ctx, now, asked)
}

func TestSuiteCatchesAReleaseThatDoesNotFence(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &openRelease{broken{Store: s}} },
		"I5_AReleasedClaimIsFencedToo", "Release/RaisesPublishedAndNeverLowersIt")
}
