package ingest_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// schedulesWith returns the ids of the schedules that a list with this status contains, in their order.
func (w *world) schedulesWith(status string) []string {
	w.t.Helper()
	var ids []string
	for cursor := ""; ; {
		r := w.post("schedules/list", fmt.Sprintf(`{"limit":2%s%s}`, status, cursor)).must(w.t, http.StatusOK)
		found, _ := r.field("schedules").([]any)
		for _, one := range found {
			one, _ := one.(map[string]any)
			ids = append(ids, fmt.Sprint(one["id"]))
		}
		next, more := r.field("nextCursor").(string)
		if !more {
			slices.Sort(ids)
			return ids
		}
		cursor = fmt.Sprintf(`,"cursor":%q`, next)
	}
}

// TestI22_SchedulesByFilter pauses, resumes and deletes schedules by status, and changes no timer that has their correlation id.
func TestI22_SchedulesByFilter(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		w.post("schedules/create", fmt.Sprintf(`{"id":%q,"specs":[{"every":"1h"}]}`, id)).must(t, http.StatusOK)
	}
	w.post("timers/create", `{"id":"marked","executeIn":"1h","correlationId":"timerbus:schedule"}`).must(t, http.StatusOK)
	w.post("timers/create", `{"id":"held","executeIn":"1h","correlationId":"timerbus:schedule"}`).must(t, http.StatusOK)
	w.post("timers/pause", `{"id":"held"}`).must(t, http.StatusOK)
	w.post("schedules/pause", `{"id":"a","note":"mine"}`).must(t, http.StatusOK)
	ns, err := w.store.GetNamespace(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	w.finish(&ns, shard.ScheduleIDPrefix+"d", store.FinishRetry) // also active
	w.finish(&ns, shard.ScheduleIDPrefix+"e", store.FinishParked)
	want := func(after string, active, paused, parked []string) {
		t.Helper()
		for status, ids := range map[string][]string{
			`,"status":"active"`: active, `,"status":"paused"`: paused, `,"status":"parked"`: parked,
			`,"status":null`: slices.Sorted(slices.Values(slices.Concat(active, paused, parked))),
		} {
			if got := w.schedulesWith(status); !slices.Equal(got, ids) {
				t.Errorf("after %s, a list with %s has %q, want %q", after, status, got, ids)
			}
		}
		marked, _ := w.row("marked")
		held, _ := w.row("held")
		if marked.Status != timer.StatusScheduled || held.Status != timer.StatusPaused {
			t.Errorf("after %s, the timers are %q and %q", after, marked.Status, held.Status)
		}
	}
	want("the creates", []string{"b", "c", "d"}, []string{"a"}, []string{"e"})

	const all = `"namespace":"default","limit":2,"status":null`
	wantSums(t, w.pages("schedules/pause-matching", all+`,"note":"n"`), 5, 3, 1, 2) // d may have created an occurrence
	want("a pause", nil, []string{"a", "b", "c", "d"}, []string{"e"})
	for id, note := range map[string]string{"a": "mine", "b": "n"} {
		if r := w.post("schedules/get", fmt.Sprintf(`{"id":%q}`, id)); r.field("pause", "note") != note {
			t.Errorf("the pause of %s: %v", id, r.field("pause"))
		}
	}
	wantSums(t, w.pages("schedules/pause-matching", `"namespace":"default","status":"active"`), 0, 0, 0, 0)
	wantSums(t, w.pages("schedules/delete-matching", `"namespace":"default","status":"active"`), 0, 0, 0, 0)

	wantSums(t, w.pages("schedules/resume-matching", all), 4, 4, 0, 0)
	want("a resume", []string{"a", "b", "c", "d"}, nil, []string{"e"})
	wantSums(t, w.pages("schedules/resume-matching", `"namespace":"default","status":"parked"`), 1, 1, 0, 0)
	want("a resume of parked ones", []string{"a", "b", "c", "d", "e"}, nil, nil)

	w.post("schedules/pause", `{"id":"c"}`).must(t, http.StatusOK)
	wantSums(t, w.pages("schedules/delete-matching", `"namespace":"default","status":"paused","limit":1`), 1, 1, 0, 0)
	want("a delete of paused ones", []string{"a", "b", "d", "e"}, nil, nil)
	wantSums(t, w.pages("schedules/delete-matching", `"namespace":"default","status":"active","limit":3`), 4, 4, 1, 0)
	want("a delete of active ones", nil, nil, nil)
}

