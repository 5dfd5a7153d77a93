package ingest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
)

// wantOverQuota checks that a create was refused because of a quota.
func wantOverQuota(t *testing.T, got reply, quota string, limit float64) {
	t.Helper()
	got.must(t, 429)
	if got.field("error") != "RATE_LIMITED" || got.field("details", "quota") != quota || got.field("details", "limit") != limit ||
		got.field("details", "namespace") != "default" || got.header.Get("Retry-After") != "1" {
		t.Errorf("answered %s, Retry-After %q", got.text, got.header.Get("Retry-After"))
	}
}

func TestQuotaOfPendingTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.stop()
		dead := w.listen(bus.Dead)
		defer dead.stop()
		w.post("namespaces/update", `{"name":"default","settings":{"quota":{"maxPending":2}}}`).must(t, 200)
		w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, 200)
		time.Sleep(time.Second) // and is counted
		w.post("timers/create", `{"id":"b","executeIn":"1h"}`).must(t, 200)
		wantOverQuota(t, w.post("timers/create", `{"id":"c","executeIn":"1h"}`), "maxPending", 2)
		w.post("timers/update", `{"id":"a","payload":1}`).must(t, 200)

		w.post("timers/delete", `{"id":"a"}`).must(t, 204)
		time.Sleep(time.Second)
		wantOverQuota(t, w.post("timers/create", `{"id":"c","executeIn":"1h"}`), "maxPending", 2) // requests a count
		time.Sleep(100 * time.Millisecond)
		batch := w.post("timers/batch-create", `{"timers":[{"id":"c","executeIn":"1h"},{"id":"d","executeIn":"1h"}]}`).must(t, 200)
		if batch.field("succeeded") != 1.0 || batch.field("failed") != 1.0 || !strings.Contains(batch.text, `"quota":"maxPending"`) {
			t.Errorf("the batch answered %s", batch.text)
		}
		w.command("1", event.TypeCreate, `{"id":"e","executeIn":"1h"}`)
		if got := dead.next(t); got.Error != "RATE_LIMITED" {
			t.Errorf("the command was answered with %s", got.event.Data)
		}
		wanted := `{"schedules":[{"id":"s","specs":[{"every":"1h"}]}]}`
		if batch = w.post("schedules/batch-create", wanted).must(t, 200); !strings.Contains(batch.text, `"quota":"maxPending"`) {
			t.Errorf("the batch of schedules answered %s", batch.text)
		}
		if n := w.counter("timerbus_ingest_over_quota_total", "maxPending"); n != 5 {
			t.Errorf("%v refusals counted, want 5", n)
		}

		w.post("namespaces/update", `{"name":"default","settings":{"quota":null}}`).must(t, 200)
		w.post("timers/create", `{"id":"e","executeIn":"1h"}`).must(t, 200)
		if batch = w.post("schedules/batch-create", wanted).must(t, 200); batch.field("succeeded") != 1.0 {
			t.Errorf("without a quota, the batch of schedules answered %s", batch.text)
		}
	})
}

// TestAReplayedCreateIsNotOverQuota: the store has applied the command, so its answer must not be a refusal.
func TestAReplayedCreateIsNotOverQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		w.post("namespaces/update", `{"name":"default","settings":{"quota":{"maxPending":1,"createsPerSecond":1}}}`).must(t, 200)
		w.killAfterWrite()
		w.command("1", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		synctest.Wait()
		w.store.set(nil)
		w.restart()
		w.post("timers/create", `{"id":"b","executeIn":"1h"}`).must(t, 200) // uses both quotas of the new process
		time.Sleep(1500 * time.Millisecond)                                 // the dead owner's lease expires
		if a := results.next(t); a.CommandID != "1" || !a.Earlier {
			t.Errorf("the replay answered %s", a.event.Data)
		}
		dead.empty(t)
		w.wantPending(0)
	})
}

func TestQuotaOfCreatesPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.stop()
		w.post("namespaces/update", `{"name":"default","settings":{"quota":{"createsPerSecond":2}}}`).must(t, 200)
		for range 2 {
			w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, 200)
			w.post("timers/create", `{"id":"b","executeIn":"now"}`).must(t, 400) // does not count
			w.post("timers/create", `{"id":"b","executeIn":"1h"}`).must(t, 200)
			wantOverQuota(t, w.post("timers/create", `{"id":"c","executeIn":"1h"}`), "createsPerSecond", 2)
			time.Sleep(time.Second)
		}
	})
}

func TestQuotaOfPayloads(t *testing.T) {
	w := newWorld(t)
	got := w.post("namespaces/update", `{"name":"default","settings":{"quota":{"maxPayloadBytes":5,"maxPending":9}}}`).must(t, 200)
	if got.field("settings", "quota", "maxPayloadBytes") != 5.0 || got.field("settings", "quota", "createsPerSecond") != nil {
		t.Errorf("update answered %s", got.text)
	}
	w.post("timers/create", `{"id":"a","executeIn":"1h","payload":12345}`).must(t, 200)
	for _, got := range []reply{
		w.post("timers/create", `{"id":"b","executeIn":"1h","payload":123456}`),
		w.post("timers/update", `{"id":"a","payload":123456}`),
	} {
		got.must(t, 413)
		if got.field("details", "limit") != 5.0 || got.field("details", "size") != 6.0 {
			t.Errorf("answered %s", got.text)
		}
	}
	w.post("namespaces/update", `{"name":"default","settings":{"quota":{"maxPayloadBytes":null}}}`).must(t, 200)
	w.post("timers/update", `{"id":"a","payload":123456}`).must(t, 200)
	conflict := w.post("namespaces/create", `{"name":"default","settings":{"quota":{"maxPending":8}}}`).must(t, 409)
	if !strings.Contains(conflict.text, "settings.quota") {
		t.Errorf("create answered %s", conflict.text)
	}
}
