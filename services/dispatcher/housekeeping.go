package dispatcher

import (
	"context"
)

// keepHouse removes expired history. Every dispatcher does it, at random intervals.
func (s *Service) keepHouse(ctx context.Context) {
	for sleep(ctx, s.jitter(s.config.PurgeEvery)) {
		s.purgeAll(ctx)
	}
}

// refreshNamespaces reads the namespaces, to learn what other nodes changed. It does not wait for a purge, which may last.
func (s *Service) refreshNamespaces(ctx context.Context) {
	for sleep(ctx, s.jitter(s.config.RefreshEvery)) {
		s.readNamespaces(ctx)
	}
}

func (s *Service) readNamespaces(ctx context.Context) {
	call, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	s.ended("read namespaces", s.config.Directory.Refresh(call))
}

// purgeAll removes what has expired, a batch at a time. It rests after each for as long as that took, and gives up
// after half of PurgeEvery: a long-neglected history takes a quarter of the store's time, and no more.
func (s *Service) purgeAll(ctx context.Context) {
	began := s.watch.Elapsed()
	for {
		before := s.watch.Elapsed()
		n, err := s.purge(ctx)
		s.ended("purge history", err)
		now := s.watch.Elapsed()
		if err != nil || n < s.config.PurgeBatch || now-began >= s.config.PurgeEvery/2 || !sleep(ctx, now-before) {
			return
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
