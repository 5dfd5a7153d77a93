package ingest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/internal/outage/outagetest"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest"
)

// TestAnOutageIsALineAMinute: the store or the bus is down for ten minutes, while requests and commands arrive.
func TestAnOutageIsALineAMinute(t *testing.T) {
	for name, plan := range map[string]faultstore.Plan{
		"store": func(string, int) faultstore.Fault { return faultstore.Fault{Kind: faultstore.FailBefore} },
		"bus":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log outagetest.Log
				var faults *faultstore.Faults
				var handle store.Store
				w := newWorld(t, func(c *ingest.Config) {
					faults = faultstore.New(nil)
					handle = faults.Wrap(c.Store.(store.Store)) //nolint:errcheck // the store of the test implements it.
					c.Store, c.Directory, c.Logger = handle, store.NewDirectory(handle), log.Logger()
					c.Positions, _ = store.As[store.Positions](handle)
				})
				defer w.stop()
				client := w.broker.Join("client")
				made := 0
				pass := func(d time.Duration, status int) {
					for range d / (2 * time.Second) {
						made++
						w.post("timers/create", fmt.Sprintf(`{"id":"t%d","executeIn":"3s"}`, made)).must(t, status)
						e := event.CloudEvent{
							SpecVersion: "1.0", ID: fmt.Sprint("c", made), Source: "//client", Type: event.TypeDelete,
							DataContentType: "application/json", Data: json.RawMessage(fmt.Sprintf(`{"id":"t%d"}`, made)),
						}
						headers, body, err := e.Encode(event.Binary)
						if err != nil {
							t.Fatal(err)
						}
						m := bus.Message{Partition: shard.Partition(made % 4), Key: e.ID, Headers: headers, Body: body}
						if _, err := client.Publish(t.Context(), bus.Commands, m); err != nil {
							t.Fatal(err)
						}
						time.Sleep(2 * time.Second)
					}
					synctest.Wait()
				}
				pass(time.Minute, http.StatusOK)
				if lines := log.Take(); lines != nil {
					t.Fatalf("logged before the outage: %q", lines)
				}
				faults.Follow(plan)
				if plan == nil {
					w.member.Disconnect()
					pass(10*time.Minute, http.StatusOK)
				} else {
					pass(10*time.Minute, http.StatusServiceUnavailable)
				}
				faults.Follow(nil)
				w.member.Connect()
				time.Sleep(5 * time.Second) // a command waits for its retry
				pass(3*time.Minute, http.StatusOK)
				log.Want(t, "ingest", "unavailable", 10*time.Minute)
			})
		})
	}
}
