package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/node"
	"github.com/timerbus/timerbus/internal/process"
)

// setting is one effective setting as --json prints it.
type setting struct {
	Name   string         `json:"name"`
	Value  string         `json:"value"`
	Origin process.Origin `json:"origin"`
	// Source is the line of the file, the variable or the flag.
	Source string `json:"source,omitempty"`
}

func (p *program) configCommand() *cobra.Command {
	commands := []*cobra.Command{p.roleConfig("dev", node.All)}
	for _, role := range []node.Role{node.Ingest, node.Scheduler, node.Dispatcher} {
		commands = append(commands, p.roleConfig(string(role), role))
	}
	c := group("config", "Show the settings that a role would have, and where they come from", commands...)
	c.Long = `Show the settings that a role would have with these flags, this environment and this file, and the source of
each: the default, the file, the environment or a flag. Secrets are shown as ` + backend.Masked + `, and passwords are removed from URLs.

It starts nothing and connects to nothing. If the role would refuse a setting, the settings are shown, then the error, and
the exit code is 2.`
	c.Example = `  timerbus config dispatcher
  timerbus config ingest --config timerbus.yaml --json`
	return c
}

func (p *program) roleConfig(name string, role node.Role) *cobra.Command {
	c := &cobra.Command{Use: name, Short: "Show the settings of timerbus " + name, Args: exactly()}
	var sources func() process.Sources
	if role == node.All {
		sources = sourceFlags(c, process.DefaultConfig())
	} else {
		sources = roleFlags(c, role)
	}
	asJSON := c.Flags().Bool("json", false, "print the result as JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, values, err := process.Explain(sources())
		if err != nil {
			return usageError{err}
		}
		settings := []setting{}
		for i := range values {
			if c.Flags().Lookup(values[i].Name) != nil { // the role has it
				settings = append(settings, shownSetting(&values[i]))
			}
		}
		if *asJSON {
			err = printJSON(p.stdout, map[string]any{"role": name, "settings": settings})
		} else {
			err = table(p.stdout, settingRows(settings))
		}
		if err != nil {
			return err
		}
		if err = config.Check(); err == nil {
			err = startable(role, &config)
		}
		if err != nil {
			return usageError{fmt.Errorf("timerbus %s would not start: %w", name, err)}
		}
		return nil
	}
	return c
}

func shownSetting(v *process.Value) setting {
	shown := setting{Name: v.Name, Value: v.Text, Origin: v.Origin, Source: v.Source}
	switch {
	case v.Secret && v.Text != "":
		shown.Value = backend.Masked
	case v.URL:
		shown.Value = backend.Redacted(v.Text)
	}
	return shown
}

func settingRows(settings []setting) [][]string {
	rows := [][]string{{"SETTING", "VALUE", "ORIGIN", "SOURCE"}}
	for _, s := range settings {
		rows = append(rows, []string{s.Name, cmp.Or(s.Value, "-"), string(s.Origin), s.Source})
	}
	return rows
}
