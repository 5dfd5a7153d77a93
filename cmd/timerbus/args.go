package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// The checks below say what cobra's own say, in sentences that name what is accepted.

// exactly wants one argument for each name.
func exactly(wanted ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(wanted):
			return usagef("%s needs %s", c.Name(), strings.Join(wanted[len(args):], " and "))
		case len(args) > len(wanted):
			return usagef("%q is not accepted: %s wants %s", args[len(wanted)], c.Name(), or(strings.Join(wanted, " "), "no argument"))
		default:
			return nil
		}
	}
}

// atMostOne wants no two of the flags.
func atMostOne(c *cobra.Command, flags ...string) error {
	var given []string
	for _, flag := range flags {
		if c.Flags().Changed(flag) {
			given = append(given, "--"+flag)
		}
	}
	if len(given) > 1 {
		return usagef("%s exclude each other", strings.Join(given, " and "))
	}
	return nil
}

// one wants exactly one of the flags.
func one(c *cobra.Command, flags ...string) error {
	for _, flag := range flags {
		if c.Flags().Changed(flag) {
			return atMostOne(c, flags...)
		}
	}
	return usagef("%s needs --%s", c.Name(), strings.Join(flags, " or --"))
}
