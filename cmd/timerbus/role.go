package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/node"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/internal/ui"
)

// roleCommands returns the commands that run each service as a separate process.
func (p *program) roleCommands() []*cobra.Command {
	return []*cobra.Command{
		p.roleCommand(node.Ingest, "Run an ingest: it accepts commands by HTTP and from the command topic",
			"The HTTP API is served at --listen, with /healthz, /readyz and /metrics."),
		p.roleCommand(node.Scheduler, "Run a scheduler: it publishes due events",
			"/healthz, /readyz and /metrics are served at --listen."),
		p.roleCommand(node.Dispatcher, "Run a dispatcher: it delivers due timers",
			"/healthz, /readyz and /metrics are served at --listen."),
	}
}

func (p *program) roleCommand(role node.Role, short, serves string) *cobra.Command {
	c := &cobra.Command{
		Use: string(role), Short: short, Args: exactly(),
		Long: fmt.Sprintf(`%s. Run any number of each role, on any machines,
with the same --store and --bus.

%s On SIGTERM it finishes the work in flight, and
hands its work over.

Each setting can be a flag, an environment variable (TIMERBUS_ and the flag's name in capitals, with _ for -)
or a line of the YAML file that --config names, in this order of precedence. docs/operations.md lists them.`, short, serves),
		Example: fmt.Sprintf("  timerbus %s --store postgres://timerbus@db/timerbus --bus nats://nats:4222", role),
	}
	sources := roleFlags(c, role)
	if role == node.Ingest {
		c.Long += "\n\nAn ingest accepts --callback-proxy, so that all roles can have the same settings. It checks the value and does\n" +
			"not use it."
	}
	if role == node.Scheduler {
		c.Long += "\n\nA scheduler accepts --callback-allow, --callback-proxy, --outbox, --secret-key and --ui…, so that all roles can\n" +
			"have the same settings. It does not use their values."
	}
	if role == node.Dispatcher {
		c.Long += "\n\nA dispatcher accepts --outbox and --ui…, so that all roles can have the same settings. It does not use the values."
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		return p.start(c.Context(), role, func() (process.Config, error) { return process.Load(sources()) })
	}
	return c
}

// roleListens are the default addresses of the roles.
var roleListens = map[node.Role]string{
	node.Ingest: "127.0.0.1:8080", node.Scheduler: "127.0.0.1:8081", node.Dispatcher: "127.0.0.1:8082",
}

// uiFlags are the settings of the web UI.
var uiFlags = []string{"ui", "ui-path", "ui-read-only", "ui-hide-payloads", "ui-oidc-client-id", "ui-oidc-scopes"}

// roleFlags adds the flags of a role that runs as a separate process. It returns a function that returns their sources.
func roleFlags(c *cobra.Command, role node.Role) func() process.Sources {
	defaults := process.DefaultConfig()
	defaults.Listen = roleListens[role]
	defaults.CallbackAllow = ""
	defaults.StartWait = time.Minute // the store and the bus may start at the same time as this process
	sources := sourceFlags(c, defaults, "data", "nats-listen", "nats-sync", "test-clock")
	for flag, usage := range map[string]string{
		"store":    "URL of the database, such as postgres://user@host/database; required",
		"bus":      "URL of the message bus, such as nats://host:4222; required",
		"token":    "token required from clients of HTTP (preferably set as TIMERBUS_TOKEN)",
		"insecure": "allow HTTP without a token from other machines",
	} {
		c.Flags().Lookup(flag).Usage = usage
	}
	if role == node.Ingest {
		c.Flags().Lookup("callback-proxy").Hidden = true
		return sources
	}
	for flag, usage := range map[string]string{
		"listen":        "address of /healthz, /readyz and /metrics, host:port",
		"token":         "token required from readers of /metrics (preferably set as TIMERBUS_TOKEN)",
		"allowed-hosts": "accepted hosts of requests to /metrics without a token, such as timers.internal, or any",
		"insecure":      "allow /metrics without a token from other machines",
	} {
		c.Flags().Lookup(flag).Usage = usage
	}
	for _, flag := range uiFlags {
		c.Flags().Lookup(flag).Hidden = true
	}
	c.Flags().Lookup("outbox").Hidden = true
	if role == node.Scheduler {
		for _, flag := range []string{"callback-allow", "callback-proxy", "secret-key"} {
			c.Flags().Lookup(flag).Hidden = true
		}
	}
	return sources
}

// startable returns an error if a role cannot start with acceptable settings that do not fit each other or the role.
func startable(role node.Role, config *process.Config) error {
	if _, err := verifierOf(config); err != nil {
		return err
	}
	if err := ui.CheckPath(config.UIPath); err != nil {
		return err
	}
	if signIn := signInOf(config); config.UI {
		if err := signIn.Check(); err != nil {
			return err
		}
	}
	if role == node.All {
		return exposed(config)
	}
	if config.Store == "" {
		return usagef("--store is missing: separate roles share a database, such as postgres://user@host/database")
	}
	if config.Bus == "" {
		return usagef("--bus is missing: separate roles share a bus, such as nats://host:4222")
	}
	return cmp.Or(errors.Join(shared("--store", config.Store), shared("--bus", config.Bus)), exposed(config))
}

// shared rejects a URL that only one process can use.
func shared(flag, url string) error {
	for _, alone := range []string{"sqlite:", "embedded:", "memory:"} {
		if strings.HasPrefix(strings.ToLower(url), alone) {
			return usagef("%s %s can be used by one process at a time only; separate roles share it", flag, alone)
		}
	}
	return nil
}
