package ingest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// several creates n timers with one correlation id, due in an hour.
func (w *world) several(correlation string, n int) {
	w.t.Helper()
	for i := range n {
		w.post("timers/create", fmt.Sprintf(`{"id":"%s/%d","executeIn":"1h","correlationId":%q}`, correlation, i, correlation)).
			must(w.t, http.StatusOK)
	}
}

// pages sends a request for every page and adds up the answers.
func (w *world) pages(path, filter string) map[string]float64 {
	w.t.Helper()
	sum := map[string]float64{}
	cursor := ""
	for sum["pages"] < 100 {
		body := "{" + filter
		if cursor != "" {
			body += fmt.Sprintf(`,"cursor":%q`, cursor)
		}
		r := w.post(path, body+"}").must(w.t, http.StatusOK)
		sum["pages"]++
		for _, name := range []string{"matched", "applied", "late", "skipped"} {
			n, _ := r.field(name).(float64)
			sum[name] += n
		}
		var more bool
		if cursor, more = r.field("nextCursor").(string); !more {
			return sum
		}
	}
	w.t.Fatalf("%s does not end: %v", path, sum)
	return nil
}

func wantSums(t *testing.T, got map[string]float64, matched, applied, late, skipped float64) {
	t.Helper()
	if got["matched"] != matched || got["applied"] != applied || got["late"] != late || got["skipped"] != skipped {
		t.Errorf("sums: %v, want matched %v, applied %v, late %v, skipped %v", got, matched, applied, late, skipped)
	}
}

func TestDeleteMatching(t *testing.T) {
	w := newWorld(t)
	w.several("mine", 7)
	w.several("others", 3)
	got := w.pages("timers/delete-matching", `"namespace":"default","correlationId":"mine","limit":2`)
	wantSums(t, got, 7, 7, 0, 0)
	if got["pages"] < 4 {
		t.Errorf("%v pages of 2 for 7 timers", got["pages"])
	}
	for i := range 3 {
		if _, err := w.row(fmt.Sprintf("others/%d", i)); err != nil {
			t.Errorf("another's timer: %v", err)
		}
	}
	if _, err := w.row("mine/0"); err == nil {
		t.Error("a timer still exists")
	}
}

func TestRescheduleMatching(t *testing.T) {
	w := newWorld(t)
	w.several("mine", 5)
	hour := timer.Millis(time.Hour / time.Millisecond)
	wantSums(t, w.pages("timers/reschedule-matching", `"namespace":"default","correlationId":"mine","shiftBy":"-30m","limit":2`), 5, 5, 0, 0)
	wantRow := func(want timer.Millis) {
		t.Helper()
		for i := range 5 {
			if row, err := w.row(fmt.Sprintf("mine/%d", i)); err != nil || row.ExecuteAt != want || row.DueAt != want {
				t.Errorf("timer %d is due %v (%v), want %v", i, row.DueAt, err, want)
			}
		}
	}
	wantRow(noon + hour/2)
	wantSums(t, w.pages("timers/reschedule-matching", `"namespace":"default","correlationId":"mine","executeIn":"2h"`), 5, 5, 0, 0)
	wantRow(noon + 2*hour)
	w.now.Add(int64(2 * hour))
	wantSums(t, w.pages("timers/reschedule-matching", `"namespace":"default","dueBefore":"9999-01-01T00:00:00Z","executeAt":"2999-01-01T00:00:00Z"`), 5, 5, 5, 0)
}

// TestMatchingLooksAgainAtWhatChanged changes two timers between the list and the write. One of them still matches.
func TestMatchingLooksAgainAtWhatChanged(t *testing.T) {
	w := newWorld(t)
	w.several("mine", 3)
	var once sync.Once // two queues write
	w.store.set(func(ctx context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		once.Do(func() {
			other := "elsewhere"
			for id, patch := range map[string]timer.Patch{"mine/0": {}, "mine/1": {CorrelationID: &other}} {
				update := store.Update{Ref: w.ref(id), Revision: 7, Patch: patch}
				if _, err := w.store.Store.Write(ctx, noon, []store.Op{update}); err != nil {
					t.Error(err)
				}
			}
		})
		return do()
	})
	wantSums(t, w.pages("timers/delete-matching", `"namespace":"default","correlationId":"mine"`), 3, 2, 0, 1)
	if _, err := w.row("mine/1"); err != nil {
		t.Errorf("what does not match any more was deleted: %v", err)
	}
}

