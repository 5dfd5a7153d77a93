package ingest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// results returns the results of a batch.
func (r reply) results(tb testing.TB) []map[string]any {
	tb.Helper()
	list, _ := r.json["results"].([]any)
	out := make([]map[string]any, len(list))
	for i, v := range list {
		out[i], _ = v.(map[string]any)
	}
	return out
}

func TestABatchAnswersEachItemInItsOrder(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"there","executeIn":"1h"}`).must(t, http.StatusOK)
	r := w.post("timers/batch-create", `{"timers":[
		{"id":"a","executeIn":"1h"},
		{"id":"b","executeIn":"1h","callbackUrl":"ftp://x"},
		{"id":"there","executeIn":"2h","onConflict":"fail"},
		{"id":"there","executeIn":"2h","onConflict":"keep"},
		7,
		{"id":"c","executeIn":"1h","namespace":"nowhere"},
		{"id":"d","executeIn":"1h","payload":"`+strings.Repeat("x", timer.MaxPayload)+`"},
		{"id":"a","executeIn":"3h"}]}`).must(t, http.StatusOK)
	if r.field("succeeded") != 3.0 || r.field("failed") != 5.0 {
		t.Errorf("counts: %v, %v", r.field("succeeded"), r.field("failed"))
	}
	results := r.results(t)
	for i, want := range []struct {
		status  float64
		message string
	}{
		{status: 200},
		{400, `timers[1].callbackUrl: "ftp://x" is not accepted: want an absolute http or https URL with a host, at most 2048 bytes`},
		{409, `timer "there" exists in namespace "default" (status scheduled), and onConflict is fail`},
		{status: 200},
		{400, `timers[4]: 7 is not accepted: want an object`},
		{404, `there is no namespace "nowhere"`},
		{413, `timers[6].payload: 102402 bytes are not accepted: want at most 102400`},
		{status: 200},
	} {
		got := results[i]
		failure, _ := got["error"].(map[string]any)
		if message, _ := failure["message"].(string); got["status"] != want.status || message != want.message {
			t.Errorf("item %d: %v\nwant %v %s", i, got, want.status, want.message)
		}
	}
	if results[3]["kept"] != true || results[0]["kept"] != nil {
		t.Errorf("kept: %v, %v", results[3], results[0])
	}
	if d, _ := results[1]["error"].(map[string]any)["details"].(map[string]any); d["field"] != "timers[1].callbackUrl" {
		t.Errorf("details: %v", d)
	}
	a, err := w.row("a")
	if err != nil || a.ExecuteAt != noon+timer.Millis(3*time.Hour/time.Millisecond) || results[7]["generation"] != a.Generation.String() {
		t.Errorf("the row is not that of the later of two items on one timer: %+v, %v", a, err)
	}
	if results[0]["generation"] == results[7]["generation"] {
		t.Error("two writes of one timer share a generation")
	}
}

func TestABatchOfDeletions(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"soon","executeIn":"100ms"}`).must(t, http.StatusOK)
	for _, id := range []string{"a", "b"} {
		w.post("timers/create", `{"id":"`+id+`","executeIn":"1h"}`).must(t, http.StatusOK)
	}
	r := w.post("timers/batch-delete", `{"timers":[{"timerId":"a"},{"id":"b","ifGeneration":"7"},{"id":"none"},{"id":"soon"},{"id":"a","limit":1}]}`).
		must(t, http.StatusOK)
	for i, want := range []float64{204, 409, 404, 202, 400} {
		if got := r.results(t)[i]["status"]; got != want {
			t.Errorf("item %d: %v, want %v", i, got, want)
		}
	}
}

func TestABatchThatIsNoneIsRefused(t *testing.T) {
	w := newWorld(t, func(c *ingest.Config) { c.BatchBodyLimit = 256 << 10 })
	item := `{"id":"a","executeIn":"1h"},`
	for body, want := range map[string]string{
		`{}`:              `timers: nothing is not accepted: want an array of 1 to 1000 timers`,
		`{"timers":[]}`:   `timers: "0 items" is not accepted: want an array of 1 to 1000 timers`,
		`{"timers":null}`: `timers: null is not accepted: want an array of 1 to 1000 timers`,
		`{"timers":{}}`:   `timers: {} is not accepted: want an array of 1 to 1000 timers`,
		`{"timers":[` + strings.Repeat(item, 1000) + `{}]}`: `timers: "1001 items" is not accepted: want an array of 1 to 1000 timers`,
		`{"timers":[{"id":"a"}`:                             `body: "{\"timers\":[{\"id\":\"a\"}" is not accepted: want one JSON object (unexpected end of JSON input, byte 21)`,
	} {
		if got := w.post("timers/batch-create", body).must(t, http.StatusBadRequest).field("message"); got != want {
			t.Errorf("%.60s\n got %v\nwant %s", body, got, want)
		}
	}
	large := `{"timers":[{"id":"a","payload":"` + strings.Repeat("x", 256<<10) + `"}]}`
	w.post("timers/batch-create", large).must(t, http.StatusRequestEntityTooLarge)
}

func TestABatchThatTheStoreTookNothingOfFailsAsAWhole(t *testing.T) {
	w := newWorld(t)
	body := `{"timers":[{"id":"a","executeIn":"1h"},{"id":"","executeIn":"1h"},{"id":"b","executeIn":"1h"}]}`
	fail := func(err error) {
		w.store.set(func(context.Context, []store.Op, func() ([]store.Written, error)) ([]store.Written, error) {
			return nil, err
		})
	}
	fail(fmt.Errorf("%w: away", store.ErrUnavailable))
	w.post("timers/batch-create", body).must(t, http.StatusServiceUnavailable)
	fail(fmt.Errorf("%w: no answer", store.ErrOutcomeUnknown))
	w.post("timers/batch-create", body).must(t, http.StatusGatewayTimeout)
	w.store.set(nil)
	if r := w.post("timers/batch-create", body).must(t, http.StatusOK); r.field("succeeded") != 2.0 {
		t.Errorf("then: %s", r.text)
	}
}

