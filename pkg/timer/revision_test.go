package timer_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/pkg/timer"
)

// hand is a clock that a test sets.
type hand struct{ at timer.Millis }

func (h *hand) now() timer.Millis { return h.at }

func revisions(clock timer.Clock, seed uint64) *timer.Revisions {
	return timer.NewRevisions(clock, rand.New(rand.NewPCG(seed, 0)).Uint64)
}

const present timer.Millis = 1896080400000

func TestI3_RevisionsNeverRepeatInABurst(t *testing.T) {
	clock := &hand{present}
	source := revisions(clock.now, 1)
	last := timer.Revision(0)
	for i := range 100_000 { // within one millisecond
		r := source.Next()
		if r <= last {
			t.Fatalf("revision %d is %s after %s", i, r, last)
		}
		last = r
	}
	// However far the revisions are ahead of the clock, the next one is larger.
	clock.at++
	if r := source.Next(); r <= last {
		t.Fatalf("a millisecond later: %s after %s", r, last)
	}
}

func TestI3_RevisionsNeverRepeatWhenTheClockGoesBack(t *testing.T) {
	clock := &hand{present}
	source := revisions(clock.now, 2)
	random := rand.New(rand.NewPCG(3, 3))
	seen := map[timer.Revision]bool{}
	last := timer.Revision(0)
	for i := range 20_000 {
		clock.at += timer.Millis(random.IntN(2001) - 1000)
		if i%5_000 == 0 {
			clock.at -= 24 * 3600 * 1000 // a user set the clock
		}
		r := source.Next()
		if seen[r] || r <= last {
			t.Fatalf("revision %d is %s after %s", i, r, last)
		}
		seen[r], last = true, r
	}
}

func TestI13_RevisionsOfPostponedTimers(t *testing.T) {
	clock := &hand{present}
	source := revisions(clock.now, 4)
	last := timer.Revision(0)
	for i := range 100_000 {
		times, started := i%11, i%3 == 1
		var r timer.Revision
		if times > 0 {
			r = source.NextPostponed(times, started)
		} else {
			r, started = source.Next(), false
		}
		want := min(times, timer.MaxPostponements)
		if r <= last || r.MaybeStarted() != started || r.Postponements() != want {
			t.Fatalf("revision %d is %s after %s: started %t, want %t; %d postponements, want %d",
				i, r, last, r.MaybeStarted(), started, r.Postponements(), want)
		}
		last = r
	}
	// A damaged message may contain any number.
	for _, r := range []timer.Revision{0, -1, -0x602, -1<<63 | 0x1fe, 1<<63 - 1} {
		if n := r.Postponements(); n < 0 || n > timer.MaxPostponements {
			t.Errorf("revision %s has %d postponements", r, n)
		}
	}
	// Those of earlier releases have random bits instead.
	earlier, random := 0, rand.New(rand.NewPCG(5, 5))
	for range 100_000 {
		if timer.Revision(random.Int64()).MaybeStarted() {
			earlier++
		}
	}
	if earlier > 100_000/200 {
		t.Errorf("%d of 100,000 revisions of earlier releases say so, want about 390", earlier)
	}
}

// TestI3_RevisionsNeverRepeatAfterARestart: a new process has only the clock, which may be behind the clock part of the
// old process's revisions; only the random bits distinguish them.
func TestI3_RevisionsNeverRepeatAfterARestart(t *testing.T) {
	clock := &hand{present}
	seen := map[timer.Revision]bool{}
	for life := range uint64(200) {
		source := revisions(clock.now, 100+life)
		for range 3 {
			r := source.Next()
			if seen[r] {
				t.Fatalf("life %d repeats %s", life, r)
			}
			seen[r] = true
		}
		clock.at += timer.Millis(life%3) - 1 // sometimes the clock also goes back
	}
}

