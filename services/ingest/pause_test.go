package ingest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestI20PausedTimers: the answer says whether the delivery may have begun, and other requests keep the pause.
func TestI20PausedTimers(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, http.StatusOK)
	for _, note := range []string{"closed", "other"} {
		r := w.post("timers/pause", fmt.Sprintf(`{"timerId":"a","note":%q}`, note)).must(t, http.StatusOK)
		if r.field("status") != "paused" || r.field("pause", "note") != "closed" {
			t.Errorf("%v", r.field("pause"))
		}
	}
	w.post("timers/update", `{"id":"a","executeIn":"2h"}`).must(t, http.StatusOK)
	w.post("timers/create", `{"id":"a","executeIn":"30m"}`).must(t, http.StatusOK)
	if row, _ := w.row("a"); row.Status != timer.StatusPaused {
		t.Errorf("after an update and a create the timer is %s", row.Status)
	}
	w.now.Add(int64(time.Hour / time.Millisecond))
	w.post("timers/pause", `{"timerId":"a"}`).must(t, http.StatusAccepted)
	r := w.post("timers/resume", `{"timerId":"a","overdue":"skip"}`).must(t, http.StatusOK)
	row, _ := w.row("a")
	if r.field("status") != "scheduled" || r.field("pause") != nil || row.DueAt != w.clock() || !row.Skip {
		t.Errorf("resumed: %v, due %s, skip %t", r.field("status"), row.DueAt, row.Skip)
	}
	w.post("timers/resume", `{"timerId":"a"}`).must(t, http.StatusOK)
	if again, _ := w.row("a"); again.Revision != row.Revision {
		t.Error("a second resume has changed the timer")
	}
	w.post("timers/pause", `{"timerId":"nobody"}`).must(t, http.StatusNotFound)
}

func TestPauseRefusals(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", timer.MaxPauseNote+1)
	for _, c := range []struct{ path, body, field string }{
		{"timers/pause", fmt.Sprintf(`{"id":"a","note":%q}`, long), "note"},
		{"timers/pause-matching", `{"namespace":"default","status":"parked"}`, "status"},
		{"timers/pause-matching", `{"note":"n"}`, "namespace"},
		{"timers/resume", `{"id":"a","overdue":"drop"}`, "overdue"},
		{"timers/resume-matching", `{"namespace":"default","resumeRate":0}`, "resumeRate"},
		{"timers/resume-matching", `{"namespace":"default","resumeRate":100001}`, "resumeRate"},
		{"timers/resume-matching", `{"namespace":"default","startAt":"2030-01-01T00:00:00Z"}`, "resumeRate"},
	} {
		r := w.post(c.path, c.body).must(t, http.StatusBadRequest)
		if r.field("details", "field") != c.field {
			t.Errorf("%s %s: %v", c.path, c.body, r.field("details"))
		}
	}
}

