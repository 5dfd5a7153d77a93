package bustest_test

import (
	"context"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// optimist returns a constant result from Ready.
type optimist struct {
	*membus.Member
	err error
}

func (o *optimist) Ready(bus.Topic, string) error { return o.err }

func TestSuiteCatchesABusThatIsAlwaysReady(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(&optimist{Member: m}, m) },
		"Ready/OnlyWhileConsumingOrdered", "Ready/OnlyWhileConsumingLive", "Ready/OnlyWhileConsumingQueue",
		"Ready/NotWhileOpenFailsOrdered", "Ready/NotWhileOpenFailsLive", "Ready/NotWhileOpenFailsQueue",
		"Ready/NotWhileCutOffOrdered", "Ready/NotWhileCutOffLive", "Ready/NotWhileCutOffQueue",
		"Ready/NotWhileDeliverFails")
}

func TestSuiteCatchesABusThatIsNeverReady(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member {
		return intact(&optimist{Member: m, err: bus.ErrUnavailable}, m)
	}, "Ready/OnlyWhileConsumingOrdered", "Ready/WithoutPartitionsOrdered", "Ready/WithoutPartitionsLive")
}

// hasty calls open at a constant interval until it succeeds.
type hasty struct{ *membus.Member }

func (h *hasty) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return h.Member.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		for {
			s, err := open(ctx, p)
			if err == nil || ctx.Err() != nil {
				return s, err
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

func TestSuiteCatchesABusThatDoesNotBackOff(t *testing.T) {
	caught(t, func(m *membus.Member, _ *membus.Broker) bustest.Member { return intact(&hasty{m}, m) },
		"Ordered/OpenFailuresBackOff", "Live/OpenFailuresBackOff", "Queue/OpenFailuresBackOff")
}
