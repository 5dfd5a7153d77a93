package ingest_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/testclock"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest"
)

// newClockWorld returns a world on a test clock.
func newClockWorld(t *testing.T) (*world, *testclock.Clock) {
	t.Helper()
	clock := testclock.New()
	return newWorld(t, func(c *ingest.Config) {
		whole, ok := c.Store.(store.Store)
		driver, err := testclock.NewDriver(clock, whole, clock.Now)
		if err != nil || !ok {
			t.Fatal(err)
		}
		c.TestClock, c.Clock = driver, clock.Now
	}), clock
}

// Commands of the topic have a time of the bus, whose clock is the machine's.
func TestACommandOnATestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, clock := newClockWorld(t)
		defer w.stop()
		results := w.listen(bus.Results)
		w.post("clock/advance", `{"by":"720h"}`).must(t, http.StatusOK)
		w.command("a", event.TypeCreate, `{"id":"a","executeIn":"1h"}`)
		if a := results.next(t); a.CommandID != "a" {
			t.Fatalf("answered %s", a.event.Data)
		}
		want := clock.Now().Add(time.Hour)
		if row, err := w.row("a"); err != nil || want.Sub(row.ExecuteAt).Abs() > time.Second {
			t.Errorf("due at %v, want %v; %v", row.ExecuteAt, want, err)
		}
	})
}

// The answers about a test clock have the form of the document, which the world checks. No dispatcher runs, so a due timer stays due.
func TestClockAnswers(t *testing.T) {
	w, clock := newClockWorld(t)
	began := clock.Now()
	w.post("clock/advance", `{"by":"2h"}`).must(t, http.StatusOK)
	got := w.post("clock/get", `{}`).must(t, http.StatusOK)
	if got.field("ahead") == "0s" || got.field("nextDueAt") != nil {
		t.Errorf("after two hours: %s", got.text)
	}
	due := began.Add(3 * time.Hour)
	w.post("timers/create", `{"id":"a","deliver":"event","executeAt":"`+due.String()+`"}`).must(t, http.StatusOK)
	target := began.Add(4 * time.Hour)
	got = w.post("clock/set", `{"time":"`+target.String()+`","timeout":"10ms"}`).must(t, http.StatusGatewayTimeout)
	if got.field("error") != "CLOCK_NOT_QUIET" || got.field("details", "target") != target.String() {
		t.Errorf("while a timer is due: %s", got.text)
	}
	if now := clock.Now(); now >= target {
		t.Errorf("the clock shows %v, and a timer is due at %v", now, due)
	}
	got = w.post("clock/set", `{"time":"`+began.String()+`"}`).must(t, http.StatusBadRequest)
	if got.field("details", "field") != "time" {
		t.Errorf("back: %s", got.text)
	}
}
