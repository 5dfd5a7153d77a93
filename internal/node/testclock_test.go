package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testclock"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// onTestClock runs a test with a node on a test clock, and after when the node has stopped. Callbacks to this machine are allowed.
func onTestClock(t *testing.T, test func(w *whole), after ...func()) {
	t.Helper()
	inWholeOn(t, func(o *Options) { o.TestClock, o.CallbackAllow = testclock.New(), "loopback" }, test, after...)
}

// hook is a receiver outside the bubble. Its answers do not depend on time.
type hook struct {
	*httptest.Server

	mu    sync.Mutex
	calls []call
}

// call is one callback: its timer, and the time of the attempt.
type call struct {
	TimerID      string
	ScheduledFor time.Time
	Attempt      int
}

func newHook(t *testing.T, answer func(c call) (status int, body string)) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c call
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		h.calls = append(h.calls, c)
		h.mu.Unlock()
		status, body := answer(c)
		w.Header().Set("Connection", "close")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(h.Close)
	return h
}

func ok(call) (int, string) { return http.StatusOK, "" }

// want posts a request that must succeed.
func (w *whole) want(path, body string) map[string]any {
	w.t.Helper()
	status, answer := w.post(path, body)
	if status != http.StatusOK {
		w.t.Fatalf("%s %s: %d %v", path, body, status, answer)
	}
	return answer
}

// virtual returns the time that the test clock shows.
func (w *whole) virtual() time.Time {
	w.t.Helper()
	return w.instant(w.want("clock/get", `{}`), "now")
}

func (w *whole) instant(answer map[string]any, field string) time.Time {
	w.t.Helper()
	text, _ := answer[field].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		w.t.Fatalf("%s of %v: %v", field, answer, err)
	}
	return at
}

