package store

import "github.com/timerbus/timerbus/pkg/timer"

// Quota bounds what a namespace may use. 0 means no bound, except for MaxPayload.
type Quota struct {
	// MaxPending bounds the timers that are scheduled, retrying or parked: up to 10^9.
	MaxPending int
	// CreatesPerSecond bounds the creates that each ingest process accepts: up to 10^6.
	CreatesPerSecond int
	// MaxPayload bounds the payload of one timer, in bytes: up to timer.MaxPayload. 0 means timer.MaxPayload.
	MaxPayload int
}

// The largest values of a Quota.
const (
	MaxPendingQuota = 1_000_000_000
	MaxCreateQuota  = 1_000_000
)

// Payload returns the size of the largest payload that the quota allows, in bytes.
func (q *Quota) Payload() int {
	if q.MaxPayload == 0 {
		return timer.MaxPayload
	}
	return q.MaxPayload
}

func (q *Quota) check() error {
	switch {
	case q.MaxPending < 0 || q.MaxPending > MaxPendingQuota:
		return timer.Invalid("quota.maxPending", q.MaxPending, "1 to 1000000000")
	case q.CreatesPerSecond < 0 || q.CreatesPerSecond > MaxCreateQuota:
		return timer.Invalid("quota.createsPerSecond", q.CreatesPerSecond, "1 to 1000000")
	case q.MaxPayload < 0 || q.MaxPayload > timer.MaxPayload:
		return timer.Invalid("quota.maxPayloadBytes", q.MaxPayload, "1 to 102400")
	}
	return nil
}
