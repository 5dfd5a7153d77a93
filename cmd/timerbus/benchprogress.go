package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/bench"
	"github.com/timerbus/timerbus/internal/process"
)

// progressLine shows the current step of a benchmark: on a terminal as one line that is overwritten, otherwise as one
// line per step.
type progressLine struct {
	progress bench.Progress
	out      io.Writer
	terminal bool
	started  time.Time
}

func newProgressLine(out io.Writer) *progressLine {
	l := &progressLine{out: out, started: time.Now(), terminal: process.IsTerminal(out)}
	if !l.terminal {
		l.progress.Began = func(s bench.Step) {
			fmt.Fprintf(out, "%5.1fs %-8s %s%s\n", time.Since(l.started).Seconds(), s.Phase, s.What, of(s))
		}
	}
	return l
}

func of(s bench.Step) string {
	if s.Total == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d)", s.Total)
}

// show redraws the line every 200 ms until stop is called.
func (l *progressLine) show() (stop func()) {
	if !l.terminal {
		return func() {}
	}
	done := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				fmt.Fprint(l.out, "\r\x1b[K")
				return
			case <-tick.C:
				step, n := l.progress.Now()
				line := fmt.Sprintf("%5.1fs %-8s %s", time.Since(l.started).Seconds(), step.Phase, step.What)
				if step.Total > 0 {
					line += fmt.Sprintf(" %d of %d", n, step.Total)
				}
				fmt.Fprint(l.out, "\r\x1b[K"+short(line, 100))
			}
		}
	})
	return func() {
		close(done)
		shown.Wait()
	}
}
