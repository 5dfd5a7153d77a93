package storetest

import (
	"context"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// optionsOutlive keeps the request and the window of a timer when it is replaced.
type optionsOutlive struct{ broken }

func (b *optionsOutlive) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ops = slices.Clone(ops)
	for i, op := range ops {
		put, ok := op.(store.Put)
		if !ok {
			continue
		}
		if row, there := b.current(ctx, put.Ref); there {
			put.Spec.Request, put.Spec.Window = row.Request, row.Window
			ops[i] = put
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesOptionsThatOutliveAReplacement(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &optionsOutlive{broken{Store: s}} },
		"Put/ReplaceKeepsCreatedAtAndNothingElse")
}

// plainDead drops the request of dead timers, so that a retry would send their body as the payload of the usual request.
type plainDead struct{ broken }

func (b *plainDead) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	t, err := b.Store.Get(ctx, now, ref)
	if t.Status == timer.StatusDead {
		t.Request = timer.Request{}
	}
	return t, err
}

func TestSuiteCatchesDeadTimersWithoutTheirRequest(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &plainDead{broken{Store: s}} }, "Finish/ADeadTimerKeepsAllOfItself")
}

// noWindow omits the window in the row check.
type noWindow struct{ broken }

func (b *noWindow) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	out, err := b.Store.Current(ctx, checks)
	for i := range out {
		out[i].Timer.Window = 0
	}
	return out, err
}

func TestSuiteCatchesARowCheckWithoutWindows(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &noWindow{broken{Store: s}} }, "Put/MakesTheRow")
}

// noLocalTime omits the local time in the row check, so that a write of what was read loses it.
type noLocalTime struct{ broken }

func (b *noLocalTime) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	out, err := b.Store.Current(ctx, checks)
	for i := range out {
		out[i].Timer.Local = nil
	}
	return out, err
}

func TestSuiteCatchesARowCheckWithoutLocalTimes(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &noLocalTime{broken{Store: s}} }, "Put/MakesTheRow")
}

// localTimeOutlives keeps the local time of a timer that starts again at another time.
type localTimeOutlives struct{ broken }

func (b *localTimeOutlives) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	before := make([]timer.Timer, len(items))
	for i := range items {
		before[i], _ = b.Get(ctx, now, items[i].Ref)
	}
	out, err := b.Store.Rearm(ctx, now, items)
	for i := range out {
		out[i].Timer.Local = before[i].Local
	}
	return out, err
}

func TestSuiteCatchesLocalTimesThatOutliveARearm(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &localTimeOutlives{broken{Store: s}} },
		"Rearm/ADeadTimerLivesAgain", "Rearm/AParkedTimerLivesAgain")
}

// ownFollowUps writes follow-ups in a separate call, also if the outcome was refused.
type ownFollowUps struct{ broken }

func (b *ownFollowUps) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	items = slices.Clone(items)
	for i := range items {
		if next := items[i].FollowUp; next != nil {
			if _, err := b.Store.Write(ctx, now, []store.Op{*next}); err != nil {
				return nil, err
			}
			items[i].FollowUp = nil
		}
	}
	return b.Store.Finish(ctx, now, items)
}

func TestSuiteCatchesFollowUpsOfRefusedOutcomes(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &ownFollowUps{broken{Store: s}} },
		"I19_WithoutItsOutcomeThereIsNoFollowUp", "I19_FollowUpsOfALargeBatch")
}

// noFollowUps forgets the follow-ups of dead timers.
type noFollowUps struct{ broken }

func (b *noFollowUps) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	items = slices.Clone(items)
	for i := range items {
		if items[i].Kind == store.FinishDead {
			items[i].FollowUp = nil
		}
	}
	return b.Store.Finish(ctx, now, items)
}

func TestSuiteCatchesMissingFollowUps(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &noFollowUps{broken{Store: s}} }, "I19_AFollowUpIsWrittenWithItsOutcome")
}
