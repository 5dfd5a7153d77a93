package dynamostore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Get implements store.Timers. It reads the row before the history: a Finish moves the timer from one to the other in
// one transaction, so one of the reads finds it.
func (s *Store) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	if err := s.calls.Enter(ctx, "get timer"); err != nil {
		return timer.Timer{}, err
	}
	defer s.calls.Leave()
	t, found, err := s.getTimer(ctx, now, ref)
	if err == nil && !found {
		err = store.ErrNotFound
	}
	if err != nil {
		return timer.Timer{}, fmt.Errorf("get timer %s: %w", ref.UUID, err)
	}
	return t, nil
}

func (s *Store) getTimer(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, bool, error) {
	it, err := s.get(ctx, s.options.Table, timerKey(ref))
	if err != nil {
		return timer.Timer{}, false, err
	}
	live, found, err := readRow(it)
	if err != nil || found {
		return live.timer, found, err
	}
	return s.lastEnd(ctx, now, ref)
}
