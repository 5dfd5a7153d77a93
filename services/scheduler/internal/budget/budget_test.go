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
	b := budget.New(100, 5000, 100*time.Millisecond)
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
	b := budget.New(100, 5000, 100*time.Millisecond)
	b.Take(25)
	mark := b.Mark()
	b.Take(20)
	b.Observe(start, mark, oneQueue(1000, 10))
	wantLeft(t, b, 70)
}

func TestPartitionsWithQueuesOfTheirOwnAreAddedUp(t *testing.T) {
	b := budget.New(100, 5000, 100*time.Millisecond)
	b.Observe(start, b.Mark(), bus.Floors{
		{End: bus.Position{Offset: 10}, Depth: 9, Waiting: 5}, {End: bus.Position{Offset: 20}, Depth: 9, Waiting: 6},
	})
	wantLeft(t, b, 89)
}

// TestTheBudgetFollowsWhatDispatchersTake: they never wait for schedulers, and what waits is what they take in 100 ms.
func TestTheBudgetFollowsWhatDispatchersTake(t *testing.T) {
	for _, perSecond := range []int{500, 5000, 40_000} {
		for _, round := range []timer.Millis{10, 50, 200} { // between two floors
			b := budget.New(100, 100_000, 100*time.Millisecond)
			end, waiting, taken, steps := 0, 0, 0, 400
			for step := range steps {
				for n := b.Take(1 << 20); n > 0; n = b.Take(1 << 20) {
					end, waiting = end+n, waiting+n
				}
				n := min(waiting, perSecond*int(round)/1000)
				waiting -= n
				if step >= steps/2 {
					taken += n
				}
				b.Observe(start+timer.Millis(step+1)*round, b.Mark(), oneQueue(int64(end), waiting))
				if most := max(100, perSecond*4*int(max(100, round))/1000); step > steps/2 && waiting > most {
					t.Fatalf("%d a second, floors every %d ms: %d events wait, want at most %d", perSecond, round, waiting, most)
				}
			}
			if want := perSecond * int(round) / 1000 * (steps / 2) * 9 / 10; taken < want {
				t.Errorf("%d a second, floors every %d ms: dispatchers took %d, want at least %d", perSecond, round, taken, want)
			}
		}
	}
}

// TestTheRateStartsAgain when the queue was created again, or nobody looked for a while.
func TestTheRateStartsAgain(t *testing.T) {
	b := budget.New(100, 5000, 100*time.Millisecond)
	for i, end := range []int64{100_000, 5, 200_000} {
		b.Observe(start+timer.Millis(i)*60_000, b.Mark(), oneQueue(end, 300))
		if n := b.Take(1); n != 0 {
			t.Errorf("after observation %d: credit although 300 events wait", i)
		}
	}
}
