package engine

import (
	"context"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestAListInDueOrderLeavesOutTimersThatAreHeldMeanwhile: a row is read after its key, and may have been paused or parked between.
func TestAListInDueOrderLeavesOutTimersThatAreHeldMeanwhile(t *testing.T) {
	var rows []timer.Timer
	var found store.DueKeys
	for i, status := range timer.Statuses()[:4] {
		row := timer.Timer{UUID: timer.UUID{byte(i)}, Status: status, DueAt: 7}
		rows = append(rows, row)
		found.Keys = append(found.Keys, store.DueKey{Key: store.Key{DueAt: row.DueAt, UUID: row.UUID}})
	}
	page, err := DuePage(t.Context(), &store.ListQuery{Limit: 10},
		func(context.Context, store.DueKeysQuery) (store.DueKeys, error) { return found, nil },
		func(context.Context, []store.Ref) ([]timer.Timer, error) { return rows, nil })
	if err != nil || len(page.Timers) != 2 || page.Timers[0].Status != timer.StatusScheduled || page.Timers[1].Status != timer.StatusRetrying {
		t.Errorf("%v, %v; want the scheduled and the retrying timer", page.Timers, err)
	}
}
