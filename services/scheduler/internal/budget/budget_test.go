package budget_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/budget"
)

const start timer.Millis = 1_000_000

// oneQueue is the state of a bus whose partitions share a queue.
func oneQueue(end int64, waiting, held int) bus.Floors {
	floors := make(bus.Floors, 4)
	for i := range floors {
		floors[i] = bus.Floor{End: bus.Position{Offset: end}, Depth: waiting + held, Waiting: waiting}
	}
	return floors
}

func wantLeft(t *testing.T, b *budget.Budget, want int) {
	t.Helper()
	if got := b.Left(); got != want {
		t.Fatalf("%d credit left, want %d", got, want)
	}
}

func TestI16_CreditIsWhatMayStillWaitAndWhatDispatchersCanHold(t *testing.T) {
	b := budget.New(100, 5000, 100*time.Millisecond)
	wantLeft(t, b, 1700) // the least, and 16 times as many held
	if n := b.Take(800); n != 425 {
		t.Fatalf("one call takes %d, want a quarter", n)
	}
	b.Return(25)
	wantLeft(t, b, 1300)
	if b.Low() {
		t.Error("credit is low with 1,300 of 1,700 left")
	}
	b.Observe(start, b.Mark(), oneQueue(1500, 0, 1500))
	wantLeft(t, b, 200)
	// 300 wait although dispatchers hold only 800: that is all they can.
	for i := range timer.Millis(30) {
		b.Observe(start+1+i, b.Mark(), oneQueue(1100, 300, 800))
	}
	wantLeft(t, b, 0)
	if n := b.Take(1); n != 0 || !b.Low() {
		t.Errorf("without credit, a call takes %d", n)
	}
	b.Observe(start+40, b.Mark(), oneQueue(860, 60, 800))
	wantLeft(t, b, 40)
}

func TestCreditTakenWhileFloorsAreRequestedCounts(t *testing.T) {
	b := budget.New(100, 100, 100*time.Millisecond)
	b.Take(25)
	mark := b.Mark()
	b.Take(20)
	b.Observe(start, mark, oneQueue(1000, 10, 100))
	wantLeft(t, b, 70)
}

func TestPartitionsWithQueuesOfTheirOwnAreAddedUp(t *testing.T) {
	b := budget.New(100, 100, 100*time.Millisecond)
	b.Observe(start, b.Mark(), bus.Floors{
		{End: bus.Position{Offset: 10}, Depth: 9, Waiting: 5}, {End: bus.Position{Offset: 20}, Depth: 9, Waiting: 6},
		{End: bus.Position{Offset: 10}, Depth: 9, Waiting: 5}, // the queue of the first
	})
	wantLeft(t, b, 100-11+100-7)
}

// dispatchers are processes that hold so many events together and finish so many in a second.
type dispatchers struct {
	capacity, perSecond int

	end, waiting, held int
	credit             float64
	finished           int
}

func (d *dispatchers) pass(ms int) {
	for range ms {
		n := min(d.waiting, d.capacity-d.held)
		d.waiting, d.held = d.waiting-n, d.held+n
		d.credit += float64(d.perSecond) / 1000
		n = min(int(d.credit), d.held)
		d.credit -= float64(int(d.credit))
		d.held, d.finished = d.held-n, d.finished+n
	}
}

// TestI16_TheBudgetFollowsWhatDispatchersFinish: dispatchers never wait for schedulers, and little waits in the queue.
func TestI16_TheBudgetFollowsWhatDispatchersFinish(t *testing.T) {
	for _, capacity := range []int{64, 1024, 5000} {
		for _, perSecond := range []int{500, 2500, 10_000} {
			for _, round := range []int{10, 50, 200} { // ms between two floors
				t.Run(fmt.Sprintf("%d held, %d a second, floors every %d ms", capacity, perSecond, round), func(t *testing.T) {
					b := budget.New(64, 100_000, 100*time.Millisecond)
					d := dispatchers{capacity: capacity, perSecond: perSecond}
					const steps = 1000
					finished, worst := 0, 0
					for step := range steps {
						for n := b.Take(1 << 20); n > 0; n = b.Take(1 << 20) {
							d.end, d.waiting = d.end+n, d.waiting+n
						}
						d.pass(round)
						if step == steps/2 {
							finished = d.finished
						}
						if step > steps/2 {
							worst = max(worst, d.waiting)
						}
						b.Observe(start+timer.Millis((step+1)*round), b.Mark(), oneQueue(int64(d.end), d.waiting, d.held))
					}
					// What is published is what they finish in 100 ms, and what they can hold more. A quarter of their capacity
					// may wait where it is not known.
					if most := 64 + perSecond/10 + capacity/4; worst > most {
						t.Errorf("%d events wait, want at most %d", worst, most)
					}
					most := min(perSecond*round/1000, capacity+max(64, perSecond/10)) // in a round
					if want := most * (steps/2 - 1) * 95 / 100; d.finished-finished < want {
						t.Errorf("dispatchers finished %d, want at least %d", d.finished-finished, want)
					}
				})
			}
		}
	}
}

// TestTheRateStartsAgain when the queue was created again, or nobody looked for a while.
func TestTheRateStartsAgain(t *testing.T) {
	b := budget.New(100, 100, 100*time.Millisecond)
	for i, end := range []int64{100_000, 5, 200_000} {
		b.Observe(start+timer.Millis(i)*60_000, b.Mark(), oneQueue(end, 300, 100))
		if n := b.Take(1); n != 0 {
			t.Errorf("after observation %d: credit although 300 events wait", i)
		}
	}
}
