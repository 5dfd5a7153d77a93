package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// scheduleField returns a field of the schedule in an answer.
func (a *answered) scheduleField(t *testing.T, name string) any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(a.Schedule, &fields); err != nil {
		t.Fatalf("the schedule of %s: %v", a.event.Data, err)
	}
	return fields[name]
}

const dailySchedule = `{"id":"daily","specs":[{"cron":"0 8 * * *"}],"timer":{"callbackUrl":"http://127.0.0.1:1/"}}`

func TestI22_ScheduleCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.now.Store(time.Now().UnixMilli()) // the time of the bus
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		step := func(eventType, data string) answered {
			t.Helper()
			w.command(eventType, eventType, data)
			a := results.next(t)
			if a.CommandID != eventType || a.Earlier || !a.InTime || a.Namespace != "default" {
				t.Errorf("%s answered %s", eventType, a.event.Data)
			}
			return a
		}
		a := step(event.TypeCreateSchedule, dailySchedule)
		if a.ScheduleID != "daily" || a.TimerID != "" || a.Timer != nil || a.event.Subject != "default/daily" ||
			a.scheduleField(t, "version") != 1.0 || a.event.CorrelationID != "c-"+event.TypeCreateSchedule {
			t.Errorf("the create answered %s with subject %s", a.event.Data, a.event.Subject)
		}
		a = step(event.TypeUpdateSchedule, `{"id":"daily","specs":[{"cron":"0 9 * * *"}],"ifVersion":1}`)
		if at := a.scheduleField(t, "nextAt"); a.scheduleField(t, "version") != 2.0 || at != "2000-01-01T09:00:00.000Z" {
			t.Errorf("the update answered %s", a.event.Data)
		}
		a = step(event.TypePauseSchedule, `{"id":"daily","note":"holiday"}`)
		if pause, ok := a.scheduleField(t, "pause").(map[string]any); !ok || pause["by"] != "//client" || pause["note"] != "holiday" {
			t.Errorf("the pause answered %s", a.event.Data)
		}
		if a = step(event.TypeResumeSchedule, `{"id":"daily"}`); a.scheduleField(t, "status") != "active" {
			t.Errorf("the resume answered %s", a.event.Data)
		}
		a = step(event.TypeTriggerSchedule, `{"id":"daily"}`)
		if row, err := w.row(a.TimerID); err != nil || a.ScheduleID != "" || a.timerField(t, "timerId") != row.ID {
			t.Errorf("the trigger answered %s; row %v", a.event.Data, err)
		}
		a = step(event.TypeBackfillSchedule, `{"id":"daily","from":"1999-12-01T00:00:00Z","to":"1999-12-04T00:00:00Z"}`)
		if string(a.Backfill) != `{"created":3,"kept":0}` || a.Schedule != nil || a.ScheduleID != "daily" {
			t.Errorf("the backfill answered %s", a.event.Data)
		}
		if a = step(event.TypeDeleteSchedule, `{"id":"daily"}`); a.Schedule != nil {
			t.Errorf("the delete answered %s", a.event.Data)
		}
		w.post("schedules/get", `{"id":"daily"}`).must(t, 404)
		dead.empty(t)
		for eventType, data := range map[string]string{
			event.TypeUpdateSchedule:   `{"id":"none","count":1}`,
			event.TypeDeleteSchedule:   `{"id":"none"}`,
			event.TypePauseSchedule:    `{"id":"none"}`,
			event.TypeResumeSchedule:   `{"id":"none"}`,
			event.TypeTriggerSchedule:  `{"id":"none"}`,
			event.TypeBackfillSchedule: `{"id":"none","from":"1999-12-01T00:00:00Z","to":"1999-12-02T00:00:00Z"}`,
		} {
			w.command("1", eventType, data)
			if a := dead.next(t); a.Error != "SCHEDULE_NOT_FOUND" || a.ScheduleID != "none" || a.TimerID != "" {
				t.Errorf("%s of an unknown schedule answered %s", eventType, a.event.Data)
			}
		}
		w.command("1", event.TypeCreateSchedule, `{"id":"x","specs":[]}`)
		if a := dead.next(t); a.Error != "INVALID_INPUT" || a.ScheduleID != "x" || a.event.Subject != "default/x" {
			t.Errorf("a wrong create answered %s", a.event.Data)
		}
		results.empty(t)
		w.wantPending(0)
	})
}

