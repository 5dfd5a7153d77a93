package dispatcher

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// after is the one place that waits for time. It fires once; d ≤ 0 means never, so that a select can always name it.
func after(d time.Duration) (fires <-chan time.Time, stop func()) {
	if d <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// sleep waits for d and reports whether ctx still lives.
func sleep(ctx context.Context, d time.Duration) bool {
	fires, stop := after(max(d, 1))
	defer stop()
	select {
	case <-fires:
		return true
	case <-ctx.Done():
		return false
	}
}

// pauses between tries of one call: from 50 ms, doubling, at most 2 s. Jitter is added by the caller.
func (s *Service) pauses() *pauses {
	steps := &backoff.ExponentialBackOff{
		InitialInterval: 50 * time.Millisecond, Multiplier: 2, MaxInterval: 2 * time.Second,
		Stop: backoff.Stop, Clock: backoff.SystemClock,
	}
	steps.Reset()
	return &pauses{service: s, steps: steps}
}

type pauses struct {
	service *Service
	steps   *backoff.ExponentialBackOff
}

func (p *pauses) wait(ctx context.Context) bool {
	return sleep(ctx, p.service.jitter(p.steps.NextBackOff()))
}

// waitForStore is wait between tries of a call of the store. While the store is lost, it waits until it is found if asked
// to, or else returns false.
func (p *pauses) waitForStore(ctx context.Context, untilFound bool) bool {
	fires, stop := after(max(p.service.jitter(p.steps.NextBackOff()), 1))
	defer stop()
	reach := p.service.config.Reach
	select {
	case <-fires:
		return true
	case <-reach.Lost():
		return untilFound && reach.Await(ctx)
	case <-ctx.Done():
		return false
	}
}
