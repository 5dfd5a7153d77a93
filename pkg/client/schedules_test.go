package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

const aSchedule = `{"namespace":"default","id":"daily","status":"active","version":3,"nextAt":"2030-01-31T07:00:00.000Z","created":7,
	"specs":[{"cron":"0 8 * * *"}],"timeZone":"Europe/Berlin","gap":"next","repeated":"first","overlap":"allow","catchUp":"all",
	"timer":{"callbackUrl":"https://x"},"field of a later release":1}`

func TestEveryCallAboutSchedulesHasItsRoute(t *testing.T) {
	hourly := []client.ScheduleSpec{{Every: "1h"}}
	start, end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC)
	for path, c := range map[string]struct {
		status int
		answer string
		call   func(*client.Client) error
		body   string
	}{
		"create": {200, aSchedule, func(c *client.Client) error {
			w, err := c.CreateSchedule(t.Context(), client.CreateScheduleRequest{
				ID: "daily", Specs: []client.ScheduleSpec{{Cron: "0 8 * * *"}, {Every: "15m", Anchor: client.At(start)}},
				TimeZone: "Europe/Berlin", Exclude: []client.ScheduleExclusion{{From: "2030-12-24"}}, Gap: client.GapSkip,
				Overlap: client.OverlapCancelOther, CatchUp: client.CatchUpLast, OnConflict: client.ScheduleKeep,
				Timer: client.CreateTimerRequest{CallbackURL: "https://x", Payload: json.RawMessage(`"<"`)},
			})
			if !w.InTime || w.Version != 3 || w.Status != "active" || w.Timer.CallbackURL != "https://x" {
				t.Errorf("created %+v", w)
			}
			return err
		}, `{"catchUp":"last","exclude":[{"from":"2030-12-24"}],"gap":"skip","id":"daily","onConflict":"keep","overlap":"cancelOther",` +
			`"specs":[{"cron":"0 8 * * *"},{"anchor":"2030-01-01T00:00:00.000Z","every":"15m"}],"timeZone":"Europe/Berlin",` +
			`"timer":{"callbackUrl":"https://x","payload":"<"}}`},
		"get": {200, aSchedule, func(c *client.Client) error {
			got, err := c.GetSchedule(t.Context(), client.ScheduleSelection{Namespace: "n", ID: "daily"})
			if got.NextAt.String() != "2030-01-31T07:00:00.000Z" || got.Specs[0].Cron != "0 8 * * *" {
				t.Errorf("got %+v", got)
			}
			return err
		}, `{"id":"daily","namespace":"n"}`},
		"update": {202, aSchedule, func(c *client.Client) error {
			w, err := c.UpdateSchedule(t.Context(), client.UpdateScheduleRequest{
				ID: "daily", Gap: client.Set(client.GapNext), Count: client.Clear[int](), End: client.Set(client.At(end)),
				Pending: client.PendingDelete, IfVersion: 2,
			})
			if w.InTime || w.ID != "daily" {
				t.Errorf("202 is in time, or %+v", w)
			}
			return err
		}, `{"count":null,"end":"2030-02-01T00:00:00.000Z","gap":"next","id":"daily","ifVersion":2,"pending":"delete"}`},
		"delete": {204, "", func(c *client.Client) error {
			inTime, err := c.DeleteSchedule(t.Context(), client.DeleteScheduleRequest{ID: "daily", Pending: client.PendingDelete})
			if !inTime {
				t.Error("204 is not in time")
			}
			return err
		}, `{"id":"daily","pending":"delete"}`},
		"list": {200, `{"schedules":[` + aSchedule + `],"nextCursor":"x"}`, func(c *client.Client) error {
			page, err := c.ListSchedules(t.Context(), client.ListSchedulesRequest{Status: "paused", Limit: 2, Cursor: "w"})
			if len(page.Schedules) != 1 || page.NextCursor != "x" {
				t.Errorf("page %+v", page)
			}
			return err
		}, `{"cursor":"w","limit":2,"status":"paused"}`},
		"list by the next instant": {200, `{"schedules":[]}`, func(c *client.Client) error {
			_, err := c.ListSchedules(t.Context(), client.ListSchedulesRequest{NextFrom: client.At(start), NextBefore: client.At(end)})
			return err
		}, `{"nextBefore":"2030-02-01T00:00:00.000Z","nextFrom":"2030-01-01T00:00:00.000Z"}`},
		"batch-create": {
			200, `{"succeeded":3,"failed":1,"results":[
			{"status":200,"namespace":"default","id":"a","version":1,"nextAt":"2030-01-31T09:00:00.000Z"},
			{"status":202,"namespace":"default","id":"b","version":1},
			{"status":200,"namespace":"default","id":"c","version":9,"kept":true},
			{"status":400,"error":{"error":"INVALID_INPUT","message":"schedules[3].id: \"\" is not accepted","details":{"field":"schedules[3].id"},"timestamp":"2030-01-31T09:00:00.000Z"}}]}`,
			func(c *client.Client) error {
				got, err := c.BatchCreateSchedules(t.Context(), []client.CreateScheduleRequest{
					{ID: "a", Specs: hourly}, {ID: "b", Specs: hourly}, {ID: "c", Specs: hourly, OnConflict: client.ScheduleKeep}, {Specs: hourly},
				})
				if err != nil || len(got) != 4 {
					t.Fatalf("%d results, %v", len(got), err)
				}
				if a := got[0]; a.Err != nil || a.ID != "a" || a.Namespace != "default" || a.Version != 1 || !a.InTime || a.Kept || a.NextAt.String() != "2030-01-31T09:00:00.000Z" {
					t.Errorf("a: %+v", a)
				}
				if got[1].InTime || !got[2].Kept || got[2].Version != 9 {
					t.Errorf("b, c: %+v", got[1:3])
				}
				if e := got[3].Err; e == nil || e.Status != 400 || e.Code != client.CodeInvalidInput || e.Details["field"] != "schedules[3].id" {
					t.Errorf("the bad one: %+v", got[3])
				}
				return err
			}, `{"schedules":[{"id":"a","specs":[{"every":"1h"}]},{"id":"b","specs":[{"every":"1h"}]},` +
				`{"id":"c","onConflict":"keep","specs":[{"every":"1h"}]},{"id":"","specs":[{"every":"1h"}]}]}`,
		},
		"batch-delete": {
			200, `{"succeeded":2,"failed":1,"results":[{"status":204,"id":"a","version":2},{"status":202,"id":"b"},{"status":404}]}`,
			func(c *client.Client) error {
				got, err := c.BatchDeleteSchedules(t.Context(), []client.DeleteScheduleRequest{{ID: "a", IfVersion: 2}, {ID: "b"}, {ID: "c", Pending: client.PendingDelete}})
				if err != nil || len(got) != 3 || !got[0].InTime || got[0].Version != 2 || got[1].InTime || got[1].Err != nil || got[2].Err.Status != 404 {
					t.Errorf("%+v, %v", got, err)
				}
				return err
			}, `{"schedules":[{"id":"a","ifVersion":2},{"id":"b"},{"id":"c","pending":"delete"}]}`,
		},
		"pause": {202, aSchedule, func(c *client.Client) error {
			w, err := c.PauseSchedule(t.Context(), client.PauseScheduleRequest{ID: "daily", Note: "holidays"})
			if w.InTime || w.ID != "daily" {
				t.Errorf("paused %+v", w)
			}
			return err
		}, `{"id":"daily","note":"holidays"}`},
		"resume": {200, aSchedule, func(c *client.Client) error {
			got, err := c.ResumeSchedule(t.Context(), client.ScheduleSelection{ID: "daily"})
			if got.ID != "daily" {
				t.Errorf("resumed %+v", got)
			}
			return err
		}, `{"id":"daily"}`},
		"trigger": {200, aTimer, func(c *client.Client) error {
			got, err := c.TriggerSchedule(t.Context(), client.ScheduleSelection{ID: "daily"})
			if got.Generation != "7" {
				t.Errorf("triggered %+v", got)
			}
			return err
		}, `{"id":"daily"}`},
		"backfill": {200, `{"created":2,"kept":1,"nextFrom":"2030-01-15T00:00:00.000Z"}`, func(c *client.Client) error {
			got, err := c.BackfillSchedule(t.Context(), client.BackfillScheduleRequest{ID: "daily", From: client.At(start), To: client.At(end)})
			if got.Created != 2 || got.Kept != 1 || got.NextFrom.Day() != 15 {
				t.Errorf("backfilled %+v", got)
			}
			return err
		}, `{"from":"2030-01-01T00:00:00.000Z","id":"daily","to":"2030-02-01T00:00:00.000Z"}`},
		"preview": {
			200, `{"timeZone":"UTC","zoneVersion":"2026b","occurrences":[{"at":"2030-03-31T01:00:00.000Z","local":"2030-03-31T03:00:00+02:00","remark":"gap"}]}`,
			func(c *client.Client) error {
				got, err := c.PreviewSchedule(t.Context(), client.PreviewScheduleRequest{
					Specs: []client.ScheduleSpec{{Rrule: "FREQ=DAILY"}}, From: client.At(start), Repeated: client.RepeatedBoth, Limit: 1,
				})
				if len(got.Occurrences) != 1 || got.Occurrences[0].Remark != "gap" || got.ZoneVersion != "2026b" {
					t.Errorf("preview %+v", got)
				}
				return err
			}, `{"from":"2030-01-01T00:00:00.000Z","limit":1,"repeated":"both","specs":[{"rrule":"FREQ=DAILY"}]}`,
		},
		"history": {
			200, `{"namespace":"default","id":"daily","decisions":[{"at":"2030-01-31T07:00:00.000Z","decision":"skipped","reason":"r"}]}`,
			func(c *client.Client) error {
				h, err := c.ScheduleHistory(t.Context(), client.ScheduleHistoryRequest{ID: "daily", Limit: 5})
				if len(h.Decisions) != 1 || h.Decisions[0].Reason != "r" {
					t.Errorf("history %+v", h)
				}
				return err
			}, `{"id":"daily","limit":5}`,
		},
	} {
		t.Run(path, func(t *testing.T) {
			api, last := answering(t, c.status, c.answer)
			if err := c.call(api); err != nil {
				t.Fatal(err)
			}
			path, _, _ := strings.Cut(path, " ")
			if last.path != "/api/v1/schedules/"+path || strings.TrimSpace(last.body) != c.body {
				t.Errorf("sent %s %s, want %s", last.path, last.body, c.body)
			}
		})
	}
}

