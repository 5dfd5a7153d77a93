package ingest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest"
)

func TestAFlowKeyNeedsAPattern(t *testing.T) {
	w := newWorld(t)
	const create = `{"id":"a","executeIn":"1h","callbackUrl":"http://receiver.test/","flowKey":"tenant-1"}`
	refused := func(path, body, want string) {
		t.Helper()
		if r := w.post(path, body).must(t, http.StatusBadRequest); !strings.Contains(r.text, want) {
			t.Errorf("%s: %s, want %s in it", body, r.text, want)
		}
	}
	refused("namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"x","concurrency":1},{"pattern":"y","rate":{"count":2}}]}}`,
		"flows[1].rate.per")
	refused("namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"y","rate":{"per":"2s"}}]}}`, "flows[0].rate.count")
	refused("timers/create", create, `namespace \"default\" has no flows`)
	w.post("namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"tenant-*","concurrency":2}]}}`).must(t, http.StatusOK)
	w.post("timers/create", create).must(t, http.StatusOK)
	refused("timers/create", strings.Replace(create, "tenant-1", "other", 1), "tenant-*")
	refused("timers/update", `{"id":"a","flowKey":"other"}`, "tenant-*")
	w.post("timers/update", `{"id":"a","flowKey":null}`).must(t, http.StatusOK)
}

func TestListFlows(t *testing.T) {
	w := newWorld(t)
	w.post("namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"k*","rate":{"count":60,"per":"1m"},"concurrency":9}]}}`).
		must(t, http.StatusOK)
	if got := w.post("flows/list", `{}`).must(t, http.StatusOK).text; !strings.Contains(got, `"flows":[]`) {
		t.Errorf("%s, want no flows", got)
	}
	flows, _ := store.As[store.Flows](w.store)
	for _, key := range []string{"k1", "k2", "other"} {
		f := store.Flow{FlowKey: store.FlowKey{Namespace: "default", Key: key}, Version: 1}
		f.State = `{"holders":[{"id":"a","until":9000000000000000000,"running":2,"waiting":3},{"id":"b","until":1,"running":7}]}`
		if err := flows.SwapFlow(t.Context(), 0, f); err != nil {
			t.Fatal(err)
		}
	}
	page := w.post("flows/list", `{"limit":2}`).must(t, http.StatusOK)
	const want = `"flowKey":"k1","limit":{"concurrency":9,"pattern":"k*","rate":{"burst":1,"count":60,"per":"1m"}},"running":2,"waiting":3`
	if !strings.Contains(page.text, want) || page.field("next") != "k2" {
		t.Errorf("%s, want %s, and next k2", page.text, want)
	}
	if first := w.post("flows/list", `{"after":"","limit":2}`).must(t, http.StatusOK); first.text != page.text {
		t.Errorf("%s, want %s", first.text, page.text)
	}
	if r := w.post("flows/list", `{"after":"`+strings.Repeat("k", 256)+`"}`).must(t, http.StatusBadRequest); !strings.Contains(r.text, `"after"`) {
		t.Errorf("%s, want the field after in it", r.text)
	}
	page = w.post("flows/list", `{"after":"k2"}`).must(t, http.StatusOK)
	if strings.Contains(page.text, `"limit"`) || !strings.Contains(page.text, `"flowKey":"other"`) {
		t.Errorf("%s, want the flow without a limit", page.text)
	}
}

// TestListTargets: a process without a dispatcher says so.
func TestListTargets(t *testing.T) {
	none := newWorld(t)
	if r := none.post("targets/list", `{}`).must(t, http.StatusOK); r.field("delivers") != false || r.field("namespace") != "default" {
		t.Errorf("without a dispatcher: %s", r.text)
	}
	var asked []string
	w := newWorld(t, func(c *ingest.Config) {
		c.Targets = func(namespace string, limit int) []api.Target {
			asked = append(asked, fmt.Sprint(namespace, " ", limit))
			return []api.Target{{Target: "https://a.example:443", Concurrency: 64, Running: 2, Waiting: 3, CircuitOpen: true}}
		}
	})
	w.makeNamespace("billing", 1)
	r := w.post("targets/list", `{"namespace":"billing","limit":7}`).must(t, http.StatusOK)
	want := `{"delivers":true,"namespace":"billing","targets":[{"circuitOpen":true,"concurrency":64,"running":2,` +
		`"target":"https://a.example:443","waiting":3}]}`
	if strings.TrimSpace(r.text) != want {
		t.Errorf("answered %s, want %s", r.text, want)
	}
	w.post("targets/list", `{"namespace":null,"limit":null}`).must(t, http.StatusOK)
	if !slices.Equal(asked, []string{"billing 7", "default 100"}) {
		t.Errorf("asked for %q", asked)
	}
	w.post("targets/list", `{"namespace":"absent"}`).must(t, http.StatusNotFound)
	for _, body := range []string{`{"limit":0}`, `{"limit":1001}`, `{"after":"a"}`} {
		w.post("targets/list", body).must(t, http.StatusBadRequest)
	}
}
