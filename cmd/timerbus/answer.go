package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// answers configures how the receiver answers callbacks.
type answers struct {
	status    int
	nextIn    time.Duration
	nextAt    string
	times     int
	delay     time.Duration
	failFirst int

	at timer.Millis // nextAt as parsed by check

	mu   sync.Mutex
	seen map[string]int // number of callbacks by timer
}

func (a *answers) flags(c *cobra.Command) {
	c.Flags().IntVar(&a.status, "status", http.StatusOK, "HTTP status of the answers, 200 to 599")
	durationFlag(c, &a.nextIn, "next-execute-in", 0, "answer with a nextExecuteAt this long from now")
	c.Flags().StringVar(&a.nextAt, "next-execute-at", "", "answer with this nextExecuteAt, such as 2030-01-31T09:00:00Z")
	c.Flags().IntVar(&a.times, "times", 1, "number of answers to each timer with nextExecuteAt; 0: all")
	durationFlag(c, &a.delay, "delay", 0, "time to wait before each answer")
	c.Flags().IntVar(&a.failFirst, "fail-first", 0, "number of callbacks of each timer to answer with 503 first")
}

func (a *answers) check() error {
	switch {
	case a.status < http.StatusOK || a.status > 599:
		return usagef("--status: %d is not accepted: want 200 to 599", a.status)
	case a.nextIn < 0:
		return usagef("--next-execute-in: %v is not accepted: want a positive duration such as 5s", a.nextIn)
	case a.times < 0:
		return usagef("--times: %d is not accepted: want 0 or more", a.times)
	case a.delay < 0:
		return usagef("--delay: %v is not accepted: want a positive duration such as 500ms", a.delay)
	case a.failFirst < 0:
		return usagef("--fail-first: %d is not accepted: want 0 or more", a.failFirst)
	case a.nextAt == "":
		return nil
	}
	at, err := timer.ParseMillis(a.nextAt)
	if err != nil {
		return usagef("--next-execute-at: %w", err)
	}
	a.at = at
	return nil
}

// maxSeen limits the number of timers in answers.seen. When the limit is reached, the map is cleared and all timers
// count as new.
const maxSeen = 1 << 20

// to returns the answer to the next callback of a timer.
func (a *answers) to(d *event.Delivery, now timer.Millis) (status int, body json.RawMessage) {
	again := a.nextIn > 0 || a.nextAt != ""
	if !again && a.failFirst == 0 {
		return a.status, nil
	}
	n := a.count(event.Subject(d.Namespace, d.TimerID)) - a.failFirst
	switch {
	case n <= 0:
		return http.StatusServiceUnavailable, nil
	case !again || a.times > 0 && n > a.times:
		return a.status, nil
	}
	next := a.at
	if a.nextIn > 0 {
		next = now.Add(a.nextIn)
	}
	return a.status, json.RawMessage(fmt.Sprintf(`{"ok":true,"nextExecuteAt":%q}`, next))
}

func (a *answers) count(subject string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil || len(a.seen) >= maxSeen {
		a.seen = map[string]int{}
	}
	a.seen[subject]++
	return a.seen[subject]
}
