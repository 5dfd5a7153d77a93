package dispatcher

import (
	"context"
	"time"

	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// maxPurges bounds the batches of one round, so that a long-neglected history does not keep the store
// busy in one go.
const maxPurges = 20

// keepHouse removes expired history and reads the namespaces' settings anew. Every dispatcher does it,
// at its own moment.
func (s *Service) keepHouse(ctx context.Context) {
	for sleep(ctx, s.jitter(s.config.PurgeEvery)) {
		if err := s.config.Directory.Refresh(ctx); err != nil {
			s.failed("read namespaces", err)
		}
		for range maxPurges {
			n, err := s.purge(ctx)
			if err != nil {
				s.failed("purge history", err)
			}
			if err != nil || n < s.config.PurgeBatch {
				break
			}
		}
	}
}

func (s *Service) purge(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	n, err := s.config.Store.Purge(ctx, s.config.Clock(), s.config.PurgeBatch)
	s.metrics.purged.Add(float64(n))
	return n, err
}

// jitter moves a duration by up to ± timer.Jitter of it, so that what happened together does not happen
// together again.
func (s *Service) jitter(d time.Duration) time.Duration {
	return callback.Jitter(d, s.random)
}
