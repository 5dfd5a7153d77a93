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

// newBudget returns the budget of a process that owns all four partitions.
func newBudget(least, most int, wait time.Duration) *budget.Budget {
	b := budget.New(least, most, wait, false)
	for range 4 {
		b.AddPartition()
	}
	return b
}

// oneQueue returns the floors of a bus whose partitions share a queue.
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

func TestI16_CreditIsWhatDispatchersCanHold(t *testing.T) {
	b := newBudget(100, 5000, 50*time.Millisecond)
	wantLeft(t, b, 1440) // of 1,600
	if n := b.Take(800); n != 360 {
		t.Fatalf("one call takes %d, want a quarter", n)
	}
	b.Return(60)
	wantLeft(t, b, 1140)
	for _, c := range []struct {
		take int
		low  bool
	}{{360, false}, {59, false}, {1, true}} {
		if n := b.Take(c.take); n != c.take || b.Low() != c.low {
			t.Errorf("%d of 1,440 credit left, low %t; want low %t", b.Left(), b.Low(), c.low)
		}
	}
	b.Return(420)
	wantLeft(t, b, 1140)
	b.Published(300, bus.Position{Offset: 300})
	b.Observe(start-10, oneQueue(301, 0, 0))
	wantLeft(t, b, 1440)
	b.Observe(start, oneQueue(1200, 0, 1200))
	wantLeft(t, b, 240)
	// 400 wait although dispatchers hold only 800, so 800 is their capacity.
	for now := start + 10; now <= start+110; now += 10 {
		b.Observe(now, oneQueue(1200, 400, 800))
	}
	wantLeft(t, b, 0)
	if n := b.Take(1); n != 0 || !b.Low() {
		t.Errorf("without credit, a call takes %d", n)
	}
	b.Observe(start+200, oneQueue(700, 0, 700))
	wantLeft(t, b, 20) // a tenth of 800 is left free
	// Seconds later, a larger capacity is tried in steps.
	for _, step := range []struct{ after, want int }{{4000, 0}, {6000, 162}, {6050, 162}, {6100, 341}} {
		for b.Take(1) > 0 {
			b.Published(1, bus.Position{Offset: 1})
		}
		b.Observe(start.Add(time.Duration(step.after)*time.Millisecond), oneQueue(720, 0, 720))
		wantLeft(t, b, step.want)
	}
}

// TestPublicationsThatTheFloorsDoNotHaveCount: publishes in flight, and publishes that ended after the floors were
// read.
func TestPublicationsThatTheFloorsDoNotHaveCount(t *testing.T) {
	b := newBudget(100, 1, 50*time.Millisecond)
	at := func(offset int64) bus.Position { return bus.Position{Partition: 1, Offset: offset} }
	for _, n := range []int{25, 20, 10} {
		b.Take(n)
	}
	b.Published(25, at(999))
	b.Published(20, at(1020))
	b.Observe(start, oneQueue(1000, 10, 5))
	wantLeft(t, b, 85-20-10)
	b.Published(10, bus.Position{}) // it failed
	b.Observe(start+10, oneQueue(1021, 30, 5))
	wantLeft(t, b, 65)
}

// TestI16_ProcessesShareTheCredit: together they publish no more than one process would.
func TestI16_ProcessesShareTheCredit(t *testing.T) {
	b := newBudget(100, 1, 50*time.Millisecond)
	b.RemovePartition()
	b.Observe(start, oneQueue(1000, 10, 50))
	wantLeft(t, b, 30) // three quarters of 40
}

func TestPartitionsWithQueuesOfTheirOwnAreAddedUp(t *testing.T) {
	b := newBudget(100, 1, 50*time.Millisecond)
	b.Observe(start, bus.Floors{
		{End: bus.Position{Offset: 10}, Depth: 9, Waiting: 5},
		{End: bus.Position{Offset: 20}, Depth: 9, Waiting: 6, Queue: 1},
		{End: bus.Position{Offset: 10}, Depth: 9, Waiting: 5}, // the queue of the first
		{End: bus.Position{Offset: 30}, Queue: 2},
	})
	wantLeft(t, b, 100-18)
}

// TestI16_StreamsWithMessagesOfOtherPartitions: two streams have partitions 0, 2 and 1, 3 (due-streams was raised from
// 1 to 2). Some messages of partitions 1 and 3 are still in the first stream; their numbers differ while they are
// acknowledged.
func TestI16_StreamsWithMessagesOfOtherPartitions(t *testing.T) {
	b := newBudget(64, 100_000, 50*time.Millisecond)
	floors := func(round, others int) bus.Floors {
		end := func(from, queue int) bus.Position {
			return bus.Position{Epoch: int64(queue + 20), Offset: int64(from + 40*round)}
		}
		return bus.Floors{
			{End: end(50_000_000, 0), Depth: 300},
			{End: end(400_000, 1), Depth: 300 + others, Queue: 1},
			{End: end(50_000_000, 0), Depth: 300},
			{End: end(400_000, 1), Depth: 300 + 50, Queue: 1},
		}
	}
	b.Observe(start, floors(0, 50)[:1]) // the second stream is new
	for round := 1; round < 40; round++ {
		others := 50
		if round >= 20 {
			others = 49
		}
		b.Observe(start+timer.Millis(25*round), floors(round, others))
		if n := b.Left(); n > 1000 {
			t.Fatalf("round %d: credit for %d publications, although dispatchers hold 650 and have never held more", round, n)
		}
	}
}

