package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every duration flag accepts days, and its errors name the accepted values.
func TestDurationFlagsAcceptDays(t *testing.T) {
	hermetic(t)
	found := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "duration" {
				return
			}
			found++
			if err := f.Value.Set("1d12h"); err != nil || f.Value.String() != "36h" {
				t.Errorf("%s --%s: 1d12h is read as %s, %v", c.CommandPath(), f.Name, f.Value, err)
			}
			if err := f.Value.Set("soon"); err == nil || !strings.Contains(err.Error(), `"1d12h"`) {
				t.Errorf("%s --%s: soon: %v", c.CommandPath(), f.Name, err)
			}
		})
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk((&program{}).root())
	if found < 15 {
		t.Errorf("%d flags are durations: this test is looking in the wrong place", found)
	}
	// The error is that of a later check, so the duration was accepted.
	if got := command(t, "timer", "watch", "--since", "1d", "--outcome", "bad"); !strings.Contains(got.stderr, "--outcome: ") {
		t.Errorf("--since 1d: %s", got.stderr)
	}
	help := command(t, "bench", "--help")
	if !strings.Contains(help.stdout, "--patience duration") || strings.Contains(help.stdout, "(default 0s)") || strings.Contains(help.stdout, "m0s)") {
		t.Errorf("help shows durations badly:\n%s", help.stdout)
	}
}
