package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"
)

// The checks below replace those of cobra. Their errors name the accepted arguments.

// exactly requires one argument for each name.
func exactly(wanted ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(wanted):
			return usagef("%s needs %s", c.Name(), strings.Join(wanted[len(args):], " and "))
		case len(args) > len(wanted):
			return usagef("%q is not accepted: %s wants %s", args[len(wanted)], c.Name(), cmp.Or(strings.Join(wanted, " "), "no argument"))
		default:
			return nil
		}
	}
}

// atMostOne returns a usage error if more than one of the flags is given.
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

// one requires exactly one of the flags.
func one(c *cobra.Command, flags ...string) error {
	for _, flag := range flags {
		if c.Flags().Changed(flag) {
			return atMostOne(c, flags...)
		}
	}
	return usagef("%s needs --%s", c.Name(), strings.Join(flags, " or --"))
}

// takesID makes a command take one id: ID as an argument, or by --id.
func takesID(c *cobra.Command, id *string, what string) *cobra.Command {
	c.Flags().StringVar(id, "id", "", "the "+what+"'s id, instead of the argument (an id may begin with a hyphen)")
	c.Args = func(c *cobra.Command, args []string) error {
		if !c.Flags().Changed("id") {
			return exactly("ID")(c, args)
		}
		return exactly()(c, args)
	}
	begin := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			*id = args[0]
		}
		return begin(c, args)
	}
	return c
}
