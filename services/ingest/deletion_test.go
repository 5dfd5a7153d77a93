package ingest_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// finish ends or moves a timer of a namespace.
func (w *world) finish(ns *store.Namespace, id string, kind store.FinishKind) {
	w.t.Helper()
	ref := store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(ns.Name, id)}
	row, err := w.store.Get(w.t.Context(), w.clock(), ref)
	if err != nil {
		w.t.Fatal(err)
	}
	errs, err := w.store.Finish(w.t.Context(), w.clock(), []store.Finish{{
		Ref: ref, DueAt: row.DueAt, Kind: kind, If: store.Guard{Revision: row.Revision}, Next: row.Revision + 1,
		NextAt: w.clock().Add(time.Hour), Record: store.Record{Attempt: 1, StartedAt: noon, FinishedAt: noon, Error: "no", KeepFor: time.Hour},
	}})
	if err != nil || errs[0] != nil {
		w.t.Fatal(err, errs)
	}
}

// wantDeletion sends namespaces/delete and compares numbers of the answer.
func (w *world) wantDeletion(what, body string, want map[string]any) {
	w.t.Helper()
	r := w.post("namespaces/delete", body).must(w.t, http.StatusOK)
	for field, value := range want {
		if got := r.field(field); got != value {
			w.t.Errorf("%s: %s is %v, want %v: %s", what, field, got, value, r.text)
		}
	}
}

