package seldom_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/seldom"
)

func TestGateOpensOnceInAnIntervalAndCountsTheRest(t *testing.T) {
	now := timer.Millis(1000)
	g := seldom.NewGate(func() timer.Millis { return now }, 10*time.Second)
	for i, step := range []struct {
		at   timer.Millis
		held int
		ok   bool
	}{
		{1000, 0, true},
		{1001, 0, false},
		{10_999, 0, false},
		{11_000, 2, true},
		{11_001, 0, false},
		{60_000, 1, true},
		{70_000, 0, true},
	} {
		now = step.at
		if held, ok := g.Pass(); held != step.held || ok != step.ok {
			t.Fatalf("step %d, at %d: held back %d, open %v; want %d, %v", i, step.at, held, ok, step.held, step.ok)
		}
	}
}