// TestI20ResumeRate: over all pages, no more timers become due in a second than the rate says, and the sweep of a second request
// changes none of them.
func TestI20ResumeRate(t *testing.T) {
	w := newWorld(t)
	const n, rate = 25, 4
	w.several("late", n)
	w.post("timers/create", `{"id":"early","executeIn":"48h","correlationId":"late"}`).must(t, http.StatusOK)
	w.several("others", 2)
	got := w.pages("timers/pause-matching", `"namespace":"default","correlationId":"late","limit":7,"note":"n"`)
	wantSums(t, got, n+1, n+1, 0, 0)
	wantSums(t, w.pages("timers/pause-matching", `"namespace":"default","correlationId":"late"`), n+1, 0, 0, n+1)
	if row, _ := w.row("others/0"); row.Status != timer.StatusScheduled {
		t.Errorf("another's timer is %s", row.Status)
	}
	w.now.Add(int64(2 * time.Hour / time.Millisecond))
	start, cursor, matched := "", "", 0.0
	for page := 0; page == 0 || cursor != ""; page++ {
		body := fmt.Sprintf(`{"namespace":"default","resumeRate":%d,"limit":7`, rate)
		if cursor != "" {
			body += fmt.Sprintf(`,"cursor":%q`, cursor)
		}
		if start != "" {
			body += fmt.Sprintf(`,"startAt":%q`, start)
		}
		r := w.post("timers/resume-matching", body+"}").must(t, http.StatusOK)
		applied, _ := r.field("applied").(float64)
		matched += applied
		cursor, _ = r.field("nextCursor").(string)
		if next, ok := r.field("nextStartAt").(string); ok {
			start = next
		}
	}
	if matched != n+1 {
		t.Fatalf("%v timers were resumed, want %d", matched, n+1)
	}
	times := map[timer.Millis]bool{}
	for i := range n {
		row, err := w.row(fmt.Sprintf("late/%d", i))
		slot := (row.DueAt - w.clock()) * rate / 1000
		if err != nil || row.Status != timer.StatusScheduled || slot < 0 || slot >= n || times[slot] {
			t.Errorf("timer %d: %s, in slot %d, which is taken: %t, %v", i, row.Status, slot, times[slot], err)
		}
		times[slot] = true
	}
	if row, _ := w.row("early"); row.DueAt != noon+48*timer.Millis(time.Hour/time.Millisecond) {
		t.Errorf("the timer whose time has not passed is due at %s", row.DueAt)
	}
	before, _ := w.row("late/0")
	w.pages("timers/resume-matching", `"namespace":"default"`)
	if after, _ := w.row("late/0"); after.DueAt != before.DueAt || after.Revision != before.Revision {
		t.Error("a second request has changed a resumed timer")
	}
}

// TestRequestsThatPausedTimersRefuse: a timer that is held cannot be run or retried, and says why.
func TestRequestsThatPausedTimersRefuse(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, http.StatusOK)
	generation := w.post("timers/pause", `{"id":"a"}`).must(t, http.StatusOK).field("generation")
	before, _ := w.row("a")
	for path, want := range map[string]string{
		"timers/run-now": `timer "a" in namespace "default" has status paused; resume it before it is run`,
		"timers/retry":   `timer "a" in namespace "default" has status paused; only finished and parked timers can be retried`,
	} {
		r := w.post(path, fmt.Sprintf(`{"id":"a","ifGeneration":%q}`, generation)).must(t, http.StatusConflict)
		if r.field("error") != "TIMER_EXISTS" || r.field("message") != want || r.field("details", "status") != "paused" {
			t.Errorf("%s: %s", path, r.text)
		}
		r = w.post(path, `{"id":"a","ifGeneration":"7"}`).must(t, http.StatusConflict)
		if r.field("error") != "GENERATION_CONFLICT" {
			t.Errorf("%s of another generation: %s", path, r.text)
		}
	}
	if after, _ := w.row("a"); after.Revision != before.Revision {
		t.Error("a refused request has changed the timer")
	}
	r := w.post("timers/list", `{"order":"due","status":"paused"}`).must(t, http.StatusBadRequest)
	if r.field("details", "field") != "status" {
		t.Errorf("list in due order: %s", r.text)
	}
}

// late creates timers, pauses them, and passes their time.
func (w *world) late(n int) {
	w.several("late", n)
	w.pages("timers/pause-matching", `"namespace":"default"`)
	w.now.Add(int64(2 * time.Hour / time.Millisecond))
}

