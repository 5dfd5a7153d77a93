package membus_test

import (
	"math"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/membus"
)

func TestSuite(t *testing.T) {
	bustest.Run(t, bustest.Options{Bubble: true}, func(_ bustest.T, partitions int) bustest.System {
		opts := membus.Options{Partitions: partitions}
		ours := membus.New(opts)
		theirs := ours.Beside(opts)
		return bustest.System{
			Join:     func(bustest.T) bustest.Member { return member(ours) },
			Stranger: func(bustest.T) bustest.Member { return member(theirs) },
			Remove:   func(_ bustest.T, topic bus.Topic, before bus.Position) { ours.Remove(topic, before) },
			Small:    func(bustest.T) bustest.Member { return member(membus.New(membus.Options{Partitions: 1, LogLimit: 20})) },
			LeaseTTL: time.Second,
			Settle:   3 * time.Second,
			Patience: 3 * time.Second,
		}
	})
}

func TestCrashSuite(t *testing.T) {
	bustest.RunCrash(t, bustest.Options{Bubble: true}, func(t bustest.T, partitions int) bustest.CrashSystem {
		b := membus.New(membus.Options{Partitions: partitions})
		onlooker := b.Join("onlooker")
		end := func() int64 {
			floors, err := onlooker.Floor(t.Context(), bus.Due, "")
			if err != nil {
				t.Errorf("floor: %v", err)
				return 0
			}
			return floors[0].End.Offset
		}
		var remembered int64
		return bustest.CrashSystem{
			System: bustest.System{
				Join:     func(bustest.T) bustest.Member { return member(b) },
				LeaseTTL: time.Second,
				Settle:   3 * time.Second,
				Patience: 3 * time.Second,
			},
			Remember: func() { remembered = end() },
			Crash:    func() { b.CrashQueue(bus.Due, int(end()-remembered), math.MaxInt) },
		}
	})
}

func member(b *membus.Broker) bustest.Member {
	m := b.Join("m")
	return bustest.Member{
		Bus:     m,
		Crash:   m.Crash,
		Isolate: m.Freeze,
		Heal:    m.Thaw,
		Break: func() {
			m.Disconnect()
			time.AfterFunc(1500*time.Millisecond, m.Connect)
		},
	}
}
