package storetest

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// --- Finish without compare-and-set

// blindFinish ignores the guard.
type blindFinish struct{ broken }

func (b *blindFinish) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]error, len(items))
	for i, f := range items {
		if row, ok := b.current(ctx, f.Ref); ok {
			f.If = store.Guard{Revision: row.Revision}
		}
		errs, err := b.Store.Finish(ctx, now, []store.Finish{f})
		if err != nil {
			return nil, err
		}
		out[i] = errs[0]
	}
	return out, nil
}

func TestSuiteCatchesAFinishWithoutCompareAndSet(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &blindFinish{broken{Store: s}} },
		"I2_ARowThatMovedOnIsNotWritten", "I2_DoneWritesNothingWhereTheGuardFails", "I2_OfManyFinishesAtOnceOneWins",
		"I2_OfTwoInOneBatchTheFirstWins")
}

// looseGuard treats a guard by revision as one by generation.
type looseGuard struct{ broken }

func (b *looseGuard) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items = slices.Clone(items)
	for i := range items {
		row, ok := b.current(ctx, items[i].Ref)
		if ok && row.Generation != timer.Generation(row.Revision) && items[i].If.Revision != 0 {
			items[i].If = store.Guard{Generation: row.Generation}
		}
	}
	return b.Store.Finish(ctx, now, items)
}

func TestSuiteCatchesAGuardThatForgetsTheRevision(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &looseGuard{broken{Store: s}} },
		"I2_ARowThatMovedOnIsNotWritten", "I2_RetryWritesNothingWhereTheGuardFails")
}

// --- range deletes

// rangeAdvance deletes the rows up to the watermark.
type rangeAdvance struct{ broken }

func (b *rangeAdvance) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	errs, err := b.Store.Advance(ctx, now, items)
	for i := range errs {
		id := items[i].Claim.Shard
		for _, t := range b.rowsOf(ctx, now, id) {
			if key := (store.Key{DueAt: t.DueAt, UUID: t.UUID}); errs[i] == nil && !key.After(items[i].Watermark) {
				_, _ = b.Write(ctx, now, []store.Op{store.Delete{Ref: store.Ref{Shard: id, UUID: t.UUID}}})
			}
		}
	}
	return errs, err
}

func TestSuiteCatchesARangeDeleteUpToTheWatermark(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &rangeAdvance{broken{Store: s}} },
		"Advance/RemovesNoRow")
}

// rangeFinish deletes a batch of done rows as one range of due times.
type rangeFinish struct{ broken }

func (b *rangeFinish) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	first, last := map[shard.ID]timer.Millis{}, map[shard.ID]timer.Millis{}
	for _, f := range items {
		id := f.Ref.Shard
		if row, ok := b.current(ctx, f.Ref); ok && f.Kind == store.FinishDone && f.If.Holds(&row) {
			if at, ok := first[id]; !ok || row.DueAt < at {
				first[id] = row.DueAt
			}
			if at, ok := last[id]; !ok || row.DueAt > at {
				last[id] = row.DueAt
			}
		}
	}
	errs, err := b.Store.Finish(ctx, now, items)
	for id, from := range first {
		for _, t := range b.rowsOf(ctx, now, id) {
			if from <= t.DueAt && t.DueAt <= last[id] {
				_, _ = b.Write(ctx, now, []store.Op{store.Delete{Ref: store.Ref{Shard: id, UUID: t.UUID}}})
			}
		}
	}
	return errs, err
}

func TestSuiteCatchesARangeDeleteOfDueRows(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &rangeFinish{broken{Store: s}} },
		"I2_FinishRemovesOnlyItsRow")
}

// --- targets

// firstTarget returns the target that a timer had when it was first due.
type firstTarget struct {
	broken

	targets map[timer.UUID]timer.Target
}

func (b *firstTarget) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out, err := b.Store.Due(ctx, q)
	for i := range out {
		for j := range out[i].Rows {
			row := &out[i].Rows[j]
			if first, there := b.targets[row.Ref.UUID]; there {
				row.Target = first
			}
			b.targets[row.Ref.UUID] = row.Target
		}
	}
	return out, err
}

func TestSuiteCatchesATargetThatAnUpdateDoesNotChange(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &firstTarget{broken{Store: s}, map[timer.UUID]timer.Target{}}
	},
		"Due/ReturnsTheTargetOfThePresentState")
}

// --- orders

// reordered returns Due's rows in a different order.
type reordered struct {
	broken

	compare func(a, b store.DueRow) int
}

func reorderedBy(compare func(a, b store.DueRow) int) func(*memstore.Store) store.Store {
	return func(s *memstore.Store) store.Store { return &reordered{broken{Store: s}, compare} }
}

func (b *reordered) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	out, err := b.Store.Due(ctx, q)
	for i := range out {
		slices.SortStableFunc(out[i].Rows, b.compare)
	}
	return out, err
}

func TestSuiteCatchesAnUnorderedDue(t *testing.T) {
	catches(t, reorderedBy(func(a, b store.DueRow) int { return bytes.Compare(b.Ref.UUID[8:], a.Ref.UUID[8:]) }),
		"Due/RowsComeByKey")
}

func TestSuiteCatchesUUIDsOrderedAsSignedBytes(t *testing.T) {
	catches(t, reorderedBy(func(a, b store.DueRow) int {
		if a.DueAt != b.DueAt {
			return int(a.DueAt - b.DueAt)
		}
		return int(int8(a.Ref.UUID[0])) - int(int8(b.Ref.UUID[0]))
	}), "Due/RowsComeByKey")
}

// --- due times in the past

// pastDue sets a put's due_at to its executeAt, even if that is in the past.
type pastDue struct {
	broken

	due map[timer.Revision]timer.Millis
}

func (b *pastDue) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out, err := b.Store.Write(ctx, now, ops)
	for i := range out {
		if put, ok := ops[i].(store.Put); ok && put.Spec.ExecuteAt < now {
			b.due[put.Revision] = put.Spec.ExecuteAt
		}
		b.tell(&out[i].Timer)
	}
	return out, err
}

func (b *pastDue) tell(t *timer.Timer) {
	if at, ok := b.due[t.Revision]; ok {
		t.DueAt = at
	}
}

func (b *pastDue) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out, err := b.Store.Current(ctx, checks)
	for i := range out {
		b.tell(&out[i].Timer)
	}
	return out, err
}

func TestSuiteCatchesADueTimeInThePast(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &pastDue{broken{Store: s}, map[timer.Revision]timer.Millis{}}
	}, "I6_NoWriteIsDueBeforeThePresentOrItsExecuteAt", "Put/APastExecuteAtIsKeptAndDueNow")
}

// --- a watermark that moves back

// lastAdvance stores the last watermark, not the largest.
type lastAdvance struct {
	broken

	last map[shard.ID]store.Key
}

func (b *lastAdvance) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs, err := b.Store.Advance(ctx, now, items)
	for i := range errs {
		if errs[i] == nil {
			b.last[items[i].Claim.Shard] = items[i].Watermark
		}
	}
	return errs, err
}

func (b *lastAdvance) Claim(ctx context.Context, now timer.Millis, o store.Owner, ids []shard.ID) ([]store.Claimed, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out, err := b.Store.Claim(ctx, now, o, ids)
	for i := range out {
		if at, ok := b.last[out[i].Claim.Shard]; ok {
			out[i].Watermark = at
		}
	}
	return out, err
}

func TestSuiteCatchesAWatermarkThatGoesBack(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &lastAdvance{broken{Store: s}, map[shard.ID]store.Key{}}
	}, "I6_TheWatermarkNeverGoesBack")
}
