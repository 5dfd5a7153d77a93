package admission

import (
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/flow"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestI21_ASlotIsUsedInItsTime: not before its time and not after it, given the error of the clock.
func TestI21_ASlotIsUsedInItsTime(t *testing.T) {
	const start = timer.Millis(1_700_000_000_000)
	limit := timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 5, Per: time.Second, Burst: 1}} // the tolerance is 50 ms
	for _, c := range []struct {
		after, inaccuracy time.Duration
		usable            int
	}{
		{-time.Millisecond, 0, 0},
		{0, 0, 0}, // the clock may be a millisecond ahead
		{time.Millisecond, 0, 1},
		{5 * time.Millisecond, 5 * time.Millisecond, 0},
		{6 * time.Millisecond, 5 * time.Millisecond, 1},
		{49 * time.Millisecond, 0, 1},
		{50 * time.Millisecond, 0, 0},
		{44 * time.Millisecond, 5 * time.Millisecond, 1},
		{45 * time.Millisecond, 5 * time.Millisecond, 0},
		{25 * time.Millisecond, 30 * time.Millisecond, 0}, // it may have begun or ended
		{time.Minute, 0, 0},
	} {
		f := &flowState{limit: limit, slots: []flow.Slot{{From: flow.At(start), Until: flow.At(start.Add(50 * time.Millisecond))}}}
		if got := f.usable(&Time{Now: start.Add(c.after), Error: c.inaccuracy}); got != c.usable {
			t.Errorf("%v after the slot's time, with an error of %v: %d usable slots, want %d", c.after, c.inaccuracy, got, c.usable)
		}
	}
}

// TestI21_PermitsAreUsedInTheirTime: not after their lease has ended.
func TestI21_PermitsAreUsedInTheirTime(t *testing.T) {
	f := &flowState{limit: timer.FlowLimit{Pattern: "*", Concurrency: 2}, permits: 2, share: 2, permitsEnd: time.Second}
	if got := f.usable(&Time{Elapsed: time.Second - 1}); got != 2 {
		t.Errorf("%d usable permits, want 2", got)
	}
	if got := f.usable(&Time{Elapsed: time.Second}); got != 0 {
		t.Errorf("%d usable permits after their end", got)
	}
}

// TestI15_SlotsFromBeforeAStepBackBlockNoLaterOnes: slots and turns that were computed before the store's clock was set back are not used.
func TestI15_SlotsFromBeforeAStepBackBlockNoLaterOnes(t *testing.T) {
	const now = timer.Millis(1_700_000_000_000)
	slotAt := func(at timer.Millis) flow.Slot {
		return flow.Slot{From: flow.At(at), Until: flow.At(at.Add(50 * time.Millisecond))}
	}
	before := now.Add(time.Hour)
	f := &flowState{
		limit: timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: 10, Per: time.Second, Burst: 1}},
		slots: []flow.Slot{slotAt(before.Add(100 * time.Millisecond))},
	}
	if got := f.usable(&Time{Now: before}); got != 0 || len(f.slots) != 1 {
		t.Fatalf("%d usable slots of %d, want 0 of 1", got, len(f.slots))
	}
	f.nextSlot, f.turnAt, f.localTurn, f.turns = flow.At(before), flow.At(before), flow.At(before), 5
	f.slots = append(f.slots, slotAt(now))
	if got := f.usable(&Time{Now: now.Add(5 * time.Millisecond)}); got != 1 {
		t.Errorf("%d usable slots, want 1", got)
	}
	if f.nextSlot != 0 || f.turnAt != 0 || f.localTurn != 0 || f.turns != 0 {
		t.Errorf("times of the clock before the step remain: slot %v, turns %v, %v (%d)", f.nextSlot, f.turnAt, f.localTurn, f.turns)
	}
}

// TestFlowRequestsAreBounded: and permits in use are renewed first.
func TestFlowRequestsAreBounded(t *testing.T) {
	q := New(&Limits{MaxInFlight: 1280, Batch: 256})
	text, err := timer.NewFlowLimits([]timer.FlowLimit{{Pattern: "*", Concurrency: 4}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxRequests {
		f := q.flows.flowOf(store.FlowKey{Namespace: "n", Key: fmt.Sprint(i)}, text)
		f.released = 1
		if i == 2*maxRequests {
			f.permits, f.permitsEnd, f.requestedAt = 1, time.Hour, time.Second
			f.running[&Ticket{needsPermit: true}] = struct{}{}
		}
	}
	at := &Time{Now: 1_700_000_000_000, Elapsed: time.Minute}
	due, _ := q.FlowRequests(at)
	if len(due) != maxRequests || due[0].Key.Key != fmt.Sprint(2*maxRequests) {
		t.Fatalf("%d requests, the first for %v", len(due), due[0].Key)
	}
	if again, _ := q.FlowRequests(at); len(again) > 0 {
		t.Errorf("%d more requests while %d are in flight", len(again), len(due))
	}
	q.FlowFailed(&due[0])
	if again, _ := q.FlowRequests(at); len(again) != 1 {
		t.Errorf("%d requests after one has ended, want 1", len(again))
	}
}
