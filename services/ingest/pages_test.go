package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// lists records the lists that reach the store. While goOn is set, they wait for it.
type lists struct {
	*gate

	mu      sync.Mutex
	queries []store.ListQuery
	goOn    chan struct{}
	panics  bool // List panics
	rearmed int  // the largest number of items in one call
	// refused, if not nil, returns the errors of items of Rearm.
	refused func(store.Rearm) error
}

func (l *lists) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	l.mu.Lock()
	l.queries = append(l.queries, q)
	goOn, panics := l.goOn, l.panics
	l.mu.Unlock()
	if panics {
		panic("a fault of the store")
	}
	if goOn != nil {
		<-goOn
	}
	return l.gate.List(ctx, now, q)
}

func (l *lists) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	l.mu.Lock()
	l.rearmed = max(l.rearmed, len(items))
	refused := l.refused
	l.mu.Unlock()
	if refused == nil {
		return l.gate.Rearm(ctx, now, items)
	}
	all := make([]store.Written, len(items))
	for i := range items {
		if all[i].Err = refused(items[i]); all[i].Err != nil {
			continue
		}
		one, err := l.gate.Rearm(ctx, now, items[i:i+1])
		if err != nil {
			return nil, err
		}
		all[i] = one[0]
	}
	return all, nil
}

func (l *lists) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queries)
}

// TestListsAreBoundedInBytesOverAllRequests: if many clients list large pages at the same time, some wait, and those
// that wait for too long are refused.
func TestListsAreBoundedInBytesOverAllRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *lists
		w := newWorld(t)
		w.stop()
		w.build(func(c *ingest.Config) {
			l = &lists{gate: w.store, goOn: make(chan struct{})}
			c.Store, c.ListBytes = l, 4*store.MaxPageBytes // for two requests, each with its page and its text
		})
		w.run()
		defer w.stop()
		answers := make(chan reply, 4)
		for range 4 {
			go func() { answers <- w.post("timers/list", `{"limit":1000}`) }()
		}
		synctest.Wait()
		if n := l.count(); n != 2 {
			t.Fatalf("%d lists read the store at the same time, want 2", n)
		}
		l.goOn <- struct{}{}
		(<-answers).must(t, http.StatusOK)
		synctest.Wait()
		if n := l.count(); n != 3 {
			t.Errorf("%d lists have read the store after one has ended, want 3", n)
		}
		time.Sleep(11 * time.Second) // longer than RequestTimeout
		if got := (<-answers).must(t, http.StatusTooManyRequests); got.field("error") != "RATE_LIMITED" {
			t.Errorf("answered %s", got.text)
		}
		close(l.goOn)
		<-answers
		<-answers
		w.post("timers/list", `{"limit":1000}`).must(t, http.StatusOK)
	})
}

// TestAListThatPanicsKeepsNoMemory: net/http recovers panics, so a request must release its reservation even then.
func TestAListThatPanicsKeepsNoMemory(t *testing.T) {
	w := newWorld(t)
	w.stop()
	l := &lists{gate: w.store, panics: true}
	w.build(func(c *ingest.Config) {
		c.Store, c.ListBytes, c.RequestTimeout = l, 1, time.Second // one page at a time
	})
	w.run()
	func() {
		defer func() { _ = recover() }()
		w.post("timers/list", `{}`)
		t.Error("the list did not panic")
	}()
	l.panics = false
	w.post("timers/list", `{}`).must(t, http.StatusOK)
}

// unchecked posts without checking the answer against the OpenAPI document, which takes seconds for many megabytes.
func (w *world) unchecked(path, body string, into any) (size int) {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://127.0.0.1:8080/api/v1/"+path, strings.NewReader(body)))
	if rec.Code != http.StatusOK {
		w.t.Fatalf("%s answered %d %.300s", path, rec.Code, rec.Body)
	}
	if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return rec.Body.Len()
}

