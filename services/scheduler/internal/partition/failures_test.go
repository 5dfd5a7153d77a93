package partition_test

import (
	"testing"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// TestASweepAfterTheClockWentBackForgetsNothing: its reads end at the present, before the rows that are in flight.
func TestASweepAfterTheClockWentBackForgetsNothing(t *testing.T) {
	b := polledWithBarrier(t, row(1, start+100, start))
	b.wantReleased(start+100, "1")
	b.sweep(start + 50)
	if n := b.p.InFlight(); n != 1 {
		t.Fatalf("%d in flight, want 1: the row is still in the store", n)
	}
}

// TestI15_APublishedKeyInTheFutureBarsNoTimer: the clock was set back since the last owner published.
func TestI15_APublishedKeyInTheFutureBarsNoTimer(t *testing.T) {
	future := store.Key{DueAt: start + 3_600_000}
	b := newBench(t, limits())
	b.put(row(1, start+1000, start))
	b.open(start, store.Key{DueAt: start - 1000}, future)
	if got := b.p.Hint(start, hint(row(2, start+900, start))); got != partition.HintArmed {
		t.Errorf("a hint is %s, want armed", got)
	}
	b.poll(start)
	b.wantReleased(start+1000, "2", "1")
}

func TestAFailedPollIsRepeatedAtItsTime(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.p.PollFailed(b.p.Poll(start), start+250)
	if at := b.p.PollAt(); at != start+250 {
		t.Fatalf("the next poll is %v after the failed one, want 250ms", at.Sub(start))
	}
}

func TestI5_AFencedShardLeavesTheOthersArmed(t *testing.T) {
	b := newBench(t, limits())
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Claim(start, "m", store.Claimed{Claim: store.Claim{Shard: 1, Version: 1}, Watermark: store.MinKey()}, b.position(1))
	other := row(2, start+100, start)
	other.Ref.Shard = 1
	b.p.Hint(start, hint(row(1, start+100, start)))
	b.p.Hint(start, hint(other))
	b.p.RemoveFenced(3)
	b.wantReleased(start+100, "2")
}

func TestAHintBeyondTheBoundIsLeftToThePoll(t *testing.T) {
	l := limits()
	l.MaxArmed = 1
	b := newBench(t, l)
	b.open(start, store.MinKey(), store.MinKey())
	b.p.Hint(start, hint(row(1, start+100, start)))
	if got := b.p.Hint(start, hint(row(2, start+timer.Millis(100), start))); got != partition.HintLater || b.p.Armed() != 1 {
		t.Fatalf("the hint was %s, and %d are armed, want 1", got, b.p.Armed())
	}
}

// TestOnePollAnswersManyHintsThatCannotBeRead: during an update, a process of a later release may publish thousands of them.
func TestOnePollAnswersManyHintsThatCannotBeRead(t *testing.T) {
	b := polledWithBarrier(t)
	for ms := range timer.Millis(100) {
		if got := b.p.Hint(start+ms, event.Hint{Shard: 3}); got != partition.HintLater {
			t.Fatalf("the hint is %q, want later", got)
		}
	}
	if at := b.p.PollAt(); at != start+500 {
		t.Errorf("the shard is polled after %v, want 500 ms after the first hint", at.Sub(start))
	}
}
