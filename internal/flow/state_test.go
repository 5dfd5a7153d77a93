package flow

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

const start = Instant(1_700_000_000 * int64(time.Second))

func rateOf(count int, per time.Duration, burst int) *timer.FlowLimit {
	return &timer.FlowLimit{Pattern: "*", Rate: timer.FlowRate{Count: count, Per: per, Burst: burst}}
}

// most returns the largest number of times in a window of the length per.
func most(times []Instant, per time.Duration) int {
	slices.Sort(times)
	largest, from := 0, 0
	for i, at := range times {
		for at.Sub(times[from]) >= per {
			from++
		}
		largest = max(largest, i-from+1)
	}
	return largest
}

// TestI21_NoWindowHasMoreSlotsThanTheRate leases slots for several dispatchers at random times, lets each use its slots at random times of
// their tolerance, and lets some dispatchers die.
func TestI21_NoWindowHasMoreSlotsThanTheRate(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		limit := rateOf(1+random.IntN(60), time.Second+time.Duration(random.IntN(120))*time.Second/2, 1)
		limit.Rate.Burst = 1 + random.IntN(limit.Rate.Count)
		var s State
		var used []Instant
		now := start
		for range 400 {
			now = now.Add(time.Duration(random.Int64N(int64(limit.Rate.Per) / 8)))
			id := strconv.Itoa(random.IntN(4))
			r := Request{ID: id, Slots: random.IntN(2 * limit.Rate.Count), Waiting: random.IntN(3)}
			if random.IntN(3) == 0 {
				r.ClockError = time.Duration(random.Int64N(int64(125 * time.Millisecond)))
				r.Late = time.Duration(random.Int64N(2) * random.Int64N(int64(3*time.Second)))
			}
			g := s.Lease(now, limit, &r)
			if random.IntN(8) == 0 {
				continue // it dies, or uses no slot
			}
			for _, slot := range g.Slots {
				if slot.From < now || slot.Until.Sub(slot.From)-2*r.ClockError < Tolerance(limit.Rate)/2+r.Late {
					t.Fatalf("seed %d: slot %v to %v leased at %v with %+v", seed, slot.From, slot.Until, now, r)
				}
				used = append(used, slot.From.Add(time.Duration(random.Int64N(int64(slot.Until.Sub(slot.From))))))
			}
			s = restored(t, s)
		}
		if got, bound := most(used, limit.Rate.Per), limit.Rate.Count+limit.Rate.Burst-1; got > bound {
			t.Fatalf("seed %d: %d slots in a window of %v, want at most %d (%+v)", seed, got, limit.Rate.Per, bound, limit.Rate)
		}
	}
}

// restored returns a state after it was stored and read.
func restored(t *testing.T, s State) State {
	t.Helper()
	got, err := Parse(s.String())
	if err != nil || got.String() != s.String() {
		t.Fatalf("%q was read as %q, %v", s.String(), got.String(), err)
	}
	return got
}

func TestSaturatedRateUsesNinetyFivePercent(t *testing.T) {
	for _, limit := range []*timer.FlowLimit{
		rateOf(10, time.Second, 1), rateOf(1000, time.Second, 50), rateOf(7, time.Minute, 1), rateOf(100_000, time.Second, 1),
	} {
		var s State
		used, now := 0, start
		const periods = 40
		for now.Sub(start) < periods*limit.Rate.Per {
			used += len(s.Lease(now, limit, &Request{ID: "a", Slots: limit.Rate.Count, Waiting: 1}).Slots)
			now = now.Add(200 * time.Millisecond)
		}
		if share := float64(used) / float64(periods*limit.Rate.Count); share < 0.95 {
			t.Errorf("%+v: %.3f of the slots", limit.Rate, share)
		}
	}
}

// TestSlackIsForgotten: slots are further apart only while slots of a dispatcher with a bad clock may be in the same window.
func TestSlackIsForgotten(t *testing.T) {
	limit := rateOf(10, time.Second, 1)
	var s State
	lease := func(at Instant, clockError time.Duration) []Slot {
		return s.Lease(at, limit, &Request{ID: "a", Slots: 20, Waiting: 20, ClockError: clockError}).Slots
	}
	distance := func(slots []Slot) time.Duration { return slots[1].From.Sub(slots[0].From) }
	if got, want := distance(lease(start, 50*time.Millisecond)), interval(limit.Rate, 75*time.Millisecond); got != want {
		t.Errorf("slots are %v apart, want %v", got, want)
	}
	if got, want := distance(lease(start.Add(1500*time.Millisecond), 0)), interval(limit.Rate, 75*time.Millisecond); got != want {
		t.Errorf("later slots are %v apart, want %v", got, want)
	}
	s = restored(t, s)
	lease(start.Add(4*time.Second), 0)
	if got, want := distance(lease(start.Add(10*time.Second), 0)), Interval(limit.Rate); got != want {
		t.Errorf("slots are %v apart 10 s later, want %v", got, want)
	}
}

