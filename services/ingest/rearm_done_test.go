package ingest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
)

// TestRetryOfDoneTimers: a done timer starts again with its payload if its namespace keeps payloads. If not, the error names the
// setting.
func TestRetryOfDoneTimers(t *testing.T) {
	w := newWorld(t)
	done := func(id string, keep bool) {
		t.Helper()
		w.post("timers/create", `{"id":"`+id+`","executeIn":"1s","payload":{"order":7}}`).must(t, http.StatusOK)
		row, err := w.row(id)
		if err != nil {
			t.Fatal(err)
		}
		errs, err := w.store.Finish(t.Context(), w.clock(), []store.Finish{{
			Ref: w.ref(id), DueAt: row.DueAt, Kind: store.FinishDone, If: store.Guard{Revision: row.Revision},
			Record: store.Record{Attempt: 1, StartedAt: w.clock(), FinishedAt: w.clock(), KeepFor: 24 * time.Hour, KeepPayload: keep},
		}})
		if err != nil || errs[0] != nil {
			t.Fatal(err, errs)
		}
	}
	refused := func(id, want string) {
		t.Helper()
		r := w.post("timers/retry", `{"id":"`+id+`"}`).must(t, http.StatusNotFound)
		if message, _ := r.field("message").(string); !strings.Contains(message, want) {
			t.Errorf("retry of %s: %q, want it to contain %q", id, message, want)
		}
	}
	done("early", false)
	refused("early", `is done, and its payload is not kept: set keepPayload of the namespace, such as "7d"`)
	refused("nobody", `there is no timer "nobody"`)

	w.post("namespaces/update", `{"name":"default","settings":{"keepPayload":"48h"}}`).must(t, http.StatusOK)
	if got := w.post("namespaces/get", `{"name":"default"}`).must(t, http.StatusOK).field("settings", "keepPayload"); got != "48h" {
		t.Errorf("keepPayload is %v", got)
	}
	refused("early", "its payload was not kept, because it was done before the setting keepPayload of the namespace was set")
	w.post("namespaces/update", `{"name":"default","settings":{"historyRetention":"72h"}}`).must(t, http.StatusBadRequest)

	done("kept", true)
	if got := w.post("timers/get", `{"id":"kept"}`).must(t, http.StatusOK); got.field("payload") != nil {
		t.Errorf("get shows the payload of a done timer: %s", got.text)
	}
	again := w.post("timers/retry", `{"id":"kept","executeIn":"1h"}`).must(t, http.StatusOK)
	if again.field("status") != "scheduled" || again.field("payload", "order") != 7.0 {
		t.Errorf("retry answered %s", again.text)
	}
	w.post("namespaces/update", `{"name":"default","settings":{"keepPayload":null}}`).must(t, http.StatusOK)
}
