package ingest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// wantItems checks the status and the error of each result of a batch.
func (r reply) wantItems(t *testing.T, want []item) {
	t.Helper()
	results := r.results(t)
	if len(results) != len(want) {
		t.Fatalf("%d results, want %d: %s", len(results), len(want), r.text)
	}
	for i, one := range want {
		failure, _ := results[i]["error"].(map[string]any)
		message, _ := failure["message"].(string)
		details, _ := failure["details"].(map[string]any)
		if field, _ := details["field"].(string); results[i]["status"] != one.status || message != one.message || field != one.field {
			t.Errorf("item %d: %v\nwant %+v", i, results[i], one)
		}
	}
}

type item struct {
	status         float64
	field, message string
}

func TestI22_ABatchOfSchedulesAnswersEachItemInItsOrder(t *testing.T) {
	w := newWorld(t)
	w.post("schedules/create", `{"id":"there","specs":[{"every":"2h"}]}`).must(t, http.StatusOK)
	w.post("schedules/update", `{"id":"there","count":7}`).must(t, http.StatusOK)
	w.post("schedules/create", `{"id":"soon","specs":[{"every":"1s"}]}`).must(t, http.StatusOK)
	w.now.Add(900)
	r := w.post("schedules/batch-create", `{"schedules":[
		{"id":"a","specs":[{"every":"1h","anchor":"2030-01-01T00:00:00Z"}]},
		{"id":"b","specs":[{"every":"1h"},{"cron":"61 * * * *"}]},
		{"id":"there","specs":[{"every":"1h"}],"onConflict":"fail"},
		{"id":"there","specs":[{"every":"1h"}],"onConflict":"keep"},
		7,
		{"id":"c","specs":[{"every":"1h"}],"namespace":"nowhere"},
		{"id":"d","specs":[{"every":"1h"}],"timer":{"payload":"`+strings.Repeat("x", timer.MaxPayload)+`"}},
		{"id":"e","specs":[{"every":"1h"}],"timer":{"callbackUrl":"ftp://x"}},
		{"id":"f","specs":[{"dates":["2020-01-01T00:00:00"]}]},
		{"id":"soon","specs":[{"every":"1h"}]},
		{"id":"a","specs":[{"every":"3h"}],"timeZone":"Europe/Berlin"}]}`).must(t, http.StatusOK)
	if r.field("succeeded") != 4.0 || r.field("failed") != 7.0 {
		t.Errorf("counts: %v, %v", r.field("succeeded"), r.field("failed"))
	}
	r.wantItems(t, []item{
		{status: 200},
		{400, "schedules[1].specs[1].cron", `schedules[1].specs[1].cron: "61 * * * *" is not accepted: want 5 fields (minute, hour, day, month, weekday), 6 with seconds first, or @hourly, @daily, @weekly, @monthly, @yearly (end of range (61) above maximum (59): "61")`},
		{409, "", `schedule "there" exists in namespace "default", and onConflict is fail`},
		{status: 200},
		{400, "schedules[4]", `schedules[4]: 7 is not accepted: want an object`},
		{404, "", `there is no namespace "nowhere"`},
		{413, "schedules[6].payload", `schedules[6].payload: 102402 bytes are not accepted: want at most 102400`},
		{400, "schedules[7].timer.callbackUrl", `schedules[7].timer.callbackUrl: "ftp://x" is not accepted: want an absolute http or https URL with a host, at most 2048 bytes`},
		{400, "schedules[8].specs", `schedules[8].specs: "nothing" is not accepted: want an occurrence after ` + w.clock().String() + `, not excluded and before end`},
		{status: 202}, // it was due within the clock bound
		{status: 200},
	})
	results := r.results(t)
	if at := results[0]["nextAt"]; results[0]["id"] != "a" || results[0]["namespace"] != "default" || results[0]["version"] != 1.0 || results[0]["kept"] != nil || at == nil {
		t.Errorf("created: %v", results[0])
	}
	there := w.post("schedules/get", `{"id":"there"}`).must(t, http.StatusOK)
	if results[3]["kept"] != true || results[3]["version"] != 2.0 || results[3]["nextAt"] != there.field("nextAt") {
		t.Errorf("kept: %v, present: %s", results[3], there.text)
	}
	if a := w.post("schedules/get", `{"id":"a"}`).must(t, http.StatusOK); a.field("timeZone") != "Europe/Berlin" || a.field("nextAt") != results[10]["nextAt"] {
		t.Errorf("the schedule is not that of the later of two items with its id: %s", a.text)
	}
}

