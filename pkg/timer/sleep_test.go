package timer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			sleep, timeout, want time.Duration
			slept                bool
		}{
			{sleep: time.Second, timeout: time.Minute, want: time.Second, slept: true},
			{sleep: time.Minute, timeout: time.Second, want: time.Second},
			{sleep: 0, timeout: time.Second, slept: true},
			{sleep: -time.Second, timeout: time.Second, slept: true},
			{sleep: 0, timeout: 0},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
			watch := NewStopwatch()
			if slept := Sleep(ctx, c.sleep); slept != c.slept || watch.Elapsed() != c.want {
				t.Errorf("Sleep(%v) with a timeout of %v: %t after %v, want %t after %v", c.sleep, c.timeout, slept, watch.Elapsed(), c.slept, c.want)
			}
			cancel()
		}
	})
}
