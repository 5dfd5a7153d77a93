package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// localFlags are the local time of a timer.
type localFlags struct{ at, zone, gap, repeated string }

// localNames are the flags of a local time that need --at-local.
func localNames() []string { return []string{"time-zone", "gap", "repeated"} }

func (f *localFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.at, "at-local", "", "when to fire, as a local time of --time-zone, such as 2030-01-31T09:00:00")
	c.Flags().StringVar(&f.zone, "time-zone", "", "time zone of --at-local, of the IANA database, such as Europe/Berlin")
	c.Flags().StringVar(&f.gap, "gap", "",
		"if a change of the clocks skips --at-local: next (the first instant after the gap) or skip (refuse it) (default next)")
	c.Flags().StringVar(&f.repeated, "repeated", "", "if a change of the clocks repeats --at-local: first or second (default first)")
	completeWith(c, "gap", client.GapNext, client.GapSkip)
	completeWith(c, "repeated", client.RepeatedFirst, client.RepeatedSecond)
}

// check requires a time zone with a local time, and a local time with the other flags.
func (f *localFlags) check(c *cobra.Command) error {
	local := c.Flags().Changed("at-local")
	if local && !c.Flags().Changed("time-zone") {
		return usagef("--at-local needs --time-zone, such as Europe/Berlin")
	}
	for _, name := range localNames() {
		if !local && c.Flags().Changed(name) {
			return usagef("--%s needs --at-local", name)
		}
	}
	return nil
}

// describeLocal returns the row of `timer get` for the local time of a timer; none if it has none.
func describeLocal(t *client.Timer) [][]string {
	if t.ExecuteAtLocal == "" {
		return nil
	}
	rows := [][]string{{"local time", t.ExecuteAtLocal + " in " + t.TimeZone}}
	if t.Gap != "" || t.Repeated != "" {
		rows = append(rows, []string{"if the clocks change", "gap " + cmp.Or(string(t.Gap), client.GapNext) +
			", repeated " + cmp.Or(string(t.Repeated), client.RepeatedFirst)})
	}
	return rows
}
