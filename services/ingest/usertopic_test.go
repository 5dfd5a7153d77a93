package ingest_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest"
)

func TestTopicsOfTimersOwn(t *testing.T) {
	w := newWorld(t, func(c *ingest.Config) { c.Prefix = "prod" })
	w.post("namespaces/update", `{"name":"default","settings":{"eventTopics":["orders.*","prod.*"]}}`).must(t, http.StatusOK)
	r := w.post("timers/create", `{"id":"a","executeIn":"1h","topic":"orders.timeouts","key":"customer 7"}`).must(t, http.StatusOK)
	if r.field("topic") != "orders.timeouts" || r.field("key") != "customer 7" || r.field("deliver") != "event" {
		t.Errorf("made: %s", r.text)
	}
	r = w.post("timers/update", `{"timerId":"a","topic":"orders.","key":null}`).must(t, http.StatusOK)
	if r.field("topic") != "orders." || r.field("key") != nil {
		t.Errorf("changed: %s", r.text)
	}
	r = w.post("timers/update", `{"timerId":"a","payload":1}`).must(t, http.StatusOK)
	if row, err := w.row("a"); err != nil || row.Topic != "orders." || r.field("topic") != "orders." {
		t.Errorf("an update of something else: %s, row %+v, %v", r.text, row, err)
	}
	r = w.post("timers/update", `{"timerId":"a","topic":null}`).must(t, http.StatusOK)
	if r.field("topic") != nil {
		t.Errorf("cleared: %s", r.text)
	}
	if r := w.post("namespaces/get", `{"name":"default"}`); !strings.Contains(r.text, `"eventTopics":["orders.*","prod.*"]`) {
		t.Errorf("the namespace: %s", r.text)
	}
}

// Creates, updates, batches and topic commands all refuse a topic that the namespace does not allow, and list the
// allowed ones.
func TestTopicsThatTheNamespaceDoesNotAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.Prefix = "prod" })
		w.makeNamespace("bare", 1)
		dead := w.listen(bus.Dead)
		w.post("namespaces/update", `{"name":"default","settings":{"eventTopics":["orders.*","*"]}}`).must(t, http.StatusOK)
		w.post("namespaces/update", `{"name":"default","settings":{"eventTopics":["orders.*","prod.*"]}}`).must(t, http.StatusOK)
		w.post("timers/create", `{"id":"there","executeIn":"1h"}`).must(t, http.StatusOK)
		for _, c := range []struct{ namespace, topic, want string }{
			{"default", "billing", `topic: "billing" is not accepted: want one that namespace "default" allows: orders.*, prod.*`},
			{"default", "orders", `topic: "orders" is not accepted: want one that namespace "default" allows: orders.*, prod.*`},
			{"default", "prod.due", `topic: "prod.due" is not accepted: want a name that does not begin with "prod.": that prefix is reserved for Timerbus`},
			{"bare", "orders.a", `topic: "orders.a" is not accepted: want none: namespace "bare" allows no user topics (see its eventTopics)`},
		} {
			fields := `"namespace":"` + c.namespace + `","topic":"` + c.topic + `"`
			create, update := `{"id":"a","executeIn":"1h",`+fields+`}`, `{"timerId":"there",`+fields+`}`
			for path, body := range map[string]string{"timers/create": create, "timers/update": update} {
				r := w.post(path, body).must(t, http.StatusBadRequest)
				if r.field("error") != "INVALID_INPUT" || r.field("message") != c.want {
					t.Errorf("%s: %s\nwant %s", path, r.text, c.want)
				}
			}
			r := w.post("timers/batch-create", `{"timers":[`+create+`,{"id":"good","executeIn":"1h"}]}`).must(t, http.StatusOK)
			if r.field("failed") != 1.0 || !strings.Contains(r.text, strings.ReplaceAll("timers[0]."+c.want, `"`, `\"`)) {
				t.Errorf("batch: %s\nwant %s", r.text, c.want)
			}
			for eventType, body := range map[string]string{event.TypeCreate: create, event.TypeUpdate: update} {
				w.command("1", eventType, body)
				if a := dead.next(t); a.Error != "INVALID_INPUT" || a.Message != c.want {
					t.Errorf("%s: %s: %s\nwant %s", eventType, a.Error, a.Message, c.want)
				}
			}
		}
		if _, err := w.row("a"); err == nil {
			t.Error("a refused timer was created")
		}
	})
}

// counted counts the reads of a namespace.
type counted struct {
	store.Namespaces

	reads atomic.Int32
}

func (c *counted) GetNamespace(ctx context.Context, name string) (store.Namespace, error) {
	c.reads.Add(1)
	return c.Namespaces.GetNamespace(ctx, name)
}

// Another process may have changed the namespace, so a refusal must not rely on a copy read before the request. One
// read serves a whole batch.
func TestTopicsAreJudgedByTheStore(t *testing.T) {
	var source counted
	w := newWorld(t, func(c *ingest.Config) {
		source.Namespaces = c.Store
		c.Directory = store.NewDirectory(&source)
	})
	bad := `{"id":"a","executeIn":"1h","topic":"orders.a"}`
	w.post("timers/create", bad).must(t, http.StatusBadRequest)
	ns, err := w.store.GetNamespace(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	ns.Settings.EventTopics = "orders.*"
	ns.UpdatedAt++
	if _, err := w.store.UpdateNamespace(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	w.now.Add(1)
	w.post("timers/create", bad).must(t, http.StatusOK)

	before := source.reads.Load()
	w.now.Add(1)
	many := strings.TrimSuffix(strings.Repeat(strings.ReplaceAll(bad, "orders.a", "billing")+",", 100), ",")
	if r := w.post("timers/batch-create", `{"timers":[`+many+`]}`); !strings.Contains(r.text, "namespace") {
		t.Errorf("%d %s", r.status, r.text)
	}
	if n := source.reads.Load() - before; n != 1 {
		t.Errorf("a batch of 100 refused timers read the namespace %d times, want once", n)
	}
}
