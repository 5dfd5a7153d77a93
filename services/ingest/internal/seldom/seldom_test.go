package seldom_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/services/ingest/internal/seldom"
)

func TestGateOpensOnceInAnIntervalAndCountsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		g := seldom.NewGate(10 * time.Second)
		for i, step := range []struct {
			at   time.Duration
			held int
			ok   bool
		}{
			{0, 0, true},
			{time.Millisecond, 0, false},
			{10*time.Second - 1, 0, false},
			{10 * time.Second, 2, true},
			{10*time.Second + 1, 0, false},
			{59 * time.Second, 1, true},
			{69 * time.Second, 0, true},
		} {
			time.Sleep(step.at - time.Since(begun))
			if held, ok := g.Pass(); held != step.held || ok != step.ok {
				t.Fatalf("step %d, after %v: held back %d, open %v; want %d, %v", i, step.at, held, ok, step.held, step.ok)
			}
		}
	})
}
