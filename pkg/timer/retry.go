package timer

import (
	"fmt"
	"math"
	"time"
)

// RetryPolicy determines how often and when a failed delivery is retried. The delay after attempt n is min(MaxInterval,
// InitialInterval · BackoffMultiplier^(n−1)), plus or minus the jitter.
type RetryPolicy struct {
	// MaxAttempts includes the first delivery: 1 means no retry. 1 to 1,000.
	MaxAttempts int
	// MaxAttemptsDuration, counted from executeAt, limits the time of retries: no attempt starts after it. 0 means no
	// limit; otherwise 1 s to 365 days.
	MaxAttemptsDuration time.Duration
	// InitialInterval is the delay after the first attempt. 1 ms to 24 h.
	InitialInterval time.Duration
	// BackoffMultiplier is 1 to 100.
	BackoffMultiplier float64
	// MaxInterval caps the delay. InitialInterval to 7 days.
	MaxInterval time.Duration
}

// Limits of the fields of RetryPolicy.
const (
	MaxMaxAttempts         = 1000
	MinMaxAttemptsDuration = time.Second
	MaxMaxAttemptsDuration = 365 * 24 * time.Hour
	MinInitialInterval     = time.Millisecond
	MaxInitialInterval     = 24 * time.Hour
	MaxBackoffMultiplier   = 100.0
	MaxMaxInterval         = 7 * 24 * time.Hour
)

// Jitter is the fraction by which a retry's delay is randomised: ± 10 %, so that timers that failed together are not
// retried together.
const Jitter = 0.1

// DefaultRetryPolicy is 20 attempts, initially 30 s apart, doubling, at most 2 h apart: the last attempt is about 24
// hours after the first, so that a receiver may be down for a night.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{
		MaxAttempts:       20,
		InitialInterval:   30 * time.Second,
		BackoffMultiplier: 2,
		MaxInterval:       2 * time.Hour,
	}
}

// Check returns an error that names the first field outside its limits.
func (p RetryPolicy) Check() error {
	switch {
	case p.MaxAttempts < 1 || p.MaxAttempts > MaxMaxAttempts:
		return Invalid("retryPolicy.maxAttempts", p.MaxAttempts, fmt.Sprintf("1 to %d", MaxMaxAttempts))
	case p.MaxAttemptsDuration != 0 &&
		(p.MaxAttemptsDuration < MinMaxAttemptsDuration || p.MaxAttemptsDuration > MaxMaxAttemptsDuration):
		return Invalid("retryPolicy.maxAttemptsDuration", p.MaxAttemptsDuration, `"1s" to "8760h", or "0s" for none`)
	case p.InitialInterval < MinInitialInterval || p.InitialInterval > MaxInitialInterval:
		return Invalid("retryPolicy.initialInterval", p.InitialInterval, `"1ms" to "24h"`)
	case math.IsNaN(p.BackoffMultiplier) || p.BackoffMultiplier < 1 || p.BackoffMultiplier > MaxBackoffMultiplier:
		return Invalid("retryPolicy.backoffMultiplier", p.BackoffMultiplier, "1 to 100")
	case p.MaxInterval < p.InitialInterval || p.MaxInterval > MaxMaxInterval:
		return Invalid("retryPolicy.maxInterval", p.MaxInterval,
			fmt.Sprintf("initialInterval (%v) to 168h", p.InitialInterval))
	}
	return nil
}
