package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// published removes all outbox entries of the namespace default.
func (w *world) published() {
	w.t.Helper()
	ns, err := w.store.GetNamespace(w.t.Context(), "default")
	if err != nil {
		w.t.Fatal(err)
	}
	entries, err := w.store.Outbox(w.t.Context(), ns.Shards.In(0, 1), timer.MaxMillis, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.store.RemoveFromOutbox(w.t.Context(), []store.OutboxID{e.ID}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestPurgeMatching(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *ingest.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for i := range 5 {
		w.finished(fmt.Sprintf("dead/%d", i), store.FinishDead)
	}
	w.published()
	w.finished("unpublished", store.FinishDead)
	w.finished("done", store.FinishDone)
	w.finished("parked", store.FinishParked)
	// One is scheduled again. Only its history is removed.
	w.post("timers/retry", `{"timerId":"dead/3","executeIn":"3h"}`).must(t, http.StatusOK)

	const dead = `"namespace":"default","status":"dead"`
	wantSums(t, w.pages("timers/purge-matching", dead+`,"correlationId":"other"`), 0, 0, 0, 0)
	if strings.Contains(log.String(), "timers purged") {
		t.Errorf("a purge of nothing is logged: %s", &log)
	}
	wantSums(t, w.pages("timers/purge-matching", dead+`,"correlationId":"end","limit":4`), 6, 5, 0, 1)
	for _, id := range []string{"dead/0", "dead/1", "dead/2", "dead/4"} {
		w.post("timers/get", `{"timerId":"`+id+`"}`).must(t, http.StatusNotFound)
		w.post("timers/history", `{"timerId":"`+id+`"}`).must(t, http.StatusNotFound)
	}
	for id, status := range map[string]string{"dead/3": "scheduled", "unpublished": "dead", "done": "done", "parked": "parked"} {
		if r := w.post("timers/get", `{"timerId":"`+id+`"}`).must(t, http.StatusOK); r.field("status") != status {
			t.Errorf("%s: %s, want %s", id, r.text, status)
		}
	}
	for _, want := range []string{
		`msg=audit namespace=default status=dead matched=4 applied=4 failed=0 action="timers purged"`,
		`msg=audit namespace=default status=dead matched=2 applied=1 failed=0 action="timers purged"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no line %s in %s", want, &log)
		}
	}
	w.published()
	wantSums(t, w.pages("timers/purge-matching", dead), 1, 1, 0, 0)
	wantSums(t, w.pages("timers/purge-matching", `"namespace":"default","status":"done"`), 1, 1, 0, 0)
}

// forgetting counts the calls of Forget and answers some of them.
type forgetting struct {
	*gate

	most   int
	answer func(item store.Forget) error
	fail   error
}

func (f *forgetting) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	f.most = max(f.most, len(items))
	if f.fail != nil {
		return nil, f.fail
	}
	out, err := f.gate.Forget(ctx, now, items)
	for i := range out {
		if f.answer != nil {
			out[i] = f.answer(items[i])
		}
	}
	return out, err
}

// TestPurgeMatchingInPart: errors of the store are neither counted as skipped nor answered as "nothing was applied".
func TestPurgeMatchingInPart(t *testing.T) {
	w := newWorld(t)
	w.stop()
	f := &forgetting{gate: w.store}
	w.build(func(c *ingest.Config) { c.Store = f })
	w.run()
	const n, body = 5, `{"namespace":"default","status":"done","limit":1000}`
	for i := range n {
		w.finished(fmt.Sprint("done/", i), store.FinishDone)
	}
	f.fail = fmt.Errorf("%w: away", store.ErrUnavailable)
	w.post("timers/purge-matching", body).must(t, http.StatusServiceUnavailable)
	f.fail = fmt.Errorf("%w: away", store.ErrOutcomeUnknown)
	w.post("timers/purge-matching", body).must(t, http.StatusGatewayTimeout)
	f.fail = nil
	first := true
	f.answer = func(store.Forget) (err error) {
		if first {
			err = fmt.Errorf("%w: hot", store.ErrUnavailable)
		}
		first = false
		return err
	}
	r := w.post("timers/purge-matching", body).must(t, http.StatusGatewayTimeout)
	if r.field("details", "applied") != float64(n-1) || r.field("details", "failed") != float64(1) {
		t.Errorf("answered %s, want %d applied and 1 failed", r.text, n-1)
	}
}
