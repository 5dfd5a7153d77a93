package sim_test

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// deadAnyway answers dead writes that missed as if they had been applied.
type deadAnyway struct{ dispatcher.Store }

func (s *deadAnyway) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	answers, err := s.Store.Finish(ctx, now, items)
	for i := range answers {
		if items[i].Kind == store.FinishDead {
			answers[i] = nil
		}
	}
	return answers, err
}

// parkedUnwritten answers parked writes that the store refuses as if they had been applied.
type parkedUnwritten struct{ dispatcher.Store }

func (s *parkedUnwritten) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	for i := range items {
		if items[i].Kind == store.FinishParked {
			return make([]error, len(items)), nil
		}
	}
	return s.Store.Finish(ctx, now, items)
}
