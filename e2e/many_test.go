package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/pkg/client"
)

// TestBatchFires: timers created by one request fire as if each had been created alone, and an invalid item does not
// affect the others.
func TestBatchFires(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	items := make([]string, 300)
	for i := range items {
		items[i] = fmt.Sprintf(`{"namespace":"NS","id":"b/%d","executeIn":"%dms","callbackUrl":"URL"}`, i, i%50)
	}
	items[7] = `{"namespace":"NS","id":"b/7","executeIn":"soon"}`
	r := w.post(t, "timers/batch-create", strings.ReplaceAll(`{"timers":[`+strings.Join(items, ",")+`]}`, "URL", w.receiver.URL))
	if r.status != http.StatusOK || r.field(t, "succeeded") != 299.0 || r.field(t, "failed") != 1.0 {
		t.Fatalf("%d %.300s", r.status, r.body)
	}
	if !strings.Contains(r.body, `timers[7].executeIn: \"soon\" is not accepted`) {
		t.Errorf("the bad item is not named: %.300s", r.body)
	}
	for i := range items {
		if i != 7 {
			w.calls(t, fmt.Sprintf("b/%d", i), 1)
		}
	}
}

// TestBatchDelete deletes in time, and the deleted timers never fire.
func TestBatchDelete(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	var items, selections []string
	for i := range 20 {
		items = append(items, fmt.Sprintf(`{"namespace":"NS","id":"d %d","executeIn":"4s","callbackUrl":%q}`, i, w.receiver.URL))
		selections = append(selections, fmt.Sprintf(`{"namespace":"NS","id":"d %d"}`, i))
	}
	selections = append(selections, `{"namespace":"NS","id":"never made"}`)
	if r := w.post(t, "timers/batch-create", `{"timers":[`+strings.Join(items, ",")+`]}`); r.field(t, "succeeded") != 20.0 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	r := w.post(t, "timers/batch-delete", `{"timers":[`+strings.Join(selections, ",")+`]}`)
	if r.status != http.StatusOK || r.field(t, "succeeded") != 20.0 || strings.Count(r.body, `"status":204`) != 20 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	w.create(t, "fence", 4500*time.Millisecond)
	w.calls(t, "fence", 1)
	for i := range 20 {
		if calls := w.receiver.Calls(w.namespace, fmt.Sprint("d ", i)); len(calls) > 0 {
			t.Errorf("timer %d fired after its delete was answered 204", i)
		}
	}
}

// TestByFilter reschedules and deletes timers with a correlation id, in pages.
func TestByFilter(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	for i := range 30 {
		w.create(t, fmt.Sprint("f ", i), time.Hour, func(r *client.CreateTimerRequest) {
			r.CorrelationID = fmt.Sprint("group ", i%2)
		})
	}
	all := func(path, rest string) (applied float64) {
		t.Helper()
		cursor := ""
		for range 100 {
			body := `{"namespace":"NS","limit":4,` + rest
			if cursor != "" {
				body += fmt.Sprintf(`,"cursor":%q`, cursor)
			}
			r := w.post(t, path, body+"}")
			if r.status != http.StatusOK {
				t.Fatalf("%s: %d %s", path, r.status, r.body)
			}
			n, _ := r.field(t, "applied").(float64)
			applied += n
			var more bool
			if cursor, more = r.field(t, "nextCursor").(string); !more {
				return applied
			}
		}
		t.Fatalf("%s does not end", path)
		return 0
	}
	if n := all("timers/delete-matching", `"correlationId":"group 0"`); n != 15 {
		t.Errorf("%v deleted, want 15", n)
	}
	if n := all("timers/reschedule-matching", `"correlationId":"group 1","executeIn":"0s"`); n != 15 {
		t.Errorf("%v rescheduled, want 15", n)
	}
	for i := range 30 {
		if id := fmt.Sprint("f ", i); i%2 == 1 {
			w.calls(t, id, 1)
			w.reaches(t, id, isStatus("done"))
		} else if calls := w.receiver.Calls(w.namespace, id); len(calls) != 0 {
			t.Errorf("deleted timer %d fired", i)
		}
	}
}

// TestRetryOfTheDead: a timer that its receiver ended as dead is retried with its payload.
func TestRetryOfTheDead(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	ids := []string{"gone 0", "gone 1", "gone 2"}
	for _, id := range ids {
		w.receiver.On(w.namespace, id, receiver.Answer{Status: http.StatusGone}, receiver.Answer{})
		w.create(t, id, 0, func(r *client.CreateTimerRequest) { r.Payload = []byte(`{"n":7}`) })
		w.reaches(t, id, isStatus("dead"))
	}
	if r := w.post(t, "timers/retry", `{"namespace":"NS","timerId":"gone 0"}`); r.status != http.StatusOK || r.field(t, "status") != "scheduled" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	r := w.post(t, "timers/retry-matching", `{"namespace":"NS","status":"dead"}`)
	if r.status != http.StatusOK || r.field(t, "applied") != 2.0 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	for _, id := range ids {
		calls := w.calls(t, id, 2)
		if string(calls[1].Payload) != `{"n":7}` || calls[1].Attempt != 1 || calls[1].Generation == calls[0].Generation {
			t.Errorf("%s was repeated as %s", id, calls[1].Body)
		}
		w.reaches(t, id, isStatus("done"))
	}
	if r := w.post(t, "timers/retry", `{"namespace":"NS","timerId":"gone 0"}`); r.status != http.StatusNotFound {
		t.Errorf("of a timer that is done: %d %s", r.status, r.body)
	}
}

// TestShardsTellWhoHoldsThem: the only node owns all shards of a namespace soon after its creation.
func TestShardsTellWhoHoldsThem(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	for i := range 8 { // a hint for each shard, so that the test does not wait for the refresh of namespaces
		w.create(t, fmt.Sprint("s ", i), 0)
		w.calls(t, fmt.Sprint("s ", i), 1)
	}
	r := w.post(t, "shards/list", `{"namespace":"NS"}`)
	if r.status != http.StatusOK || strings.Count(r.body, `"shard":`) != 4 || !strings.Contains(r.body, `"held":true`) ||
		!strings.Contains(r.body, `"node":`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}
