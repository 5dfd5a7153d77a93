package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timerbus/timerbus/pkg/runtime"
)

func (p *program) devCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "dev", Short: "Run the whole service on this machine: SQLite and NATS in one process", Args: exactly(),
		Long: `Run the whole service on this machine: ingest, scheduler and dispatcher, with a SQLite database and a NATS
server in the same process. Everything is kept in one folder, and survives kill -9.

Each setting can be a flag, an environment variable (TIMERBUS_ and the flag's name in capitals, with _ for -)
or a line of the YAML file that --config names, in this order of precedence. docs/operations.md has them all.`,
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := load(c, file)
			if err != nil {
				return usageError{err}
			}
			if err := exposed(&config); err != nil {
				return usageError{err}
			}
			level, err := config.Level()
			if err != nil {
				return usageError{err}
			}
			return p.serve(c.Context(), &config, runtime.NewLogger(p.stderr, config.LogFormat, level))
		},
	}
	c.Flags().StringVar(&file, "config", os.Getenv(runtime.EnvPrefix+"CONFIG"), "YAML file of settings (or $TIMERBUS_CONFIG)")
	for _, s := range runtime.Settings() {
		if s.Switch {
			c.Flags().Bool(s.Name, false, s.Usage)
		} else {
			c.Flags().String(s.Name, s.Default, s.Usage)
		}
	}
	return c
}

// load hands over the flags that were given; what the others show is only the default.
func load(c *cobra.Command, file string) (runtime.Config, error) {
	flags := map[string]string{}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "config" {
			flags[f.Name] = f.Value.String()
		}
	})
	return runtime.Load(runtime.Sources{
		Flags: flags, Environ: os.Environ(), File: file,
		Foreign: []string{"URL", "CONFIG"}, // the other commands', and this one's --config
	})
}

// exposed refuses to let everybody in by accident.
func exposed(config *runtime.Config) error {
	if config.Insecure {
		return nil
	}
	if !runtime.Loopback(config.Listen) && config.Token == "" {
		return usagef("--listen %s: others could reach the API without a token; set TIMERBUS_TOKEN, "+
			"or listen on 127.0.0.1, or say --insecure if that is meant", config.Listen)
	}
	// Its command topic can do what the API can.
	if config.NATSListen != "" && !runtime.Loopback(config.NATSListen) && config.Token == "" {
		return usagef("--nats-listen %s: others could set timers and read events without a token; set TIMERBUS_TOKEN, "+
			"or listen on 127.0.0.1, or on nothing (--nats-listen \"\"), or say --insecure if that is meant", config.NATSListen)
	}
	return nil
}

// invocation is how to call this program again.
func invocation() string {
	if name := os.Args[0]; name == "timerbus" || strings.HasSuffix(name, "/timerbus") {
		return name
	}
	return "timerbus"
}
