package partition_test

import (
	"testing"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

func localBench(t *testing.T, rows ...store.DueRow) *bench {
	t.Helper()
	l := limits()
	l.LocalQueue = true
	b := newBench(t, l)
	b.put(rows...)
	b.begin()
	return b
}

// TestI6_WithALocalQueueTheWatermarkWaitsForTheAckFloor, because the queue is lost with the process.
func TestI6_WithALocalQueueTheWatermarkWaitsForTheAckFloor(t *testing.T) {
	b := localBench(t, row(1, start, start), row(2, start+1, start))
	late := start + 60_000
	b.wantReleased(start+10, "1", "2")
	first := store.Key{DueAt: start, UUID: timer.UUID{1}}
	if w, moved := b.watermark(late); moved && !first.After(w) {
		t.Fatalf("W moved to %v although no event is acknowledged", w)
	}
	if !b.p.NeedsFloor() {
		t.Error("the ack floor is not requested, and the watermark waits for it")
	}
	b.floor(start+20, 2)
	if w, _ := b.watermark(late); first.After(w) || !(store.Key{DueAt: start + 1, UUID: timer.UUID{2}}).After(w) {
		t.Fatalf("W at %v, want from the first key up to before the second", w)
	}
	b.floor(start+30, 3)
	if w, _ := b.watermark(late); w != (store.Key{DueAt: start + 1, UUID: timer.UUID{2}}) {
		t.Fatalf("W at %v, want the last key", w)
	}
	if b.p.NeedsFloor() {
		t.Error("the ack floor is requested without need")
	}
}

// TestI13_WithALocalQueueRowsDueAtTheClaimMayHaveBeenStarted: the queue of the earlier owner, which counted deliveries, is gone.
func TestI13_WithALocalQueueRowsDueAtTheClaimMayHaveBeenStarted(t *testing.T) {
	for name, local := range map[string]bool{"local queue": true, "queue of the bus": false} {
		t.Run(name, func(t *testing.T) {
			l := limits()
			l.LocalQueue = local
			b := newBench(t, l)
			bound := start.Add(l.ClockBound)
			b.put(row(1, start-10, start-20), row(2, bound, start-20), row(3, bound+1, start-20))
			b.begin()
			batch, _ := b.p.TakeDue(start+1000, 10, 10)
			for i, want := range []bool{local, local, false} {
				if batch[i].Event.MaybeStarted != want {
					t.Errorf("event %d: MaybeStarted is %t, want %t", i, batch[i].Event.MaybeStarted, want)
				}
				decoded, err := event.UnmarshalDue(partition.Message(&batch[i], 0).Body)
				if err != nil || decoded != batch[i].Event {
					t.Errorf("event %d is %+v after encoding (%v), want %+v", i, decoded, err, batch[i].Event)
				}
			}
		})
	}
}

// TestI13_RowsThatOnlyThisProcessCanHavePublishedWereNotStartedBefore: no other process can use the store.
func TestI13_RowsThatOnlyThisProcessCanHavePublishedWereNotStartedBefore(t *testing.T) {
	l := limits()
	l.LocalQueue, l.AloneSince = true, start-5
	b := newBench(t, l)
	b.put(row(1, start-4, start-6), row(2, start-3, start-5), row(3, start-2, start-4))
	b.begin()
	batch, _ := b.p.TakeDue(start, 10, 10)
	for i, want := range []bool{true, false, false} {
		if batch[i].Event.MaybeStarted != want {
			t.Errorf("event %d: MaybeStarted is %t, want %t", i, batch[i].Event.MaybeStarted, want)
		}
	}
}

// TestWithALocalQueueNothingPublishedIsReleased: a handover barrier would wait for events that no queue has.
func TestWithALocalQueueNothingPublishedIsReleased(t *testing.T) {
	b := localBench(t, row(1, start, start))
	b.wantReleased(start, "1")
	if got := b.p.ClaimReleases(); len(got) != 1 || got[0].Published != store.MinKey() {
		t.Errorf("releases %+v", got)
	}
	b.p.SetFloor(start+10, bus.Floor{Floor: b.position(b.end), End: b.position(b.end)})
	if got := b.p.ClaimReleases(); got[0].Published != store.MinKey() {
		t.Errorf("releases %+v after the acknowledgement", got)
	}
}
