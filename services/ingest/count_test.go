package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest"
)

// dueTimers creates n timers, the i-th of which is due i seconds after noon and an hour.
func (w *world) dueTimers(n int) {
	w.t.Helper()
	for i := range n {
		w.post("timers/create", fmt.Sprintf(`{"id":"t-%02d","executeIn":"%ds"}`, i, 3600+i)).must(w.t, http.StatusOK)
	}
}

func TestListInDueOrder(t *testing.T) {
	w := newWorld(t)
	w.dueTimers(25)
	var seen, want []string
	for i := range 25 {
		want = append(want, fmt.Sprintf("t-%02d", i))
	}
	cursor := ""
	for range 30 {
		text := w.post("timers/list", `{"order":"due","limit":4`+cursor+`}`).must(t, http.StatusOK).text
		var page api.TimerPage
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatal(err)
		}
		for i := range page.Timers {
			seen = append(seen, page.Timers[i].ID)
		}
		if page.NextCursor == "" {
			break
		}
		cursor = `,"cursor":"` + page.NextCursor + `"`
	}
	if !slices.Equal(seen, want) {
		t.Errorf("a walk in due order saw %q, want %q", seen, want)
	}
	r := w.post("timers/list", `{"limit":4`+cursor+`}`).must(t, http.StatusBadRequest)
	if r.field("details", "field") != "cursor" {
		t.Errorf("a cursor of another order: %s", r.text)
	}
}

func TestCounts(t *testing.T) {
	w := newWorld(t)
	w.dueTimers(12)
	ns, err := w.store.GetNamespace(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	w.finish(&ns, "t-03", store.FinishRetry)
	w.finish(&ns, "t-04", store.FinishRetry)
	w.finish(&ns, "t-05", store.FinishParked)
	w.finish(&ns, "t-06", store.FinishDone)
	for _, id := range []string{"t-07", "t-08"} {
		w.post("timers/pause", fmt.Sprintf(`{"id":%q}`, id)).must(t, http.StatusOK)
	}
	for body, want := range map[string]float64{
		`{}`: 11, `{"status":"scheduled"}`: 6, `{"status":"retrying"}`: 2, `{"status":"parked"}`: 1, `{"status":"done"}`: 1, `{"status":"dead"}`: 0,
		`{"status":"paused"}`: 2, `{"status":"paused","dueBefore":"2030-03-17T18:46:48Z"}`: 1,
		`{"dueFrom":"2030-03-17T18:46:43Z"}`: 8, `{"dueFrom":"2030-03-17T18:46:43Z","dueBefore":"2030-03-17T18:46:46Z"}`: 3,
		`{"status":"scheduled","dueBefore":"2030-03-17T18:46:44Z"}`: 3,
	} {
		r := w.post("timers/count", body).must(t, http.StatusOK)
		if r.field("count") != want || r.field("truncated") != false {
			t.Errorf("count %s: %s, want %v", body, r.text, want)
		}
	}
}

func TestForecast(t *testing.T) {
	w := newWorld(t)
	w.dueTimers(12)
	forecast := func(body string) (f api.TimerForecast) {
		t.Helper()
		if err := json.Unmarshal([]byte(w.post("timers/forecast", body).must(t, http.StatusOK).text), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := forecast(`{"from":"2030-03-17T18:46:41Z","to":"2030-03-17T18:46:51.500Z","bucket":"4s"}`)
	if !slices.Equal(f.Counts, []int64{4, 4, 3}) || f.Truncated || !f.CompleteBefore.Equal(f.To.Time) {
		t.Errorf("forecast %+v", f)
	}
	f = forecast(`{"to":"2030-03-17T18:46:50Z","bucket":"1h"}`)
	if !slices.Equal(f.Counts, []int64{0, 10}) || !f.From.Equal(noon.Time()) {
		t.Errorf("forecast from now: %+v", f)
	}
	w.post("timers/pause", `{"id":"t-03"}`).must(t, http.StatusOK)
	f = forecast(`{"from":"2030-03-17T18:46:41Z","to":"2030-03-17T18:46:51.500Z","bucket":"4s"}`)
	if !slices.Equal(f.Counts, []int64{3, 4, 3}) {
		t.Errorf("forecast with a paused timer: %+v", f)
	}
	for body, want := range map[string]string{
		`{"from":"1969-12-31T23:00:00Z","to":"1970-01-01T00:00:00Z","bucket":"1h"}`: `to: "1970-01-01T00:00:00.000Z" is not accepted: want a time after 1970-01-01T00:00:00Z`,
		`{"bucket":"1s"}`:                                                            `to: nothing is not accepted: want the end of the range, an RFC 3339 time`,
		`{"to":"2031-01-01T00:00:00Z"}`:                                              `bucket: nothing is not accepted: want a duration of at least "1s"`,
		`{"to":"2031-01-01T00:00:00Z","bucket":"999ms"}`:                             `bucket: "999ms" is not accepted: want at least "1s"`,
		`{"to":"2030-01-01T00:00:00Z","bucket":"1h"}`:                                `to: "2030-01-01T00:00:00.000Z" is not accepted: want a time after from, which is 2030-03-17T17:46:40.000Z`,
		`{"from":"2031-01-01T00:00:00Z","to":"2031-01-01T02:46:41Z","bucket":"10s"}`: `bucket: "10s" is not accepted: want at least "10.001s" for this range, because a forecast has at most 1000 buckets`,
	} {
		if r := w.post("timers/forecast", body).must(t, http.StatusBadRequest); r.field("message") != want {
			t.Errorf("forecast %s\n got %s\nwant %s", body, r.field("message"), want)
		}
	}
}

// slowKeys answers a limited number of calls of DueKeys with one key each. The next one waits until its context ends.
type slowKeys struct {
	ingest.Store

	calls int
}

func (s *slowKeys) DueKeys(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error) {
	if s.calls == 0 {
		<-ctx.Done()
		return store.DueKeys{}, ctx.Err()
	}
	s.calls--
	q.Limit = 1
	return s.Store.DueKeys(ctx, q)
}

// TestCountsSayThatTheyAreTruncated: a count that takes too long contains what was read, and says so.
func TestCountsSayThatTheyAreTruncated(t *testing.T) {
	var slow *slowKeys
	w := newWorld(t, func(c *ingest.Config) {
		slow = &slowKeys{Store: c.Store}
		c.Store, c.CountTimeout = slow, 10*time.Millisecond
	})
	w.dueTimers(12)
	slow.calls = 5
	if r := w.post("timers/count", `{}`).must(t, http.StatusOK); r.field("count") != 5.0 || r.field("truncated") != true {
		t.Errorf("count: %s", r.text)
	}
	slow.calls = 5
	r := w.post("timers/forecast", `{"to":"2030-03-17T19:46:40Z","bucket":"1h"}`).must(t, http.StatusOK)
	if r.field("truncated") != true || r.field("completeBefore") != "2030-03-17T18:46:44.000Z" {
		t.Errorf("forecast: %s", r.text)
	}
	if fmt.Sprint(r.field("counts")) != "[0 4]" {
		t.Errorf("forecast: %s, want the 4 timers before completeBefore", r.text)
	}
	slow.calls = 0
	for _, path := range []string{"timers/forecast", "timers/count"} {
		body := map[string]string{"timers/forecast": `{"to":"2030-03-17T19:46:40Z","bucket":"1h"}`, "timers/count": `{}`}[path]
		w.post(path, body).must(t, http.StatusServiceUnavailable)
	}
}
