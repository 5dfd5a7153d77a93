package scheduler

import (
	"context"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// floors lets the sessions of a process share requests for the floors of the due queue, which have all partitions.
type floors struct {
	// turn has a token while no request is running.
	turn   chan struct{}
	answer bus.Floors
	at     time.Time
}

func newFloors() *floors {
	f := &floors{turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
	return f
}

// recent returns floors that are at most so old.
func (f *floors) recent(
	ctx context.Context, age time.Duration, ask func(context.Context) (bus.Floors, error),
) (bus.Floors, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.turn:
	}
	defer func() { f.turn <- struct{}{} }()
	if time.Since(f.at) <= age {
		return f.answer, nil
	}
	began := time.Now()
	answer, err := ask(ctx)
	if err == nil {
		f.answer, f.at = answer, began
	}
	return answer, err
}
