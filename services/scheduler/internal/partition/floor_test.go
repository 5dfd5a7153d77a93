package partition_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// wantInFlight checks the number of states in flight.
func (b *bench) wantInFlight(want int) {
	b.t.Helper()
	if n := b.p.InFlight(); n != want {
		b.t.Fatalf("%d in flight, want %d", n, want)
	}
}

func TestTheFloorEmptiesTheInFlightSet(t *testing.T) {
	l := limits()
	l.PollPerShard = 8
	b := newBench(t, l)
	for id := byte(1); id <= 10; id++ {
		b.put(row(id, start, start))
	}
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	if b.p.NeedsFloor() {
		t.Error("the floor is read with no timer in flight")
	}
	b.poll(start)
	if n := len(b.release(start)); n != 8 || !b.p.NeedsFloor() {
		t.Fatalf("%d released, floor wanted: %t; want the bound of 8, and the floor", n, b.p.NeedsFloor())
	}
	b.poll(start)
	b.wantReleased(start)
	b.floor(start+100, 4) // 1, 2 and 3 are acknowledged; nothing has read their rows
	b.wantInFlight(5)
	b.wantReleased(start+100, "9", "10")
}

// An owner with a backlog does not sweep beyond R, where hints have armed timers.
func TestTheFloorEmptiesTheInFlightSetBeyondR(t *testing.T) {
	l := limits()
	l.PollPerShard, l.MaxInFlight = 1, 3
	b := newBench(t, l)
	b.put(row(1, start-9, start-10), row(2, start-8, start-10))
	hinted := []store.DueRow{row(7, start+10, start), row(8, start+20, start)}
	b.put(hinted...)
	b.open(start, store.MinKey(), store.MinKey())
	b.poll(start) // R is row 1, and the answer was cut
	for _, r := range hinted {
		b.p.Hint(start, hint(r))
	}
	b.wantReleased(start+20, "1", "7", "8")
	b.floor(start+30, 3)
	b.wantInFlight(1)
	b.poll(start + 30)
	b.wantReleased(start+30, "2")
}

func TestWhatTheBusHasNotTakenStaysInFlight(t *testing.T) {
	b := polledWithBarrier(t, row(1, start, start))
	b.p.TakeDue(start, 10, 1000)
	b.floor(start+100, 9)
	b.sweep(start + 3000)
	b.wantInFlight(1)
}

// TestASweepForgetsNothingBeforeItsBeginning, because it has not read the rows there.
func TestASweepForgetsNothingBeforeItsBeginning(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	b.sweep(start)
	old := row(1, start-2*minute, start) // committed late; its hint was in time
	b.put(old)
	b.p.Hint(start, hint(old))
	b.wantReleased(start, "1")
	b.sweep(start + 2000)
	b.wantInFlight(1)
}

// TestStatesRemovedDuringAReadAreBounded: while a poll does not return, at most MaxInFlight states are remembered.
func TestStatesRemovedDuringAReadAreBounded(t *testing.T) {
	l := limits()
	l.MaxInFlight = 2
	b := newBench(t, l)
	for id := byte(1); id <= 6; id++ {
		b.put(row(id, start, start))
	}
	b.begin()
	q := b.p.Poll(start + 1000)
	for range 3 {
		b.release(start + 1000)
		b.floor(start+1000, b.end)
	}
	b.wantInFlight(2) // of 4 that were published and passed
	b.p.PollFailed(q, start+2000)
	b.floor(start+2000, b.end)
	b.wantInFlight(0)
}

// TestAStoppedFloorDoesNotFillTheInFlightSet: one event that is never acknowledged blocks the ack floor. A state that a
// sweep does not find is not in flight any more.
func TestAStoppedFloorDoesNotFillTheInFlightSet(t *testing.T) {
	b := newBench(t, limits())
	for id := byte(1); id <= 10; id++ {
		b.put(row(id, start, start))
	}
	b.begin()
	b.release(start)
	for id := byte(2); id <= 8; id++ {
		b.remove(id)
	}
	b.floor(start+100, 1)
	b.wantInFlight(8)
	b.sweep(start + 200)
	b.wantInFlight(1)
	b.wantReleased(start+200, "9", "10")
}