func TestErrorsAboutSchedulesAreTyped(t *testing.T) {
	for code, want := range map[string]client.Code{"SCHEDULE_NOT_FOUND": client.CodeScheduleNotFound, "SCHEDULE_EXISTS": client.CodeScheduleExists} {
		c, _ := answering(t, 409, `{"error":"`+code+`","message":"m"}`)
		if _, err := c.GetSchedule(t.Context(), client.ScheduleSelection{ID: "a"}); !client.IsCode(err, want) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestRetryOfSchedules: after a broken connection only calls are sent again that have the same effect twice.
func TestRetryOfSchedules(t *testing.T) {
	create := func(on string) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			r := client.CreateScheduleRequest{ID: "a"}
			if on == client.ScheduleFail {
				r.OnConflict = client.ScheduleFail
			}
			_, err := c.CreateSchedule(ctx, r)
			return err
		}
	}
	createBatch := func(on string) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			first := client.CreateScheduleRequest{ID: "a"}
			if on == client.ScheduleFail {
				first.OnConflict = client.ScheduleFail
			}
			_, err := c.BatchCreateSchedules(ctx, []client.CreateScheduleRequest{first, {ID: "b", OnConflict: client.ScheduleKeep}})
			return err
		}
	}
	update := func(r client.UpdateScheduleRequest) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.UpdateSchedule(ctx, r)
			return err
		}
	}
	for name, c := range map[string]struct {
		call  func(context.Context, *client.Client) error
		tries int
	}{
		"create":                           {create(""), 2},
		"create with fail":                 {create(client.ScheduleFail), 1},
		"update":                           {update(client.UpdateScheduleRequest{}), 2},
		"update with a version":            {update(client.UpdateScheduleRequest{IfVersion: 3}), 1},
		"update that deletes occurrences":  {update(client.UpdateScheduleRequest{Pending: client.PendingDelete}), 1},
		"update that keeps the occurrence": {update(client.UpdateScheduleRequest{Pending: client.PendingKeep}), 2},
		"get": {func(ctx context.Context, c *client.Client) error {
			_, err := c.GetSchedule(ctx, client.ScheduleSelection{})
			return err
		}, 2},
		"delete": {func(ctx context.Context, c *client.Client) error {
			_, err := c.DeleteSchedule(ctx, client.DeleteScheduleRequest{})
			return err
		}, 1},
		"batch of creates":               {createBatch(client.ScheduleKeep), 2},
		"batch of creates with one fail": {createBatch(client.ScheduleFail), 1},
		"batch of deletes": {func(ctx context.Context, c *client.Client) error {
			_, err := c.BatchDeleteSchedules(ctx, []client.DeleteScheduleRequest{{ID: "a"}, {ID: "b"}})
			return err
		}, 1},
		"pause": {func(ctx context.Context, c *client.Client) error {
			_, err := c.PauseSchedule(ctx, client.PauseScheduleRequest{})
			return err
		}, 2},
		"resume": {func(ctx context.Context, c *client.Client) error {
			_, err := c.ResumeSchedule(ctx, client.ScheduleSelection{})
			return err
		}, 2},
		"trigger": {func(ctx context.Context, c *client.Client) error {
			_, err := c.TriggerSchedule(ctx, client.ScheduleSelection{})
			return err
		}, 1},
		"backfill": {func(ctx context.Context, c *client.Client) error {
			_, err := c.BackfillSchedule(ctx, client.BackfillScheduleRequest{})
			return err
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: []step{{err: errors.New("connection reset")}, {status: 200}}}
				api, err := client.New("http://timerbus", client.WithHTTPClient(&http.Client{Transport: s}))
				if err != nil {
					t.Fatal(err)
				}
				if err := c.call(t.Context(), api); (err != nil) != (c.tries == 1) || len(s.tries) != c.tries {
					t.Errorf("%d tries, want %d; error %v", len(s.tries), c.tries, err)
				}
			})
		})
	}
}

