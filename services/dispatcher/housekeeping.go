package dispatcher

import (
	"context"

	"github.com/timerbus/timerbus/pkg/timer"
)

// purgeHistory removes expired history, and states of flows that are not in use. Every dispatcher does it, at random intervals.
func (s *Service) purgeHistory(ctx context.Context) {
	for first := true; timer.Sleep(ctx, s.jitter(s.config.PurgeEvery)); first = false {
		s.purgeAll(ctx)
		s.purgeFlows(ctx, first)
	}
}

// purgeFlows removes states of flows that are not in use. The first time it also looks at namespaces without limits, which may have
// had some.
func (s *Service) purgeFlows(ctx context.Context, all bool) {
	if s.config.Flows == nil {
		return
	}
	for _, ns := range s.config.Directory.All() {
		if ns.Settings.Flows == "" && !all {
			continue
		}
		err := s.removeUnusedFlows(ctx, ns)
		s.recordResult("purge flows", err)
		if err != nil || !timer.Sleep(ctx, flowPause) {
			return
		}
	}
}

// refreshNamespaces reads the namespaces to learn changes by other nodes. It is a separate loop because a purge may
// take long.
func (s *Service) refreshNamespaces(ctx context.Context) {
	for timer.Sleep(ctx, s.jitter(s.config.RefreshEvery)) {
		s.readNamespaces(ctx)
	}
}

func (s *Service) readNamespaces(ctx context.Context) {
	call, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	s.recordResult("read namespaces", s.config.Directory.Refresh(call))
}

// purgeAll removes expired history in batches. After each batch it sleeps as long as the batch took, and it stops after
// half of PurgeEvery. So even a long history uses at most a quarter of the store's time.
func (s *Service) purgeAll(ctx context.Context) {
	began := s.stopwatch.Elapsed()
	for {
		before := s.stopwatch.Elapsed()
		n, err := s.purge(ctx)
		s.recordResult("purge history", err)
		now := s.stopwatch.Elapsed()
		if err != nil || n < s.config.PurgeBatch || now-began >= s.config.PurgeEvery/2 || !timer.Sleep(ctx, now-before) {
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
