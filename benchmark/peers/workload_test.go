package main

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/bench"
)

func TestWorkloads(t *testing.T) {
	for name, w := range map[string]workload{"full": fullWorkload(), "short": shortWorkload()} {
		if err := w.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := fullWorkload()
	if w.PayloadBytes != 200 || w.Backlog != 50_000 || w.Pending[0] != 100_000 || w.Pending[1] != 1_000_000 {
		t.Errorf("the full workload is not that of the documentation: %+v", w)
	}
	for rate, want := range map[int]int{500: 15_000, 5_000: 150_000} {
		if count, every := w.steady(rate); count != want || every*time.Duration(rate) != time.Second {
			t.Errorf("%d/s: %d timers, one every %v, want %d", rate, count, every, want)
		}
	}
}

func TestWorkloadsThatAreNotAccepted(t *testing.T) {
	for name, change := range map[string]func(w *workload){
		"no creates":                 func(w *workload) { w.Creates = 0 },
		"no pending":                 func(w *workload) { w.Pending = nil },
		"fewer pending than creates": func(w *workload) { w.Pending = []int{w.Creates - 1} },
		"pending that falls":         func(w *workload) { w.Pending = []int{100_000, 99_999} },
		"no timer at a rate":         func(w *workload) { w.Rates = []int{0} },
		"a rate that is too high":    func(w *workload) { w.Rates = []int{10_001} },
	} {
		w := fullWorkload()
		change(&w)
		if err := w.check(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestTimersAreDueEvenly(t *testing.T) {
	due := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := creation{Prefix: "a-", Count: 10_000, Due: due, Every: 200 * time.Microsecond}
	for n, want := range map[int]time.Duration{0: 0, 4: 0, 5: time.Millisecond, 5_000: time.Second} {
		if got := c.at(n).Sub(due); got != want {
			t.Errorf("timer %d is due after %v, want %v", n, got, want)
		}
	}
	if want := string(bench.AppendDelivery(nil, "a-", 5_000, due.Add(time.Second))); string(c.delivery(5_000)) != want {
		t.Errorf("delivery %s, want %s", c.delivery(5_000), want)
	}
}

func TestCompact(t *testing.T) {
	for n, want := range map[int]string{1_000_000: "1m", 100_000: "100k", 1_500_000: "1500k", 999: "999", 1001: "1001"} {
		if got := compact(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
