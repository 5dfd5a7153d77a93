package dispatcher_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/internal/outage/outagetest"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestAnOutageIsALineAMinute: the store or the bus is down for ten minutes, while timers with callbacks, events or both
// become due.
func TestAnOutageIsALineAMinute(t *testing.T) {
	for name, plan := range map[string]faultstore.Plan{
		"store": func(string, int) faultstore.Fault { return faultstore.Fault{Kind: faultstore.FailBefore} },
		"bus":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				// Some deliveries have begun when the outage begins. The host has permits for all.
				w.answer = answerAfter(6*time.Second, 200)
				w.settle(func(s *store.Settings) { s.HostConcurrency = 256 })
				var log outagetest.Log
				var faults *faultstore.Faults
				n := w.start(func(c *dispatcher.Config) {
					faults = faultstore.New(nil)
					handle := faults.Wrap(w.db.Open())
					c.Store, c.Directory, c.Logger = handle, store.NewDirectory(handle), log.Logger()
				})
				for i := range 13 * 60 / 5 {
					w.put(string(rune('a'+i)), time.Duration(i)*5*time.Second, func(s *timer.Spec) {
						s.Deliver = []timer.Deliver{timer.DeliverCallback, timer.DeliverEvent, timer.DeliverBoth}[i%3]
					})
				}
				pass := func(d time.Duration) {
					for range d / time.Second {
						time.Sleep(time.Second)
						w.release()
					}
					synctest.Wait()
				}
				pass(time.Minute)
				if lines := log.Take(); lines != nil {
					w.t.Fatalf("logged before the outage: %q", lines)
				}
				faults.Follow(plan)
				if plan == nil {
					n.member.Disconnect()
				}
				pass(10 * time.Minute)
				faults.Follow(nil)
				n.member.Connect()
				pass(3 * time.Minute)
				log.Want(w.t, "dispatcher", "unavailable", 10*time.Minute)
			})
		})
	}
}
