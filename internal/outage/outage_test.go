package outage_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/outage"
)

var errDown = errors.New("down")

// inBubble runs a test in virtual time and compares the log. Attributes whose values are times are omitted.
func inBubble(t *testing.T, want string, run func(l *outage.Log)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "since" {
				return slog.Attr{}
			}
			return a
		}}))
		run(outage.New(log, "service", "operation"))
		synctest.Wait()
		if got := text.String(); got != want {
			t.Errorf("logged\n%s\nwant\n%s", got, want)
		}
	})
}

// TestAnOutageIsALineAMinute: two operations fail ten times a second for ten minutes.
func TestAnOutageIsALineAMinute(t *testing.T) {
	want := "level=WARN msg=\"service failing, retrying\" operation=read error=down rows=3\n"
	for minute := 1; minute < 10; minute++ {
		want += fmt.Sprintf("level=WARN msg=\"service still failing\" operation=read error=down rows=3 failures=%d failing=2\n", 1200*minute+1)
	}
	want += "level=INFO msg=\"service recovered\" failures=12000 after=10m1s\n"
	inBubble(t, want, func(l *outage.Log) {
		l.Succeeded("read")
		for range 6000 {
			l.Failed("read", errDown, "rows", 3)
			l.Failed("write", errDown)
			time.Sleep(100 * time.Millisecond)
		}
		l.Succeeded("read")
		time.Sleep(time.Second)
		l.Succeeded("write")
		time.Sleep(5 * time.Second)
		l.Succeeded("write")
	})
}

// TestCallsThatSometimesFailAreOneOutage: a success between failures does not end it.
func TestCallsThatSometimesFailAreOneOutage(t *testing.T) {
	inBubble(t, `level=WARN msg="service failing, retrying" operation=read error=down
level=INFO msg="service recovered" failures=10 after=37s
level=WARN msg="service failing, retrying" operation=read error=down
`, func(l *outage.Log) {
		for range 10 {
			l.Failed("read", errDown)
			time.Sleep(time.Second)
			l.Succeeded("read")
			time.Sleep(3 * time.Second)
		}
		time.Sleep(5 * time.Second)
		l.Failed("read", errDown)
	})
}

// TestAnOperationThatIsNotTriedAgain: such an operation prevents an outage from ending for only a minute.
func TestAnOperationThatIsNotTriedAgain(t *testing.T) {
	inBubble(t, `level=WARN msg="service failing, retrying" operation="publish outbox" error=down
level=INFO msg="service recovered" failures=2 after=1m0s
`, func(l *outage.Log) {
		l.Failed("publish outbox", errDown)
		l.Failed("read", errDown)
		for range 100 {
			time.Sleep(time.Second)
			l.Succeeded("read")
		}
	})
}

func TestRecoveredAndStop(t *testing.T) {
	inBubble(t, `level=WARN msg="service failing, retrying" operation="cannot connect"
level=INFO msg="service recovered" failures=1 after=2s
level=WARN msg="service failing, retrying" operation=read error=down
level=WARN msg="service failing, retrying" operation=read error=down
`, func(l *outage.Log) {
		l.Recovered(time.Now())
		l.Failed("cannot connect", nil)
		time.Sleep(2 * time.Second)
		l.Recovered(time.Now())
		l.Recovered(time.Now())
		l.Failed("read", errDown)
		l.Succeeded("read")
		l.Stop()
		time.Sleep(time.Minute)
		l.Failed("read", errDown)
	})
}