func TestI22_ABatchDeletesSchedules(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"plain", "version", "conflict", "pending", "both", "twice", "order"} {
		w.post("schedules/create", fmt.Sprintf(`{"id":%q,"specs":[{"every":"1m"}],"start":"2040-01-01T00:00:00Z"}`, id)).must(t, http.StatusOK)
	}
	w.post("schedules/update", `{"id":"version","count":7}`).must(t, http.StatusOK)
	pending, both, plain := w.occur("pending"), w.occur("both"), w.occur("plain")
	r := w.post("schedules/batch-delete", `{"schedules":[
		{"id":"plain"},
		{"id":"version","ifVersion":2},
		{"id":"conflict","ifVersion":2},
		{"id":"pending","pending":"delete"},
		{"id":"both","pending":"delete","ifVersion":1},
		{"id":"none"},
		{"id":"none","ifVersion":1},
		{"id":"twice","ifVersion":1},
		{"id":"twice"},
		{"id":"order"},
		{"id":"order","pending":"delete"},
		{"id":"x","pending":"all"},
		{"timerId":"x"}]}`).must(t, http.StatusOK)
	if r.field("succeeded") != 6.0 || r.field("failed") != 7.0 {
		t.Errorf("counts: %v, %v", r.field("succeeded"), r.field("failed"))
	}
	r.wantItems(t, []item{
		{status: 204},
		{status: 204},
		{409, "", `schedule "conflict" in namespace "default" has version 1, not ifVersion 2`},
		{status: 204},
		{status: 204},
		{404, "", `there is no schedule "none" in namespace "default"`},
		{404, "", `there is no schedule "none" in namespace "default"`},
		{status: 204},
		{404, "", `there is no schedule "twice" in namespace "default"`},
		{status: 204},
		{404, "", `there is no schedule "order" in namespace "default"`},
		{400, "schedules[11].pending", `schedules[11].pending: "all" is not accepted: want "keep" or "delete"`},
		{400, "schedules[12].timerId", `schedules[12].timerId: "x" is not accepted: want only the fields namespace, id, pending, ifVersion`},
	})
	if results := r.results(t); results[1]["version"] != 2.0 || results[1]["id"] != "version" || results[1]["nextAt"] != nil {
		t.Errorf("deleted: %v", results[1])
	}
	for id, want := range map[string]int{pending: 404, both: 404, plain: 200} {
		w.post("timers/get", fmt.Sprintf(`{"id":%q}`, id)).must(t, want)
	}
	if got := w.schedulesWith(""); fmt.Sprint(got) != "[conflict]" {
		t.Errorf("schedules that are left: %q", got)
	}
}

func TestABatchOfSchedulesThatIsNoneIsRefused(t *testing.T) {
	w := newWorld(t)
	item := `{"id":"a","specs":[{"every":"1h"}]},`
	for body, want := range map[string]string{
		`{}`:               `schedules: nothing is not accepted: want an array of 1 to 1000 schedules`,
		`{"schedules":[]}`: `schedules: "0 items" is not accepted: want an array of 1 to 1000 schedules`,
		`{"schedules":[` + strings.Repeat(item, 1000) + `{}]}`: `schedules: "1001 items" is not accepted: want an array of 1 to 1000 schedules`,
		`{"timers":[]}`: `timers: [] is not accepted: want only the fields schedules`,
	} {
		for _, path := range []string{"schedules/batch-create", "schedules/batch-delete"} {
			if got := w.post(path, body).must(t, http.StatusBadRequest).field("message"); got != want {
				t.Errorf("%s %.60s\n got %v\nwant %s", path, body, got, want)
			}
		}
	}
}

