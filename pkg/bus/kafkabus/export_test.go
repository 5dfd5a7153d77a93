package kafkabus

import (
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Admin returns an admin client with a handle's permissions.
func Admin(b *Bus) *kadm.Client { return b.admin }

// WithAckWait returns the options with another value than bus.AckWait; 0 keeps that.
func WithAckWait(o Options, d time.Duration) Options {
	o.ackWait = d
	return o
}
