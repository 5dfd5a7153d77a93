package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// retryFlags are the flags of a retry policy. The service chooses the value of fields that are not given.
type retryFlags struct {
	maxAttempts                  int
	multiplier                   float64
	duration, initial, maxAmount time.Duration
}

func (f *retryFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.maxAttempts, "max-attempts", 0, "maximum number of deliveries, including the first (1 to 1000)")
	durationFlag(c, &f.duration, "max-attempts-duration", 0, "no attempt starts later than this after executeAt")
	durationFlag(c, &f.initial, "initial-interval", 0, "delay after the first failed attempt")
	c.Flags().Float64Var(&f.multiplier, "backoff-multiplier", 0, "factor by which the delay grows (1 to 100)")
	durationFlag(c, &f.maxAmount, "max-interval", 0, "longest delay")
}

// input returns the given fields; given is false if there are none.
func (f *retryFlags) input(c *cobra.Command) (input client.RetryPolicyInput, given bool) {
	given = f.apply(c, &input)
	return input, given
}

// apply sets the given fields; given is false if there are none.
func (f *retryFlags) apply(c *cobra.Command, input *client.RetryPolicyInput) (given bool) {
	set := func(flag string, to func()) {
		if c.Flags().Changed(flag) {
			to()
			given = true
		}
	}
	set("max-attempts", func() { input.MaxAttempts = client.Set(f.maxAttempts) })
	set("max-attempts-duration", func() { input.MaxAttemptsDuration = client.Set(f.duration.String()) })
	set("initial-interval", func() { input.InitialInterval = client.Set(f.initial.String()) })
	set("backoff-multiplier", func() { input.BackoffMultiplier = client.Set(f.multiplier) })
	set("max-interval", func() { input.MaxInterval = client.Set(f.maxAmount.String()) })
	return given
}
