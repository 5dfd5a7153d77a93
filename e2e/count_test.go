package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// TestNextAndHowMany: the timers that are due next, their number, and how many are due in each part of a range.
func TestNextAndHowMany(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	first := time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 6 {
		_, err := w.api.CreateTimer(t.Context(), client.CreateTimerRequest{
			Namespace: w.namespace, ID: fmt.Sprint("n", i), ExecuteAt: client.At(first.Add(time.Duration(5-i) * time.Minute)),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var order []string
	for one, err := range w.api.AllTimers(t.Context(), client.ListTimersRequest{Namespace: w.namespace, Order: client.OrderDue, Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		order = append(order, one.ID)
	}
	if want := []string{"n5", "n4", "n3", "n2", "n1", "n0"}; !slices.Equal(order, want) {
		t.Errorf("in due order: %q, want %q", order, want)
	}
	count, err := w.api.CountTimers(t.Context(), client.CountTimersRequest{
		Namespace: w.namespace, Status: "scheduled", DueFrom: client.At(first.Add(2 * time.Minute)),
	})
	if err != nil || count.Count != 4 || count.Truncated {
		t.Errorf("count %+v, %v", count, err)
	}
	forecast, err := w.api.ForecastTimers(t.Context(), client.ForecastTimersRequest{
		Namespace: w.namespace, From: client.At(first), To: client.At(first.Add(10 * time.Minute)), Bucket: "4m",
	})
	if err != nil || !slices.Equal(forecast.Counts, []int64{4, 2, 0}) || forecast.Truncated {
		t.Errorf("forecast %+v, %v", forecast, err)
	}
	if r := w.post(t, "timers/list", `{"namespace":"NS","order":"due","status":"dead"}`); r.status != 400 || r.field(t, "details.field") != "status" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestADoneTimerIsRetriedWithItsPayload: keepPayload keeps the payload of a done timer, and without it the retry is refused.
func TestADoneTimerIsRetriedWithItsPayload(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	payload := func(r *client.CreateTimerRequest) { r.Payload = json.RawMessage(`{"order":17}`) }
	w.create(t, "before", 0, payload)
	w.reaches(t, "before", isStatus("done"))
	if r := w.post(t, "timers/retry", `{"namespace":"NS","id":"before"}`); r.status != 404 || r.field(t, "error") != "TIMER_NOT_FOUND" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.post(t, "namespaces/update", `{"name":"NS","settings":{"keepPayload":"1h"}}`); r.status != 400 || r.field(t, "details.field") != "keepPayload" {
		t.Errorf("%d %s", r.status, r.body)
	}
	w.settings(t, `{"keepPayload":"48h"}`)
	w.create(t, "kept", 0, payload)
	w.reaches(t, "kept", isStatus("done"))
	if _, err := w.api.RetryTimer(t.Context(), client.RetryTimerRequest{Namespace: w.namespace, TimerID: "kept"}); err != nil {
		t.Fatal(err)
	}
	for i, call := range w.calls(t, "kept", 2) {
		if string(call.Payload) != `{"order":17}` {
			t.Errorf("call %d has the payload %s", i, call.Payload)
		}
	}
}
