package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/timerbus/timerbus/internal/process"
)

// progress is one status line about a long operation. On a terminal the line is overwritten, otherwise a new line is
// printed every 5 s.
type progress struct {
	to       io.Writer
	terminal bool
	every    time.Duration
	begun    time.Time
	shown    time.Time
	standing bool // the terminal shows a line without a line end
}

// progress returns a progress line on the error output. With --json on something other than a terminal it prints
// nothing, because a program may read the error output and expects only an error.
func (p *program) progress(json bool) *progress {
	if json && !process.IsTerminal(p.stderr) {
		return newProgress(io.Discard, time.Now())
	}
	return newProgress(p.stderr, time.Now())
}

func newProgress(to io.Writer, now time.Time) *progress {
	p := &progress{to: to, terminal: process.IsTerminal(to), every: 5 * time.Second, begun: now, shown: now}
	if p.terminal {
		p.every = 200 * time.Millisecond
	}
	return p
}

// show prints line() unless less than p.every has passed since the last line.
func (p *progress) show(now time.Time, line func() string) {
	if now.Sub(p.shown) < p.every {
		return
	}
	p.shown = now
	if !p.terminal {
		fmt.Fprintln(p.to, line())
		return
	}
	fmt.Fprintf(p.to, "\r\x1b[K%s", line())
	p.standing = true
}

// clear removes the line from the terminal, so that other lines can be printed.
func (p *progress) clear() {
	if p.standing {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.standing = false
	}
}

// rate formats n per second since the beginning.
func (p *progress) rate(n int, now time.Time) string {
	seconds := now.Sub(p.begun).Seconds()
	if seconds <= 0 {
		return "-/s"
	}
	return thousands(int(float64(n)/seconds)) + "/s"
}

// thousands groups the digits of a number that is not negative: 12,503.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// counted formats a count with its noun: "1 timer", "2 timers".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}
