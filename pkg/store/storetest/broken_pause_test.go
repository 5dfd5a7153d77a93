package storetest

import (
	"context"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// forgetfulPause replaces a paused timer by one that is not paused, as every Put did before there were paused timers.
type forgetfulPause struct{ broken }

func (b *forgetfulPause) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	for _, op := range ops {
		put, ok := op.(store.Put)
		if !ok || put.OnConflict != store.Replace {
			continue
		}
		if row, there := b.current(ctx, put.Ref); there && row.Status == timer.StatusPaused {
			if _, err := b.Store.Write(ctx, now, []store.Op{store.Delete{Ref: put.Ref}}); err != nil {
				return nil, err
			}
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesAReplacementThatEndsAPause(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &forgetfulPause{broken{Store: s}} }, "I20_NothingButAResumeEndsAPause")
}

// endingPause begins a new generation with a pause, so that the success of a running callback is lost.
type endingPause struct{ broken }

func (b *endingPause) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	for _, op := range ops {
		if p, ok := op.(store.Pause); ok {
			if _, err := b.Store.Write(ctx, now, []store.Op{store.Update{Ref: p.Ref, Revision: p.Revision + 1<<20}}); err != nil {
				return nil, err
			}
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesAPauseThatBeginsAGeneration(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &endingPause{broken{Store: s}} },
		"I20_TheSuccessOfARunningCallbackEndsAPausedTimer")
}

// pausedAsParked returns the status under which engines store paused timers.
type pausedAsParked struct{ broken }

func (b *pausedAsParked) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	if q.Status != timer.StatusParked {
		return b.Store.List(ctx, now, q)
	}
	q.Status = ""
	page, err := b.Store.List(ctx, now, q)
	page.Timers = slices.DeleteFunc(page.Timers, func(t timer.Timer) bool { return !t.Status.Held() })
	return page, err
}

func (b *pausedAsParked) Count(ctx context.Context, now timer.Millis) (store.Counts, error) {
	c, err := b.Store.Count(ctx, now)
	c.Parked, c.Paused = c.Parked+c.Paused, 0
	return c, err
}

func TestSuiteCatchesPausedTimersThatLookParked(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &pausedAsParked{broken{Store: s}} },
		"Pause/ListsTellPausedFromParked", "Pause/CountsTellPausedFromParked")
}

// samePause keeps the revision of a paused timer, so that an event that was published before is delivered.
type samePause struct{ broken }

func (b *samePause) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	ops = slices.Clone(ops)
	for i, op := range ops {
		if p, ok := op.(store.Pause); ok {
			row, _ := b.current(ctx, p.Ref)
			p.Revision = row.Revision
			ops[i] = p
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesAPauseThatKeepsTheRevision(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &samePause{broken{Store: s}} },
		"I20_TheSuccessOfARunningCallbackEndsAPausedTimer")
}

// jumpingResume makes overdue timers due at once, whatever time the resume says.
type jumpingResume struct{ broken }

func (b *jumpingResume) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	ops = slices.Clone(ops)
	for i, op := range ops {
		if r, ok := op.(store.Resume); ok {
			r.At = now
			ops[i] = r
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesAResumeThatIgnoresItsTime(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &jumpingResume{broken{Store: s}} },
		"I20_AnOverdueTimerIsDueWhenTheResumeSays")
}
