package timerbus

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/internal/node"
)

// Options configure Open. Only Store is required.
type Options struct {
	// Store is the URL of the store:
	//
	//	sqlite:FOLDER            a database in a folder, which one process can use at a time
	//	postgres://USER:PASSWORD@HOST:PORT/DATABASE
	//	memory:                  lost when the process ends, for tests
	//
	// backend.Options has all stores with their parameters. Open brings the schema up to date.
	Store string
	// Bus is the URL of the bus for internal messages, and for the topics that Watermill does not handle. The default
	// is in this process: a NATS server in FOLDER/nats for sqlite:FOLDER, and a bus in memory for memory:. Every other
	// Store requires a Bus: embedded:FOLDER for a single process, nats://HOST:PORT or kafka://HOST:PORT for several,
	// which share the work.
	Bus string
	// Partitions of the bus, 1 to 1,024, fixed when the cluster is created. Default 16.
	Partitions int
	// Watermill is the user's Pub/Sub.
	Watermill Watermill

	// Listener accepts the requests of the HTTP API; the service closes it. Default: a free port of 127.0.0.1, which is
	// part of Service.URL.
	Listener net.Listener
	// Token is required from clients; if it is empty, no token is required.
	Token string
	// AllowedHosts are the hosts that requests without a token may be addressed to in addition to loopback, in the
	// format of --allowed-hosts.
	AllowedHosts string
	// CallbackAllow is the policy for the destinations of callbacks in addition to public addresses, in the format of
	// --callback-allow: for example "loopback" for receivers on this machine.
	CallbackAllow string
	// Drain bounds the orderly stop. Default 10 s.
	Drain time.Duration
	// Logger receives the service's log. Default: none.
	Logger *slog.Logger
}

// Watermill is a user's Pub/Sub. If Publisher or Subscriber is nil, its topics stay on Options.Bus.
type Watermill struct {
	// Publisher publishes the public events. If it returns an error, the service publishes again, until it succeeds or
	// the error wraps bus.ErrTooLarge.
	Publisher message.Publisher
	// Subscriber delivers commands. They are applied at least once, and acknowledged when they are committed and
	// answered. One subscription delivers them in order if it waits for each acknowledgement. Several processes must
	// share the commands, like the members of a consumer group.
	Subscriber message.Subscriber
	// Prefix begins the names of the topics. Default "timerbus".
	Prefix string
	// CommandsPerSecond limits the rate of commands, 1 to 1,000,000; 0: no limit.
	CommandsPerSecond int
	// Middleware runs around each command, after the router's own middleware (correlation, poison queue, recoverer,
	// throttle). An error of a middleware permanently refuses the command: it is published on timerbus.dead with the
	// reason.
	Middleware []message.HandlerMiddleware
}

func (o *Options) withDefaults() error {
	if o.Bus == "" {
		var err error
		if o.Bus, err = busBeside(o.Store); err != nil {
			return err
		}
	}
	o.Partitions = cmp.Or(o.Partitions, 16)
	o.Drain = cmp.Or(o.Drain, 10*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// busBeside returns the URL of the default bus for a store.
func busBeside(store string) (string, error) {
	if store == "memory:" {
		return "memory:", nil
	}
	if folder, ok := strings.CutPrefix(store, "sqlite:"); ok {
		folder, _, _ = strings.Cut(folder, "?")
		return "embedded:" + strings.TrimSuffix(folder, "/") + "/nats", nil
	}
	return "", fmt.Errorf("a store other than sqlite: and memory: needs a Bus: " +
		"embedded:FOLDER for a single process, nats://HOST:PORT or kafka://HOST:PORT for several")
}

// node returns the options for internal/node.
func (o *Options) node() *node.Options {
	return &node.Options{
		StoreURL: o.Store, BusURL: o.Bus, Partitions: o.Partitions, Migrate: true, WrapBus: o.Watermill.over(o.Logger, o.Drain),
		Listener: o.Listener, Token: o.Token, AllowedHosts: o.AllowedHosts, CallbackAllow: o.CallbackAllow, Drain: o.Drain,
		Version: "embedded", Logger: o.Logger,
	}
}