func TestOnlySoManyBatchesAreServedAtOnce(t *testing.T) {
	w := newWorld(t, func(c *ingest.Config) { c.BatchesInFlight = 1 })
	begun, goOn := make(chan struct{}), make(chan struct{})
	w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		close(begun)
		<-goOn
		return do()
	})
	body := `{"timers":[{"id":"a","executeIn":"1h"}]}`
	first := make(chan reply)
	go func() { first <- w.post("timers/batch-create", body) }()
	<-begun
	w.post("timers/batch-delete", `{"timers":[{"id":"a"}]}`).must(t, http.StatusTooManyRequests)
	close(goOn)
	(<-first).must(t, http.StatusOK)
}

// upload begins a request whose body arrives in pieces. write returns when the service has read the piece.
func (w *world) upload(path string, declared int64) (write func(piece string), end func() reply) {
	w.t.Helper()
	body, in := io.Pipe()
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://127.0.0.1:8080/api/v1/"+path, body)
	r.ContentLength = declared
	answered := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		body.Close() // as the server does: later writes fail
		answered <- rec
	}()
	write = func(piece string) {
		w.t.Helper()
		if _, err := io.WriteString(in, piece); err != nil {
			w.t.Errorf("the service stopped reading: %v, %s", err, (<-answered).Body)
		}
	}
	var once sync.Once
	var got reply
	end = func() reply {
		once.Do(func() {
			in.Close()
			rec := <-answered
			got = reply{status: rec.Code, header: rec.Header(), text: rec.Body.String()}
		})
		return got
	}
	w.t.Cleanup(func() { end() })
	return write, end
}

// TestABatchTakesItsSlotWhenItsBodyIsThere: slow uploads must not block other batches.
func TestABatchTakesItsSlotWhenItsBodyIsThere(t *testing.T) {
	w := newWorld(t, func(c *ingest.Config) { c.BatchesInFlight = 1 })
	write, end := w.upload("timers/batch-create", -1)
	write(`{"timers":[{"id":"slow",`)
	w.post("timers/batch-create", `{"timers":[{"id":"a","executeIn":"1h"}]}`).must(t, http.StatusOK)
	write(`"executeIn":"1h"}]}`)
	end().must(t, http.StatusOK)
	if _, err := w.row("slow"); err != nil {
		t.Errorf("the slow upload was not applied: %v", err)
	}
}

func TestBodiesAreBoundedInBytesOverAllRequests(t *testing.T) {
	for _, c := range []struct{ slow, other string }{
		{"timers/create", `timers/create:{"id":"a","executeIn":"1h"}`},
		{"timers/batch-create", `timers/batch-create:{"timers":[{"id":"a","executeIn":"1h"}]}`},
	} {
		t.Run(c.slow, func(t *testing.T) {
			w := newWorld(t, func(c *ingest.Config) { c.BodiesBytes, c.BatchBodiesBytes = 32<<10, 32<<10 })
			path, body, _ := strings.Cut(c.other, ":")
			piece := strings.Repeat(" ", 10<<10) // takes 16 KiB
			first, endFirst := w.upload(c.slow, -1)
			first(piece)
			w.post(path, body).must(t, http.StatusOK)
			second, endSecond := w.upload(c.slow, 100<<10)
			second(piece)
			got := w.post(path, body).must(t, http.StatusTooManyRequests)
			if got.field("details", "limit") != 32768.0 || got.header.Get("Retry-After") == "" {
				t.Errorf("answered %s", got.text)
			}
			endFirst().must(t, http.StatusBadRequest)
			w.post(path, body).must(t, http.StatusOK)
			endSecond()
		})
	}
}

// TestASlowUploadTakesOnlyWhatHasArrived: a client must not be able to reserve memory by its Content-Length.
func TestASlowUploadTakesOnlyWhatHasArrived(t *testing.T) {
	w := newWorld(t, func(c *ingest.Config) { c.BodiesBytes = 64 << 10 })
	for range 4 {
		write, _ := w.upload("timers/create", 100<<10)
		write("{")
	}
	w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, http.StatusOK)
}

// TestBodiesArriveWhole: bodies up to the limit arrive complete, in pieces of any size.
func TestBodiesArriveWhole(t *testing.T) {
	w := newWorld(t)
	for _, size := range []int{1, 8191, 8192, 8193, 16384, 100_000, timer.MaxPayload - 2} {
		for _, pieces := range []int{1, 7, 5000} {
			id := fmt.Sprintf("%d-%d", size, pieces)
			payload := strings.Repeat("x", size)
			body := `{"id":"` + id + `","executeIn":"1h","payload":"` + payload + `"}`
			for _, declared := range []int64{-1, int64(len(body))} {
				write, end := w.upload("timers/create", declared)
				for rest := body; rest != ""; {
					n := min(len(rest), pieces*100)
					if pieces == 1 {
						n = len(rest)
					}
					write(rest[:n])
					rest = rest[n:]
				}
				end().must(t, http.StatusOK)
				row, err := w.row(id)
				if err != nil || string(row.Payload) != `"`+payload+`"` {
					t.Errorf("%s: a payload of %d bytes arrived as %d, %v", id, size, len(row.Payload), err)
				}
			}
		}
	}
}