func TestBurstBeginsAtOnce(t *testing.T) {
	var s State
	g := s.Lease(start, rateOf(100, time.Minute, 5), &Request{ID: "a", Slots: 9})
	at := 0
	for _, slot := range g.Slots {
		if slot.From == start {
			at++
		}
	}
	if at != 5 {
		t.Errorf("%d slots at the start, want 5: %v", at, g.Slots)
	}
}

// TestI21_PermitsNeverExceedTheConcurrency leases permits for dispatchers that die, pause and renew at random times.
func TestI21_PermitsNeverExceedTheConcurrency(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 2))
		limit := &timer.FlowLimit{Pattern: "*", Concurrency: 1 + random.IntN(12)}
		var s State
		type lease struct {
			permits, running int
			until            Instant
		}
		held := map[string]lease{}
		now := start
		for range 500 {
			now = now.Add(time.Duration(random.Int64N(int64(time.Second))))
			id := strconv.Itoa(random.IntN(4))
			mine := held[id]
			if mine.until <= now {
				mine = lease{} // its running calls were cancelled
			}
			mine.running = random.IntN(mine.permits + 1)
			used := mine.running + random.IntN(mine.permits-mine.running+1) // until the answer
			mine.permits = s.Lease(now, limit, &Request{ID: id, Running: mine.running, Held: used, Waiting: random.IntN(20)}).Permits
			mine.running = used
			mine.until = now.Add(PermitsFor)
			held[id] = mine
			if mine.permits < mine.running {
				t.Fatalf("seed %d: %d permits for %d running deliveries", seed, mine.permits, mine.running)
			}
			sum := 0
			for _, h := range held {
				if h.until > now {
					sum += h.permits
				}
			}
			if sum > limit.Concurrency {
				t.Fatalf("seed %d: %d permits, want at most %d", seed, sum, limit.Concurrency)
			}
			s = restored(t, s)
		}
	}
}

func TestI21_PermitsOfADeadDispatcherReturn(t *testing.T) {
	limit := &timer.FlowLimit{Pattern: "*", Concurrency: 3}
	var s State
	if got := s.Lease(start, limit, &Request{ID: "dead", Waiting: 9}).Permits; got != 3 {
		t.Fatalf("%d permits, want 3", got)
	}
	if got := s.Lease(start.Add(PermitsFor-1), limit, &Request{ID: "b", Waiting: 9}).Permits; got != 0 {
		t.Errorf("%d permits while those of the dead dispatcher are valid", got)
	}
	if got := s.Lease(start.Add(PermitsFor), limit, &Request{ID: "b", Waiting: 9}).Permits; got != 3 {
		t.Errorf("%d permits after %v, want 3", got, PermitsFor)
	}
}

func TestPermitsAreShared(t *testing.T) {
	limit := &timer.FlowLimit{Pattern: "*", Concurrency: 10}
	var s State
	s.Lease(start, limit, &Request{ID: "a", Waiting: 50})
	if got := s.Lease(start, limit, &Request{ID: "b", Waiting: 50}).Permits; got != 0 {
		t.Errorf("%d permits, want none yet", got)
	}
	if got := s.Lease(start, limit, &Request{ID: "a", Running: 7, Held: 7, Waiting: 50}).Permits; got != 7 {
		t.Errorf("%d permits, want the 7 in use", got)
	}
	if got := s.Lease(start, limit, &Request{ID: "b", Waiting: 50}).Permits; got != 3 {
		t.Errorf("%d permits, want the 3 free ones", got)
	}
	if got := s.Lease(start, limit, &Request{ID: "a", Running: 2, Held: 2, Waiting: 50}).Permits; got != 5 {
		t.Errorf("%d permits, want the share, 5", got)
	}
}

func TestUnusedFlowHasNoState(t *testing.T) {
	limit := rateOf(10, time.Second, 2)
	limit.Concurrency = 2
	var s State
	s.Lease(start, limit, &Request{ID: "a", Slots: 2, Waiting: 2, Turns: 1, Every: time.Second})
	s.Lease(start.Add(time.Millisecond), limit, &Request{ID: "a"})
	if s.String() == "" {
		t.Error("the state of the rate is lost")
	}
	s.Lease(start.Add(2*time.Second), limit, &Request{ID: "a"})
	if s.String() != "" {
		t.Errorf("state %q, want none", s.String())
	}
}

// TestI15_AClockThatWasSetBackStopsNoFlow: a state with times of a wrong clock is corrected.
func TestI15_AClockThatWasSetBackStopsNoFlow(t *testing.T) {
	limit := rateOf(10, time.Second, 1)
	limit.Concurrency = 2
	var s State
	s.Lease(start.Add(time.Hour), limit, &Request{ID: "a", Slots: 5, Waiting: 2})
	now := start
	for now.Sub(start) < PermitsFor+2*clockMargin {
		now = now.Add(100 * time.Millisecond)
		if g := s.Lease(now, limit, &Request{ID: "b", Slots: 1, Waiting: 1}); len(g.Slots) > 0 && g.Permits > 0 {
			return
		}
	}
	t.Errorf("no slot or permit %v later: %s", now.Sub(start), s.String())
}