// TestI16_WithoutNumbersOfWaitingEventsCreditHasNoLimit, as with Kafka.
func TestI16_WithoutNumbersOfWaitingEventsCreditHasNoLimit(t *testing.T) {
	b := newBudget(64, 100, 50*time.Millisecond)
	floors := bus.Floors{{Depth: 50_000, Waiting: bus.WaitingUnknown}, {Depth: 5, Waiting: bus.WaitingUnknown, Queue: 1}}
	for i := range 10 {
		b.Observe(start+timer.Millis(100*i), floors)
		for range 100 {
			if n := b.Take(512); n != 512 {
				t.Fatalf("a call that wants 512 gets %d", n)
			}
			b.Published(512, bus.Position{Offset: 1})
		}
		if b.Low() {
			t.Fatal("credit is low")
		}
	}
}

// TestI16_AProcessWithOneOfManyPartitionsGetsCredit: no dispatcher has held any event, so only 64 events may be
// unacknowledged, and the process's share is half an event.
func TestI16_AProcessWithOneOfManyPartitionsGetsCredit(t *testing.T) {
	b := budget.New(64, 100_000, 50*time.Millisecond, false)
	b.AddPartition()
	floors := func(waiting int) bus.Floors {
		f := make(bus.Floors, 128)
		for i := range f {
			f[i] = bus.Floor{End: bus.Position{Offset: 1000}, Depth: waiting, Waiting: waiting}
		}
		return f
	}
	for i := range 20 {
		b.Observe(start+timer.Millis(25*i), floors(100))
	}
	wantLeft(t, b, 0)
	b.Observe(start+500, floors(0))
	wantLeft(t, b, 1)
	b.RemovePartition()
	b.Observe(start+510, floors(0))
	wantLeft(t, b, 0)
}

// TestI16_TheCapacityIsRaisedAfterTheClockWasSetBack (I15): the capacity was learnt, the store's clock was set back,
// and three more processes were started.
func TestI16_TheCapacityIsRaisedAfterTheClockWasSetBack(t *testing.T) {
	b := newBudget(64, 100_000, 50*time.Millisecond)
	now := start.Add(10 * time.Hour)
	d := dispatchers{capacity: 1024, latency: 200 * time.Millisecond}
	pass := func(seconds int) (held int) {
		for range 40 * seconds {
			d.publish(b)
			d.pass(25)
			now += 25
			b.Observe(now, oneQueue(int64(d.end)+1, d.waiting, d.held))
			held = max(held, d.held)
		}
		return held
	}
	pass(20)
	now = now.Add(-time.Hour)
	d.capacity = 4096
	if held := pass(60); held < 3500 {
		t.Errorf("four processes hold at most %d events in the minute after the clock was set back", held)
	}
}

// TestI16_TheCapacityIsLearntWhileDepthsAreReadLate: the bus reads the end of a queue before its depth. A batch that is
// published in between is only in the depth. Dispatchers hold a quarter of the events that they held before.
func TestI16_TheCapacityIsLearntWhileDepthsAreReadLate(t *testing.T) {
	for _, every := range []int{1000, 4, 2} {
		b := newBudget(64, 100_000, 50*time.Millisecond)
		d := dispatchers{capacity: 4096, latency: 200 * time.Millisecond}
		now := start
		pass := func(seconds int) (waited int) {
			for i := range 40 * seconds {
				d.publish(b)
				d.pass(25)
				now += 25
				late := 0
				if i%every == 0 {
					late = min(256, d.waiting)
				}
				b.Observe(now, oneQueue(int64(d.end)+1-int64(late), d.waiting, d.held))
				waited = max(waited, d.waiting)
			}
			return waited
		}
		pass(10)
		d.capacity = 1024
		pass(20)
		if waited := pass(5); waited > 1000 {
			t.Errorf("one in %d depths is read late: %d events wait, 20 s after dispatchers have gone", every, waited)
		}
	}
}

// dispatchers are processes with a common capacity and rate.
type dispatchers struct {
	capacity, perSecond int
	// latency is the duration of each event; 0 if perSecond determines the rate.
	latency time.Duration

	end, waiting, held int
	credit             float64
	finished           int
}

// publish uses all credit. The events are immediately in the queue.
func (d *dispatchers) publish(b *budget.Budget) {
	for n := b.Take(1 << 20); n > 0; n = b.Take(1 << 20) {
		d.end, d.waiting = d.end+n, d.waiting+n
		b.Published(n, bus.Position{Offset: int64(d.end)})
	}
}