// TestI20ResumeRateOfATimerThatChangesMeanwhile: a timer of a page gets another time after it was listed. The times of the next page do
// not depend on it.
func TestI20ResumeRateOfATimerThatChangesMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.late(10)
	var changed atomic.Bool // the commits are concurrent
	w.store.set(func(ctx context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		for _, op := range ops {
			if r, ok := op.(store.Resume); ok && changed.CompareAndSwap(false, true) {
				at := w.clock().Add(8760 * time.Hour)
				update := store.Update{Ref: r.Ref, Revision: timer.Revision(1 << 62), Patch: timer.Patch{ExecuteAt: &at}}
				if out, err := w.store.Store.Write(ctx, w.clock(), []store.Op{update}); err != nil || out[0].Err != nil {
					t.Error(err, out)
				}
			}
		}
		return do()
	})
	r := w.post("timers/resume-matching", `{"namespace":"default","resumeRate":2,"limit":4}`).must(t, http.StatusOK)
	start, err := time.Parse(time.RFC3339, fmt.Sprint(r.field("nextStartAt")))
	if most := w.clock().Add(2 * time.Second).Time(); err != nil || !changed.Load() || start.After(most) {
		t.Errorf("the next page begins at %s, %v; want %s at most", start, err, most)
	}
}

// TestI20ASecondResumeReplacesTheTimesOfTheFirst: timers are paused again while a resume with a rate is going on.
func TestI20ASecondResumeReplacesTheTimesOfTheFirst(t *testing.T) {
	for fields, most := range map[string]int{`"resumeRate":1`: 1, `"resumeRate":3`: 3, `"overdue":"skip"`: 20} {
		w := newWorld(t)
		w.late(20)
		w.post("timers/resume-matching", `{"namespace":"default","resumeRate":1}`).must(t, http.StatusOK)
		w.now.Add(5000)
		w.pages("timers/pause-matching", `"namespace":"default"`)
		w.now.Add(5000)
		w.post("timers/resume-matching", `{"namespace":"default",`+fields+`}`).must(t, http.StatusOK)
		perSecond := map[timer.Millis]int{}
		for i := range 20 {
			row, err := w.row(fmt.Sprintf("late/%d", i))
			second := (row.DueAt - w.clock()) / 1000
			if perSecond[second]++; err != nil || perSecond[second] > most || row.Skip != (most == 20) {
				t.Errorf("%s: timer %d is due in second %d, skip %t, %v", fields, i, second, row.Skip, err)
			}
		}
	}
}

// TestI20LateOfARepeatedPause: a client that repeats a request learns that deliveries may have begun, although it finds the timers paused.
func TestI20LateOfARepeatedPause(t *testing.T) {
	w := newWorld(t)
	w.several("late", 3)
	w.now.Add(int64(2 * time.Hour / time.Millisecond))
	for i, applied := range []float64{3, 0} {
		if sum := w.pages("timers/pause-matching", `"namespace":"default"`); sum["applied"] != applied || sum["late"] != 3 {
			t.Errorf("request %d: %v, want %v applied, 3 late", i, sum, applied)
		}
	}
}

// TestPausesOfParkedTimers are refused, once.
func TestPausesOfParkedTimers(t *testing.T) {
	w := newWorld(t)
	w.several("x", 2)
	row, err := w.row("x/0")
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.store.Store.Finish(t.Context(), w.clock(), []store.Finish{{
		Ref: w.ref("x/0"), Kind: store.FinishParked, If: store.Guard{Revision: row.Revision}, Next: timer.Revision(1 << 62),
	}})
	if err != nil || out[0] != nil {
		t.Fatal(err, out)
	}
	var tried atomic.Int64 // the commits are concurrent
	w.store.set(func(_ context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		tried.Add(int64(len(ops)))
		return do()
	})
	if sum := w.pages("timers/pause-matching", `"namespace":"default"`); sum["applied"] != 1 || sum["skipped"] != 1 || tried.Load() != 2 {
		t.Errorf("%v with %d writes, want 1 applied, 1 skipped, 2 writes", sum, tried.Load())
	}
	for body, code := range map[string]string{`"ifGeneration":"7"`: "GENERATION_CONFLICT", `"note":"n"`: "TIMER_EXISTS"} {
		if r := w.post("timers/pause", `{"id":"x/0",`+body+`}`).must(t, http.StatusConflict); r.field("error") != code {
			t.Errorf("%s: %s, want %s", body, r.text, code)
		}
	}
}