// TestI22_ScheduleCommandsKeepTheirOrder: rows of an outbox in a few batches, with commands for schedules and timers.
func TestI22_ScheduleCommandsKeepTheirOrder(t *testing.T) {
	for name, positions := range map[string]bool{"with positions": true, "without positions": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newTable()
				for i, row := range []struct{ verb, body string }{
					{"create", `{"id":"before","executeIn":"1h"}`},
					{"schedule.create", dailySchedule},
					{"schedule.update", `{"id":"daily","count":7}`},
					{"schedule.update", `{"id":"daily","count":8,"ifVersion":2}`},
					{"schedule.pause", `{"id":"daily"}`},
					{"schedule.create", `{"id":"gone","specs":[{"every":"1h"}]}`},
					{"schedule.delete", `{"id":"gone","ifVersion":1,"pending":"delete"}`},
					{"delete", `{"id":"before"}`},
					{"schedule.resume", `{"id":"daily"}`},
				} {
					o.insert(int64(i+1), row.verb, row.body)
				}
				w := newWorld(t, withOutbox(o), func(c *ingest.Config) {
					c.BatchOps = 4
					if !positions {
						c.Positions = nil
					}
				})
				dead := w.listen(bus.Dead)
				o.wantEmpty(t)
				dead.empty(t)
				got := w.post("schedules/get", `{"id":"daily"}`).must(t, 200)
				if got.field("version") != 3.0 || got.field("count") != 8.0 || got.field("status") != "active" {
					t.Errorf("the schedule is %s", got.text)
				}
				w.post("schedules/get", `{"id":"gone"}`).must(t, 404)
				if _, err := w.row("before"); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("the deleted timer: %v", err)
				}
			})
		})
	}
}

// TestI22_ARepeatedUpdateChangesNothing: the process is killed between the update of a schedule and the move of the position. Another
// client changes the schedule before the next process repeats the command.
func TestI22_ARepeatedUpdateChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.now.Store(time.Now().UnixMilli()) // the time of the bus
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		w.command("1", event.TypeCreateSchedule, dailySchedule)
		results.next(t)

		killed := w.member
		w.doomed = true
		written := false
		w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
			if written {
				return nil, store.ErrUnavailable
			}
			written = true
			out, err := do()
			killed.Crash()
			return out, err
		})
		w.command("2", event.TypeUpdateSchedule, `{"id":"daily","count":7,"ifVersion":1}`)
		synctest.Wait()
		results.empty(t)

		w.store.set(nil)
		w.restart()
		w.post("schedules/update", `{"id":"daily","overlap":"skip"}`).must(t, 200)
		time.Sleep(2 * time.Second) // the dead owner's lease expires
		a := results.next(t)
		if a.CommandID != "2" || !a.Earlier || a.scheduleField(t, "version") != 3.0 || a.scheduleField(t, "count") != 7.0 {
			t.Errorf("the repetition answered %s", a.event.Data)
		}
		dead.empty(t)
		w.wantPending(0)
	})
}

// TestAnUnreadableScheduleBlocksNoCommand: a later release wrote the definition, so no repetition of the command can succeed.
func TestAnUnreadableScheduleBlocksNoCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.now.Store(time.Now().UnixMilli()) // the time of the bus
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		w.command("1", event.TypeCreateSchedule, dailySchedule)
		results.next(t)
		text := "{"
		update := store.Update{Ref: w.ref("timerbus:schedule:daily"), Revision: 77, Patch: timer.Patch{Schedule: &text}}
		if written, err := w.store.Store.Write(t.Context(), w.clock(), []store.Op{update}); err != nil || written[0].Err != nil {
			t.Fatal(err, written)
		}
		w.command("2", event.TypeUpdateSchedule, `{"id":"daily","count":7}`)
		w.command("3", event.TypeCreate, `{"id":"after","executeIn":"1h"}`)
		if a := dead.next(t); a.CommandID != "2" || a.Error != "INTERNAL_ERROR" || a.ScheduleID != "daily" {
			t.Errorf("the update answered %s", a.event.Data)
		}
		if a := results.next(t); a.CommandID != "3" {
			t.Errorf("the command after it answered %s", a.event.Data)
		}
		w.wantPending(0)
	})
}

// TestATriggerIsRepeatedAfterAnOutage: the store is unavailable at first, so the command is repeated until it is applied, once.
func TestATriggerIsRepeatedAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.now.Store(time.Now().UnixMilli()) // the time of the bus
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		w.command("1", event.TypeCreateSchedule, dailySchedule)
		results.next(t)
		failures := 3
		w.store.set(func(_ context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
			out, err := do()
			if len(ops) > 0 && failures > 0 {
				failures--
				return nil, store.ErrOutcomeUnknown
			}
			return out, err
		})
		w.command("2", event.TypeTriggerSchedule, `{"id":"daily"}`)
		time.Sleep(time.Minute)
		a := results.next(t)
		if failures != 0 || a.CommandID != "2" || a.TimerID == "" {
			t.Errorf("after %d more failures the trigger answered %s", failures, a.event.Data)
		}
		results.empty(t)
		dead.empty(t)
		list := w.post("timers/list", `{}`).must(t, 200)
		if timers, ok := list.field("timers").([]any); !ok || len(timers) != 1 {
			t.Errorf("the trigger created %s", list.text)
		}
		if row, err := w.row(a.TimerID); err != nil || row.Status != timer.StatusScheduled {
			t.Errorf("the occurrence: %v, %v", row.Status, err)
		}
	})
}
