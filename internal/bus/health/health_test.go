package health_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
)

var (
	spec      = bus.Spec{Topic: bus.Due, Group: "g", Mode: bus.Queue}
	errDenied = errors.New("denied")
)

// logger writes lines without times.
func logger(to *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "since" {
			return slog.Attr{}
		}
		return a
	}}))
}

// sleep also runs the timers that are due at its end.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestAnOutageIsOneLineAMinute simulates sixteen partitions that fail every two seconds for three and a half minutes.
func TestAnOutageIsOneLineAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var r health.Registry
		c := r.Begin(spec, logger(&log))
		defer c.End()
		c.Works(health.Member)
		began := time.Now()
		for time.Since(began) < 210*time.Second {
			for p := range 16 {
				c.Opening(health.Partition(p))
				c.Opened(health.Partition(p), 0)
				c.Failed(health.Partition(p), errDenied)
			}
			sleep(2 * time.Second)
		}
		for p := range 16 {
			c.Opened(health.Partition(p), 0)
		}
		sleep(10 * time.Second)
		want := `level=WARN msg="consumer failing, retrying" topic=due group=g part="partition 0" error=denied
level=WARN msg="consumer still failing" topic=due group=g part="partition 0" error=denied failures=481 failing=16
level=WARN msg="consumer still failing" topic=due group=g part="partition 0" error=denied failures=961 failing=16
level=WARN msg="consumer still failing" topic=due group=g part="partition 0" error=denied failures=1441 failing=16
level=INFO msg="consumer recovered" topic=due group=g failures=1680 after=3m33s
`
		if got := log.String(); got != want {
			t.Errorf("logged\n%s\nwant\n%s", got, want)
		}
	})
}

func TestReadyNamesTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r health.Registry
		ready := func(want string) {
			t.Helper()
			err := r.Ready(spec.Topic, spec.Group)
			switch {
			case want == "" && err != nil:
				t.Errorf("not ready: %v", err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, bus.ErrUnavailable)):
				t.Errorf("ready says %v, want %q", err, want)
			}
		}
		ready("does not consume it")
		c := r.Begin(spec, slog.New(slog.DiscardHandler))
		ready("not joined yet")
		c.Opening(health.Partition(3))
		c.Works(health.Member)
		ready("partition 3: the session is not open yet")
		c.Opened(health.Partition(3), time.Second)
		ready("partition 3: the session is not open yet")
		sleep(time.Second)
		ready("")

		// A partition moves to this member, and its session opens slowly.
		c.Opening(health.Partition(4))
		ready("")
		sleep(10 * time.Second)
		ready("partition 4: the session is not open yet")
		c.Opened(health.Partition(4), 0)
		ready("")

		// A failed part counts as working only after a session that lasts.
		for range 3 {
			c.Failed(health.Partition(4), errDenied)
			c.Failed(health.Member, errDenied)
			ready("membership (and 1 more): denied")
			c.Opened(health.Partition(4), 0)
			c.Works(health.Member)
			ready("partition 4: denied")
			sleep(2 * time.Second)
			ready("partition 4: denied")
		}
		c.Opened(health.Partition(4), 0) // the same session
		sleep(time.Second)
		ready("")

		// The fault of a partition that moves to another member is removed.
		c.Failed(health.Partition(4), errDenied)
		c.Works(health.Partition(4))
		ready("")

		other := r.Begin(spec, slog.New(slog.DiscardHandler))
		ready("not joined yet")
		other.End()
		ready("")
		c.Failed(health.Commits, errDenied)
		ready("commits: denied")
		c.End()
		ready("does not consume it")
	})
}

func TestFailuresInARowGrowThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r health.Registry
		c := r.Begin(spec, slog.New(slog.DiscardHandler))
		defer c.End()
		for i, millis := range []int{100, 200, 400, 800, 1600, 2000, 2000} {
			want := time.Duration(millis) * time.Millisecond
			failures := c.Failed(health.Partition(0), errDenied)
			if got := health.Backoff(100*time.Millisecond, failures); got != want {
				t.Errorf("pause %v after failure %d, want %v", got, i+1, want)
			}
			c.Opened(health.Partition(0), 0)
		}
		sleep(3 * time.Second)
		if failures := c.Failed(health.Partition(0), errDenied); failures != 1 {
			t.Errorf("%d failures in a row after a session that lasted, want 1", failures)
		}
		if got := health.Backoff(100*time.Millisecond, 0); got != 100*time.Millisecond {
			t.Errorf("pause %v without a failure", got)
		}
	})
}
