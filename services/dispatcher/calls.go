package dispatcher

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// timerAfter is the only function that creates timers. The channel fires once. If d ≤ 0, it never fires, so that a
// select can always include it.
func timerAfter(d time.Duration) (fires <-chan time.Time, stop func()) {
	if d <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// storeBackoff is the backoff between tries of one call: from 50 ms, doubling, to at most 2 s, with jitter.
type storeBackoff struct {
	service *Service
	steps   *backoff.ExponentialBackOff // nil before the first wait: nearly all calls succeed the first time
}

func (p *storeBackoff) next() time.Duration {
	if p.steps == nil {
		p.steps = &backoff.ExponentialBackOff{
			InitialInterval: 50 * time.Millisecond, Multiplier: 2, MaxInterval: 2 * time.Second,
			Stop: backoff.Stop, Clock: backoff.SystemClock,
		}
		p.steps.Reset()
	}
	return p.service.jitter(p.steps.NextBackOff())
}

func (p *storeBackoff) wait(ctx context.Context) bool { return timer.Sleep(ctx, p.next()) }

// waitForStore waits between tries of a store call. If the store is lost (Reach.Lost), it waits until the store answers again, or, if
// waitIfLost is false, returns false.
func (p *storeBackoff) waitForStore(ctx context.Context, waitIfLost bool) bool {
	fires, stop := timerAfter(max(p.next(), 1))
	defer stop()
	reach := p.service.config.Reach
	select {
	case <-fires:
		return true
	case <-reach.Lost():
		return waitIfLost && reach.Await(ctx)
	case <-ctx.Done():
		return false
	}
}

// random serialises calls of the injected source.
func (s *Service) random() uint64 {
	s.randomMu.Lock()
	defer s.randomMu.Unlock()
	return s.config.Random()
}

// recordFailure records a failed call that will be retried or compensated for.
func (s *Service) recordFailure(operation string, err error) {
	s.metrics.failures.WithLabelValues(operation).Inc()
	s.outage.Failed(operation, err)
}

// recordResult records the result of a call.
func (s *Service) recordResult(operation string, err error) {
	if err != nil {
		s.recordFailure(operation, err)
	} else {
		s.outage.Succeeded(operation)
	}
}

// jitter changes a duration by up to ± timer.Jitter of it, so that concurrent calls are not repeated simultaneously.
func (s *Service) jitter(d time.Duration) time.Duration {
	return callback.Jitter(d, s.random)
}

// spread returns a random duration between d/2 and d, so that deliveries refused at the same time do not come back at
// the same time.
func (s *Service) spread(d time.Duration) time.Duration {
	unit := float64(s.random()>>11) / (1 << 53) // [0, 1)
	return time.Duration(float64(d) * (1 + unit) / 2)
}
