package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// scheduleReceiver records the callbacks of occurrences.
type scheduleReceiver struct {
	*httptest.Server

	mu       sync.Mutex
	webhooks map[string]string // by timer id
	calls    int
	twice    []string // occurrences with two webhook-ids
	early    []string
	late     []time.Duration
}

func newScheduleReceiver(t *testing.T) *scheduleReceiver {
	t.Helper()
	r := &scheduleReceiver{webhooks: map[string]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		now := time.Now()
		var d struct {
			TimerID, ScheduleID string
			ExecuteAt           time.Time
		}
		if err := json.NewDecoder(q.Body).Decode(&d); err != nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls++
		id := q.Header.Get("Webhook-Id")
		if before, ok := r.webhooks[d.TimerID]; ok && before != id {
			r.twice = append(r.twice, d.TimerID)
		}
		r.webhooks[d.TimerID] = id
		r.late = append(r.late, now.Sub(d.ExecuteAt))
		if now.Before(d.ExecuteAt) || !strings.Contains(d.TimerID, d.ScheduleID+"@") || d.ScheduleID == "" {
			r.early = append(r.early, fmt.Sprintf("%s at %s", d.TimerID, now))
		}
	}))
	t.Cleanup(r.Close)
	return r
}

const (
	manySchedules = 50
	scheduledFor  = 25 * time.Second
)

// TestI22_SchedulesAcrossKills: each of 50 schedules has an occurrence in each second, while processes are killed.
func TestI22_SchedulesAcrossKills(t *testing.T) {
	c := startCluster(t, 1, 2, 2)
	checkSchedules(t, c.world, func() {
		for _, name := range []string{"dispatcher-1", "scheduler-1", "dispatcher-2", "scheduler-2"} {
			m := c.member(name)
			if err := m.Kill(); err != nil {
				t.Fatal(err)
			}
			pause(t.Context(), time.Second)
			if err := m.Launch(); err != nil {
				t.Fatal(err)
			}
			pause(t.Context(), 3*time.Second)
		}
	})
}

// TestI22_SchedulesAcrossKillsOfTheEmbeddedService kills the only process three times.
func TestI22_SchedulesAcrossKillsOfTheEmbeddedService(t *testing.T) {
	w := startOwn(t)
	checkSchedules(t, w, func() {
		for range 3 {
			pause(t.Context(), 3*time.Second)
			if err := w.Kill(); err != nil {
				t.Fatal(err)
			}
			pause(t.Context(), time.Second)
			if err := w.Start(within(t, patience)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// checkSchedules creates schedules, calls hurt, and checks that each instant had exactly one occurrence.
func checkSchedules(t *testing.T, w *world, hurt func()) {
	t.Helper()
	r := newScheduleReceiver(t)
	start := time.Now().Add(3 * time.Second).Truncate(time.Second)
	end := start.Add(scheduledFor)
	for i := range manySchedules {
		_, err := w.api.CreateSchedule(t.Context(), client.CreateScheduleRequest{
			Namespace: w.namespace, ID: fmt.Sprint("s", i), Specs: []client.ScheduleSpec{{Every: "1s"}}, Start: client.At(start), End: client.At(end),
			Timer: client.CreateTimerRequest{CallbackURL: r.URL, RetryPolicy: client.RetryPolicyInput{InitialInterval: client.Set("1s")}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	hurt()
	ctx := within(t, 2*time.Minute)
	want := manySchedules * int(scheduledFor/time.Second)
	for ctx.Err() == nil {
		if r.seen() >= want && time.Now().After(end) {
			break
		}
		pause(ctx, 100*time.Millisecond)
	}
	pause(t.Context(), 2*time.Second) // for occurrences that must not exist
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("%d occurrences, %d calls, %d repeated", len(r.webhooks), r.calls, r.calls-len(r.webhooks))
	if len(r.webhooks) != want || len(r.twice) > 0 || len(r.early) > 0 {
		t.Errorf("%d occurrences were called, want %d; with two webhook-ids: %v; early or with a wrong schedule: %v",
			len(r.webhooks), want, r.twice, r.early)
	}
	for i := range manySchedules {
		s, err := w.api.GetSchedule(t.Context(), client.ScheduleSelection{Namespace: w.namespace, ID: fmt.Sprint("s", i)})
		if err != nil || s.Status != "ended" || s.Created != int(scheduledFor/time.Second) {
			t.Fatalf("s%d: status %s, %d created, %v", i, s.Status, s.Created, err)
		}
		for at := start; at.Before(end); at = at.Add(time.Second) {
			suffix := fmt.Sprintf(":s%d@%s", i, at.UTC().Format("2006-01-02T15:04:05.000Z"))
			if !has(r.webhooks, suffix) {
				t.Errorf("no occurrence %s", suffix)
			}
		}
	}
}

func has(ids map[string]string, suffix string) bool {
	for id := range ids {
		if strings.HasSuffix(id, suffix) {
			return true
		}
	}
	return false
}

// TestI22_ManySchedules measures schedules whose occurrences in each minute are spread over it, and prints the lateness. With
// TIMERBUS_SCHEDULES=100000 it is the measurement of docs/performance.md.
func TestI22_ManySchedules(t *testing.T) {
	n, period := 300, 5*time.Second
	if text := os.Getenv("TIMERBUS_SCHEDULES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		period = time.Minute
	}
	w := startOwn(t)
	r := newScheduleReceiver(t)
	lead := 3*time.Second + time.Duration(n)*time.Millisecond/4 // enough to create them on a busy machine
	start := time.Now().Add(lead).Truncate(time.Second)
	began := time.Now()
	var group sync.WaitGroup
	for from := range 64 {
		group.Go(func() {
			for i := from; i < n; i += 64 {
				_, err := w.api.CreateSchedule(t.Context(), client.CreateScheduleRequest{
					Namespace: w.namespace, ID: fmt.Sprint("s", i), Start: client.At(start), End: client.At(start.Add(2 * period)),
					Specs: []client.ScheduleSpec{{Every: period.String(), Anchor: client.At(start.Add(time.Duration(i) * period / time.Duration(n)))}},
					Timer: client.CreateTimerRequest{CallbackURL: r.URL, Payload: json.RawMessage(`{"n":1}`)},
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	pause(t.Context(), time.Until(start.Add(2*period+time.Second)))
	ctx := within(t, patience)
	for ctx.Err() == nil && r.seen() < 2*n {
		pause(ctx, 100*time.Millisecond)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.webhooks) != 2*n || len(r.twice)+len(r.early) > 0 {
		t.Errorf("%d occurrences, want %d; twice %v, early %v", len(r.webhooks), 2*n, r.twice, r.early)
	}
	second := r.late[len(r.late)/2:] // the first period includes the warm-up
	slices.Sort(second)
	quantile := func(q float64) time.Duration {
		return second[int(q*float64(len(second)-1))].Round(100 * time.Microsecond)
	}
	t.Logf("%d schedules, created at %.0f/s; %d callbacks in %v: lateness p50 %v, p99 %v, p99.9 %v, latest %v", n, float64(n)/took.Seconds(),
		len(second), period, quantile(0.5), quantile(0.99), quantile(0.999), quantile(1))
}

// seen returns how many occurrences were called.
func (r *scheduleReceiver) seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.webhooks)
}