// TestI12_ARowReadBeforeItsOutcomeIsNotPublishedAgain: the ack floor passes the event after the sweep has read the row
// and before it judges the row.
func TestI12_ARowReadBeforeItsOutcomeIsNotPublishedAgain(t *testing.T) {
	b := polled(t, row(1, start, start))
	b.wantReleased(start, "1")
	q := b.p.SweepStart(start + 5000)
	b.floor(start+5010, 2)
	b.wantInFlight(0)
	b.p.Swept(q, []store.OverdueShard{{Rows: b.rows}})
	b.wantReleased(start + 5020)
	// A row that is still there has no outcome.
	b.sweep(start + 7000)
	b.wantReleased(start+7000, "1")
}

func TestI12_ARowPolledBeforeItsOutcomeIsNotPublishedAgain(t *testing.T) {
	for name, leave := range map[string]func(b *bench){
		"passed by the floor":  func(b *bench) { b.floor(start+30, 2) },
		"not found by a sweep": func(b *bench) { b.sweep(start + 30) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, limits())
			b.open(start, store.MinKey(), store.MinKey())
			b.floor(start, 1)
			r := row(1, start+10, start)
			b.p.Hint(start, hint(r))
			b.wantReleased(start+10, "1")
			q := b.p.Poll(start + 20)
			leave(b)
			b.wantInFlight(0)
			b.p.Polled(start+40, q, []store.DueShard{{Rows: []store.DueRow{r}, NextDueAt: timer.Never}})
			b.wantReleased(start + 40)
			// R has passed the row. If it is still there, the next sweep publishes it.
			b.put(r)
			b.sweep(start + 5000)
			b.wantReleased(start+5000, "1")
		})
	}
}

// TestI12_ABarrierThatFallsDuringASweepCountsForTheNext: a row of an earlier owner may get its outcome between its read
// and the ack floor that its acknowledgement moves.
func TestI12_ABarrierThatFallsDuringASweepCountsForTheNext(t *testing.T) {
	b := takenOver(t, row(1, start-5000, start-9000))
	b.floor(start+500, 9)
	q := b.p.SweepStart(start + 1000)
	b.floor(start+1010, 10)
	b.p.Swept(q, []store.OverdueShard{{Rows: b.rows}})
	b.wantReleased(start + 1020)
	b.sweep(start + 1300)
	b.wantReleased(start+1300, "1")
}

// from returns where a sweep would begin to read.
func (b *bench) from(now timer.Millis) store.Key {
	b.t.Helper()
	q := b.p.SweepStart(now)
	b.p.SweepFailed()
	if len(q.Shards) != 1 {
		b.t.Fatalf("the sweep reads %d shards, want 1", len(q.Shards))
	}
	return q.Shards[0].From
}

func (b *bench) wantFrom(now timer.Millis, want store.Key) {
	b.t.Helper()
	if got := b.from(now); got != want {
		b.t.Fatalf("the sweep begins after %v, want %v", got, want)
	}
}

const minute = timer.Millis(60_000)

func TestI4_ASweepBeginsAMarginBeforeTheLastOneAndEveryFiveMinutesAtTheFirstKey(t *testing.T) {
	b := newBench(t, limits())
	b.begin()
	b.wantFrom(start, store.MinKey())
	b.sweep(start + 100)
	b.wantFrom(start+2000, store.MaxKeyAt(start+100-minute))
	b.sweep(start + 2000)
	b.wantFrom(start+4000, store.MaxKeyAt(start+2000-minute))
	b.wantFrom(start+100+5*minute-1, store.MaxKeyAt(start+2000-minute))
	b.wantFrom(start+100+5*minute, store.MinKey())
	b.sweep(start + 100 + 5*minute)
	b.wantFrom(start+2000+5*minute, store.MaxKeyAt(start+100+4*minute))
}

