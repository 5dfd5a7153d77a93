package node

import (
	"context"
	"errors"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// leasePage is the number of leases that are ended in one batch.
const leasePage = 1000

// endLeases makes the timers due immediately whose callbacks were running when the previous process with this store
// ended. On a store that several processes can use it does nothing, because the holders of the leases may be running.
func endLeases(ctx context.Context, s store.Store, clock timer.Clock, revisions *timer.Revisions) (ended int, err error) {
	exclusive, ok := store.As[store.Exclusive](s)
	if !ok {
		return 0, nil
	}
	for {
		now := clock()
		leases, err := exclusive.Leased(ctx, now, leasePage)
		if err != nil || len(leases) == 0 {
			return ended, err
		}
		items := make([]store.Finish, len(leases))
		for i, l := range leases {
			items[i] = store.Finish{
				Ref: l.Ref, DueAt: l.Until, Kind: store.FinishPostponed, If: store.Guard{Revision: l.Revision},
				Next: revisions.Next(), NextAt: now,
			}
		}
		refused, err := s.Finish(ctx, now, items)
		if err := errors.Join(append(refused, err)...); err != nil {
			return ended, err
		}
		ended += len(leases)
	}
}
