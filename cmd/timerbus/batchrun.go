package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// batchFlags are the flags of the commands that read many timers or schedules.
type batchFlags struct {
	size, inFlight, from int
}

func (f *batchFlags) add(c *cobra.Command, noun string) {
	c.Flags().IntVar(&f.size, "batch-size", 500, noun+"s per request, 1 to 1000")
	c.Flags().IntVar(&f.inFlight, "in-flight", 4, "concurrent requests, 1 to 16")
	c.Flags().IntVar(&f.from, "from-line", 1, "skip the lines before this one")
}

func (f *batchFlags) check() error {
	switch {
	case f.size < 1 || f.size > client.MaxBatch:
		return usagef("--batch-size: %d is not accepted: want 1 to %d", f.size, client.MaxBatch)
	case f.inFlight < 1 || f.inFlight > 16:
		return usagef("--in-flight: %d is not accepted: want 1 to 16", f.inFlight)
	case f.from < 1:
		return usagef("--from-line: %d is not accepted: want 1 or more", f.from)
	default:
		return nil
	}
}

// batchRun reads lines, sends them in concurrent batches and reports the results. T is an item, and R its result.
type batchRun[T, R any] struct {
	*program

	flags  batchFlags
	json   bool
	of     batchOf
	verb   string // past participle for the report: "created"
	parse  func([]byte) (T, error)
	id     func(*T) string
	send   func(context.Context, []T) ([]R, error)
	result func(*R) (inTime bool, err *client.Error)

	line *progress
}

// batchOf is what the items of a batch are about.
type batchOf struct {
	noun string // "timer"
	late string // format of the part of the report about the items that were not in time
}

func batchOfTimers() batchOf {
	return batchOf{noun: "timer", late: " (earlier deliveries of %s may have gone out)"}
}

func batchOfSchedules() batchOf {
	return batchOf{noun: "schedule", late: " (%s may have created an occurrence at this moment)"}
}

// batchReport is printed when the run ends.
type batchReport struct {
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	// Late counts the succeeded timers whose earlier delivery may have gone out, or the schedules that may have created an
	// occurrence.
	Late int `json:"late"`
	// LastLine is the largest line number up to which every line was answered.
	LastLine  int     `json:"lastLine"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"perSecond"`
}

type answered[T, R any] struct {
	chunk[T]

	results []R
	err     error
}

func (b *batchRun[T, R]) run(ctx context.Context, in io.Reader) error {
	b.line = b.progress(b.json)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	lines, chunks := make(chan line), make(chan chunk[T])
	unreadable := make(chan error, 1)
	go func() {
		// Send the cause before closing lines: a receiver that sees the closed channel then finds the cause.
		unreadable <- readLines(ctx, in, b.flags.from, lines)
		close(lines)
	}()
	answers := make(chan answered[T, R])
	var working sync.WaitGroup
	working.Go(func() { gather(ctx, lines, b.flags.size, b.parse, chunks) })
	for range b.flags.inFlight {
		working.Go(func() { b.work(ctx, chunks, answers) })
	}
	go func() {
		working.Wait()
		close(answers)
	}()
	report, err := b.collect(answers, stop)
	if err == nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	select {
	case cause := <-unreadable:
		err = errors.Join(err, cause)
	default: // readLines is still blocked on the input; do not wait for it
	}
	return b.printReport(&report, err)
}

// work sends chunks until the channel is closed. It cancels a request in flight when ctx ends; the lines of that
// request do not count as answered.
func (b *batchRun[T, R]) work(ctx context.Context, chunks <-chan chunk[T], answers chan<- answered[T, R]) {
	for c := range chunks {
		a := answered[T, R]{chunk: c}
		if len(c.items) > 0 {
			a.results, a.err = b.send(ctx, c.items)
		}
		answers <- a
	}
}

// collect counts the answers and prints the failures. When the first request fails as a whole, collect cancels the reading
// of further lines and the requests in flight, and waits for their answers.
func (b *batchRun[T, R]) collect(answers <-chan answered[T, R], stop context.CancelCauseFunc) (batchReport, error) {
	report := batchReport{LastLine: b.flags.from - 1}
	var failed error
	early := map[int]int{} // last line by sequence, of chunks that were answered before an earlier chunk
	next := 0
	for a := range answers {
		if a.err != nil {
			if failed == nil {
				failed = a.err
				stop(a.err)
			}
			continue
		}
		b.count(&report, &a)
		early[a.sequence] = a.last
		for last, there := early[next]; there; last, there = early[next] {
			delete(early, next)
			report.LastLine = last
			next++
		}
		b.line.show(time.Now(), func() string {
			return fmt.Sprintf("%s, %s failed, %s, line %s", counted(report.Succeeded, b.of.noun)+" "+b.verb, thousands(report.Failed),
				b.line.rate(report.Succeeded+report.Failed, time.Now()), thousands(report.LastLine))
		})
	}
	b.line.clear()
	report.Seconds = time.Since(b.line.begun).Seconds()
	report.PerSecond = float64(report.Succeeded+report.Failed) / max(report.Seconds, 1e-3)
	return report, failed
}

func (b *batchRun[T, R]) count(report *batchReport, a *answered[T, R]) {
	for i := range a.refused {
		b.failed(report, &a.refused[i])
	}
	for i := range a.results {
		inTime, err := b.result(&a.results[i])
		if err != nil {
			f := refusedBy(a.numbers[i], fmt.Sprintf("%ss[%d]", b.of.noun, i), err)
			f.name(b.of.noun, b.id(&a.items[i]))
			b.failed(report, &f)
			continue
		}
		report.Succeeded++
		if !inTime {
			report.Late++
		}
	}
}

func (b *batchRun[T, R]) failed(report *batchReport, f *failure) {
	report.Failed++
	b.line.clear()
	if b.json {
		// One line per failure, because there may be many; the report is the last line.
		if err := printLine(b.stdout, f); err == nil {
			return
		}
	}
	fmt.Fprintln(b.stderr, f)
}

// printReport prints the report. If lines are left, the error has a hint with the line to continue from.
func (b *batchRun[T, R]) printReport(report *batchReport, err error) error {
	if b.json {
		if e := printLine(b.stdout, report); e != nil {
			return errors.Join(err, e)
		}
	} else {
		late := ""
		if report.Late > 0 {
			late = fmt.Sprintf(b.of.late, thousands(report.Late))
		}
		fmt.Fprintf(b.stdout, "%s %s%s, %s failed, in %.1f s (%s/s)\n", counted(report.Succeeded, b.of.noun), b.verb, late,
			thousands(report.Failed), report.Seconds, thousands(int(report.PerSecond)))
	}
	switch {
	case err != nil:
		return hintedError{err, fmt.Sprintf("every line up to %d was answered, later lines may have been; continue with --from-line %d",
			report.LastLine, report.LastLine+1)}
	case report.Failed > 0:
		return fmt.Errorf("%s of %s failed", thousands(report.Failed), counted(report.Failed+report.Succeeded, "line"))
	default:
		return nil
	}
}