func (d *dispatchers) pass(ms int) {
	for range ms {
		n := min(d.waiting, d.capacity-d.held)
		d.waiting, d.held = d.waiting-n, d.held+n
		if d.latency > 0 {
			d.perSecond = int(float64(d.held) / d.latency.Seconds())
		}
		d.credit += float64(d.perSecond) / 1000
		n = min(int(d.credit), d.held)
		d.credit -= float64(int(d.credit))
		d.held, d.finished = d.held-n, d.finished+n
	}
}

// TestI16_LittleWaitsAndDispatchersAreBusy tries several capacities and rates.
func TestI16_LittleWaitsAndDispatchersAreBusy(t *testing.T) {
	for _, capacity := range []int{64, 1024, 5000} {
		for _, perSecond := range []int{500, 2500, 10_000} {
			if capacity > 5*perSecond {
				continue // events are acknowledged after 2 s, when their rows are leased
			}
			for _, round := range []int{10, 25, 100} { // ms between two floors
				t.Run(fmt.Sprintf("%d held, %d a second, floors every %d ms", capacity, perSecond, round), func(t *testing.T) {
					b := newBudget(64, 100_000, 50*time.Millisecond)
					d := dispatchers{capacity: capacity, perSecond: perSecond}
					steps := 60_000 / round
					finished, waited := 0, 0
					for step := range steps {
						d.publish(b)
						d.pass(round)
						if step == steps/2 {
							finished = d.finished
						}
						if step > steps/2 && d.waiting > 64+perSecond/20 {
							waited++
						}
						b.Observe(start+timer.Millis((step+1)*round), oneQueue(int64(d.end)+1, d.waiting, d.held))
					}
					if waited > steps/2/20 {
						t.Errorf("more than what dispatchers finish in 50 ms waits in %d of %d rounds", waited, steps/2)
					}
					most := min(perSecond*round/1000, capacity) // in a round
					share := 97
					if round == 100 { // half as often as floors should be requested
						share = 90
					}
					if want := most * (steps/2 - 1) * share / 100; d.finished-finished < want {
						t.Errorf("dispatchers finished %d, want at least %d", d.finished-finished, want)
					}
				})
			}
		}
	}
}

// TestI16_TheCapacityFollowsTheNumberOfDispatchers: three of four processes stop, and start again later.
func TestI16_TheCapacityFollowsTheNumberOfDispatchers(t *testing.T) {
	b := newBudget(64, 100_000, 50*time.Millisecond)
	d := dispatchers{capacity: 4096, latency: 200 * time.Millisecond}
	now := start
	pass := func(seconds int) (waiting, held int) {
		for range 40 * seconds {
			d.publish(b)
			d.pass(25)
			now += 25
			b.Observe(now, oneQueue(int64(d.end)+1, d.waiting, d.held))
			waiting, held = d.waiting, max(held, d.held)
		}
		return waiting, held
	}
	if _, held := pass(10); held < 3500 {
		t.Errorf("four processes hold %d events", held)
	}
	d.capacity = 1024
	if waiting, _ := pass(20); waiting > 64+100 {
		t.Errorf("%d events wait for one process", waiting)
	}
	d.capacity = 4096
	if _, held := pass(10); held < 3500 {
		t.Errorf("four processes hold %d events again", held)
	}
}

// TestTheRateStartsAgain after the queue was created again, and after a minute without an observation.
func TestTheRateStartsAgain(t *testing.T) {
	b := newBudget(100, 1, 50*time.Millisecond)
	for i, end := range []int64{100_000, 5, 200_000} {
		b.Observe(start+timer.Millis(i)*60_000, oneQueue(end, 300, 0))
		if n := b.Take(1); n != 0 {
			t.Errorf("after observation %d: credit although 300 events wait", i)
		}
	}
}

// TestI16_OnePublisherLearnsTheCapacity: a backlog in one partition of a process, with publishes that take some
// milliseconds, as with a replicated stream.
func TestI16_OnePublisherLearnsTheCapacity(t *testing.T) {
	for _, takes := range []int{1, 5, 10, 20} {
		b := newBudget(64, 100_000, 50*time.Millisecond)
		d := dispatchers{capacity: 4096, latency: 200 * time.Millisecond}
		batch, until, held := 0, 0, 0
		for ms := 1; ms <= 80_000; ms++ {
			if batch > 0 && ms >= until {
				d.end, d.waiting = d.end+batch, d.waiting+batch
				b.Published(batch, bus.Position{Offset: int64(d.end)})
				batch = 0
			}
			if batch == 0 {
				if batch = b.Take(512); batch > 0 {
					until = ms + takes
				}
			}
			d.pass(1)
			if ms%25 == 0 {
				b.Observe(start+timer.Millis(ms), oneQueue(int64(d.end)+1, d.waiting, d.held))
			}
			if ms > 60_000 {
				held = max(held, d.held)
			}
		}
		if held < 3000 {
			t.Errorf("publications take %d ms: dispatchers hold at most %d of 4,096 after a minute", takes, held)
		}
	}
}
