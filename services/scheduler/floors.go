package scheduler

import (
	"context"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// floors lets the sessions of a process share requests for the ack floors of the due queue, which cover all partitions.
type floors struct {
	// token has a token while no request is running.
	token chan struct{}
	// answer is the answer to a request that began at at.
	answer bus.Floors
	at     time.Time
	// The last request ended at ended, with err.
	ended time.Time
	err   error
}

// floorTimeout bounds a shared request, because all sessions wait for it.
const floorTimeout = time.Second

func newFloors() *floors {
	f := &floors{token: make(chan struct{}, 1)}
	f.token <- struct{}{}
	return f
}

// recent returns floors that are at most age old, or the result of a request that ended while the caller waited.
func (f *floors) recent(
	ctx context.Context, age time.Duration, ask func(context.Context) (bus.Floors, error),
) (bus.Floors, error) {
	arrived := time.Now()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.token:
	}
	defer func() { f.token <- struct{}{} }()
	switch {
	case f.ended.After(arrived):
		return f.answer, f.err
	case time.Since(f.at) <= age:
		return f.answer, nil
	}
	call, cancel := context.WithTimeout(ctx, floorTimeout)
	defer cancel()
	began := time.Now()
	answer, err := ask(call)
	if err == nil {
		f.answer, f.at = answer, began
	}
	if ctx.Err() == nil { // otherwise the caller ended the request, which says nothing about the bus
		f.ended, f.err = time.Now(), err
	}
	return answer, err
}
