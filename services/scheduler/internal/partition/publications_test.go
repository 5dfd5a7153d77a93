package partition_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// TestI12_OnlyARowSurelyWrittenUnderThisClaimGoesOutImmediately: clocks of two nodes may differ by ClockBound, so a row
// with a later updatedAt than the claim may still have been published by the previous owner.
func TestI12_OnlyARowSurelyWrittenUnderThisClaimGoesOutImmediately(t *testing.T) {
	const claimed = start
	bound := limits().ClockBound
	b := newBench(t, limits())
	b.end = 10
	b.put(
		row(1, start-3000, claimed.Add(-bound)), row(2, start-2999, claimed), row(3, start-2998, claimed.Add(bound)),
		row(4, start-2997, claimed.Add(bound+time.Millisecond)),
	)
	b.open(claimed, store.MaxKeyAt(start), store.MinKey())
	b.floor(start, 9) // the end at the claim is 10
	b.sweep(start + 1000)
	b.wantReleased(start+1000, "4")
}

// TestI12_TheLongBoundCountsFromTheLastWriteOrTheDueTime: for a retry or a postponement of an old timer it counts from
// the write. A timer written long ago may have been published when it was due.
func TestI12_TheLongBoundCountsFromTheLastWriteOrTheDueTime(t *testing.T) {
	long := limits().LongBound
	b := newBench(t, limits())
	b.end = 10
	b.put(row(1, start.Add(-2*long), start-1000), row(2, start-3000, start.Add(-2*long)))
	b.open(start, store.MaxKeyAt(start), store.MinKey())
	b.floor(start, 9)
	for _, c := range []struct {
		of   string
		from time.Duration
	}{{"2", -3 * time.Second}, {"1", -time.Second}} {
		due := start.Add(c.from + long)
		b.sweep(due - 1)
		b.wantReleased(due - 1)
		b.sweep(due)
		b.wantReleased(due, c.of)
	}
}

// TestI12_TheLongBoundOfAPublicationCountsFromIt and not from the due time, which may be long before.
func TestI12_TheLongBoundOfAPublicationCountsFromIt(t *testing.T) {
	long := limits().LongBound
	b := polled(t, row(1, start.Add(-2*long), start.Add(-2*long)))
	b.wantReleased(start, "1")
	b.sweep(start.Add(long) - 1)
	b.wantReleased(start.Add(long) - 1)
	b.sweep(start.Add(long))
	b.wantReleased(start.Add(long), "1")
}

// TestI9_AnEventDescribesItsState, whether a poll or a hint armed it, and its key is the shard.
func TestI9_AnEventDescribesItsState(t *testing.T) {
	for name, arm := range map[string]func(*bench, *store.DueRow){
		"polled": func(b *bench, r *store.DueRow) { b.put(*r); b.poll(start) },
		"hinted": func(b *bench, r *store.DueRow) {
			h := hint(*r)
			h.Generation = r.Generation
			b.p.Hint(start, h)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, limits())
			b.claim.Version, b.claim.Owner = 7, timer.UUID{9}
			b.open(start, store.MinKey(), store.MinKey())
			r := row(1, start+100, start-10)
			r.Generation, r.Attempt = 42, 5
			arm(b, &r)
			batch, _ := b.p.TakeDue(start+100, 10, 10)
			if len(batch) != 1 {
				t.Fatalf("%d events, want 1", len(batch))
			}
			want := event.Due{
				Shard: 3, UUID: timer.UUID{1}, Revision: 1, Generation: 42, Attempt: 5, DueAt: start + 100,
				ClaimVersion: 7, Owner: timer.UUID{9}, Sequence: batch[0].Event.Sequence, Target: 1,
			}
			if batch[0].Event != want {
				t.Errorf("event %+v, want %+v", batch[0].Event, want)
			}
			if m := partition.Message(&batch[0], 3); m.Key != "3" || m.Partition != 3 {
				t.Errorf("the key is %q in partition %d, want the shard 3", m.Key, m.Partition)
			}
		})
	}
}

// TestI9_EveryEventOfAClaimHasItsOwnSequence: the sequence distinguishes the events of one owner. Without it the bus
// would drop the second repetition of a state.
func TestI9_EveryEventOfAClaimHasItsOwnSequence(t *testing.T) {
	b := newBench(t, limits())
	b.claim.Version, b.claim.Owner = 7, timer.UUID{9}
	b.put(row(1, start, start-10), row(2, start, start-10))
	b.begin()
	last, ids := uint64(0), map[string]bool{}
	for now := start; now <= start.Add(90*time.Second); now += 30_000 {
		b.sweep(now)
		batch, _ := b.p.TakeDue(now, 1000, 1000)
		if len(batch) != 2 {
			t.Fatalf("%d events at %v, want 2: both rows are still overdue", len(batch), now.Sub(start))
		}
		var positions []bus.Position
		for _, o := range batch {
			if o.Event.Sequence <= last || ids[o.ID] {
				t.Errorf("event %s has sequence %d after %d", o.ID, o.Event.Sequence, last)
			}
			if o.Event.ClaimVersion != 7 || o.Event.Owner != b.claim.Owner {
				t.Errorf("event %+v is not of claim %+v", o.Event, b.claim)
			}
			last, ids[o.ID] = o.Event.Sequence, true
			positions = append(positions, b.position(b.end))
			b.end++
		}
		b.p.Published(now, batch, positions)
		b.floor(now, b.end)
	}
}
