package main

import (
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timerbus/timerbus/internal/process"
)

// processFlags adds a flag for every setting except those in without. It returns a function that merges flags,
// environment and configuration file.
func processFlags(c *cobra.Command, defaults process.Config, without ...string) func() (process.Config, error) {
	sources := sourceFlags(c, defaults, without...)
	return func() (process.Config, error) { return process.Load(sources()) }
}

// onlyFlags adds flags for the named settings. It returns the same function as processFlags.
func onlyFlags(c *cobra.Command, names ...string) func() (process.Config, error) {
	var without []string
	for _, s := range process.Settings() {
		if !slices.Contains(names, s.Name) {
			without = append(without, s.Name)
		}
	}
	return processFlags(c, process.DefaultConfig(), without...)
}

// sourceFlags adds the flags of processFlags. It returns a function that returns the sources to merge.
func sourceFlags(c *cobra.Command, defaults process.Config, without ...string) func() process.Sources {
	var file string
	c.Flags().StringVar(&file, "config", os.Getenv(process.EnvPrefix+"CONFIG"), "YAML file of settings (or $TIMERBUS_CONFIG)")
	unused := map[string]bool{}
	for _, name := range without {
		unused[name] = true
	}
	settings := map[string]bool{}
	for _, s := range process.SettingsOf(&defaults) {
		settings[s.Name] = !unused[s.Name]
		switch {
		case unused[s.Name]:
		case s.Switch:
			c.Flags().Bool(s.Name, s.Default == "true", s.Usage)
		default:
			c.Flags().String(s.Name, s.Default, s.Usage)
		}
	}
	return func() process.Sources {
		// Only the flags that were given, because the others have defaults. The command may have flags that are not
		// settings.
		flags := map[string]string{}
		c.Flags().Visit(func(f *pflag.Flag) {
			if settings[f.Name] {
				flags[f.Name] = f.Value.String()
			}
		})
		return process.Sources{
			Flags: flags, Environ: os.Environ(), File: file, Defaults: &defaults,
			// Variables that are not settings: those of the client commands, and CONFIG for --config.
			Foreign: []string{"URL", "CA", "CLIENT_CERT", "CLIENT_KEY", "CONFIG"},
		}
	}
}