func rfc3339(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// Each timer fires at its time and not before, in the order of the times; a paused timer stops nothing.
func TestATestClockFiresEverythingInOrder(t *testing.T) {
	h := newHook(t, ok)
	onTestClock(t, func(w *whole) {
		began := w.virtual()
		var want []string
		for i, after := range []time.Duration{50 * time.Hour, time.Hour, 0, 700 * time.Hour, 3 * time.Hour, time.Hour + 300*time.Millisecond, 2 * time.Hour} {
			id := fmt.Sprintf("%016d after, number %d", after, i)
			w.want("timers/create", fmt.Sprintf(`{"id":%q,"executeAt":%q,"callbackUrl":%q}`, id, rfc3339(began.Add(after)), h.URL))
			want = append(want, id)
		}
		slices.Sort(want)
		w.want("timers/create", fmt.Sprintf(`{"id":"paused","executeIn":"1h","callbackUrl":%q}`, h.URL))
		w.want("timers/pause", `{"id":"paused"}`)
		w.want("timers/create", fmt.Sprintf(`{"id":"later","executeIn":"31d","callbackUrl":%q}`, h.URL))

		clock := w.want("clock/advance", `{"by":"30d"}`)
		if now := w.instant(clock, "now"); now.Before(began.Add(30*24*time.Hour)) || now.After(began.Add(30*24*time.Hour+time.Second)) {
			t.Errorf("the clock shows %v, 30 days after %v", now, began)
		}
		if next := w.instant(clock, "nextDueAt"); next.Before(began.Add(31 * 24 * time.Hour)) {
			t.Errorf("next due %v", next)
		}
		var got []string
		for _, c := range h.calls {
			got = append(got, c.TimerID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("fired %q, want %q", got, want)
		}
		if status, answer := w.post("timers/get", `{"id":"paused"}`); status != http.StatusOK || answer["status"] != "paused" {
			t.Errorf("the paused timer: %d %v", status, answer)
		}
		history := w.want("timers/history", fmt.Sprintf(`{"id":%q}`, want[len(want)-1]))
		entry, _ := history["attempts"].([]any)
		if len(entry) != 1 {
			t.Fatalf("history: %v", history)
		}
		attempt, _ := entry[0].(map[string]any)
		due := began.Add(700 * time.Hour)
		if at := w.instant(attempt, "startedAt"); at.Before(due) || at.After(due.Add(500*time.Millisecond)) {
			t.Errorf("started at %v, due at %v", at, due)
		}
	})
}

// Retries wait on the test clock, and so does the retention of history.
func TestATestClockMovesThroughRetries(t *testing.T) {
	h := newHook(t, func(call) (int, string) { return http.StatusServiceUnavailable, "" })
	onTestClock(t, func(w *whole) {
		began := w.virtual()
		w.want("timers/create", fmt.Sprintf(`{"id":"a","executeIn":"24h","callbackUrl":%q,
			"retryPolicy":{"maxAttempts":6,"initialInterval":"1h","backoffMultiplier":2,"maxInterval":"5d"}}`, h.URL))
		w.want("clock/advance", `{"by":"60h"}`)
		if len(h.calls) != 6 {
			t.Fatalf("%d calls: %v", len(h.calls), h.calls)
		}
		at := began.Add(24 * time.Hour)
		for i, c := range h.calls {
			if i > 0 {
				delay := time.Hour << (i - 1)
				if waited := c.ScheduledFor.Sub(at); waited < delay*9/10 || waited > delay*11/10+time.Second {
					t.Errorf("attempt %d was %v after the one before, want about %v", i+1, waited, delay)
				}
			}
			at = c.ScheduledFor
		}
		if status, answer := w.post("timers/get", `{"id":"a"}`); status != http.StatusOK || answer["status"] != "dead" {
			t.Errorf("%d %v", status, answer)
		}
		w.want("clock/advance", `{"by":"31d"}`)
		if status, answer := w.post("timers/get", `{"id":"a"}`); status != http.StatusNotFound {
			t.Errorf("after the retention of dead timers: %d %v", status, answer)
		}
	})
}

// A daily schedule follows the local time when the summer time begins (the bubble begins in January 2000).
func TestATestClockMovesThroughASchedule(t *testing.T) {
	h := newHook(t, ok)
	onTestClock(t, func(w *whole) {
		w.want("schedules/create", fmt.Sprintf(
			`{"id":"daily","specs":[{"cron":"0 9 * * *"}],"timeZone":"Europe/Berlin","timer":{"callbackUrl":%q}}`, h.URL))
		w.want("clock/set", `{"time":"2000-04-01T00:00:00Z"}`)
		if len(h.calls) != 91 {
			t.Fatalf("%d occurrences in 91 days", len(h.calls))
		}
		day, summer := time.Date(2000, 1, 1, 8, 0, 0, 0, time.UTC), time.Date(2000, 3, 26, 0, 0, 0, 0, time.UTC)
		for i, c := range h.calls {
			at := day.AddDate(0, 0, i)
			if at.After(summer) {
				at = at.Add(-time.Hour)
			}
			if late := c.ScheduledFor.Sub(at); late < 0 || late > time.Second || !strings.HasPrefix(c.TimerID, "timerbus:") {
				t.Errorf("occurrence %s at %v, want %v", c.TimerID, c.ScheduledFor, at)
			}
		}
	})
}

func TestATestClockExpiresTimers(t *testing.T) {
	h := newHook(t, func(call) (int, string) { return http.StatusServiceUnavailable, "" })
	onTestClock(t, func(w *whole) {
		w.want("timers/create", fmt.Sprintf(`{"id":"a","executeIn":"1h","expireAfter":"5h","callbackUrl":%q,
			"retryPolicy":{"maxAttempts":100,"initialInterval":"1h","backoffMultiplier":1}}`, h.URL))
		w.want("clock/advance", `{"by":"10h"}`)
		status, answer := w.post("timers/get", `{"id":"a"}`)
		if status != http.StatusOK || answer["status"] != "dead" || !strings.Contains(fmt.Sprint(answer["lastError"]), "expired") {
			t.Errorf("%d %v", status, answer)
		}
		if n := len(h.calls); n < 4 || n > 6 {
			t.Errorf("%d calls in 5 hours", n)
		}
	})
}

// A timer never ends if each answer to its callback has a nextExecuteAt. The call ends by its timeout, reports how far the clock is, and a
// further call continues.
func TestAnEndlessTimerEndsTheCallByItsTimeout(t *testing.T) {
	h := newHook(t, func(c call) (int, string) {
		return http.StatusOK, fmt.Sprintf(`{"ok":true,"nextExecuteAt":%q}`, rfc3339(c.ScheduledFor))
	})
	onTestClock(t, func(w *whole) {
		began := w.virtual()
		w.want("timers/create", fmt.Sprintf(`{"id":"a","executeIn":"1h","callbackUrl":%q}`, h.URL))
		status, answer := w.post("clock/advance", `{"by":"2d","timeout":"500ms"}`)
		details, _ := answer["details"].(map[string]any)
		if status != http.StatusGatewayTimeout || answer["error"] != "CLOCK_NOT_QUIET" {
			t.Fatalf("%d %v", status, answer)
		}
		now, target := w.instant(details, "now"), w.instant(details, "target")
		if now.Before(began.Add(time.Hour)) || !now.Before(target) || target.Before(began.Add(48*time.Hour)) {
			t.Errorf("from %v: %v", began, details)
		}
		if status, _ := w.post("timers/delete", `{"id":"a"}`); status >= http.StatusBadRequest {
			t.Fatalf("delete: %d", status)
		}
		if clock := w.want("clock/set", fmt.Sprintf(`{"time":%q}`, rfc3339(target))); w.instant(clock, "now").Before(target) {
			t.Errorf("the clock shows %v", clock)
		}
	})
}

// The follow-up of a timer is a row that is written with the outcome, so the clock waits for it.
func TestATestClockWaitsForFollowUps(t *testing.T) {
	h := newHook(t, ok)
	onTestClock(t, func(w *whole) {
		w.want("timers/create", fmt.Sprintf(`{"id":"a","executeIn":"24h","callbackUrl":%q,"onDone":%q}`, h.URL, h.URL+"/done"))
		w.want("clock/advance", `{"by":"24h"}`)
		if len(h.calls) != 2 {
			t.Errorf("calls %v, want the callback and its follow-up", h.calls)
		}
	})
}

func TestRefusedMovesOfATestClock(t *testing.T) {
	onTestClock(t, func(w *whole) {
		w.want("clock/advance", `{"by":"1h"}`)
		now := w.virtual()
		for body, want := range map[string]struct {
			path  string
			parts []string
		}{
			`{"time":"1999-12-31T23:00:00Z"}`: {"clock/set", []string{"time", "1999-12-31T23:00:00.000Z", rfc3339(now)[:19]}},
			`{"time":"2200-01-01T00:00:00Z"}`: {"clock/set", []string{"time", "2200-01-01T00:00:00.000Z"}},
			`{"time":"tomorrow"}`:             {"clock/set", []string{"time", "tomorrow", "RFC 3339"}},
			`{}`:                              {"clock/set", []string{"time"}},
			`{"by":"-1h"}`:                    {"clock/advance", []string{"by", "-1h"}},
			`{"by":"36501d"}`:                 {"clock/advance", []string{"by", "876024h", "at most"}},
			`{"timeout":"1m"}`:                {"clock/advance", []string{"by"}},
			`{"by":"1h","timeout":"11m"}`:     {"clock/advance", []string{"timeout", "11m", "10m"}},
			`{"by":"1h","timeout":"0s"}`:      {"clock/advance", []string{"timeout", "0s", "1ms"}},
			`{"now":"2000-01-01T00:00:00Z"}`:  {"clock/get", []string{"now"}},
		} {
			status, answer := w.post(want.path, body)
			for _, part := range want.parts {
				if status != http.StatusBadRequest || !strings.Contains(fmt.Sprint(answer["message"]), part) {
					t.Errorf("%s %s: %d %v does not name %q", want.path, body, status, answer["message"], part)
				}
			}
		}
		if moved := w.virtual().Sub(now); moved > time.Second {
			t.Errorf("refused calls moved the clock by %v", moved)
		}
	})
}

func TestASecondCallDoesNotMoveTheTestClock(t *testing.T) {
	onTestClock(t, func(w *whole) {
		w.want("timers/create", `{"id":"a","executeIn":"10s","deliver":"event"}`)
		w.lease("a", time.Minute)
		var first int
		var wait sync.WaitGroup
		wait.Go(func() { first, _ = w.post("clock/advance", `{"by":"30d","timeout":"2s"}`) })
		time.Sleep(time.Second) // in the bubble
		if status, answer := w.post("clock/advance", `{"by":"1h"}`); status != http.StatusConflict || answer["error"] != "CLOCK_BUSY" {
			t.Errorf("%d %v", status, answer)
		}
		wait.Wait()
		if first != http.StatusGatewayTimeout {
			t.Errorf("the first call: %d", first)
		}
	})
}

// The stop of a node ends a move, and does not wait for its timeout.
func TestAStopEndsAMoveOfTheTestClock(t *testing.T) {
	var began time.Time
	var status int
	var wait sync.WaitGroup
	onTestClock(t, func(w *whole) {
		w.want("timers/create", `{"id":"a","executeIn":"10s","deliver":"event"}`)
		w.lease("a", time.Minute)
		wait.Go(func() { status, _ = w.post("clock/advance", `{"by":"30d"}`) })
		time.Sleep(time.Second) // in the bubble
		began = time.Now()
	}, func() {
		wait.Wait()
		if took := time.Since(began); took > 500*time.Millisecond || status != http.StatusGatewayTimeout {
			t.Errorf("status %d after %v", status, took)
		}
	})
}

// A move may take longer than the server's timeouts for other requests (10 s to 20 s).
func TestALongMoveOfATestClockIsNotCut(t *testing.T) {
	onTestClock(t, func(w *whole) {
		w.want("timers/create", `{"id":"a","executeIn":"10s","deliver":"event"}`)
		w.lease("a", time.Minute)
		began := time.Now()
		status, answer := w.post("clock/advance", `{"by":"1d","timeout":"30s"}`)
		if took := time.Since(began); status != http.StatusGatewayTimeout || answer["error"] != "CLOCK_NOT_QUIET" || took < 30*time.Second {
			t.Errorf("%d %v after %v", status, answer, took)
		}
		// The lease ends, as after a crash, and the timer is delivered.
		if clock := w.want("clock/advance", `{"by":"0s"}`); clock["nextDueAt"] != nil || !w.fired("a") {
			t.Errorf("the clock shows %v", clock)
		}
	})
}

// lease leases the row of a timer, as a dispatcher with a running callback does.
func (w *whole) lease(id string, d time.Duration) {
	w.t.Helper()
	ns, err := w.store.GetNamespace(w.t.Context(), DefaultNamespace)
	if err != nil {
		w.t.Fatal(err)
	}
	ref := store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(DefaultNamespace, id)}
	now := timer.FromTime(w.virtual())
	row, err := w.store.Get(w.t.Context(), now, ref)
	if err != nil {
		w.t.Fatal(err)
	}
	revisions := timer.NewRevisions(func() timer.Millis { return now }, rand.Uint64)
	errs, err := w.store.Finish(w.t.Context(), now, []store.Finish{{
		Ref: ref, DueAt: row.DueAt, Kind: store.FinishLeased, If: store.Guard{Revision: row.Revision},
		Next: revisions.Next(), NextAt: now.Add(d),
	}})
	if err := errors.Join(append(errs, err)...); err != nil {
		w.t.Fatal(err)
	}
}

func TestWithoutATestClockTheRoutesSayHowToGetOne(t *testing.T) {
	inWhole(t, func(w *whole) {
		for path, body := range map[string]string{
			"clock/get": `{}`, "clock/advance": `{"by":"1h"}`, "clock/set": `{"time":"2030-01-31T09:00:00Z"}`,
		} {
			status, answer := w.post(path, body)
			if status != http.StatusNotFound || !strings.Contains(fmt.Sprint(answer["message"]), "start timerbus dev with --test-clock") {
				t.Errorf("%s: %d %v", path, status, answer)
			}
		}
	})
}
