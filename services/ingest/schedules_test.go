package ingest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const daily = `{"id":"daily","specs":[{"cron":"0 8 * * MON-FRI"}],"timeZone":"Europe/Berlin","overlap":"skip","catchUp":"last",` +
	`"pauseOnDead":3,"count":10,"exclude":[{"from":"2030-12-24","until":"2030-12-26"}],` +
	`"timer":{"callbackUrl":"http://example.com/","payload":{"a":1},"correlationId":"mine","window":"10m","expireAfter":"1h"}}`

// TestI22_Schedules creates, reads, changes, holds and deletes a schedule.
func TestI22_Schedules(t *testing.T) {
	w := newWorld(t)
	created := w.post("schedules/create", daily).must(t, http.StatusOK)
	for field, want := range map[string]any{
		"status": "active", "version": 1.0, "created": 0.0, "timeZone": "Europe/Berlin", "overlap": "skip", "catchUp": "last", "gap": "next",
		"repeated": "first", "count": 10.0, "pauseOnDead": 3.0,
	} {
		if got := created.field(field); got != want {
			t.Errorf("%s: %v, want %v", field, got, want)
		}
	}
	if created.field("timer", "correlationId") != "mine" || created.field("timer", "window") != "10m" || created.field("timer", "expireAfter") != "1h" ||
		created.field("timer", "executeAt") != nil || fmt.Sprint(created.field("timer", "payload")) != "map[a:1]" {
		t.Errorf("template %v", created.field("timer"))
	}
	got := w.post("schedules/get", `{"id":"daily"}`).must(t, http.StatusOK)
	if got.text != created.text {
		t.Errorf("get answers %s, and the create %s", got.text, created.text)
	}
	row, err := w.row(shard.ScheduleIDPrefix + "daily")
	if err != nil || row.CorrelationID != schedule.Mark || row.ExpireAfter != 0 || row.FlowKey != "" || row.Target() != 0 {
		t.Errorf("row %+v, %v", row, err)
	}
	if next := row.ExecuteAt.Time().In(time.UTC); next.Minute() != 0 || next.Hour() != 7 && next.Hour() != 6 {
		t.Errorf("the next occurrence is at %s", next)
	}

	updated := w.post("schedules/update", `{"id":"daily","ifVersion":1,"timeZone":"UTC","overlap":null,"timer":{"payload":2}}`).must(t, http.StatusOK)
	if updated.field("version") != 2.0 || updated.field("overlap") != "allow" || updated.field("timeZone") != "UTC" ||
		updated.field("timer", "payload") != 2.0 || updated.field("timer", "callbackUrl") != nil || updated.field("count") != 10.0 {
		t.Errorf("updated: %s", updated.text)
	}
	if at := fmt.Sprint(updated.field("nextAt")); !strings.Contains(at, "T08:00:00") {
		t.Errorf("the next occurrence is at %s", at)
	}
	w.post("schedules/update", `{"id":"daily","ifVersion":1,"count":3}`).must(t, http.StatusConflict)
	w.post("schedules/delete", `{"id":"daily","ifVersion":1}`).must(t, http.StatusConflict)
	w.post("schedules/create", `{"id":"daily","onConflict":"fail","specs":[{"every":"1h"}]}`).must(t, http.StatusConflict)
	if kept := w.post("schedules/create", `{"id":"daily","onConflict":"keep","specs":[{"every":"1h"}]}`).must(t, http.StatusOK); kept.field("version") != 2.0 {
		t.Errorf("kept: %s", kept.text)
	}

	paused := w.post("schedules/pause", `{"id":"daily","note":"holidays"}`).must(t, http.StatusOK)
	if paused.field("status") != "paused" || paused.field("pause", "note") != "holidays" {
		t.Errorf("paused: %s", paused.text)
	}
	if resumed := w.post("schedules/resume", `{"id":"daily"}`).must(t, http.StatusOK); resumed.field("status") != "active" {
		t.Errorf("resumed: %s", resumed.text)
	}
	w.post("schedules/delete", `{"id":"daily","ifVersion":2}`).must(t, http.StatusNoContent)
	for _, verb := range []string{"get", "update", "delete", "pause", "resume", "trigger", "history"} {
		if r := w.post("schedules/"+verb, `{"id":"daily"}`).must(t, http.StatusNotFound); r.field("error") != "SCHEDULE_NOT_FOUND" {
			t.Errorf("%s: %s", verb, r.text)
		}
	}
}

