package process_test

import (
	"context"
	"errors"
	"testing"

	"github.com/timerbus/timerbus/internal/process"
)

func TestRoundsFollowEachOther(t *testing.T) {
	signals := make([]chan struct{}, 4)
	for i := range signals {
		signals[i] = make(chan struct{})
	}
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	err := process.RestartOnSignal(ctx, func(context.Context) <-chan struct{} { return signals[rounds] }, func(round context.Context) error {
		if rounds == 3 {
			cancel()
		} else {
			close(signals[rounds])
		}
		rounds++
		<-round.Done()
		return nil
	})
	if err != nil || rounds != 4 {
		t.Errorf("%d rounds, %v", rounds, err)
	}
}

func TestRoundsEndWithTheService(t *testing.T) {
	broken := errors.New("broken")
	for _, want := range []error{nil, broken} {
		rounds := 0
		err := process.RestartOnSignal(t.Context(), func(context.Context) <-chan struct{} { return nil }, func(context.Context) error {
			rounds++
			return want
		})
		if !errors.Is(err, want) || rounds != 1 {
			t.Errorf("%d rounds, %v", rounds, err)
		}
	}
	over := make(chan struct{})
	close(over)
	err := process.RestartOnSignal(t.Context(), func(context.Context) <-chan struct{} { return over }, func(round context.Context) error {
		<-round.Done()
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("an error at the end of a round: %v", err)
	}
}