func TestMatchingIsRefused(t *testing.T) {
	w := newWorld(t)
	w.several("mine", 3)
	for _, c := range []struct{ path, body, want string }{
		{"delete-matching", `{"correlationId":"x"}`, `namespace: nothing is not accepted: want the namespace of the timers`},
		{"delete-matching", `{"namespace":"default"}`, `correlationId: nothing is not accepted: want at least one of correlationId, status, dueFrom and dueBefore`},
		{"delete-matching", `{"namespace":"default","status":"dead"}`, `status: "dead" is not accepted: want one of scheduled, retrying, parked, paused`},
		{"delete-matching", `{"namespace":"default","executeIn":"1h"}`, `executeIn: "1h" is not accepted: want only the fields namespace, status, correlationId, dueFrom, dueBefore, limit, cursor`},
		{"delete-matching", `{"namespace":"default","status":"parked","limit":1001}`, `limit: 1001 is not accepted: want 1 to 1000`},
		{"delete-matching", `{"namespace":"default","status":"parked","cursor":"AAAA"}`, `cursor: "AAAA" is not accepted: want the nextCursor of an earlier page`},
		{"reschedule-matching", `{"namespace":"default","status":"parked"}`, `executeAt: nothing is not accepted: want exactly one of executeAt, executeIn and shiftBy, such as "executeIn": "1h"`},
		{"reschedule-matching", `{"namespace":"default","status":"parked","shiftBy":"1h","executeIn":"1h"}`, `executeAt: nothing is not accepted: want exactly one of executeAt, executeIn and shiftBy, such as "executeIn": "1h"`},
		{"reschedule-matching", `{"namespace":"default","status":"parked","shiftBy":"soon"}`, `shiftBy: "soon" is not accepted: want a duration such as "30s", "1h" or "-15m"`},
		{"retry-matching", `{"namespace":"default","correlationId":"x"}`, `status: nothing is not accepted: want parked or dead`},
		{"retry-matching", `{"namespace":"default","status":"done"}`, `status: "done" is not accepted: want one of parked, dead`},
		{"retry-matching", `{"namespace":"default","status":"dead","executeIn":"1s","executeAt":"2030-01-01T00:00:00Z"}`, `executeIn: 1s is not accepted: want only one of executeAt and executeIn`},
		{"purge-matching", `{"namespace":"default","correlationId":"x"}`, `status: nothing is not accepted: want dead or done`},
		{"purge-matching", `{"namespace":"default","status":"parked"}`, `status: "parked" is not accepted: want one of dead, done`},
		{"purge-matching", `{"status":"dead"}`, `namespace: nothing is not accepted: want the namespace of the timers`},
		{"purge-matching", `{"namespace":"default","status":"dead","executeIn":"1h"}`, `executeIn: "1h" is not accepted: want only the fields namespace, status, correlationId, dueFrom, dueBefore, limit, cursor, callbackHost, lastError, dryRun`},
	} {
		if got := w.post("timers/"+c.path, c.body).must(t, http.StatusBadRequest).field("message"); got != c.want {
			t.Errorf("%s %s\n got %v\nwant %s", c.path, c.body, got, c.want)
		}
	}
	w.post("timers/delete-matching", `{"namespace":"nowhere","correlationId":"x"}`).must(t, http.StatusNotFound)
	// A cursor of another kind of list is refused.
	dead := w.finished("gone", store.FinishDead)
	w.finished("gone too", store.FinishDead)
	r := w.post("timers/list", `{"status":"dead","limit":1}`).must(t, http.StatusOK)
	cursor, _ := r.field("nextCursor").(string)
	if cursor == "" {
		t.Fatalf("no second page after %s: %s", dead.ID, r.text)
	}
	w.post("timers/delete-matching", fmt.Sprintf(`{"namespace":"default","status":"parked","cursor":%q}`, cursor)).must(t, http.StatusBadRequest)
}

// finished creates a timer and ends it.
func (w *world) finished(id string, kind store.FinishKind) timer.Timer {
	w.t.Helper()
	w.post("timers/create", fmt.Sprintf(`{"id":%q,"executeIn":"1h","payload":7,"correlationId":"end"}`, id)).must(w.t, http.StatusOK)
	return w.end(id, kind, "no")
}