// TestI4_ASweepBeginsBeforeTheLowestRowThatTheLastOneFound, whether that row was judged or not.
func TestI4_ASweepBeginsBeforeTheLowestRowThatTheLastOneFound(t *testing.T) {
	b := polled(t, row(1, start, start), row(2, start+1, start), row(3, start+2, start), row(4, start+3, start))
	b.release(start + 10)
	now := start + 2*minute
	b.sweep(now)
	if from := b.from(now + 1); !b.rows[0].Key().After(from) || from.DueAt < start-1 {
		t.Fatalf("the sweep begins after %v, want just before %v", from, b.rows[0].Key())
	}
	b.remove(1)
	b.remove(2)
	b.sweep(now + 2)
	if from := b.from(now + 3); !b.rows[0].Key().After(from) || !from.After(store.Key{DueAt: start + 1, UUID: timer.UUID{2}}) {
		t.Fatalf("the sweep begins after %v, want just before %v", from, b.rows[0].Key())
	}
	// First in flight, then passed by the ack floor, then found.
	b.floor(now+4, b.end)
	b.sweep(now + 4)
	b.wantReleased(now+4, "3", "4")
}

// TestI4_ASweepOfABacklogDoesNotPassR: a poll was cut, so the sweep ends at R. Polls read the rows after R.
func TestI4_ASweepOfABacklogDoesNotPassR(t *testing.T) {
	l := limits()
	l.PollPerShard = 1
	b := newBench(t, l)
	b.put(row(1, start, start), row(2, start+1, start), row(3, start+2, start))
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	b.poll(start + 10)
	r := b.rows[0].Key()
	b.release(start + 10)
	b.remove(1)
	now := start + 3*minute
	b.floor(now, b.end)
	b.sweep(now)
	b.wantFrom(now+1, r)
	// A poll reads it, and its event is acknowledged without a delivery.
	b.poll(now + 2)
	b.wantReleased(now+2, "2")
	b.floor(now+4, b.end)
	b.sweep(now + 5)
	b.wantReleased(now+5, "2")
}

func TestI4_ASweepThatFailsDoesNotMoveItsBeginning(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	b.sweep(start)
	from := store.MaxKeyAt(start - minute)
	b.p.SweepStart(start + 2*minute)
	b.p.SweepFailed()
	b.wantFrom(start+2*minute+1, from)
	q := b.p.SweepStart(start + 2*minute + 2)
	b.p.Swept(q, []store.OverdueShard{{Err: errHot}})
	b.wantFrom(start+2*minute+3, from)
}

// TestI4_ANewClaimIsSweptFromTheFirstKey: an owner does not know the sweep floors of the previous owner.
func TestI4_ANewClaimIsSweptFromTheFirstKey(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	q := b.p.SweepStart(start + 1000)
	b.claim.Version++
	b.open(start+1000, store.MinKey(), store.MinKey())
	b.p.Swept(q, []store.OverdueShard{{}}) // the answer to the older claim
	b.wantFrom(start+1001, store.MinKey())
}

// TestI4_ARowCommittedLateIsFound: its write began before the last sweep, and was committed after it.
func TestI4_ARowCommittedLateIsFound(t *testing.T) {
	b := polled(t, row(9, start+1000, start))
	b.wantReleased(start+1000, "9") // R is this key
	b.remove(9)
	for now := start + 2000; now <= start+58_000; now += 2000 {
		b.sweep(now)
	}
	b.put(row(1, start+500, start+500))
	b.sweep(start + 60_000)
	b.wantReleased(start+60_000, "1")
	// If it is later than the margin, the next full sweep finds it.
	b.remove(1)
	b.floor(start+70_000, b.end)
	b.sweep(start + 2*minute)
	b.put(row(2, start+600, start+600))
	b.sweep(start + 2*minute + 2000)
	b.wantReleased(start + 2*minute + 2000)
	b.sweep(start.Add(2*time.Second) + 5*minute)
	b.wantReleased(start.Add(2*time.Second)+5*minute, "2")
}
