// Command schedule creates schedules and handles their occurrences: a daily report with a preview and a backfill, and a poll that
// the receiver's answer ends.
//
// It imports Timerbus like a user's program. main.go is the whole example.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

func main() { program.Main(run) }

func run(ctx context.Context, out io.Writer) (err error) {
	service, stop, err := program.InMemory(ctx, timerbus.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	calls := make(chan occurrence, 100)
	receiver := httptest.NewServer(handle(calls))
	defer receiver.Close()
	if err := report(ctx, service.Client(), receiver.URL, calls, out); err != nil {
		return err
	}
	return poll(ctx, service.Client(), receiver.URL, calls, out)
}

// occurrence is the part of a callback that this program uses. Each occurrence is a timer.
type occurrence struct {
	ScheduleID string    `json:"scheduleId"`
	TimerID    string    `json:"timerId"`
	ExecuteAt  time.Time `json:"executeAt"`
}

// handle is the receiver. Its answer to the third occurrence of a poll ends the schedule.
func handle(calls chan<- occurrence) http.Handler {
	polls := map[string]bool{} // a callback may come twice; only one occurrence of the poll runs at a time
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var o occurrence
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		calls <- o
		answer := client.CallbackResponse{}
		if o.ScheduleID == "poll" {
			polls[o.TimerID] = true
			answer.StopSchedule = len(polls) == 3
		}
		w.Header().Set("Content-Type", "application/json")
		// If the answer cannot be written, the service calls again.
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// report creates a schedule with local times, shows when the clocks change them, and creates occurrences of the past.
func report(ctx context.Context, api *client.Client, url string, calls <-chan occurrence, out io.Writer) error {
	_, err := api.CreateSchedule(ctx, client.CreateScheduleRequest{
		ID: "daily-report", Specs: []client.ScheduleSpec{{Cron: "30 2 * * *"}}, TimeZone: "Europe/Berlin",
		Timer: client.CreateTimerRequest{CallbackURL: url, Payload: json.RawMessage(`{"report": "sales"}`)},
	})
	if err != nil {
		return err
	}
	preview, err := api.PreviewSchedule(ctx, client.PreviewScheduleRequest{
		ID: "daily-report", From: client.At(time.Date(2030, 3, 30, 0, 0, 0, 0, time.UTC)), Limit: 3,
	})
	if err != nil {
		return err
	}
	for _, o := range preview.Occurrences {
		fmt.Fprintf(out, "%s  %s  %s\n", o.Local, o.At, cmp.Or(o.Remark, "-"))
	}

	january := client.BackfillScheduleRequest{
		ID:   "daily-report",
		From: client.At(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)), To: client.At(time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC)),
	}
	for range 2 {
		total, err := api.BackfillAll(ctx, january, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "backfill of January: %d created, %d existed\n", total.Created, total.Kept)
	}
	reports := map[string]bool{}
	for len(reports) < 31 {
		o, err := next(ctx, calls)
		if err != nil {
			return err
		}
		reports[o.TimerID] = true
	}
	fmt.Fprintln(out, "reports:", len(reports))
	return nil
}

// poll creates a schedule with an interval, and waits until an answer has ended it.
func poll(ctx context.Context, api *client.Client, url string, calls <-chan occurrence, out io.Writer) error {
	_, err := api.CreateSchedule(ctx, client.CreateScheduleRequest{
		ID: "poll", Specs: []client.ScheduleSpec{{Every: "1s"}}, Overlap: client.OverlapSkip,
		Timer: client.CreateTimerRequest{CallbackURL: url},
	})
	if err != nil {
		return err
	}
	polls := map[string]bool{}
	for len(polls) < 3 {
		o, err := next(ctx, calls)
		if err != nil {
			return err
		}
		if o.ScheduleID == "poll" && !polls[o.TimerID] {
			polls[o.TimerID] = true
			fmt.Fprintf(out, "poll %d, on the second: %v\n", len(polls), o.ExecuteAt.Nanosecond() == 0)
		}
	}
	for status := client.ScheduleStatus(""); status != "ended"; {
		schedule, err := api.GetSchedule(ctx, client.ScheduleSelection{ID: "poll"})
		if err != nil {
			return err
		}
		status = schedule.Status
		pause := time.NewTimer(20 * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	history, err := api.ScheduleHistory(ctx, client.ScheduleHistoryRequest{ID: "poll", Limit: 1}) // newest first
	if err != nil {
		return err
	}
	for i := range history.Decisions {
		fmt.Fprintln(out, "the schedule has", history.Decisions[i].Decision)
	}
	return nil
}

func next(ctx context.Context, calls <-chan occurrence) (occurrence, error) {
	select {
	case o := <-calls:
		return o, nil
	case <-ctx.Done():
		return occurrence{}, ctx.Err()
	}
}
