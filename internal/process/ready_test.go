package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestReadinessAsksAtMostOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		failure := errors.New("10.0.0.7 is away")
		fail := false
		r := NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler),
			Check{Component: "first", Reason: "the first does not answer", Run: func(context.Context) error { return nil }},
			Check{Component: "second", Reason: "the second does not answer", Run: func(ctx context.Context) error {
				asked++
				if _, bounded := ctx.Deadline(); !bounded {
					t.Error("a question without a bound")
				}
				if fail {
					return failure
				}
				return nil
			}})
		for range 10 {
			if got := r.Check(); len(got) != 0 {
				t.Fatalf("not ready: %v", got)
			}
		}
		fail = true
		if got := r.Check(); len(got) != 0 || asked != 1 {
			t.Errorf("%v, asked %d times within a second", got, asked)
		}
		time.Sleep(time.Second)
		got := r.Check()
		if len(got) != 1 || got[0].Reason != "the second does not answer" || !errors.Is(got[0], failure) || asked != 2 {
			t.Errorf("%v, asked %d times", got, asked)
		}
		// A recovery is noticed soon.
		fail = false
		if got := r.Check(); len(got) != 1 || asked != 2 {
			t.Errorf("%v, asked %d times at once", got, asked)
		}
		time.Sleep(50 * time.Millisecond)
		if got := r.Check(); len(got) != 0 || asked != 3 {
			t.Errorf("not ready 50 ms after everything works: %v, asked %d times", got, asked)
		}
	})
}

// part is a component of a process under test.
type part struct {
	mu    sync.Mutex
	err   error
	hangs bool
}

func (p *part) set(err error, hangs bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err, p.hangs = err, hangs
}

func (p *part) ask(ctx context.Context) error {
	p.mu.Lock()
	err, hangs := p.err, p.hangs
	p.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// described formats failures as text.
func described(failures []*ComponentError) string {
	var out []string
	for _, f := range failures {
		effect := "required"
		if f.Degrades {
			effect = "degrades"
		}
		out = append(out, f.Component+" "+effect)
	}
	return strings.Join(out, ", ")
}

func TestReadinessWithoutAPartThatOnlyDegrades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var store, bus part
		var log bytes.Buffer
		away := errors.New("away")
		r := NewReadiness(timer.SystemClock, 2*time.Second, slog.New(slog.NewTextHandler(&log, nil)),
			Check{Component: "store", Reason: "the store does not answer", Run: store.ask},
			Check{Component: "bus", Reason: "the bus does not answer", Degrades: true, Run: bus.ask})
		want := func(when, parts string, status int) {
			t.Helper()
			time.Sleep(readyFor)
			failures := r.Check()
			got, health := HealthOf(failures)
			if described(failures) != parts || got != status || (health.Status == "ready") != (status == http.StatusOK) {
				t.Errorf("%s: %q, %d %+v, want %q, %d", when, described(failures), got, health, parts, status)
			}
		}
		want("at first", "", http.StatusOK)
		bus.set(away, false)
		want("without the bus", "bus degrades", http.StatusOK)
		since := r.Check()[0].Since
		if _, health := HealthOf(r.Check()); len(health.Degraded) != 1 || health.Degraded[0].Reason != "the bus does not answer" ||
			!health.Degraded[0].Since.Equal(since.Time()) || health.Reasons != nil {
			t.Errorf("health %+v", health)
		}
		store.set(away, false)
		want("without both", "store required, bus degrades", http.StatusServiceUnavailable)
		store.set(nil, false)
		want("with the store again", "bus degrades", http.StatusOK)
		if got := r.Check()[0].Since; got != since {
			t.Errorf("the bus is away since %v, and then since %v", since, got)
		}
		// A bus that hangs must not use up the second that a probe waits.
		bus.set(nil, true)
		time.Sleep(readyFor)
		began := time.Now()
		if got := described(r.Check()); got != "bus degrades" || time.Since(began) > degradeTimeout {
			t.Errorf("%q after %v", got, time.Since(began))
		}
		bus.set(nil, false)
		want("with both", "", http.StatusOK)
		for line, n := range map[string]int{`msg=degraded component=bus`: 1, `msg="not ready" component=store`: 1, `msg="component recovered" component=bus`: 1, `msg="component recovered" component=store`: 1} {
			if got := strings.Count(log.String(), line); got != n {
				t.Errorf("%d lines with %s, want %d:\n%s", got, line, n, &log)
			}
		}
	})
}

