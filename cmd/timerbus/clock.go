package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// clockCommands are the commands about the test clock.
type clockCommands struct {
	*program
	remote

	timeout time.Duration
}

func (p *program) clockCommand() *cobra.Command {
	k := &clockCommands{program: p}
	c := group("clock", "Read and move the test clock of timerbus dev --test-clock", k.advance(), k.set(), k.get())
	c.Long = `Read and move the clock of a service that was started with timerbus dev --test-clock. The clock runs at normal speed,
and moves forward only. A move delivers the timers that become due, in the order of their due times, and ends when no
timer is due.`
	k.remote.flags(c)
	return c
}

func (k *clockCommands) advance() *cobra.Command {
	c := &cobra.Command{
		Use: "advance DURATION", Short: "Move the test clock forward by a duration", Args: exactly("DURATION"),
		Long: `Move the test clock forward by a duration, and deliver the timers that become due. With 0s it waits until no timer is due.

If timers are still due after --timeout, the command fails, and its error has the target; "timerbus clock set" with it continues.`,
		Example: `  timerbus clock advance 72h
  timerbus clock advance 30d --timeout 5m`,
		RunE: func(c *cobra.Command, args []string) error {
			by, err := timer.ParseDuration(args[0])
			if err != nil {
				return usagef("DURATION: %v", err)
			}
			api, err := k.client()
			if err != nil {
				return err
			}
			clock, err := api.AdvanceClock(c.Context(), client.AdvanceClockRequest{By: by.String(), Timeout: k.timeout.String()})
			return k.show(&clock, err)
		},
	}
	k.timeoutFlag(c)
	return c
}

func (k *clockCommands) set() *cobra.Command {
	c := &cobra.Command{
		Use: "set TIME", Short: "Move the test clock forward to a time", Args: exactly("TIME"),
		Long: `Move the test clock forward to a time (RFC 3339), and deliver the timers that become due.

If timers are still due after --timeout, the command fails and prints how far the clock is; the same command continues.`,
		Example: `  timerbus clock set 2030-01-31T09:00:00Z`,
		RunE: func(c *cobra.Command, args []string) error {
			at, err := timer.ParseMillis(args[0])
			if err != nil {
				return usagef("TIME: %v", err)
			}
			api, err := k.client()
			if err != nil {
				return err
			}
			clock, err := api.SetClock(c.Context(), client.SetClockRequest{Time: client.At(at.Time()), Timeout: k.timeout.String()})
			return k.show(&clock, err)
		},
	}
	k.timeoutFlag(c)
	return c
}

func (k *clockCommands) get() *cobra.Command {
	return &cobra.Command{
		Use: "get", Short: "Show the test clock and the next due time", Args: exactly(),
		Example: `  timerbus clock get --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := k.client()
			if err != nil {
				return err
			}
			clock, err := api.Clock(c.Context())
			return k.show(&clock, err)
		},
	}
}

func (k *clockCommands) timeoutFlag(c *cobra.Command) {
	durationFlag(c, &k.timeout, "timeout", time.Minute, "longest time that the call may take, 1ms to 10m")
}

// show prints the clock, unless the call failed.
func (k *clockCommands) show(clock *client.TestClock, err error) error {
	if err != nil {
		return err
	}
	if k.json {
		return printJSON(k.stdout, clock)
	}
	next := "no timer is due later"
	if !clock.NextDueAt.IsZero() {
		next = "next timer due " + when(clock.NextDueAt, clock.Now.Time)
	}
	_, err = fmt.Fprintf(k.stdout, "%s, %s ahead of the machine's clock, %s\n", clock.Now, clock.Ahead, next)
	return err
}