// TestTurnsFollowEachOther: each dispatcher gets the turns after those of the others.
func TestTurnsFollowEachOther(t *testing.T) {
	limit := rateOf(10, time.Second, 1)
	var s State
	turns := func(id string, now Instant, n int) time.Duration {
		r := Request{ID: id, Waiting: 1, Turns: n, Every: 100 * time.Millisecond, TurnsAfter: now.Add(2 * time.Second)}
		return s.Lease(now, limit, &r).TurnsFrom.Sub(start)
	}
	for _, c := range []struct {
		id   string
		at   time.Duration
		n    int
		from time.Duration
	}{{"a", 0, 10, 2 * time.Second}, {"b", 0, 5, 3 * time.Second}, {"a", 0, 1, 3500 * time.Millisecond}, {"b", 10 * time.Second, 1, 12 * time.Second}} {
		if got := turns(c.id, start.Add(c.at), c.n); got != c.from {
			t.Errorf("%+v: the first turn is at %v", c, got)
		}
	}
}

func TestUse(t *testing.T) {
	limit := rateOf(10, time.Minute, 1)
	var s State
	s.Lease(start, limit, &Request{ID: "a", Running: 1, Waiting: 2, Turns: 40, Every: Interval(limit.Rate)})
	if got, want := s.Use(start, limit), (Use{Running: 1, Waiting: 2, Backlog: 40, Dispatchers: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"next":1,"tail":2,"holders":[{"id":"a","until":3,"permits":1}]}`)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		limit := rateOf(10, time.Second, 3)
		limit.Concurrency = 4
		g := s.Lease(start, limit, &Request{ID: "x", Slots: 100, Waiting: 10})
		if len(g.Slots) > 13 || g.Permits > 4 {
			t.Errorf("%q grants %d slots and %d permits", text, len(g.Slots), g.Permits)
		}
	})
}

// TestUnused: a state is unused only when its slots, its turns and its leases are over.
func TestUnused(t *testing.T) {
	for name, s := range map[string]State{
		"slot": {NextAt: start + 1}, "turn": {TailAt: start + 1}, "holder": {Holders: []Holder{{ID: "a", Until: start + 1}}},
		"slack": {Slack: 1, SlackAt: start.Add(-time.Hour)},
	} {
		if s.Unused(start) {
			t.Errorf("%s: unused", name)
		}
	}
	over := State{NextAt: start, TailAt: start, Slack: 1, SlackAt: start.Add(-8 * 24 * time.Hour), Holders: []Holder{{ID: "a", Until: start}}}
	if !over.Unused(start) {
		t.Error("a state whose times are over is in use")
	}
}

func TestUnusedTurnsEndTheBacklog(t *testing.T) {
	for idle, want := range map[time.Duration]time.Duration{8 * time.Second: 3600 * time.Second, 12 * time.Second: 12 * time.Second} {
		var s State
		s.Lease(start, rateOf(1, time.Second, 1), &Request{ID: "a", Slots: 1, Turns: 3600, Every: time.Second})
		got := s.Lease(start.Add(idle), rateOf(1, time.Second, 1), &Request{ID: "a", Turns: 1, Every: time.Second}).TurnsFrom.Sub(start)
		if got != want {
			t.Errorf("after %v without a delivery the next turn is at %v, want %v", idle, got, want)
		}
	}
}

// TestABurstEndsTheBacklog: with a burst, slots can be used before their times.
func TestABurstEndsTheBacklog(t *testing.T) {
	limit := rateOf(3600, time.Hour, 3600)
	var s State
	s.Lease(start, limit, &Request{ID: "a", Slots: 3600, Turns: 3600, Every: time.Second})
	now := start.Add(2 * time.Hour)
	s.Lease(now, limit, &Request{ID: "a", Slots: 3600, Turns: 3600, Every: time.Second})
	now = now.Add(20 * time.Second)
	if got := s.Lease(now, limit, &Request{ID: "a", Turns: 1, Every: time.Second}).TurnsFrom; got != now {
		t.Errorf("the next turn is in %v", got.Sub(now))
	}
}

// TestNoSlotsWithoutPermits: two dispatchers of which each had what the other one lacked delivered nothing.
func TestNoSlotsWithoutPermits(t *testing.T) {
	limit := rateOf(2, 4*time.Second, 1)
	limit.Concurrency = 1
	var s State
	if g := s.Lease(start, limit, &Request{ID: "a", Waiting: 1}); g.Permits != 1 {
		t.Fatalf("%+v, want the permit", g)
	}
	if g := s.Lease(start, limit, &Request{ID: "b", Slots: 1, Waiting: 1}); g.Permits != 0 || len(g.Slots) != 0 {
		t.Errorf("%+v, want neither a permit nor a slot", g)
	}
	if g := s.Lease(start, limit, &Request{ID: "a", Slots: 1, Waiting: 1, Held: 1}); len(g.Slots) != 1 {
		t.Errorf("%+v, want a slot", g)
	}
}