func TestDeleteNamespace(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *ingest.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	w.several("kept", 1)
	ns := w.makeNamespace("shop", 4)
	w.makeNamespace("last", 4)
	for _, id := range []string{"pending", "retrying", "parked", "dead", "done", "unpublished"} {
		w.post("timers/create", `{"namespace":"shop","id":"`+id+`","executeIn":"1h","correlationId":"c"}`).must(t, http.StatusOK)
	}
	w.finish(&ns, "retrying", store.FinishRetry)
	w.finish(&ns, "parked", store.FinishParked)
	w.finish(&ns, "dead", store.FinishDead)
	w.finish(&ns, "done", store.FinishDone)
	publish := func(id string) {
		t.Helper()
		entries, err := w.store.Outbox(t.Context(), ns.Shards.In(0, 1), timer.MaxMillis, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Timer.ID == id {
				if err := w.store.RemoveFromOutbox(t.Context(), []store.OutboxID{e.ID}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	publish("dead")
	w.finish(&ns, "unpublished", store.FinishDead)

	w.post("namespaces/delete", `{"name":"shop","ifVersion":2}`).must(t, http.StatusConflict)
	w.wantDeletion("dry run", `{"name":"shop","dryRun":true}`, map[string]any{
		"dryRun": true, "pending": 3.0, "finished": 3.0, "pendingDeleted": 0.0, "finishedPurged": 0.0, "deleted": false,
	})
	if r := w.post("namespaces/get", `{"name":"shop"}`).must(t, http.StatusOK); r.field("version") != 1.0 || r.field("deletingSince") != nil {
		t.Errorf("a dry run changed the namespace: %s", r.text)
	}
	// The retrying and the parked timer have been delivered before.
	w.wantDeletion("first step", `{"name":"shop","ifVersion":1}`, map[string]any{
		"pendingDeleted": 3.0, "late": 2.0, "finishedPurged": 2.0, "deleted": false, "retryAfter": nil,
	})
	w.wantDeletion("before the event of a dead timer is published", `{"name":"shop","ifVersion":1}`, map[string]any{
		"pendingDeleted": 0.0, "finishedPurged": 0.0, "deleted": false, "retryAfter": "1s",
	})
	for path, body := range map[string]string{
		"timers/create":              `{"namespace":"shop","id":"new","executeIn":"1h"}`,
		"timers/update":              `{"namespace":"shop","id":"pending","executeIn":"2h"}`,
		"timers/retry":               `{"namespace":"shop","id":"unpublished"}`,
		"timers/run-now":             `{"namespace":"shop","id":"unpublished"}`,
		"timers/pause":               `{"namespace":"shop","id":"pending"}`,
		"timers/resume":              `{"namespace":"shop","id":"pending"}`,
		"timers/pause-matching":      `{"namespace":"shop"}`,
		"timers/resume-matching":     `{"namespace":"shop"}`,
		"timers/retry-matching":      `{"namespace":"shop","status":"dead"}`,
		"timers/reschedule-matching": `{"namespace":"shop","status":"parked","executeIn":"1h"}`,
		"schedules/pause-matching":   `{"namespace":"shop"}`,
		"schedules/resume-matching":  `{"namespace":"shop"}`,
		"namespaces/update":          `{"name":"shop","settings":{"historyRetention":"2h"}}`,
		"namespaces/create":          `{"name":"shop","numShards":4}`,
	} {
		if r := w.post(path, body).must(t, http.StatusConflict); r.field("error") != "NAMESPACE_DELETING" ||
			r.field("message") != `namespace "shop" is being deleted: its timers can be read and deleted only` {
			t.Errorf("%s: %s", path, r.text)
		}
	}
	w.post("timers/get", `{"namespace":"shop","id":"unpublished"}`).must(t, http.StatusOK)
	w.post("timers/list", `{"namespace":"shop"}`).must(t, http.StatusOK)
	w.post("timers/delete", `{"namespace":"shop","id":"pending"}`).must(t, http.StatusNotFound)
	publish("unpublished")
	w.wantDeletion("after the event is published", `{"name":"shop"}`, map[string]any{"finishedPurged": 1.0, "deleted": false})

	w.wantDeletion("before the mark is a minute old", `{"name":"shop"}`, map[string]any{"deleted": false, "retryAfter": "1m"})
	w.now.Add(59_000)
	w.wantDeletion("before the mark is a minute old", `{"name":"shop"}`, map[string]any{"deleted": false, "retryAfter": "1s"})
	// Another process, which has not seen the mark, creates a timer.
	spec := timer.Spec{ExecuteAt: noon, Deliver: timer.DeliverEvent, CallbackTimeout: time.Second, Retry: timer.DefaultRetryPolicy()}
	late := store.Put{
		Ref: store.Ref{Shard: ns.Shards.Place("late"), UUID: timer.UUIDOf("shop", "late")}, Namespace: "shop", ID: "late", Revision: 77, Spec: spec,
	}
	if written, err := w.store.Store.Write(t.Context(), w.clock(), []store.Op{late}); err != nil || written[0].Err != nil {
		t.Fatal(err, written)
	}
	w.now.Add(1000)
	w.wantDeletion("with a timer of another process", `{"name":"shop"}`, map[string]any{"pendingDeleted": 1.0, "late": 1.0, "deleted": false})
	w.wantDeletion("last step", `{"name":"shop"}`, map[string]any{"pendingDeleted": 0.0, "deleted": true, "retryAfter": nil})
	w.post("namespaces/delete", `{"name":"shop"}`).must(t, http.StatusNotFound)
	w.post("timers/create", `{"namespace":"shop","id":"new","executeIn":"1h"}`).must(t, http.StatusNotFound)

	if r := w.post("namespaces/create", `{"name":"shop","numShards":4}`).must(t, http.StatusOK); r.field("version") != 1.0 {
		t.Errorf("created again as %s", r.text)
	}
	again, err := w.store.GetNamespace(t.Context(), "shop")
	if err != nil || again.Shards == ns.Shards {
		t.Errorf("created again with the shards %v, %v", again.Shards, err)
	}
	for _, status := range []string{"scheduled", "retrying", "parked", "dead", "done"} {
		if r := w.post("timers/list", `{"namespace":"shop","status":"`+status+`"}`).must(t, http.StatusOK); strings.Contains(r.text, `"id"`) {
			t.Errorf("the new namespace has timers: %s", r.text)
		}
	}
	w.wantNothingDue(ns.Shards.In(0, 1))
	w.post("timers/create", `{"namespace":"shop","id":"new","executeIn":"1h"}`).must(t, http.StatusOK)
	if _, err := w.row("kept/0"); err != nil {
		t.Errorf("timer of another namespace: %v", err)
	}
	for _, want := range []string{
		`msg=audit namespace=shop version=2 action="namespace deletion started"`,
		`msg=audit namespace=shop pending=3 late=2 finished=2 action="timers of a namespace deleted"`,
		`msg=audit namespace=shop version=2 action="namespace deleted"`,
	} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("not one line %s in %s", want, &log)
		}
	}
}

// TestI7_DeletesInANamespaceThatWasCreatedAgain: the process knows only the mark of the removed namespace. A delete must remove the timer
// of the new one, because it would fire after the answer.
func TestI7_DeletesInANamespaceThatWasCreatedAgain(t *testing.T) {
	w := newWorld(t)
	for path, body := range map[string]string{
		"timers/delete":          `{"namespace":"shop","id":"a"}`,
		"timers/delete-matching": `{"namespace":"shop","status":"scheduled"}`,
	} {
		t.Run(path, func(t *testing.T) {
			w.makeNamespace("shop", 4)
			w.post("namespaces/delete", `{"name":"shop"}`).must(t, http.StatusOK)
			old, err := w.store.GetNamespace(t.Context(), "shop")
			if err == nil {
				err = w.store.DeleteNamespace(t.Context(), old) // as another process does
			}
			if err != nil {
				t.Fatal(err)
			}
			again := w.makeNamespace("shop", 4)
			ref := store.Ref{Shard: again.Shards.Place("a"), UUID: timer.UUIDOf("shop", "a")}
			put := store.Put{Ref: ref, Namespace: "shop", ID: "a", Revision: 77, Spec: timer.Spec{
				ExecuteAt: w.clock().Add(time.Hour), Deliver: timer.DeliverEvent, CallbackTimeout: time.Second, Retry: timer.DefaultRetryPolicy(),
			}}
			if written, err := w.store.Store.Write(t.Context(), w.clock(), []store.Op{put}); err != nil || written[0].Err != nil {
				t.Fatal(err, written)
			}
			if r := w.post(path, body); r.status != http.StatusNoContent && r.field("applied") != 1.0 {
				t.Errorf("status %d: %s", r.status, r.text)
			}
			if _, err := w.store.Get(t.Context(), w.clock(), ref); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the timer is not deleted: %v", err)
			}
			if err := w.store.DeleteNamespace(t.Context(), again); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// wantNothingDue fails if a scheduler would find a row in one of the shards.
func (w *world) wantNothingDue(shards []shard.ID) {
	w.t.Helper()
	states, err := w.store.Inspect(w.t.Context(), shards)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, state := range states {
		if state.NextDueAt != timer.Never || state.Version != 0 {
			w.t.Errorf("shard %s of the deleted namespace: %+v", state.Shard, state)
		}
	}
}

// TestDeleteNamespaceInPages deletes more timers than a request does.
func TestDeleteNamespaceInPages(t *testing.T) {
	w := newWorld(t)
	w.makeNamespace("shop", 2)
	const n = 1200
	for i := range n {
		w.post("timers/create", fmt.Sprintf(`{"namespace":"shop","id":"%d","executeIn":"1h"}`, i)).must(t, http.StatusOK)
	}
	w.post("timers/pause-matching", `{"namespace":"shop","limit":700}`).must(t, http.StatusOK)
	for _, want := range []float64{500, 500, 200, 0} {
		w.wantDeletion("a page", `{"name":"shop"}`, map[string]any{"pendingDeleted": want, "deleted": false})
	}
}

func TestDeleteNamespaceIsRefused(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{}`:                              `name: nothing is not accepted: want`,
		`{"name":"default"}`:              `name: "default" is not accepted: want another namespace: each process creates this one when it starts`,
		`{"name":"shop","dryRun":"yes"}`:  `dryRun: "yes" is not accepted: want true or false`,
		`{"name":"shop","ifVersion":0}`:   `ifVersion: 0 is not accepted: want`,
		`{"name":"shop","numShards":"4"}`: `numShards: "4" is not accepted: want only the fields name, dryRun, ifVersion`,
	} {
		if got, _ := w.post("namespaces/delete", body).must(t, http.StatusBadRequest).field("message").(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	w.post("namespaces/delete", `{"name":"nobody"}`).must(t, http.StatusNotFound)
}
