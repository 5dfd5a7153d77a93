package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/timerbus/timerbus/internal/bench"
)

// workload is the work that every system does. A timer has a payload of bench.SmallPayload bytes and calls the receiver
// over HTTP.
type workload struct {
	PayloadBytes int `json:"payloadBytes"`
	// Creates timers are created one by one over Connections connections. All other timers are created in batches of
	// Batch over BatchConnections connections.
	Creates          int `json:"creates"`
	Connections      int `json:"connections"`
	BatchConnections int `json:"batchConnections"`
	Batch            int `json:"batch"`
	// Backlog timers are due at the same time.
	Backlog int `json:"backlog"`
	// Rates are timers per second that are due evenly for Seconds, with each number of Pending others.
	Pending []int   `json:"pending"`
	Rates   []int   `json:"rates"`
	Seconds float64 `json:"seconds"`

	// margin is the time between the expected end of the creates and the first due time. It is longer than the 5 s between
	// two looks of River for jobs that are due soon; jobs that are created later than that fire late.
	margin time.Duration
	// settle is how long after the last callback processor time is still counted, so that written outcomes are included.
	settle time.Duration
	// patience is how long callbacks may fail to arrive before a phase fails.
	patience time.Duration
}

func fullWorkload() workload {
	return workload{
		PayloadBytes: bench.SmallPayload, Creates: 50_000, Connections: 64, BatchConnections: 8, Batch: bench.BatchSize,
		Backlog: 50_000, Pending: []int{100_000, 1_000_000}, Rates: []int{500, 5_000}, Seconds: 30,
		margin: 6 * time.Second, settle: time.Second, patience: time.Minute,
	}
}

// shortWorkload runs the same code on few timers.
func shortWorkload() workload {
	w := fullWorkload()
	w.Creates, w.Backlog, w.Pending, w.Seconds = 2_000, 5_000, []int{5_000}, 1
	return w
}

// steady returns the number of timers at a rate, and the time between two of them.
func (w *workload) steady(rate int) (count int, every time.Duration) {
	return int(float64(rate) * w.Seconds), time.Second / time.Duration(rate)
}

func (w *workload) check() error {
	if w.Creates < 1 || w.Connections < 1 || w.BatchConnections < 1 || w.Batch < 1 || w.Backlog < 1 || len(w.Pending) == 0 {
		return errors.New("workload: want at least one timer and one connection in each phase")
	}
	least := w.Creates
	for _, pending := range w.Pending {
		if pending < least {
			return fmt.Errorf("workload: %d pending is not accepted: want at least %d, those of the phase before", pending, least)
		}
		least = pending
	}
	for _, rate := range w.Rates {
		if rate < 1 || rate > 10_000 || float64(rate)*w.Seconds < 1 {
			return fmt.Errorf("workload: %d timers/s for %g s is not accepted: want 1 to 10,000 a second, at least one", rate, w.Seconds)
		}
	}
	return nil
}

// creation is a set of timers that a client creates. The n-th one is due n times Every after Due.
type creation struct {
	Prefix      string        `json:"prefix"`
	Count       int           `json:"count"`
	Connections int           `json:"connections"`
	Batch       int           `json:"batch"`
	Due         time.Time     `json:"due"`
	Every       time.Duration `json:"every"`
}

// at returns when the n-th timer is due, in milliseconds as all systems store it.
func (c *creation) at(n int) time.Time {
	return c.Due.Add(time.Duration(n) * c.Every).Truncate(time.Millisecond)
}

// compact formats 100000 as 100k and 1000000 as 1m, for keys.
func compact(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + "m"
	case n >= 1000 && n%1000 == 0:
		return strconv.Itoa(n/1000) + "k"
	default:
		return strconv.Itoa(n)
	}
}