// TestReadinessDoesNotWaitForACheck: a check that ignores its context, such as a client that waits for DNS, delays no answer and
// is not started a second time.
func TestReadinessDoesNotWaitForACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		answer := make(chan error)
		r := NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler),
			Check{Component: "bus", Reason: "the bus does not answer", Run: func(context.Context) error {
				asked.Add(1)
				return <-answer
			}})
		for range 3 {
			begun := time.Now()
			got := r.Check()
			if took := time.Since(begun); len(got) != 1 || got[0].Reason != "the bus does not answer" || !errors.Is(got[0], context.DeadlineExceeded) || took != time.Second {
				t.Errorf("%v after %s", got, took)
			}
			time.Sleep(time.Second)
		}
		if asked.Load() != 1 {
			t.Errorf("the check that waits was started %d times", asked.Load())
		}
		close(answer)
		synctest.Wait()
		if got := r.Check(); len(got) != 0 || asked.Load() != 2 {
			t.Errorf("not ready after the check has ended: %v, asked %d times", got, asked.Load())
		}
	})
}

// TestReadinessAsksAllAtOnce: two parts that hang must not take twice as long as one.
func TestReadinessAsksAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := part{hangs: true}, part{hangs: true}
		r := NewReadiness(timer.SystemClock, 2*time.Second, slog.New(slog.DiscardHandler),
			Check{Component: "a", Run: a.ask}, Check{Component: "b", Run: b.ask})
		began := time.Now()
		if got := described(r.Check()); got != "a required, b required" || time.Since(began) != 2*time.Second {
			t.Errorf("%q after %v", got, time.Since(began))
		}
	})
}

func TestReadinessRequiresAllPartsAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bus part
		bus.set(errors.New("not subscribed"), false)
		question := Check{Component: "commands", Reason: "commands are not consumed", Degrades: true, Run: bus.ask}
		r := NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler), question)
		if got := described(r.Check()); got != "commands required" {
			t.Errorf("at the start: %q", got)
		}
		time.Sleep(startupGrace - time.Millisecond)
		if got := described(r.Check()); got != "commands required" {
			t.Errorf("before %v: %q", startupGrace, got)
		}
		time.Sleep(unreadyFor)
		if got := described(r.Check()); got != "commands degrades" {
			t.Errorf("after %v: %q", startupGrace, got)
		}

		r = NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler), question)
		bus.set(nil, false)
		if got := described(r.Check()); got != "" {
			t.Errorf("%q", got)
		}
		bus.set(errors.New("away"), false)
		time.Sleep(readyFor)
		if got := described(r.Check()); got != "commands degrades" {
			t.Errorf("after all have worked once: %q", got)
		}
	})
}

// TestReadinessWaitsForASlowPartAtTheStart: a busy machine may need seconds for the first answer of a bus, and must not delay
// the readiness to the end of the startup.
func TestReadinessWaitsForASlowPartAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takes := 900 * time.Millisecond
		r := NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler),
			Check{Component: "bus", Reason: "the bus does not answer", Degrades: true, Run: func(ctx context.Context) error {
				select {
				case <-time.After(takes):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}})
		if got := described(r.Check()); got != "" {
			t.Errorf("at the start: %q", got)
		}
		time.Sleep(readyFor)
		if got := described(r.Check()); got != "bus degrades" {
			t.Errorf("after the start: %q", got)
		}
	})
}

// TestReadinessOfAPartThatOneRoleRequires: a process is not ready if one of its roles is not.
func TestReadinessOfAPartThatOneRoleRequires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bus part
		r := NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler),
			Check{Component: "bus", Reason: "the bus does not answer", Degrades: true, Run: bus.ask},
			Check{Component: "bus", Reason: "the bus does not answer", Run: bus.ask})
		r.Check()
		bus.set(errors.New("away"), false)
		time.Sleep(readyFor)
		if got := described(r.Check()); got != "bus required" {
			t.Errorf("%q", got)
		}
	})
}

// full is an error with a reason.
type full struct{}

func (full) Error() string       { return "disk 7 of 10.0.0.7 is full" }
func (full) ReadyReason() string { return "the disk is full" }

func TestAnErrorMayNameTheReason(t *testing.T) {
	r := NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler),
		Check{Component: "first", Reason: "the first does not answer", Run: func(context.Context) error { return fmt.Errorf("ping: %w", full{}) }},
		Check{Component: "second", Reason: "the second does not answer", Run: func(context.Context) error { return errors.New("away") }})
	got := r.Check()
	if len(got) != 2 || got[0].Reason != "the disk is full" || got[1].Reason != "the second does not answer" {
		t.Errorf("the reasons are %v", got)
	}
}

// TestTheEndOfAnOutageIsSeenSoon: a failure is cached for a shorter time than a success.
func TestTheEndOfAnOutageIsSeenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down, asked := true, 0
		r := NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler), Check{
			Reason: "the store does not answer", Run: func(context.Context) error {
				asked++
				if down {
					return errors.New("away")
				}
				return nil
			},
		})
		for range 10 {
			if len(r.Check()) == 0 {
				t.Fatal("ready without a store")
			}
		}
		if asked != 1 {
			t.Errorf("10 probes asked %d times, want once", asked)
		}
		down = false
		time.Sleep(100 * time.Millisecond)
		if left := r.Check(); len(left) != 0 {
			t.Errorf("100 ms after the end of the outage: %v", left)
		}
	})
}
