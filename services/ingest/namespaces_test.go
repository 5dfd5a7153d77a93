package ingest_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest"
)

const someSecret = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="

// TestCreatingANamespaceAgain gets the same answer as the first create if the settings agree, and is refused otherwise.
func TestCreatingANamespaceAgain(t *testing.T) {
	tune, _ := withKeys(t)
	w := newWorld(t, tune)
	const settings = `"callbackTimeout":"10s","retryPolicy":{"maxAttempts":2},"headers":{"X-A":"1"},"eventTopics":["orders.*"],"secrets":{"set":"` + someSecret + `"}`
	made := w.post("namespaces/create", `{"name":"billing","settings":{`+settings+`}}`).must(t, 200)
	w.now.Add(1000)
	for _, same := range []string{
		`{"name":"billing","settings":{` + settings + `}}`,
		`{"name":"billing"}`,
		`{"name":"billing","numShards":16,"settings":{}}`,
		`{"name":"billing","settings":{"callbackTimeoutSeconds":10}}`,
		`{"name":"billing","settings":{"retryPolicy":{"maxRetries":1}}}`,
	} {
		if again := w.post("namespaces/create", same).must(t, 200); again.text != made.text {
			t.Errorf("%s answered %s, want %s", same, again.text, made.text)
		}
	}
	for other, field := range map[string]string{
		`{"name":"billing","settings":{"callbackTimeout":"11s"}}`:                                    "callbackTimeout",
		`{"name":"billing","settings":{"retryPolicy":{"maxAttempts":3}}}`:                            "retryPolicy",
		`{"name":"billing","settings":{"historyRetention":"48h"}}`:                                   "historyRetention",
		`{"name":"billing","settings":{"keepPayload":"48h"}}`:                                        "keepPayload",
		`{"name":"billing","settings":{"deadRetention":"48h"}}`:                                      "deadRetention",
		`{"name":"billing","settings":{"headers":{"X-A":"2"}}}`:                                      "headers",
		`{"name":"billing","settings":{"eventTopics":["bills.*"]}}`:                                  "eventTopics",
		`{"name":"billing","settings":{"finalStatuses":[404]}}`:                                      "finalStatuses",
		`{"name":"billing","settings":{"secrets":{"set":"whsec_yMnKy8zNzs/Q0dLT1NXW19jZ2tvc3d7f"}}}`: "secrets",
	} {
		got := w.post("namespaces/create", other).must(t, http.StatusConflict)
		differs, _ := got.field("details", "differs").([]any)
		if got.field("error") != "NAMESPACE_EXISTS" || len(differs) != 1 || differs[0] != "settings."+field {
			t.Errorf("%s answered %s", other, got.text)
		}
		if message, _ := got.field("message").(string); !strings.Contains(message, `"billing"`) || !strings.Contains(message, field) || strings.Contains(got.text, "whsec") {
			t.Errorf("%s answered %s", other, got.text)
		}
	}
	if now := w.post("namespaces/get", `{"name":"billing"}`).must(t, 200); now.text != made.text {
		t.Errorf("a refused create left %s", now.text)
	}
}

// TestNamespaceUpdatesWithAVersion: a client can require the version that it has read.
func TestNamespaceUpdatesWithAVersion(t *testing.T) {
	w := newWorld(t)
	if made := w.post("namespaces/create", `{"name":"billing"}`).must(t, 200); made.field("version") != 1.0 {
		t.Errorf("create answered %s", made.text)
	}
	first := w.post("namespaces/update", `{"name":"billing","ifVersion":1,"settings":{"callbackTimeout":"10s"}}`).must(t, 200)
	if first.field("version") != 2.0 {
		t.Errorf("the first update answered %s", first.text)
	}
	got := w.post("namespaces/update", `{"name":"billing","ifVersion":1,"settings":{"historyRetention":"48h"}}`).must(t, http.StatusConflict)
	if got.field("error") != "VERSION_CONFLICT" || got.field("details", "version") != 2.0 || got.field("details", "namespace") != "billing" ||
		got.field("message") != `namespace "billing" has version 2, not ifVersion 1` {
		t.Errorf("answered %s", got.text)
	}
	if now := w.post("namespaces/get", `{"name":"billing"}`).must(t, 200); now.text != first.text {
		t.Errorf("the refused update left %s", now.text)
	}
	w.post("namespaces/update", `{"name":"billing","settings":{"historyRetention":"48h"}}`).must(t, 200)
	for _, bad := range []string{"0", "-1", "1.5", `"1"`} {
		w.post("namespaces/update", `{"name":"billing","ifVersion":`+bad+`,"settings":{}}`).must(t, http.StatusBadRequest)
	}
	w.post("namespaces/update", `{"name":"billing","ifVersion":null,"settings":{}}`).must(t, 200)
}

// updates calls before once, before the first update of a namespace reaches the store.
type updates struct {
	*gate

	once   sync.Once
	before func()
}

func (u *updates) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	u.once.Do(u.before)
	return u.gate.UpdateNamespace(ctx, ns)
}

// TestTwoNodesUpdateANamespaceAtTheSameTime: both changes are kept, even if one node's clock is ahead.
func TestTwoNodesUpdateANamespaceAtTheSameTime(t *testing.T) {
	for _, ahead := range []int64{0, 60_000, -60_000} {
		w := newWorld(t)
		other := &world{t: t, broker: w.broker, store: w.store, member: w.broker.Join("other")}
		other.now.Store(int64(noon) + ahead)
		other.build()
		other.run()
		w.stop()
		w.build(func(c *ingest.Config) {
			c.Store = &updates{gate: w.store, before: func() {
				other.post("namespaces/update", `{"name":"default","settings":{"callbackTimeout":"11s"}}`).must(t, 200)
			}}
		})
		w.run()
		got := w.post("namespaces/update", `{"name":"default","settings":{"historyRetention":"48h"}}`).must(t, 200)
		if got.field("settings", "callbackTimeout") != "11s" || got.field("settings", "historyRetention") != "48h" || got.field("version") != 3.0 {
			t.Errorf("%d ms ahead: the second update answered %s", ahead, got.text)
		}
		if now := other.post("namespaces/get", `{"name":"default"}`).must(t, 200); now.text != got.text {
			t.Errorf("%d ms ahead: the store has %s", ahead, now.text)
		}
		w.stop()
		other.stop()
	}
}

// TestAVersionThatChangesUnderwayIsAConflict: the client required this version.
func TestAVersionThatChangesUnderwayIsAConflict(t *testing.T) {
	w := newWorld(t)
	w.stop()
	w.build(func(c *ingest.Config) {
		c.Store = &updates{gate: w.store, before: func() {
			ns, err := w.store.GetNamespace(t.Context(), "default")
			if err == nil {
				_, err = w.store.UpdateNamespace(t.Context(), ns)
			}
			if err != nil {
				t.Error(err)
			}
		}}
	})
	w.run()
	got := w.post("namespaces/update", `{"name":"default","ifVersion":1,"settings":{"historyRetention":"48h"}}`).must(t, http.StatusConflict)
	if got.field("details", "version") != 2.0 {
		t.Errorf("answered %s", got.text)
	}
}
