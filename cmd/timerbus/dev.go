package main

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/node"
	"github.com/timerbus/timerbus/internal/process"
)

func (p *program) devCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "dev", Short: "Run the whole service on this machine: SQLite and NATS in one process", Args: exactly(),
		Long: `Run the whole service on this machine: ingest, scheduler and dispatcher, with a SQLite database and a NATS
server in the same process. All data is in one folder, and survives kill -9. With --store or --bus it uses
an external database or bus instead.

Each setting can be a flag, an environment variable (TIMERBUS_ and the flag's name in capitals, with _ for -)
or a line of the YAML file that --config names, in this order of precedence. docs/operations.md lists them.`,
	}
	settings := processFlags(c, process.DefaultConfig())
	c.RunE = func(c *cobra.Command, _ []string) error { return p.start(c.Context(), node.All, settings) }
	return c
}

// start runs a role with its settings.
func (p *program) start(ctx context.Context, role node.Role, settings func() (process.Config, error)) error {
	config, err := settings()
	if err == nil {
		err = startable(role, &config)
	}
	if err != nil {
		return usageError{err}
	}
	level, err := config.Level()
	if err != nil {
		return usageError{err}
	}
	logger := process.NewLogger(p.stderr, config.LogFormat, level)
	// net/http logs protocol errors of receivers to the standard logger. They are logged at debug level, because a
	// receiver must not be able to fill the log.
	slog.SetLogLoggerLevel(slog.LevelDebug)
	slog.SetDefault(logger)
	return p.serve(ctx, role, &config, settings, logger)
}

// exposed rejects settings that would make the API or the bus reachable from other machines without a token.
func exposed(config *process.Config) error {
	if config.Insecure {
		return nil
	}
	if !process.Loopback(config.Listen) && config.Token == "" && config.OIDCIssuer == "" && config.TLSClientCA == "" {
		return usagef("--listen %s: other machines could use the API without a token; "+
			"set TIMERBUS_TOKEN, --oidc-issuer or --tls-client-ca, listen on 127.0.0.1, or allow it with --insecure", config.Listen)
	}
	// The command topic of the NATS server permits the same operations as the API.
	if config.Bus == "" && config.NATSListen != "" && !process.Loopback(config.NATSListen) && config.Token == "" {
		return usagef("--nats-listen %s: other machines could set timers and read events without a token; "+
			"set TIMERBUS_TOKEN, listen on 127.0.0.1 or not at all (--nats-listen \"\"), or allow it with --insecure", config.NATSListen)
	}
	return nil
}

// invocation returns the command to run this program again.
func invocation() string {
	if name := os.Args[0]; name == "timerbus" || strings.HasSuffix(name, "/timerbus") {
		return name
	}
	return "timerbus"
}
