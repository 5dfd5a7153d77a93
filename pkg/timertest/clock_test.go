package timertest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// A daily reminder over 30 days; the first attempt of each day fails.
func TestAMonthInASecond(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]Option{
		"embedded":  {WithTestClock()},
		"in memory": {WithTestClock(), InMemory()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			days, calls := map[time.Time]int{}, make(chan time.Time, 100) // Advance returns after the last call
			hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					ExecuteAt time.Time
					Attempt   int
				}
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				// Receivers compare the signature's time with their own clocks.
				sent, err := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
				if off := time.Since(time.Unix(sent, 0)).Abs(); err != nil || off > time.Minute {
					t.Errorf("webhook-timestamp is off by %v, %v", off, err)
				}
				calls <- body.ExecuteAt
				if body.Attempt == 1 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			t.Cleanup(hook.Close)
			bus := Start(t, options...)
			if _, err := bus.Client.CreateSchedule(t.Context(), client.CreateScheduleRequest{
				ID: "daily", Specs: []client.ScheduleSpec{{Cron: "0 9 * * *"}}, TimeZone: "Europe/Berlin",
				Timer: client.CreateTimerRequest{CallbackURL: hook.URL},
			}); err != nil {
				t.Fatal(err)
			}
			from, began := bus.Now(t), time.Now()
			bus.Advance(t, 30*24*time.Hour)
			t.Logf("30 days with two attempts each took %v", time.Since(began))
			close(calls)
			for at := range calls {
				days[at]++
			}
			if len(days) != 30 {
				t.Errorf("%d occurrences", len(days))
			}
			for at, n := range days {
				if n != 2 || at.Before(from) {
					t.Errorf("%d attempts of %v", n, at)
				}
			}
			if now := bus.Now(t); now.Before(from.Add(30 * 24 * time.Hour)) {
				t.Errorf("the clock shows %v, 30 days after %v", now, from)
			}
		})
	}
}

// The timer of a running callback is paused, so that the clock does not wait for it. The callback's success counts, and it is not
// called again.
func TestAStepWhileACallbackRuns(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	begun, release := make(chan struct{}, 10), make(chan struct{})
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		begun <- struct{}{}
		<-release
	}))
	t.Cleanup(hook.Close)
	bus := Start(t, WithTestClock(), InMemory())
	if _, err := bus.Client.CreateTimer(t.Context(), client.CreateTimerRequest{ID: "a", ExecuteIn: "1ms", CallbackURL: hook.URL}); err != nil {
		t.Fatal(err)
	}
	<-begun
	if _, err := bus.Client.PauseTimer(t.Context(), client.PauseTimerRequest{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	bus.Advance(t, 48*time.Hour)
	close(release)
	for status := ""; status != "done"; { // it ends with the test's time
		got, err := bus.Client.GetTimer(t.Context(), client.TimerSelection{ID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		status = string(got.Status)
	}
	bus.Advance(t, time.Hour)
	if n := calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
}

func TestAdvanceNeedsATestClock(t *testing.T) {
	t.Parallel()
	w := &witness{TB: t, folder: t.TempDir()}
	bus := Start(w, InMemory())
	w.fatal(t, func() { bus.Advance(w, time.Hour) })
	if len(w.failed) != 1 || !strings.Contains(w.failed[0], "WithTestClock") {
		t.Errorf("failed %q", w.failed)
	}
	w.end()
}
