package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/timer"
)

// duration is a flag value that timer.ParseDuration parses; pflag's duration does not accept days.
type duration time.Duration

// durationFlag adds a duration flag to a command.
func durationFlag(c *cobra.Command, to *time.Duration, name string, value time.Duration, usage string) {
	*to = value
	c.Flags().Var((*duration)(to), name, usage)
	if value == 0 {
		c.Flags().Lookup(name).DefValue = "" // otherwise the help would show "(default 0s)"
	}
}

// Set implements pflag.Value.
func (d *duration) Set(s string) error {
	read, err := timer.ParseDuration(s)
	if err != nil {
		return err
	}
	*d = duration(read)
	return nil
}

// String implements pflag.Value.
func (d *duration) String() string { return timer.FormatDuration(time.Duration(*d)) }

// Type implements pflag.Value.
func (d *duration) Type() string { return "duration" }