// TestListAnswersAreWhole: pages of large payloads have all timers, and their text is one JSON object.
func TestListAnswersAreWhole(t *testing.T) {
	w := newWorld(t)
	payload := `"` + strings.Repeat("x", timer.MaxPayload-2) + `"`
	const n = 100 // more than a page of 8 MiB
	for i := range n {
		w.unchecked("timers/create", fmt.Sprintf(`{"id":"%d","executeIn":"1h","payload":%s}`, i, payload), &struct{}{})
	}
	seen := map[string]bool{}
	for body := `{"limit":1000}`; ; {
		var page api.TimerPage
		if size := w.unchecked("timers/list", body, &page); size > store.MaxPageBytes+len(page.Timers)*1024 {
			t.Errorf("a page of %d bytes", size)
		}
		for i := range page.Timers {
			if string(page.Timers[i].Payload) != payload {
				t.Errorf("timer %s has another payload", page.Timers[i].ID)
			}
			seen[page.Timers[i].ID] = true
		}
		if page.NextCursor == "" {
			break
		}
		body = `{"limit":1000,"cursor":"` + page.NextCursor + `"}`
	}
	if len(seen) != n {
		t.Errorf("%d timers were listed, want %d", len(seen), n)
	}
}

// TestMatchingLoadsNoPayloads: requests by filter need no payloads, and write few timers per call, because the store's
// answers have payloads.
func TestMatchingLoadsNoPayloads(t *testing.T) {
	w := newWorld(t)
	w.stop()
	l := &lists{gate: w.store}
	w.build(func(c *ingest.Config) { c.Store = l })
	w.run()
	var mu sync.Mutex
	most := 0
	w.store.set(func(_ context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		mu.Lock()
		most = max(most, len(ops))
		mu.Unlock()
		return do()
	})
	const n = 200
	for i := range n {
		w.post("timers/create", fmt.Sprintf(`{"id":"%d","executeIn":"1h","correlationId":"mine","payload":1}`, i)).must(t, http.StatusOK)
	}
	for _, c := range []struct{ path, body string }{
		{"timers/reschedule-matching", `{"namespace":"default","correlationId":"mine","shiftBy":"1h","limit":1000}`},
		{"timers/retry-matching", `{"namespace":"default","status":"dead","limit":1000}`},
		{"timers/delete-matching", `{"namespace":"default","correlationId":"mine","limit":1000}`},
	} {
		before := l.count()
		got := w.post(c.path, c.body).must(t, http.StatusOK)
		if l.count() != before+1 || !l.queries[before].WithoutPayloads {
			t.Errorf("%s listed %+v", c.path, l.queries[before:])
		}
		if !strings.HasPrefix(c.path, "timers/retry") && got.field("applied") != float64(n) {
			t.Errorf("%s answered %s", c.path, got.text)
		}
	}
	if most > 64 {
		t.Errorf("%d timers were written at once, want 64 at most", most)
	}
}

func TestNamespacesAreListedInPages(t *testing.T) {
	w := newWorld(t)
	want := []string{"default"}
	for i := range 12 {
		name := fmt.Sprintf("n%02d", i)
		w.post("namespaces/create", `{"name":"`+name+`"}`).must(t, http.StatusOK)
		want = append(want, name)
	}
	var got []string
	pages := 0
	for body := `{"limit":5}`; ; pages++ {
		page := w.post("namespaces/list", body).must(t, http.StatusOK)
		all, _ := page.field("namespaces").([]any)
		for _, one := range all {
			m, _ := one.(map[string]any)
			got = append(got, fmt.Sprint(m["name"]))
		}
		next, more := page.field("nextCursor").(string)
		if !more {
			break
		}
		body = `{"limit":5,"cursor":"` + next + `"}`
	}
	if pages != 2 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("after %d pages: %v", pages, got)
	}
	if all, _ := w.post("namespaces/list", `{}`).must(t, http.StatusOK).field("namespaces").([]any); len(all) != len(want) {
		t.Errorf("%d namespaces", len(all))
	}
	for body, field := range map[string]string{`{"limit":0}`: "limit", `{"limit":1001}`: "limit", `{"cursor":"!"}`: "cursor", `{"name":"a"}`: "name"} {
		if bad := w.post("namespaces/list", body).must(t, http.StatusBadRequest); bad.field("details", "field") != field {
			t.Errorf("%s answered %s", body, bad.text)
		}
	}
}
