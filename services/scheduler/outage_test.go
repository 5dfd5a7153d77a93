package scheduler_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/internal/outage/outagetest"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/scheduler"
)

// TestAnOutageIsALineAMinute: the store or the bus is down for ten minutes, while timers become due in every partition.
// The log has a line at the begin, one per minute and one at the end, for any number of partitions and operations.
func TestAnOutageIsALineAMinute(t *testing.T) {
	for name, c := range map[string]struct {
		plan  faultstore.Plan
		cause string
	}{
		"store":      {func(string, int) faultstore.Fault { return faultstore.Fault{Kind: faultstore.FailBefore} }, "store unavailable"},
		"store hung": {func(string, int) faultstore.Fault { return faultstore.Fault{Kind: faultstore.Freeze} }, "deadline exceeded"},
		"bus":        {nil, "bus unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var log outagetest.Log
				var faults *faultstore.Faults
				n := w.start("a", func(config *scheduler.Config) {
					faults = faultstore.New(nil)
					handle := faults.Wrap(w.db.Open())
					config.Store, config.Directory, config.Logger = handle, store.NewDirectory(handle), log.Logger()
				})
				for i := range 13 * 6 {
					w.many(8, time.Duration(i)*10*time.Second, i%2 == 0)
				}
				w.pass(time.Minute)
				if lines := log.Take(); lines != nil {
					w.t.Fatalf("logged before the outage: %q", lines)
				}
				faults.Follow(c.plan)
				if c.plan == nil {
					n.member.Disconnect()
				}
				w.pass(10 * time.Minute)
				faults.Follow(nil)
				n.member.Connect()
				w.pass(3 * time.Minute)
				log.Want(w.t, "scheduler", c.cause, 10*time.Minute)
				n.end()
			})
		})
	}
}