// end ends a timer with an error.
func (w *world) end(id string, kind store.FinishKind, reason string) timer.Timer {
	w.t.Helper()
	row, err := w.row(id)
	if err != nil {
		w.t.Fatal(err)
	}
	errs, err := w.store.Finish(w.t.Context(), w.clock(), []store.Finish{{
		Ref: w.ref(id), DueAt: row.DueAt, Kind: kind, If: store.Guard{Revision: row.Revision}, Next: row.Revision + 1,
		Record: store.Record{Attempt: 1, StartedAt: noon, FinishedAt: noon, Error: reason, KeepFor: time.Hour},
	}})
	if err != nil || errs[0] != nil {
		w.t.Fatal(err, errs)
	}
	return row
}

func TestRetry(t *testing.T) {
	w := newWorld(t)
	old := w.finished("dead", store.FinishDead)
	hints := w.listen(bus.Shards)
	w.post("timers/retry", `{"timerId":"dead","ifGeneration":"7"}`).must(t, http.StatusConflict)
	r := w.post("timers/retry", `{"timerId":"dead","executeIn":"1s"}`).must(t, http.StatusOK)
	row, err := w.row("dead")
	if err != nil || row.Status != timer.StatusScheduled || row.DueAt != noon+1000 || row.Generation == old.Generation || string(row.Payload) != "7" {
		t.Errorf("armed again as %+v, %v", row, err)
	}
	if r.field("generation") != row.Generation.String() || r.header.Get("X-Correlation-ID") != "end" {
		t.Errorf("answered %s", r.text)
	}
	m := <-hints.got
	if h, err := event.UnmarshalHint(m.Body); err != nil || h.UUID != row.UUID || h.Revision != row.Revision || h.DueAt != row.DueAt || h.Attempt != 1 {
		t.Errorf("hinted %+v (%v), want %+v", h, err, row)
	}
	if r := w.post("timers/retry", `{"timerId":"dead"}`).must(t, http.StatusConflict); r.field("error") != "TIMER_EXISTS" ||
		r.field("message") != `timer "dead" in namespace "default" has status scheduled; only finished and parked timers can be retried` {
		t.Errorf("of a timer that is alive: %s", r.text)
	}
	if r := w.post("timers/retry", `{"timerId":"dead","ifGeneration":"7"}`).must(t, http.StatusConflict); r.field("error") != "GENERATION_CONFLICT" {
		t.Errorf("of another generation: %s", r.text)
	}
	w.finished("done", store.FinishDone)
	for _, id := range []string{"done", "none"} {
		w.post("timers/retry", `{"timerId":"`+id+`"}`).must(t, http.StatusNotFound)
	}
	w.finished("parked", store.FinishParked)
	w.post("timers/retry", `{"timerId":"parked"}`).must(t, http.StatusOK)
}

