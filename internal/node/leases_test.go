package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// leaseholder is a store with leases of a dead process.
type leaseholder struct {
	store.Store

	leases   []store.Lease
	finished []store.Finish
	err      error
}

func (s *leaseholder) Leased(_ context.Context, _ timer.Millis, limit int) ([]store.Lease, error) {
	return s.leases[:min(limit, len(s.leases))], nil
}

func (s *leaseholder) Finish(_ context.Context, _ timer.Millis, items []store.Finish) ([]error, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.finished = append(s.finished, items...)
	s.leases = s.leases[len(items):]
	return make([]error, len(items)), nil
}

// TestI11_LeasesOfADeadProcessEnd ends leases page by page; if the store cannot be written to, they remain.
func TestI11_LeasesOfADeadProcessEnd(t *testing.T) {
	const now = timer.Millis(1_900_000_000_000)
	clock := func() timer.Millis { return now }
	revisions := timer.NewRevisions(clock, func() uint64 { return 1 })
	s := &leaseholder{err: store.ErrFull}
	for i := range leasePage + 1 {
		s.leases = append(s.leases, store.Lease{
			Ref: store.Ref{Shard: shard.ID(i)}, Until: now.Add(15 * time.Second), Revision: timer.Revision(i + 1),
		})
	}
	if n, err := endLeases(t.Context(), s, clock, revisions); n != 0 || !errors.Is(err, store.ErrFull) {
		t.Errorf("a store that cannot be written to: %d, %v", n, err)
	}
	s.err = nil
	if n, err := endLeases(t.Context(), s, clock, revisions); n != leasePage+1 || err != nil {
		t.Errorf("%d leases ended, %v", n, err)
	}
	for i, f := range s.finished {
		want := store.Finish{
			Ref: store.Ref{Shard: shard.ID(i)}, DueAt: now.Add(15 * time.Second), Kind: store.FinishPostponed,
			If: store.Guard{Revision: timer.Revision(i + 1)}, Next: f.Next, NextAt: now,
		}
		if f != want || f.Next == 0 {
			t.Fatalf("the row is written by %+v, want %+v", f, want)
		}
	}
	if n, err := endLeases(t.Context(), struct{ store.Store }{}, clock, revisions); n != 0 || err != nil {
		t.Errorf("a store that many processes use: %d, %v", n, err)
	}
}
