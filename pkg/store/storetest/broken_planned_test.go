package storetest

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// --- a postponement that resets the planned time

// replannedRow returns due_at as the planned time.
type replannedRow struct{ broken }

func (b *replannedRow) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	out, err := b.Store.Current(ctx, checks)
	for i := range out {
		out[i].Timer.PlannedAt = out[i].Timer.DueAt
	}
	return out, err
}

func TestSuiteCatchesAPostponementThatResetsThePlannedTime(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &replannedRow{broken{Store: s}} },
		"Finish/LeasesAndPostponementsKeepThePlannedTime", "Finish/Postponed/WhereTheGuardHolds")
}

// --- an update that resets the lateness of an overdue timer

// punctualUpdate resets the planned time with every update.
type punctualUpdate struct{ broken }

func (b *punctualUpdate) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	ops = slices.Clone(ops)
	for i, op := range ops {
		if u, ok := op.(store.Update); ok && u.Patch.ExecuteAt == nil {
			if row, there := b.current(ctx, u.Ref); there {
				u.Patch.ExecuteAt = &row.ExecuteAt
				ops[i] = u
			}
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesAnUpdateThatForgetsHowLateATimerIs(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &punctualUpdate{broken{Store: s}} },
		"Finish/LeasesAndPostponementsKeepThePlannedTime")
}

// --- an update that inherits the end of a lease

// inheriting updates a leased row like a postponed one: it first postpones the row to the same time.
type inheriting struct{ broken }

func (b *inheriting) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	for _, op := range ops {
		u, ok := op.(store.Update)
		if !ok {
			continue
		}
		row, there := b.current(ctx, u.Ref)
		if !there || row.DueAt == row.PlannedAt || row.Status == timer.StatusParked {
			continue
		}
		_, err := b.Store.Finish(ctx, row.UpdatedAt, []store.Finish{{
			Ref: u.Ref, DueAt: row.DueAt, Kind: store.FinishPostponed, If: store.Guard{Revision: row.Revision},
			Next: row.Revision, NextAt: row.DueAt,
		}})
		if err != nil {
			return nil, err
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesAnUpdateThatInheritsTheEndOfALease(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &inheriting{broken{Store: s}} }, "Update/ALeasedTimerIsDueAtOnce")
}

// --- starts that are not returned

// greedy ignores ReturnStart.
type greedy struct{ broken }

func (b *greedy) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	items = slices.Clone(items)
	for i := range items {
		items[i].ReturnStart = false
	}
	return b.Store.Finish(ctx, now, items)
}

func TestSuiteCatchesAStartThatIsNotGivenBack(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &greedy{broken{Store: s}} },
		"Finish/APostponementGivesAStartBackWhereAsked")
}

// --- gauges that ignore postponed timers, or count running ones as overdue

// wrongCensus counts by a different time than the contract requires.
type wrongCensus struct {
	broken

	by func(t *timer.Timer) timer.Millis
}

func (b *wrongCensus) Count(ctx context.Context, now timer.Millis) (store.Counts, error) {
	counts, err := b.Store.Count(ctx, now)
	counts.Overdue, counts.OldestPlannedAt = 0, timer.Never
	for _, t := range b.rowsOf(ctx, now, 0, 1, 2, 3) {
		if t.Status == timer.StatusParked {
			continue
		}
		at := b.by(&t)
		counts.OldestPlannedAt = min(counts.OldestPlannedAt, at)
		if at < now {
			counts.Overdue++
		}
	}
	return counts, err
}

func TestSuiteCatchesACensusByDueTime(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &wrongCensus{broken{Store: s}, func(t *timer.Timer) timer.Millis { return t.DueAt }}
	}, "Census/PostponedTimersAreOverdueAndLeasedOnesAreNot")
}

func TestSuiteCatchesACensusThatCountsLeasedTimers(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &wrongCensus{broken{Store: s}, func(t *timer.Timer) timer.Millis { return t.PlannedAt }}
	}, "Census/PostponedTimersAreOverdueAndLeasedOnesAreNot")
}

// wrongDead adds to the number of dead timers.
type wrongDead struct {
	broken

	add func(b *wrongDead) int64
	// forgotten, done and rearmed are what the broken census counts, too.
	forgotten, done, rearmed atomic.Int64
}

func (b *wrongDead) Count(ctx context.Context, now timer.Millis) (store.Counts, error) {
	counts, err := b.Store.Count(ctx, now)
	counts.Dead += b.add(b)
	return counts, err
}

func (b *wrongDead) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	b.forgotten.Add(int64(len(items)))
	return b.Store.Forget(ctx, now, items)
}

func (b *wrongDead) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	for i := range items {
		if items[i].Kind == store.FinishDone {
			b.done.Add(1)
		}
	}
	return b.Store.Finish(ctx, now, items)
}

func (b *wrongDead) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	b.rearmed.Add(int64(len(items)))
	return b.Store.Rearm(ctx, now, items)
}

func TestSuiteCatchesACensusOfOtherTimersThanDeadOnes(t *testing.T) {
	for _, add := range []func(b *wrongDead) int64{
		func(b *wrongDead) int64 { return b.forgotten.Load() },
		func(b *wrongDead) int64 { return b.done.Load() },
		func(b *wrongDead) int64 { return b.rearmed.Load() },
	} {
		catches(t, func(s *memstore.Store) store.Store { return &wrongDead{broken: broken{Store: s}, add: add} },
			"Census/CountsDeadTimersInHistory")
	}
}

// --- leases that have ended, or beyond the limit

// wrongLeases ignores the bounds of the call.
type wrongLeases struct {
	broken

	earlier timer.Millis
	more    int
}

func (b *wrongLeases) Leased(ctx context.Context, now timer.Millis, limit int) ([]store.Lease, error) {
	return b.Store.Leased(ctx, now-b.earlier, limit+b.more)
}

func TestSuiteCatchesALeaseThatHasEnded(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &wrongLeases{broken{Store: s}, 1, 0} },
		"Exclusive/ReturnsTheLeasesThatHaveNotEnded")
}

func TestSuiteCatchesLeasesBeyondTheLimit(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &wrongLeases{broken{Store: s}, 0, 1} },
		"Exclusive/ReturnsTheLeasesThatHaveNotEnded")
}

// --- final outcomes in the order of the writers' clocks

// byClock orders the final outcomes of a timer by the finishedAt of their writers.
type byClock struct {
	broken

	said map[store.Ref]map[timer.Generation]timer.Millis
}

func (b *byClock) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range items {
		if b.said[f.Ref] == nil {
			b.said[f.Ref] = map[timer.Generation]timer.Millis{}
		}
		if row, ok := b.current(ctx, f.Ref); ok {
			b.said[f.Ref][row.Generation] = f.Record.FinishedAt
		}
	}
	return b.Store.Finish(ctx, now, items)
}

func (b *byClock) History(ctx context.Context, now timer.Millis, ref store.Ref, limit int) ([]store.HistoryEntry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out, err := b.Store.History(ctx, now, ref, 1000)
	for i := range out {
		if at, ok := b.said[ref][out[i].Generation]; ok && out[i].Outcome.Final() {
			out[i].FinishedAt = at
		}
	}
	slices.SortStableFunc(out, func(a, b store.HistoryEntry) int { return cmp.Compare(b.FinishedAt, a.FinishedAt) })
	return out[:min(limit, len(out))], err
}

func TestSuiteCatchesLivesOrderedByTheWritersClocks(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &byClock{broken{Store: s}, map[store.Ref]map[timer.Generation]timer.Millis{}}
	}, "Get/TheLastLifeCountsWhateverTheWritersClocks")
}