// TestSchedulesAreNoTimers: requests for timers do not find them.
func TestSchedulesAreNoTimers(t *testing.T) {
	w := newWorld(t)
	w.post("schedules/create", daily).must(t, http.StatusOK)
	w.post("timers/create", `{"id":"daily","executeIn":"1h"}`).must(t, http.StatusOK)
	w.post("timers/create", `{"id":"marked","executeIn":"1h","correlationId":"timerbus:schedule"}`).must(t, http.StatusOK)
	id := shard.ScheduleIDPrefix + "daily"
	for _, verb := range []string{"get", "update", "delete", "pause", "resume", "retry", "run-now", "history"} {
		if r := w.post("timers/"+verb, fmt.Sprintf(`{"id":%q}`, id)).must(t, http.StatusNotFound); r.field("error") != "TIMER_NOT_FOUND" {
			t.Errorf("%s: %s", verb, r.text)
		}
	}
	w.post("timers/create", fmt.Sprintf(`{"id":%q,"executeIn":"1h"}`, id)).must(t, http.StatusBadRequest)
	list := w.post("timers/list", `{}`).must(t, http.StatusOK)
	if timers, _ := list.field("timers").([]any); len(timers) != 2 {
		t.Errorf("timers/list: %s", list.text)
	}
	w.post("timers/delete-matching", `{"namespace":"default","dueFrom":"2000-01-01T00:00:00Z"}`).must(t, http.StatusOK)
	schedules := w.post("schedules/list", `{}`).must(t, http.StatusOK)
	if found, _ := schedules.field("schedules").([]any); len(found) != 1 {
		t.Errorf("schedules/list: %s", schedules.text)
	}
}

// occur creates the next occurrence of a schedule that recurs each minute, as a dispatcher does, and returns its id.
func (w *world) occur(name string) string {
	w.t.Helper()
	row, err := w.row(shard.ScheduleIDPrefix + name)
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := schedule.Parse(row.Schedule, zone.Load)
	if err != nil {
		w.t.Fatal(err)
	}
	ns, err := w.store.GetNamespace(w.t.Context(), "default")
	if err != nil {
		w.t.Fatal(err)
	}
	state := schedule.State{Created: 1, Recent: []timer.Millis{row.ExecuteAt}, Last: row.ExecuteAt}
	put := s.Put(&ns, name, &row.Spec, row.ExecuteAt, 0, row.Revision+1)
	f := store.Finish{
		Ref: w.ref(row.ID), Kind: store.FinishRescheduled, If: store.Guard{Revision: row.Revision}, Next: row.Revision + 2,
		NextAt: row.ExecuteAt.Add(time.Minute), ScheduleState: state.Text(), FollowUp: &put,
		Record: store.Record{Attempt: 1, FinishedAt: w.clock(), KeepFor: time.Hour},
	}
	if errs, err := w.store.Finish(w.t.Context(), w.clock(), []store.Finish{f}); err != nil || errs[0] != nil {
		w.t.Fatal(err, errs)
	}
	return put.ID
}

// TestI22_PendingOccurrences: a delete may include the unfinished occurrences.
func TestI22_PendingOccurrences(t *testing.T) {
	w := newWorld(t)
	w.post("schedules/create", `{"id":"s","specs":[{"every":"1m"}],"timer":{"callbackUrl":"http://example.com/"}}`).must(t, http.StatusOK)
	occurrence := w.occur("s")
	got := w.post("schedules/get", `{"id":"s"}`).must(t, http.StatusOK)
	if recent := fmt.Sprint(got.field("recent")); recent != "["+occurrence+"]" || got.field("created") != 1.0 {
		t.Errorf("recent %s", got.text)
	}
	history := w.post("schedules/history", `{"id":"s"}`).must(t, http.StatusOK)
	if !strings.Contains(history.text, `"decision":"created"`) || !strings.Contains(history.text, occurrence) {
		t.Errorf("history %s", history.text)
	}
	w.post("schedules/update", `{"id":"s","count":7}`).must(t, http.StatusOK)
	w.post("timers/get", fmt.Sprintf(`{"id":%q}`, occurrence)).must(t, http.StatusOK)
	w.post("schedules/delete", `{"id":"s","pending":"delete"}`).must(t, http.StatusNoContent)
	w.post("timers/get", fmt.Sprintf(`{"id":%q}`, occurrence)).must(t, http.StatusNotFound)
}

