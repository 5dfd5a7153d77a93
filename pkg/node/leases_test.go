package node

import (
	"errors"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/faultstore"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestI11_LeasesOfADeadProcessEnd, and those that cannot be written remain.
func TestI11_LeasesOfADeadProcessEnd(t *testing.T) {
	const now = timer.Millis(1_900_000_000_000)
	clock := func() timer.Millis { return now }
	revisions := timer.NewRevisions(clock, func() uint64 { return 1 })
	s := memstore.NewDatabase().Open()
	ns, err := s.CreateNamespace(t.Context(), store.Namespace{
		Name: DefaultNamespace, Shards: shard.Block{Count: 1}, Settings: store.DefaultSettings(), CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	ref := store.Ref{Shard: ns.Shards.Base, UUID: timer.UUIDOf(DefaultNamespace, "long")}
	written, err := s.Write(t.Context(), now, []store.Op{store.Put{
		Ref: ref, Namespace: DefaultNamespace, ID: "long", Revision: revisions.Next(),
		Spec: timer.Spec{ExecuteAt: now, Deliver: timer.DeliverEvent, Retry: timer.DefaultRetryPolicy()},
	}})
	if err != nil || written[0].Err != nil {
		t.Fatal(err, written)
	}
	_, err = s.Finish(t.Context(), now, []store.Finish{{
		Ref: ref, Kind: store.FinishLeased, If: store.Guard{Revision: written[0].Timer.Revision}, Next: revisions.Next(),
		NextAt: now.Add(15 * time.Second), CountStart: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	faults := faultstore.New(func(method string, _ int) faultstore.Fault {
		if method == "Finish" {
			return faultstore.Fault{Kind: faultstore.FailBefore}
		}
		return faultstore.Fault{}
	})
	if n, err := endLeases(t.Context(), faults.Wrap(s), clock, revisions); n != 0 || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a store that cannot be written to: %d, %v", n, err)
	}
	if n, err := endLeases(t.Context(), s, clock, revisions); n != 1 || err != nil {
		t.Errorf("%d leases ended, %v", n, err)
	}
	rows, err := s.Current(t.Context(), []store.Check{{Ref: ref}})
	if err != nil || rows[0].Timer.DueAt != now || rows[0].Timer.Starts != 1 {
		t.Errorf("the row is %+v, %v", rows[0].Timer, err)
	}
}
