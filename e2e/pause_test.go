package e2e_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/pkg/client"
)

// TestI20PauseOfManyTimers: of timers that become due while they are paused, none is lost, none is delivered before the resume, and
// afterwards no more are delivered in a second than resumeRate says. TIMERBUS_PAUSED_TIMERS=100000 makes the test large.
func TestI20PauseOfManyTimers(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	n, rate := 2000, 200
	if text := os.Getenv("TIMERBUS_PAUSED_TIMERS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		rate = max(rate, n/200)
	}
	const batch = 1000
	lead := 15*time.Second + time.Duration(n)*time.Millisecond // enough to create and pause them on a busy machine
	due := time.Now().Add(lead)
	for from := 0; from < n; from += batch {
		var items []string
		for i := from; i < min(n, from+batch); i++ {
			items = append(items, fmt.Sprintf(`{"namespace":"NS","id":"p%d","executeAt":%q,"callbackUrl":"URL"}`,
				i, due.UTC().Format(time.RFC3339Nano)))
		}
		r := w.post(t, "timers/batch-create", strings.ReplaceAll(`{"timers":[`+strings.Join(items, ",")+`]}`, "URL", w.receiver.URL))
		if r.field(t, "failed") != 0.0 {
			t.Fatalf("%d %.300s", r.status, r.body)
		}
	}
	paused, err := w.api.PauseAllMatching(t.Context(), client.PauseMatchingRequest{
		Namespace: w.namespace, Note: "maintenance", Limit: 1000,
	}, nil)
	if err != nil || paused.Applied != n || paused.Late != 0 {
		t.Fatalf("paused %+v, %v; want %d in time", paused, err, n)
	}
	// A timer that is due later than the paused ones fires, so the schedulers and dispatchers have passed their time.
	w.create(t, "fence", time.Until(due)+2*time.Second)
	if _, err := w.receiver.Await(within(t, time.Until(due)+patience), w.namespace, "fence", 1); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if calls := w.receiver.Calls(w.namespace, fmt.Sprint("p", i)); len(calls) > 0 {
			t.Fatalf("timer %d was delivered while it was paused", i)
		}
	}
	began := time.Now()
	resumed, err := w.api.ResumeAllMatching(t.Context(), client.ResumeMatchingRequest{
		Namespace: w.namespace, ResumeRate: rate, Limit: 1000,
	}, nil)
	if err != nil || resumed.Applied != n {
		t.Fatalf("resumed %+v, %v; want %d", resumed, err, n)
	}
	t.Logf("%d timers resumed within %v, at a rate of %d", n, time.Since(began).Round(time.Millisecond), rate)
	perSecond, delivered := map[int]int{}, map[string]bool{}
	_, err = w.receiver.AwaitMatch(within(t, patience+time.Duration(n/rate)*time.Second), func(c receiver.Call) bool {
		if c.Namespace == w.namespace && c.TimerID != "fence" {
			perSecond[int(c.At.Sub(began)/time.Second)]++
			delivered[c.TimerID] = true
		}
		return len(delivered) == n
	})
	if err != nil {
		t.Fatalf("%d of %d timers were delivered after the resume: %v", len(delivered), n, err)
	}
	t.Logf("the last timer was delivered %v after the resume began", time.Since(began).Round(time.Millisecond))
	total := 0
	for second := 0; total < n; second++ {
		total += perSecond[second]
		// A delivery may be late, but not early: by the end of a second, no more have arrived than were due.
		if most := (second + 1) * rate; total > most+rate/10 {
			t.Errorf("%d deliveries in %d seconds, want at most %d", total, second+1, most)
		}
	}
}

// TestI20SkippedTimers end with the outcome expired.
func TestI20SkippedTimers(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.create(t, "s", 2*time.Second)
	if _, err := w.api.PauseTimer(t.Context(), client.PauseTimerRequest{Namespace: w.namespace, ID: "s", Note: "n"}); err != nil {
		t.Fatal(err)
	}
	w.create(t, "fence", 3*time.Second)
	w.calls(t, "fence", 1)
	if _, err := w.api.ResumeTimer(t.Context(), client.ResumeTimerRequest{Namespace: w.namespace, ID: "s", Overdue: "skip"}); err != nil {
		t.Fatal(err)
	}
	dead := w.reaches(t, "s", isStatus("dead"))
	if !strings.HasPrefix(dead.LastError, "expired: ") || len(w.receiver.Calls(w.namespace, "s")) > 0 {
		t.Errorf("%+v", dead)
	}
	history, err := w.api.TimerHistory(t.Context(), client.HistoryRequest{Namespace: w.namespace, TimerID: "s"})
	if err != nil || history.Attempts[0].Outcome != "expired" {
		t.Errorf("%+v, %v", history, err)
	}
}