// TestABatchOfSchedulesThatTheStoreTookNothingOfFailsAsAWhole also for items that need several calls of the store.
func TestABatchOfSchedulesThatTheStoreTookNothingOfFailsAsAWhole(t *testing.T) {
	w := newWorld(t)
	create := `{"schedules":[{"id":"a","specs":[{"every":"1h"}]},{"id":"","specs":[{"every":"1h"}]},{"id":"b","specs":[{"every":"1h"}]}]}`
	remove := `{"schedules":[{"id":"a"},{"id":"b","ifVersion":1},{"id":""}]}`
	for _, body := range []struct{ path, text string }{{"schedules/batch-create", create}, {"schedules/batch-delete", remove}} {
		for status, err := range map[int]error{
			http.StatusServiceUnavailable: store.ErrUnavailable, http.StatusGatewayTimeout: store.ErrOutcomeUnknown,
		} {
			w.store.set(func(context.Context, []store.Op, func() ([]store.Written, error)) ([]store.Written, error) {
				return nil, fmt.Errorf("%w: away", err)
			})
			w.post(body.path, body.text).must(t, status)
		}
		w.store.set(nil)
		if r := w.post(body.path, body.text).must(t, http.StatusOK); r.field("succeeded") != 2.0 {
			t.Errorf("then: %s", r.text)
		}
	}
}

// TestABatchOfSchedulesIsAppliedInPart: the store fails for one item, which gets an error, and applies the other one.
func TestABatchOfSchedulesIsAppliedInPart(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"a", "b"} {
		w.post("schedules/create", fmt.Sprintf(`{"id":%q,"specs":[{"every":"1h"}]}`, id)).must(t, http.StatusOK)
	}
	failed := w.ref(shard.ScheduleIDPrefix + "b")
	w.store.set(func(ctx context.Context, ops []store.Op, _ func() ([]store.Written, error)) ([]store.Written, error) {
		all := make([]store.Written, len(ops))
		for i, op := range ops { // the committer may have combined both
			if d, ok := op.(store.Delete); ok && d.Ref == failed {
				all[i].Err = store.ErrUnavailable
				continue
			}
			one, err := w.store.Store.Write(ctx, w.clock(), []store.Op{op})
			if err != nil {
				return nil, err
			}
			all[i] = one[0]
		}
		return all, nil
	})
	r := w.post("schedules/batch-delete", `{"schedules":[{"id":"a","ifVersion":1},{"id":"b","ifVersion":1}]}`).must(t, http.StatusOK)
	if results := r.results(t); results[0]["status"] != 204.0 || results[1]["status"] != 503.0 {
		t.Errorf("answered %s", r.text)
	}
}

// TestABatchOfSchedulesThatTakesTooLong: if the first instants cannot be computed within the timeout of a request, nothing is applied.
func TestABatchOfSchedulesThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) {
			c.Zones = ingest.Zones{Version: zone.Version, Load: func(name string) (*time.Location, error) {
				time.Sleep(4 * time.Second)
				return zone.Load(name)
			}}
		})
		defer w.stop()
		item := `{"id":"s","specs":[{"every":"1h"}],"timeZone":"Europe/Berlin"}`
		body := `{"schedules":[` + strings.Repeat(item+",", 4) + item + `]}`
		r := w.post("schedules/batch-create", body).must(t, http.StatusRequestEntityTooLarge)
		if want := "only 2 of 5 items could be checked within 10s; nothing was applied, send smaller batches"; r.field("message") != want {
			t.Errorf("answered %s, want %s", r.text, want)
		}
		w.post("schedules/get", `{"id":"s"}`).must(t, http.StatusNotFound)
	})
}
