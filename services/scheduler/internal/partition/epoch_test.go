package partition_test

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// lose drops all messages from an offset on and starts a new topic epoch there.
func (b *bench) lose(offset int64) {
	b.epochs = append(b.epochs, offset)
	b.end = offset
}

func TestI12_APublicationLostInACrashIsRepeatedAfterAckWait(t *testing.T) {
	b := polled(t, row(1, start, start-10), row(2, start, start-10))
	b.wantReleased(start, "1", "2") // positions 1 and 2
	b.lose(2)
	b.floor(start+3000, 1) // 1 survived and is not acknowledged
	b.sweep(start + 3000)
	b.wantReleased(start + 3000)
	b.remove(1)
	b.floor(start+4000, 2) // 1 is acknowledged; 2 will not be delivered
	b.sweep(start + 8999)
	b.wantReleased(start + 8999) // a delivery that started before the crash may still finish
	b.sweep(start + 9000)
	b.wantReleased(start+9000, "2")
	b.sweep(start + 30_000)
	b.wantReleased(start + 30_000)
}

// An old publication may have been delivered only shortly before the crash.
func TestI12_AnOldPublicationLostInACrashWaitsForAckWaitToo(t *testing.T) {
	b := polled(t, row(1, start, start-10))
	b.wantReleased(start, "1")
	b.lose(1)
	b.floor(start+60_000, 1)
	b.sweep(start + 60_000)
	b.wantReleased(start + 60_000)
	b.sweep(start + 65_000)
	b.wantReleased(start+65_000, "1")
}

// TestI12_APublicationThatIsAnsweredAfterACrashWaitsForAckWait: its delivery may have started after the floor was read.
func TestI12_APublicationThatIsAnsweredAfterACrashWaitsForAckWait(t *testing.T) {
	b := polled(t, row(1, start, start-10))
	batch, _ := b.p.TakeDue(start, 10, 10)
	before := b.position(1)
	b.lose(1)
	b.floor(start+1000, 1)
	b.p.Published(start+5000, batch, []bus.Position{before})
	b.sweep(start + 9999)
	b.wantReleased(start + 9999)
	b.sweep(start + 10_000)
	b.wantReleased(start+10_000, "1")
}

// TestI12_AnOlderFloorStartsNoEpoch: sessions share requests for floors, so an answer may be older than the last one.
func TestI12_AnOlderFloorStartsNoEpoch(t *testing.T) {
	b := polled(t, row(1, start, start-10))
	b.wantReleased(start, "1")
	older := bus.Floor{Floor: b.position(1), End: b.position(2)}
	b.lose(1)
	b.floor(start+1000, 1)
	b.p.SetFloor(start+4000, older)
	b.floor(start+4500, 1)
	b.sweep(start + 6000)
	b.wantReleased(start+6000, "1")
}

// The ack floor cannot show whether such a publication was acknowledged.
func TestI12_APublicationWithoutPositionWaitsForTheLongBound(t *testing.T) {
	b := polledWithBarrier(t, row(1, start, start-10))
	batch, _ := b.p.TakeDue(start, 10, 10)
	b.p.Published(start, batch, []bus.Position{{}})
	b.floor(start, 5)
	long := start.Add(limits().LongBound)
	b.sweep(long - 1)
	b.wantReleased(long - 1)
	b.sweep(long)
	b.wantReleased(long, "1")
}

// The position at which the handover barrier is removed was lost in the crash as well.
func TestI12_TheBarrierFallsWhenTheFloorEntersANewEpoch(t *testing.T) {
	b := takenOver(t, row(1, start-5000, start-9000))
	b.lose(4)
	b.floor(start+1000, 3) // a message from before the claim survived
	b.sweep(start + 1000)
	b.wantReleased(start + 1000)
	b.floor(start+2000, 4)
	b.sweep(start + 2000)
	b.wantReleased(start+2000, "1")
}

func TestASweepIsDueWhenABarrierFalls(t *testing.T) {
	b := takenOver(t)
	b.floor(start+1000, 9)
	if at := b.p.SweepBy(); at != timer.Never {
		t.Fatalf("a sweep is due at %d before the barrier is removed", at)
	}
	b.floor(start+2000, 10)
	if at := b.p.SweepBy(); at != start+2000 {
		t.Fatalf("a sweep is due at %d, want %d: the barrier is removed", at, start+2000)
	}
	b.sweep(start + 2000)
	if at := b.p.SweepBy(); at != timer.Never {
		t.Fatalf("a sweep is due at %d after one has started", at)
	}
}

func TestASweepIsDueAckWaitAfterANewEpoch(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	b.sweep(start)
	b.lose(1)
	b.floor(start+1000, 1)
	if at := b.p.SweepBy(); at != start+6000 {
		t.Fatalf("a sweep is due at %d, want %d", at, start+6000)
	}
	b.sweep(start + 2000)
	if at := b.p.SweepBy(); at != start+6000 {
		t.Fatalf("an early sweep must not count: due at %d", at)
	}
	b.sweep(start + 6000)
	if at := b.p.SweepBy(); at != timer.Never {
		t.Fatalf("a sweep is due at %d after one has started", at)
	}
}
