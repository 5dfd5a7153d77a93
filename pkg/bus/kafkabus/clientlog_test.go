package kafkabus

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestClientLogSummarizesAnOutage: two warnings a second for three minutes result in five lines.
func TestClientLogSummarizesAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		without := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "since" {
				return slog.Attr{}
			}
			return a
		}
		l := newClientLog(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: without})))
		defer l.stop()
		l.Log(kgo.LogLevelWarn, "while connecting")
		l.start()
		l.Log(kgo.LogLevelInfo, "no warning")
		for range 360 {
			l.Log(kgo.LogLevelWarn, "unable to open connection to broker", "broker", "1", "err", errors.New("refused"))
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(clientQuiet)
		l.Log(kgo.LogLevelError, "something else")
		time.Sleep(2 * clientQuiet)
		l.Log(kgo.LogLevelWarn, "the next")
		synctest.Wait()
		const refused = `message="unable to open connection to broker" broker=1 err=refused`
		want := `level=WARN msg="kafka client failing, retrying" ` + refused + `
level=WARN msg="kafka client still failing" ` + refused + ` failures=121 failing=1
level=WARN msg="kafka client still failing" ` + refused + ` failures=241 failing=1
level=INFO msg="kafka client recovered" failures=360 after=2m59.5s
level=WARN msg="kafka client failing, retrying" message="something else"
level=INFO msg="kafka client recovered" failures=1 after=0s
level=WARN msg="kafka client failing, retrying" message="the next"
`
		if got := text.String(); got != want {
			t.Errorf("logged\n%s\nwant\n%s", got, want)
		}
	})
}