// TestI22_TriggersAndBackfills create occurrences with the ids of their instants.
func TestI22_TriggersAndBackfills(t *testing.T) {
	w := newWorld(t)
	w.post("schedules/create", `{"id":"s","specs":[{"every":"1m"}],"timer":{"payload":1}}`).must(t, http.StatusOK)
	triggered := w.post("schedules/trigger", `{"id":"s"}`).must(t, http.StatusOK)
	id, _ := triggered.field("id").(string)
	if name, ok := shard.ScheduleOf(id); !ok || name != "s" || triggered.field("payload") != 1.0 || triggered.field("status") != "scheduled" {
		t.Errorf("triggered: %s", triggered.text)
	}
	w.now.Add(500)
	// The schedule itself creates an occurrence at this instant, so the one of the trigger has another id.
	w.post("schedules/create", fmt.Sprintf(`{"id":"odd","specs":[{"every":"1.5s","anchor":%q}],"timer":{}}`, w.clock())).must(t, http.StatusOK)
	beside := w.post("schedules/trigger", `{"id":"odd"}`).must(t, http.StatusOK)
	if id, _ := beside.field("id").(string); !strings.HasSuffix(id, "odd@"+(w.clock()+1).String()) {
		t.Errorf("triggered at an instant of the schedule, %s: %s", w.clock(), beside.text)
	}
	now := w.clock()
	fill := func(from, to time.Duration) reply {
		return w.post("schedules/backfill", fmt.Sprintf(`{"id":"s","from":%q,"to":%q}`, now.Add(from), now.Add(to))).must(t, http.StatusOK)
	}
	first := fill(-time.Hour, 0)
	if first.field("created") != 60.0 || first.field("kept") != 0.0 || first.field("nextFrom") != nil {
		t.Errorf("backfill: %s", first.text)
	}
	second := fill(-2*time.Hour, -30*time.Minute)
	if second.field("created") != 60.0 || second.field("kept") != 30.0 {
		t.Errorf("backfill: %s", second.text)
	}
	long := fill(-1002*time.Minute, -1*time.Minute)
	created, _ := long.field("created").(float64)
	if kept, _ := long.field("kept").(float64); created+kept != 1000 || long.field("nextFrom") == nil {
		t.Errorf("backfill: %s", long.text)
	}
	w.post("schedules/backfill", fmt.Sprintf(`{"id":"s","from":%q,"to":%q}`, now, now.Add(time.Hour))).must(t, http.StatusBadRequest)
}

func TestPreviewOfSchedules(t *testing.T) {
	w := newWorld(t)
	r := w.post("schedules/preview", `{"specs":[{"cron":"30 2 * * *"}],"timeZone":"Europe/Berlin","from":"2030-03-29T12:00:00Z","limit":3}`).must(t, http.StatusOK)
	var got struct {
		TimeZone, ZoneVersion string
		Occurrences           []struct{ At, Local, Remark, TimerID string }
	}
	if err := json.Unmarshal([]byte(r.text), &got); err != nil {
		t.Fatal(err)
	}
	want := []struct{ At, Local, Remark, TimerID string }{
		{"2030-03-30T01:30:00.000Z", "2030-03-30T02:30:00+01:00", "", ""},
		{"2030-03-31T01:00:00.000Z", "2030-03-31T03:00:00+02:00", "gap", ""},
		{"2030-04-01T00:30:00.000Z", "2030-04-01T02:30:00+02:00", "", ""},
	}
	if fmt.Sprint(got.Occurrences) != fmt.Sprint(want) || got.ZoneVersion == "" {
		t.Errorf("%s", r.text)
	}
	w.post("schedules/create", daily).must(t, http.StatusOK)
	if r := w.post("schedules/preview", `{"id":"daily"}`).must(t, http.StatusOK); strings.Count(r.text, "daily@") != 10 {
		t.Errorf("%s", r.text)
	}
}

