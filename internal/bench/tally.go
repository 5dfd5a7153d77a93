package bench

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Report is what a receiver has counted since the last expect request. Times are by the receiver's clock.
type Report struct {
	Expected int `json:"expected"`
	// Received counts timers, Duplicates further callbacks of the same timers, Strays callbacks of other timers.
	Received   int `json:"received"`
	Duplicates int `json:"duplicates"`
	Strays     int `json:"strays"`
	// Early counts callbacks that arrived before their executeAt.
	Early int `json:"early"`
	// First and Last are the arrivals of the first callbacks of the first and the last timer.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Lateness is arrival minus executeAt over all timers, in milliseconds.
	Lateness Lateness `json:"latenessMs"`
	// CPUSeconds is the receiver's processor time since it began.
	CPUSeconds float64 `json:"cpuSeconds"`
}

// Lateness is a distribution in milliseconds.
type Lateness struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// tally counts callbacks.
type tally struct {
	mu       sync.Mutex
	prefix   string
	seen     []uint64 // one bit per timer of the set
	report   Report
	lateness samples
}

// expect resets the counts and expects the count timers of the set with a prefix.
func (t *tally) expect(prefix string, count int) error {
	if count < 0 || count > maxSet {
		return fmt.Errorf("count %d is not accepted: want 0 to %d", count, maxSet)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prefix = prefix
	t.seen = make([]uint64, (count+63)/64)
	t.lateness = make(samples, 0, count)
	t.report = Report{Expected: count}
	return nil
}

// count counts one callback.
func (t *tally) count(id []byte, due, arrived time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := number(id, t.prefix)
	if !ok || n >= t.report.Expected {
		t.report.Strays++
		return
	}
	late := arrived.Sub(due)
	if late < 0 {
		t.report.Early++
	}
	bit := uint64(1) << (n % 64)
	if t.seen[n/64]&bit != 0 {
		t.report.Duplicates++
		return
	}
	t.seen[n/64] |= bit
	if t.report.Received++; t.report.Received == 1 {
		t.report.First = arrived
	}
	t.report.Last = arrived
	t.lateness = append(t.lateness, late)
}

// stray counts a request that is not a callback of the expected set.
func (t *tally) stray() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Strays++
}

// look returns the counts. The distribution is included only if whole is set, because it requires sorting.
func (t *tally) look(whole bool) Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.report
	if whole {
		s := slices.Sorted(slices.Values(t.lateness))
		r.Lateness = Lateness{
			P50: milliseconds(samples(s).quantile(.5)), P99: milliseconds(samples(s).quantile(.99)),
			P999: milliseconds(samples(s).quantile(.999)), Max: milliseconds(samples(s).quantile(1)),
		}
	}
	return r
}

// parseDelivery finds the id and the time of a callback without decoding the rest. Both are before any field that a
// user chooses, except names and ids; those of the benchmark contain no quotes.
func parseDelivery(body []byte) (id []byte, executeAt time.Time, ok bool) {
	id, ok = field(body, `"timerId":"`)
	if !ok {
		return nil, time.Time{}, false
	}
	text, ok := field(body, `"executeAt":"`)
	if !ok || len(text) != instantLength {
		return nil, time.Time{}, false
	}
	executeAt, err := time.Parse(instantLayout, string(text))
	return id, executeAt, err == nil
}

func field(body []byte, name string) ([]byte, bool) {
	_, rest, ok := bytes.Cut(body, []byte(name))
	if !ok {
		return nil, false
	}
	value, _, ok := bytes.Cut(rest, []byte{'"'})
	return value, ok
}
