package callback

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/timerbus/timerbus/pkg/timer"
)

// delayAfter is the delay after the n-th attempt (from 1) has failed: min(MaxInterval, InitialInterval ·
// BackoffMultiplier^(n−1)), with jitter.
func delayAfter(p *timer.RetryPolicy, n timer.Attempt, random func() uint64) time.Duration {
	steps := backoff.ExponentialBackOff{
		InitialInterval: p.InitialInterval,
		Multiplier:      p.BackoffMultiplier,
		MaxInterval:     p.MaxInterval,
		// The library's jitter uses a global random source. Jitter uses the injected one, so that simulations are
		// repeatable.
		RandomizationFactor: 0,
		Stop:                backoff.Stop,
		Clock:               backoff.SystemClock,
	}
	steps.Reset()
	delay := steps.NextBackOff()
	for i := timer.Attempt(1); i < n && delay < p.MaxInterval; i++ {
		delay = steps.NextBackOff()
	}
	return max(Jitter(delay, random), time.Millisecond)
}

// Jitter changes d by up to ± timer.Jitter of it.
func Jitter(d time.Duration, random func() uint64) time.Duration {
	unit := float64(random()>>11) / (1 << 53) // [0, 1)
	return time.Duration(float64(d) * (1 - timer.Jitter + 2*timer.Jitter*unit))
}

// retryAfter parses the header in its two forms, seconds and HTTP date. ok is false for any other value. For a date in
// the past, wait is 0.
func retryAfter(header string, now timer.Millis) (wait time.Duration, ok bool) {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0, false
	}
	if isDigits(header) {
		seconds, err := strconv.ParseInt(header, 10, 64)
		if err != nil || seconds > int64(timer.MaxMaxInterval/time.Second) {
			return timer.MaxMaxInterval, true // longer than any cap
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	wait = min(at.Sub(now.Time()), timer.MaxMaxInterval)
	return max(wait, 0), true
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
