package storetest

import (
	"context"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// greedyForget removes outbox entries, so that it can forget their timers.
type greedyForget struct{ broken }

func (b *greedyForget) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	entries, err := b.Outbox(ctx, everywhere.In(0, 1), timer.MaxMillis, 1000)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := b.RemoveFromOutbox(ctx, []store.OutboxID{e.ID}); err != nil {
			return nil, err
		}
	}
	return b.Store.Forget(ctx, now, items)
}

func TestSuiteCatchesForgottenDeathsThatAreNotPublished(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &greedyForget{broken{Store: s}} },
		"I14_ForgetRefusesADeathThatIsNotPublished", "Forget/EachItemByItself")
}

// forgetsIDs forgets all generations of an id.
type forgetsIDs struct{ broken }

func (b *forgetsIDs) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	out, err := b.Store.Forget(ctx, now, items)
	if err != nil {
		return nil, err
	}
	for i := range out {
		entries, err := b.History(ctx, now, items[i].Ref, 1000)
		if err != nil || out[i] != nil {
			continue
		}
		for _, e := range entries {
			_, _ = b.Store.Forget(ctx, now, []store.Forget{{Ref: items[i].Ref, Generation: e.Generation}})
		}
	}
	return out, nil
}

func TestSuiteCatchesForgottenGenerations(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &forgetsIDs{broken{Store: s}} }, "Forget/OtherGenerationsStay")
}

// forgetsRows removes the live row of the id too.
type forgetsRows struct{ broken }

func (b *forgetsRows) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	out, err := b.Store.Forget(ctx, now, items)
	for i := range out {
		if out[i] == nil {
			_, _ = b.Write(ctx, now, []store.Op{store.Delete{Ref: items[i].Ref}})
		}
	}
	return out, err
}

func TestSuiteCatchesForgottenLiveTimers(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &forgetsRows{broken{Store: s}} }, "Forget/LiveTimersStay")
}
