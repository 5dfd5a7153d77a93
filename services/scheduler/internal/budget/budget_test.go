package budget_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/budget"
)

const start timer.Millis = 1_000_000

// oneQueue is what a bus tells whose partitions share a queue.
func oneQueue(end int64, waiting int) bus.Floors {
	floors := make(bus.Floors, 4)
	for i := range floors {
		floors[i] = bus.Floor{End: bus.Position{Offset: end}, Depth: waiting + 7, Waiting: waiting}
	}
	return floors
}

func wantLeft(t *testing.T, b *budget.Budget, want int) {
	t.Helper()
	if got := b.Left(); got != want {
		t.Fatalf("%d credit left, want %d", got, want)
	}
}

func TestI16_CreditIsWhatMayStillWait(t *testing.T) {
	b := budget.New(100, 100*time.Millisecond)
	if n := b.Take(80); n != 25 {
		t.Fatalf("one call takes %d, want a quarter", n)
	}
	b.Return(5)
	wantLeft(t, b, 80)
	if b.Low() {
		t.Error("credit is low with 80 of 100 left")
	}
	b.Observe(start, b.Mark(), oneQueue(1000, 70))
	wantLeft(t, b, 30)
	if !b.Low() {
		t.Error("credit is not low with 30 of 100 left")
	}
	b.Observe(start+10, b.Mark(), oneQueue(1300, 300))
	wantLeft(t, b, 0)
	if n := b.Take(1); n != 0 {
		t.Errorf("without credit, a call takes %d", n)
	}
}

func TestCreditTakenWhileFloorsAreRequestedCounts(t *testing.T) {
	b := budget.New(100, 100*time.Millisecond)
	b.Take(25)
	mark := b.Mark()
	b.Take(20)
	b.Observe(start, mark, oneQueue(1000, 10))
	wantLeft(t, b, 70)
}

func TestPartitionsWithQueuesOfTheirOwnAreAddedUp(t *testing.T) {
	b := budget.New(100, 100*time.Millisecond)
	b.Observe(start, b.Mark(), bus.Floors{
		{End: bus.Position{Offset: 10}, Depth: 9, Waiting: 5}, {End: bus.Position{Offset: 20}, Depth: 9, Waiting: 6},
	})
	wantLeft(t, b, 89)
}

// TestTheBudgetGrowsWithWhatDispatchersTake, so that they never wait for schedulers, and shrinks with it.
func TestTheBudgetGrowsWithWhatDispatchersTake(t *testing.T) {
	b := budget.New(100, 100*time.Millisecond)
	end, now := int64(0), start
	for range 40 {
		end, now = end+1000, now+50 // 20,000 a second
		b.Observe(now, b.Mark(), oneQueue(end, 0))
	}
	if left := b.Left(); left < 1900 || left > 2000 {
		t.Fatalf("%d credit at 20,000 events a second, want nearly 2,000: 100 ms", left)
	}
	for range 40 {
		end, now = end+10, now+50
		b.Observe(now, b.Mark(), oneQueue(end, 0))
	}
	wantLeft(t, b, 100)
	// A queue that was created again, and a pause.
	b.Observe(now+50, b.Mark(), oneQueue(5, 0))
	wantLeft(t, b, 100)
	b.Observe(now+60_000, b.Mark(), oneQueue(100_000, 0))
	wantLeft(t, b, 100)
}
