package membus_test

import (
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