// TestScheduleFilterRefusals: the error names the field, the value and what is accepted.
func TestScheduleFilterRefusals(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ path, body, message string }{
		{"list", `{"status":"ended"}`, `status: "ended" is not accepted: want active or paused or parked`},
		{"list", `{"status":7}`, `status: 7 is not accepted: want active or paused or parked`},
		{"list", `{"correlationId":"c"}`, ""},
		{"pause-matching", `{"namespace":"default","status":"paused"}`, `status: "paused" is not accepted: want active`},
		{"pause-matching", `{"note":"n"}`, `namespace: nothing is not accepted: want the namespace of the schedules`},
		{"resume-matching", `{"namespace":"default","status":"active"}`, `status: "active" is not accepted: want paused or parked`},
		{"resume-matching", `{"namespace":"default","note":"n"}`, ""},
		{"delete-matching", `{"namespace":"default"}`, `status: nothing is not accepted: want at least one of status, nextFrom and nextBefore`},
		{"delete-matching", `{"namespace":"default","status":null}`, `status: nothing is not accepted: want at least one of status, nextFrom and nextBefore`},
		{"list", `{"nextFrom":"soon"}`, `nextFrom: "soon" is not accepted: want an RFC 3339 time such as 2030-01-31T09:00:00Z, in the years 1 to 9999`},
		{"list", `{"dueFrom":"2030-01-01T00:00:00Z"}`, ""},
		{
			"delete-matching", `{"namespace":"default","status":"active","nextBefore":"1970-01-01T00:00:00Z"}`,
			`nextBefore: "1970-01-01T00:00:00Z" is not accepted: want a time other than 1970-01-01T00:00:00Z`,
		},
		{"pause-matching", `{"namespace":"default","nextBefore":7}`, `nextBefore: 7 is not accepted: want an RFC 3339 time such as 2030-01-31T09:00:00Z, in the years 1 to 9999`},
		{"delete-matching", `{"namespace":"default","status":"scheduled"}`, `status: "scheduled" is not accepted: want active or paused or parked`},
	} {
		r := w.post("schedules/"+c.path, c.body).must(t, http.StatusBadRequest)
		if got := r.field("message"); c.message != "" && got != c.message {
			t.Errorf("%s %s: %v, want %s", c.path, c.body, got, c.message)
		}
	}
}

// TestI22_SchedulesByNextInstant: a filter compares the next instant that answers contain, also of paused and parked schedules, and
// not the time to which a retry has moved the row. Schedules that have ended have no next instant and match no filter.
func TestI22_SchedulesByNextInstant(t *testing.T) {
	w := newWorld(t)
	for id, start := range map[string]string{
		"a": "2030-06-01T00:00:00Z", "b": "2030-06-02T00:00:00Z", "c": "2030-06-03T00:00:00Z", "d": "2030-06-04T00:00:00Z",
		"paused": "2030-06-02T12:00:00Z", "parked": "2030-06-03T12:00:00Z", "ended": "2030-06-02T00:00:00Z",
	} {
		w.post("schedules/create", fmt.Sprintf(`{"id":%q,"specs":[{"every":"24h","anchor":%q}],"start":%q}`, id, start, start)).must(t, http.StatusOK)
	}
	w.post("timers/create", `{"id":"marked","executeAt":"2030-06-02T00:00:00Z","correlationId":"timerbus:schedule"}`).must(t, http.StatusOK)
	ns, err := w.store.GetNamespace(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	w.post("schedules/pause", `{"id":"paused"}`).must(t, http.StatusOK)
	w.finish(&ns, shard.ScheduleIDPrefix+"parked", store.FinishParked)
	w.finish(&ns, shard.ScheduleIDPrefix+"ended", store.FinishDone)
	if r := w.post("schedules/get", `{"id":"ended"}`).must(t, http.StatusOK); r.field("nextAt") != nil || r.field("status") != "ended" {
		t.Errorf("ended: %s", r.text)
	}
	w.now.Store(time.Date(2030, 6, 2, 12, 0, 0, 0, time.UTC).UnixMilli())
	w.finish(&ns, shard.ScheduleIDPrefix+"b", store.FinishRetry) // moves only its dueAt
	if b, err := w.row(shard.ScheduleIDPrefix + "b"); err != nil || b.DueAt == b.ExecuteAt {
		t.Fatalf("the retry of b has not moved its dueAt: %+v, %v", b, err)
	}
	const second = `"nextFrom":"2030-06-02T00:00:00Z","nextBefore":"2030-06-04T00:00:00Z"`
	for filter, want := range map[string][]string{
		`"nextBefore":"2030-06-02T00:00:00Z"`:                     {"a"},
		`"nextBefore":"2030-06-02T00:00:01Z"`:                     {"a", "b"},
		`"nextFrom":"2030-06-04T00:00:00Z"`:                       {"d"},
		`"nextFrom":"2030-06-04T00:00:00.001Z","nextBefore":null`: nil,
		second:                        {"b", "c", "parked", "paused"},
		second + `,"status":"active"`: {"b", "c"},
		second + `,"status":"paused"`: {"paused"},
		second + `,"status":"parked"`: {"parked"},
	} {
		if got := w.schedulesWith("," + filter); !slices.Equal(got, want) {
			t.Errorf("a list with %s has %q, want %q", filter, got, want)
		}
	}
	const page = `"namespace":"default","limit":2,` + second
	wantSums(t, w.pages("schedules/pause-matching", page), 4, 2, 2, 2) // b, and the paused one before its pause, may have created an occurrence
	if got := w.schedulesWith(`,"status":"paused"`); !slices.Equal(got, []string{"b", "c", "paused"}) {
		t.Errorf("paused: %q", got)
	}
	wantSums(t, w.pages("schedules/resume-matching", `"namespace":"default","nextBefore":"2030-06-03T00:00:00Z"`), 2, 2, 0, 0)
	if got := w.schedulesWith(`,"status":"paused"`); !slices.Equal(got, []string{"c"}) {
		t.Errorf("paused after a resume: %q", got)
	}
	wantSums(t, w.pages("schedules/delete-matching", `"namespace":"default","nextFrom":"2030-06-03T00:00:00Z"`), 3, 3, 1, 0)
	if got := w.schedulesWith(""); !slices.Equal(got, []string{"a", "b", "paused"}) {
		t.Errorf("after the deletion: %q", got)
	}
	if _, err := w.row("marked"); err != nil {
		t.Errorf("a timer with the correlation id of schedules: %v", err)
	}
}