// TestMatchingByHostAndError: retries and purges select dead timers by the host of their URL and by their error. A dry run changes
// nothing, and does not count dead timers that have been scheduled again.
func TestMatchingByHostAndError(t *testing.T) {
	w := newWorld(t)
	for id, as := range map[string]struct{ url, reason string }{
		"a": {"https://A.example/x", "answered 500"}, "b": {"https://a.example/y?z", "answered 500"}, "c": {"https://a.example", "timeout"},
		"d": {"https://a.example:8443/", "answered 500"}, "e": {"", "answered 500"}, "f": {"https://user:secret@a.example/", "answered 500"},
	} {
		body := fmt.Sprintf(`{"id":%q,"executeIn":"1h"}`, id)
		if as.url != "" {
			body = fmt.Sprintf(`{"id":%q,"executeIn":"1h","callbackUrl":%q}`, id, as.url)
		}
		w.post("timers/create", body).must(t, http.StatusOK)
		w.end(id, store.FinishDead, as.reason)
	}
	w.published()
	const dead = `"namespace":"default","status":"dead",`
	for filter, matched := range map[string]float64{
		`"callbackHost":"a.example"`: 4, `"callbackHost":"A.EXAMPLE"`: 4, `"callbackHost":"a.example:8443"`: 1, `"callbackHost":""`: 1,
		`"callbackHost":null,"lastError":null`: 6, `"lastError":"answered 500"`: 5, `"lastError":"answered"`: 0,
		`"callbackHost":"a.example","lastError":"timeout"`: 1, `"callbackHost":"b.example"`: 0,
	} {
		for _, path := range []string{"timers/retry-matching", "timers/purge-matching"} {
			wantSums(t, w.pages(path, dead+filter+`,"dryRun":true,"limit":2`), matched, matched, 0, 0)
		}
	}
	r := w.post("timers/list", `{"status":"dead"}`).must(t, http.StatusOK)
	if timers, _ := r.field("timers").([]any); len(timers) != 6 {
		t.Errorf("dry runs have changed timers: %s", r.text)
	}
	w.post("timers/retry", `{"id":"a","executeIn":"1h"}`).must(t, http.StatusOK)
	const of = dead + `"callbackHost":"a.example","lastError":"answered 500"`
	wantSums(t, w.pages("timers/retry-matching", of+`,"dryRun":true`), 3, 2, 0, 1)
	wantSums(t, w.pages("timers/retry-matching", of), 3, 2, 0, 1)
	wantSums(t, w.pages("timers/retry-matching", of+`,"dryRun":true`), 3, 0, 0, 3)
	wantSums(t, w.pages("timers/purge-matching", dead+`"callbackHost":"","dryRun":false`), 1, 1, 0, 0)
	w.post("timers/get", `{"id":"e"}`).must(t, http.StatusNotFound)
	for id, status := range map[string]string{"a": "scheduled", "b": "scheduled", "c": "dead", "d": "dead", "f": "scheduled"} {
		if r := w.post("timers/get", `{"id":"`+id+`"}`).must(t, http.StatusOK); r.field("status") != status {
			t.Errorf("%s: %s, want %s", id, r.text, status)
		}
	}
	for field, want := range map[string]string{
		`"callbackHost":7`: "callbackHost: 7", `"lastError":""`: `lastError: ""`, `"dryRun":"yes"`: `dryRun: "yes"`,
		`"lastError":"` + strings.Repeat("e", 1025) + `"`: "lastError: ", `"callbackHost":"` + strings.Repeat("h", 2049) + `"`: "callbackHost: ",
	} {
		for _, path := range []string{"timers/retry-matching", "timers/purge-matching"} {
			r := w.post(path, "{"+dead+field+"}").must(t, http.StatusBadRequest)
			if message, _ := r.field("message").(string); !strings.HasPrefix(message, want) {
				t.Errorf("%s with %.40s: %.100s", path, field, r.text)
			}
		}
	}
	for _, path := range []string{"timers/delete-matching", "timers/reschedule-matching"} {
		w.post(path, `{"namespace":"default","correlationId":"c","callbackHost":"a.example","executeIn":"1h"}`).must(t, http.StatusBadRequest)
	}
}

func TestRetryMatching(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.finished(fmt.Sprintf("dead/%d", i), store.FinishDead)
	}
	w.finished("parked", store.FinishParked)
	// One is created again, so its dead state in history is not changed.
	w.post("timers/create", `{"id":"dead/3","executeIn":"3h","correlationId":"end"}`).must(t, http.StatusOK)
	wantSums(t, w.pages("timers/retry-matching", `"namespace":"default","status":"dead","correlationId":"end","limit":2`), 5, 4, 0, 1)
	wantSums(t, w.pages("timers/retry-matching", `"namespace":"default","status":"parked"`), 1, 1, 0, 0)
	for _, id := range []string{"dead/0", "parked"} {
		if row, err := w.row(id); err != nil || row.Status != timer.StatusScheduled || row.DueAt != noon {
			t.Errorf("%s: %+v, %v", id, row, err)
		}
	}
}