func TestAllSchedulesWalksOverPages(t *testing.T) {
	pages := map[string]string{
		"":  `{"schedules":[],"nextCursor":"1"}`,
		"1": `{"schedules":[{"id":"a"},{"id":"b"}],"nextCursor":"2"}`,
		"2": `{"schedules":[{"id":"c"}]}`,
	}
	c := answeringBy(t, func(r client.ListSchedulesRequest) string { return pages[r.Cursor] })
	var ids string
	for schedule, err := range c.AllSchedules(t.Context(), client.ListSchedulesRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids += schedule.ID
	}
	if ids != "abc" {
		t.Errorf("walked over %q, want abc", ids)
	}
	pages["2"] = "broken"
	var last error
	for _, err := range c.AllSchedules(t.Context(), client.ListSchedulesRequest{}) {
		last = err
	}
	if last == nil {
		t.Error("a walk that breaks at the third page gave no error")
	}
}

// TestBackfillAllContinues: each request begins where the last one ended, and after an error the total says where to continue.
func TestBackfillAllContinues(t *testing.T) {
	day := func(n int) client.Instant { return client.At(time.Date(2030, 1, n, 0, 0, 0, 0, time.UTC)) }
	answers := map[string]string{
		day(1).String(): `{"created":1000,"kept":0,"nextFrom":"2030-01-02T00:00:00.000Z"}`,
		day(2).String(): `{"created":3,"kept":997,"nextFrom":"2030-01-03T00:00:00.000Z"}`,
		day(3).String(): `{"created":5,"kept":0}`,
	}
	var asked []string
	c := answeringBy(t, func(r client.BackfillScheduleRequest) string {
		if !r.To.Equal(day(9).Time) || r.ID != "daily" {
			t.Errorf("request %+v", r)
		}
		asked = append(asked, r.From.String())
		return answers[r.From.String()]
	})
	request := client.BackfillScheduleRequest{ID: "daily", From: day(1), To: day(9)}
	var seen []int
	total, err := c.BackfillAll(t.Context(), request, func(so client.BackfillTotal) { seen = append(seen, so.Created) })
	if err != nil || total.Requests != 3 || total.Created != 1008 || total.Kept != 997 || !total.NextFrom.IsZero() {
		t.Errorf("%+v, %v", total, err)
	}
	if want := []string{day(1).String(), day(2).String(), day(3).String()}; !slices.Equal(asked, want) || !slices.Equal(seen, []int{1000, 1003, 1008}) {
		t.Errorf("asked %q and saw %v", asked, seen)
	}

	answers[day(3).String()] = ""
	if total, err = c.BackfillAll(t.Context(), request, nil); err == nil || total.Created != 1003 || !total.NextFrom.Equal(day(3).Time) {
		t.Errorf("after a failure %+v, %v", total, err)
	}
	request.From = day(3)
	if total, err = c.BackfillAll(t.Context(), request, nil); err == nil || !total.NextFrom.Equal(day(3).Time) {
		t.Errorf("after a failure of the first request %+v, %v", total, err)
	}
}

// answeringBy starts a server whose answer is a function of the request. It answers 400 if the function returns "".
func answeringBy[R any](t *testing.T, answer func(R) string) *client.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request R
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		body := answer(request)
		if body == "" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