func TestI3_RevisionsNeverRepeatInTwoProcessesInTheSameMillisecond(t *testing.T) {
	clock := &hand{present}
	a, b := revisions(clock.now, 11), revisions(clock.now, 12)
	seen := map[timer.Revision]bool{}
	for range 10_000 {
		for _, r := range []timer.Revision{a.Next(), b.Next()} {
			if seen[r] {
				t.Fatalf("%s was made twice", r)
			}
			seen[r] = true
		}
		clock.at++
	}
}

func TestI3_RevisionsNeverRepeatAcrossGoroutines(t *testing.T) {
	const workers, each = 8, 5_000
	clock := &hand{present}
	source := revisions(clock.now, 21)
	made := make([][]timer.Revision, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for range each {
				made[w] = append(made[w], source.Next())
			}
		})
	}
	group.Wait()
	seen := map[timer.Revision]bool{}
	for w := range made {
		for i, r := range made[w] {
			if seen[r] {
				t.Fatalf("%s was made twice", r)
			}
			if i > 0 && r <= made[w][i-1] {
				t.Fatalf("%s came after %s", r, made[w][i-1])
			}
			seen[r] = true
		}
	}
}

// TestI3_ARevisionThatIsSkippedIsNotRepeated: a plain revision never looks like that of a postponement, so the next one is
// taken.
func TestI3_ARevisionThatIsSkippedIsNotRepeated(t *testing.T) {
	bits := []uint64{0xff, 0} // the first revision would be that of a postponement
	source := timer.NewRevisions((&hand{present}).now, func() uint64 {
		next := bits[0]
		bits = bits[1:]
		return next
	})
	first, second := source.Next(), source.Next()
	if first.Postponements() != 0 || second <= first {
		t.Fatalf("%s came after %s", second, first)
	}
}

// TestRevisionsArePositive: also with a clock that is far off, in either direction.
func TestRevisionsArePositive(t *testing.T) {
	for _, at := range []timer.Millis{
		math.MinInt64, -1, 0, 1, present, 1<<42 - 1 /* 2109 */, 1 << 42, 1 << 43, math.MaxInt64,
	} {
		clock := &hand{at}
		source := revisions(clock.now, 5)
		for range 10 {
			if r := source.Next(); r <= 0 {
				t.Errorf("with the clock at %d ms: %d", int64(at), int64(r))
			}
		}
	}
}

func TestRevisionsStayNearTheClock(t *testing.T) {
	clock := &hand{present}
	source := revisions(clock.now, 6)
	for range 1000 {
		r := source.Next()
		if ms := timer.Millis(r >> 21); ms < clock.at || ms > clock.at+1 {
			t.Fatalf("%s tells %s at %s", r, ms, clock.at)
		}
		clock.at++
	}
}

func TestParseGeneration(t *testing.T) {
	for _, g := range []timer.Generation{1, 1 << 53, 1<<53 + 1, math.MaxInt64} {
		if got, err := timer.ParseGeneration(g.String()); err != nil || got != g {
			t.Errorf("%s came back as %s, %v", g, got, err)
		}
	}
	for _, s := range []string{
		"", "0", "-1", "9223372036854775808", "1.0", "1e3", " 1", "1 ", "0x1", "one", "１",
	} {
		got, err := timer.ParseGeneration(s)
		var invalid *timer.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "generation" || got != 0 {
			t.Errorf("ParseGeneration(%q) = %s, %v; want it refused", s, got, err)
		}
	}
	if got := timer.Revision(42).String(); got != "42" {
		t.Errorf("revision 42 is written %s", got)
	}
}

func FuzzParseGeneration(f *testing.F) {
	f.Add("9007199254740993")
	f.Add("+7")
	f.Fuzz(func(t *testing.T, s string) {
		g, err := timer.ParseGeneration(s)
		if err != nil {
			return
		}
		if g <= 0 {
			t.Fatalf("%q was read as %d", s, int64(g))
		}
		if n, err := strconv.ParseInt(s, 10, 64); err != nil || n != int64(g) {
			t.Fatalf("%q was read as %s", s, g)
		}
	})
}