func TestShardsAreListed(t *testing.T) {
	w := newWorld(t)
	ref := w.ref("a")
	incarnation := timer.UUID{7}
	w.post("timers/create", `{"id":"a","executeIn":"0s"}`).must(t, http.StatusOK)
	if _, err := w.store.Claim(t.Context(), noon, store.Owner{Incarnation: incarnation, Node: "here"}, []shard.ID{ref.Shard}); err != nil {
		t.Fatal(err)
	}
	w.now.Add(1500)
	r := w.post("shards/list", `{}`).must(t, http.StatusOK)
	shards, _ := r.field("shards").([]any)
	if len(shards) != 16 {
		t.Fatalf("%d shards", len(shards))
	}
	found := 0
	for _, s := range shards {
		m, _ := s.(map[string]any)
		if m["shard"] == float64(ref.Shard) {
			found++
			if m["held"] != true || m["node"] != "here" || m["owner"] != incarnation.String() || m["overdueFor"] != "1.5s" ||
				m["version"] != 1.0 || m["claimedAt"] != noon.Time().Format("2006-01-02T15:04:05.000Z") {
				t.Errorf("the shard is %v", m)
			}
		} else if m["nextDueAt"] != nil {
			t.Errorf("a shard without timers: %v", m)
		}
	}
	if found != 1 {
		t.Error("the timer's shard is not there")
	}
	w.post("shards/list", `{"namespace":"nowhere"}`).must(t, http.StatusNotFound)
}

// TestAShardWithATimerOfTheYear9999IsNotOverdue: the time until then does not fit in a time.Duration.
func TestAShardWithATimerOfTheYear9999IsNotOverdue(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"a","executeAt":"9999-12-31T23:59:59.999Z"}`).must(t, http.StatusOK)
	shards, _ := w.post("shards/list", `{}`).must(t, http.StatusOK).field("shards").([]any)
	found := false
	for _, s := range shards {
		m, _ := s.(map[string]any)
		if m["nextDueAt"] == "9999-12-31T23:59:59.999Z" {
			found = true
			if m["overdueFor"] != nil {
				t.Errorf("a shard that is due in the year 9999 is overdue for %v", m["overdueFor"])
			}
		}
	}
	if !found {
		t.Errorf("no shard is due in the year 9999: %v", shards)
	}
}

// TestRetryMatchingInPart: if the store refuses a shard, only the timers of this shard fail (decision 0028), even if
// they are first on the page. The others are counted as applied.
func TestRetryMatchingInPart(t *testing.T) {
	w := newWorld(t)
	w.stop()
	l := &lists{gate: w.store}
	w.build(func(c *ingest.Config) { c.Store = l })
	w.run()
	const n = 5
	for i := range n {
		w.finished(fmt.Sprintf("dead/%d", i), store.FinishDead)
	}
	first := true
	l.refused = func(store.Rearm) (err error) {
		if first {
			err = fmt.Errorf("%w: hot", store.ErrUnavailable)
		}
		first = false
		return err
	}
	r := w.post("timers/retry-matching", `{"namespace":"default","status":"dead"}`).must(t, http.StatusGatewayTimeout)
	if r.field("error") != "OUTCOME_UNKNOWN" || r.field("details", "applied") != float64(n-1) || r.field("details", "failed") != float64(1) {
		t.Errorf("answered %s, want %d applied and 1 failed", r.text, n-1)
	}
}

// TestMatchingInPart: the writes of one of the two queues fail. The answer must not be "nothing was applied".
func TestMatchingInPart(t *testing.T) {
	w := newWorld(t)
	w.several("mine", 8)
	var fail sync.Once
	w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) (out []store.Written, err error) {
		refused := false
		fail.Do(func() { refused = true })
		if refused {
			return nil, fmt.Errorf("%w: away", store.ErrUnavailable)
		}
		return do()
	})
	r := w.post("timers/reschedule-matching", `{"namespace":"default","correlationId":"mine","shiftBy":"1h"}`).
		must(t, http.StatusGatewayTimeout)
	applied, _ := r.field("details", "applied").(float64)
	failed, _ := r.field("details", "failed").(float64)
	if applied == 0 || failed == 0 || applied+failed != 8 {
		t.Errorf("told %s", r.text)
	}
	w.store.set(func(context.Context, []store.Op, func() ([]store.Written, error)) ([]store.Written, error) {
		return nil, fmt.Errorf("%w: away", store.ErrUnavailable)
	})
	w.post("timers/delete-matching", `{"namespace":"default","correlationId":"mine"}`).must(t, http.StatusServiceUnavailable)
	// A store that is closed during a write may have applied it.
	w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		_, _ = do()
		return nil, store.ErrClosed
	})
	r = w.post("timers/delete-matching", `{"namespace":"default","correlationId":"mine"}`).must(t, http.StatusGatewayTimeout)
	if r.field("error") != "OUTCOME_UNKNOWN" {
		t.Errorf("answered %s", r.text)
	}
}