func TestScheduleRefusals(t *testing.T) {
	w := newWorld(t)
	w.post("schedules/create", `{"id":"s","specs":[{"every":"1h"}]}`).must(t, http.StatusOK)
	spec := func(rest string) string { return `{"id":"a","specs":[{"cron":"* * * * *"}],` + rest + `}` }
	for _, c := range []struct{ path, body, field string }{
		{"create", `{"specs":[{"every":"1h"}]}`, "id"},
		{"create", fmt.Sprintf(`{"id":%q,"specs":[{"every":"1h"}]}`, strings.Repeat("x", 201)), "id"},
		{"create", `{"id":"a"}`, "specs"},
		{"create", `{"id":"a","specs":[]}`, "specs"},
		{"create", `{"id":"a","specs":[{}]}`, "specs[0]"},
		{"create", `{"id":"a","specs":[{"cron":"* * *"}]}`, "specs[0].cron"},
		{"create", `{"id":"a","specs":[{"cron":"0 8 * * *","rrule":null}]}`, "specs[0].rrule"},
		{"create", `{"id":"a","specs":[{"every":"1h","anchor":null}]}`, "specs[0].anchor"},
		{"create", `{"id":"a","specs":[{"cron":"0 8 * * *"}],"exclude":[{"from":"2030-12-24","rrule":null}]}`, "exclude[0].rrule"},
		{"create", `{"id":"a","specs":[{"cron":"* * * * *"},{"rrule":"FREQ=HOURLY;COUNT=x"}]}`, "specs[1].rrule"},
		{"create", `{"id":"a","specs":[{"every":"10ms"}]}`, "specs[0].every"},
		{"create", `{"id":"a","specs":[{"dates":["tomorrow"]}]}`, "specs[0].dates"},
		{"create", `{"id":"a","specs":[{"dates":["2001-01-01T00:00:00"]}]}`, "specs"},
		{"create", `{"id":"a","specs":[{"weekly":true}]}`, "specs[0].weekly"},
		{"create", spec(`"timeZone":"Mars/Olympus"`), "timeZone"},
		{"create", spec(`"end":"2001-01-01T00:00:00Z"`), "specs"},
		{"create", spec(`"start":"2031-01-01T00:00:00Z","end":"2030-01-01T00:00:00Z"`), "end"},
		{"create", spec(`"gap":"jump"`), "gap"},
		{"create", spec(`"repeated":"second"`), "repeated"},
		{"create", spec(`"overlap":"none"`), "overlap"},
		{"create", spec(`"catchUp":"some"`), "catchUp"},
		{"create", spec(`"catchUp":"last","catchUpWindow":"1m"`), "catchUpWindow"},
		{"create", spec(`"catchUpWindow":"1s"`), "catchUpWindow"},
		{"create", spec(`"count":0`), "count"},
		{"create", spec(`"pauseOnDead":-1`), "pauseOnDead"},
		{"create", spec(`"exclude":[{"from":"24.12."}]`), "exclude[0].from"},
		{"create", spec(`"timer":{"executeIn":"1h"}`), "timer.executeIn"},
		{"create", spec(`"timer":{"callbackUrl":"mailto:x"}`), "timer.callbackUrl"},
		{"create", spec(`"timer":{"retryPolicy":{"maxAttempts":0}}`), "timer.retryPolicy.maxAttempts"},
		{"create", spec(`"timer":7`), "timer"},
		{"create", spec(`"onConflict":"merge"`), "onConflict"},
		{"update", `{"id":"s","specs":null}`, "specs"},
		{"update", `{"id":"s","pending":"drop"}`, "pending"},
		{"update", `{"id":"s","ifVersion":0}`, "ifVersion"},
		{"backfill", `{"id":"s","to":"2001-01-01T00:00:00Z"}`, "from"},
		{"backfill", `{"id":"s","from":"2001-01-02T00:00:00Z","to":"2001-01-01T00:00:00Z"}`, "to"},
		{"preview", `{}`, "id"},
		{"preview", `{"id":"s","specs":[{"every":"1h"}]}`, "id"},
		{"list", `{"limit":0}`, "limit"},
		{"history", `{"id":"s","limit":1001}`, "limit"},
		{"pause", fmt.Sprintf(`{"id":"s","note":%q}`, strings.Repeat("x", timer.MaxPauseNote+1)), "note"},
	} {
		r := w.post("schedules/"+c.path, c.body).must(t, http.StatusBadRequest)
		if r.field("details", "field") != c.field {
			t.Errorf("%s %s: %s", c.path, c.body, r.text)
		}
	}
}

// TestDeleteANamespaceWithSchedules: the deletion finds schedules, and timers behind many of them.
func TestDeleteANamespaceWithSchedules(t *testing.T) {
	w := newWorld(t)
	w.makeNamespace("gone", 4)
	for i := range 520 {
		w.post("schedules/create", fmt.Sprintf(`{"namespace":"gone","id":"s%d","specs":[{"every":"1h"}]}`, i)).must(t, http.StatusOK)
	}
	w.post("timers/create", `{"namespace":"gone","id":"t","executeIn":"1h"}`).must(t, http.StatusOK)
	ns, err := w.store.GetNamespace(t.Context(), "gone")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		r := w.post("namespaces/delete", `{"name":"gone"}`).must(t, http.StatusOK)
		if r.field("deleted") == true {
			break
		}
		w.now.Add(int64(2 * time.Minute / time.Millisecond))
	}
	left, err := w.store.CountLive(t.Context(), ns, 1000)
	if _, exists := w.store.GetNamespace(t.Context(), "gone"); err != nil || left != 0 || !errors.Is(exists, store.ErrNotFound) {
		t.Errorf("%d rows are left, %v; the namespace: %v", left, err, exists)
	}
}

// TestUpdatesThatChangeNoInstants are accepted although the last occurrence of the schedule has passed.
func TestUpdatesThatChangeNoInstants(t *testing.T) {
	w := newWorld(t)
	at := w.clock().Time().Add(time.Minute).Format("2006-01-02T15:04:05")
	w.post("schedules/create", fmt.Sprintf(`{"id":"s","specs":[{"dates":[%q]}]}`, at)).must(t, http.StatusOK)
	w.now.Add(int64(time.Hour / time.Millisecond))
	w.post("schedules/update", `{"id":"s","overlap":"skip"}`).must(t, http.StatusAccepted)
	w.post("schedules/update", `{"id":"s","timeZone":"Europe/Berlin"}`).must(t, http.StatusBadRequest)
}

// TestResumeOfAParkedSchedule starts it again.
func TestResumeOfAParkedSchedule(t *testing.T) {
	w := newWorld(t)
	w.post("schedules/create", `{"id":"s","specs":[{"every":"1h"}]}`).must(t, http.StatusOK)
	row, _ := w.row(shard.ScheduleIDPrefix + "s")
	f := store.Finish{Ref: w.ref(row.ID), Kind: store.FinishParked, If: store.Guard{Revision: row.Revision}, Next: row.Revision + 1}
	if errs, err := w.store.Finish(t.Context(), w.clock(), []store.Finish{f}); err != nil || errs[0] != nil {
		t.Fatal(err, errs)
	}
	if r := w.post("schedules/get", `{"id":"s"}`).must(t, http.StatusOK); r.field("status") != "parked" {
		t.Errorf("%s", r.text)
	}
	if r := w.post("schedules/pause", `{"id":"s"}`).must(t, http.StatusConflict); r.field("error") != "SCHEDULE_EXISTS" || r.field("details", "id") != "s" {
		t.Errorf("%s", r.text)
	}
	if r := w.post("schedules/resume", `{"id":"s"}`).must(t, http.StatusOK); r.field("status") != "active" {
		t.Errorf("%s", r.text)
	}
}

// TestALargeDefinition: what a create accepts, a get can read.
func TestALargeDefinition(t *testing.T) {
	w := newWorld(t)
	dates := strings.TrimSuffix(strings.Repeat(`"2040-01-01T00:00:00",`, 999), ",")
	var specs []string
	for n := 1; n <= 3; n++ {
		specs = append(specs, `{"dates":[`+dates+`]}`)
		body := fmt.Sprintf(`{"id":"s%d","specs":[%s],"timer":{"correlationId":%q,"expireAfter":"1h"}}`, n, strings.Join(specs, ","), strings.Repeat("\u00e4", 120))
		if r := w.post("schedules/create", body); r.status == http.StatusOK {
			w.post("schedules/get", fmt.Sprintf(`{"id":"s%d"}`, n)).must(t, http.StatusOK)
		} else if r.must(t, http.StatusBadRequest); n == 1 {
			t.Errorf("%s", r.text)
		}
	}
}
