package timerbus

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/node"
)

// Options say what to run. Only Store is required.
type Options struct {
	// Store is where timers are kept:
	//
	//	sqlite:FOLDER            a database in a folder, which belongs to one process at a time
	//	postgres://USER:PASSWORD@HOST:PORT/DATABASE
	//	memory:                  gone with the process, for tests
	//
	// pkg/backend has all of them with their parameters. The schema is brought up to date.
	Store string
	// Bus carries what is internal, and what Watermill leaves out. By default it is in this process: with
	// sqlite:FOLDER a NATS server in FOLDER/nats, with memory: in memory. Any other Store needs one:
	// embedded:FOLDER for a single process, nats://HOST:PORT or kafka://HOST:PORT for several, which share
	// the work.
	Bus string
	// Partitions of the bus, 1 to 1,024, fixed when the cluster is made: 16.
	Partitions int
	// Watermill is the user's Pub/Sub.
	Watermill Watermill

	// Listener takes the requests of the HTTP API; the service closes it. Default: any free port of
	// 127.0.0.1; URL tells which.
	Listener net.Listener
	// Token is what clients must present; empty lets everybody in.
	Token string
	// AllowedHosts are the hosts that requests without a token may name in addition to loopback, as --allowed-hosts has them.
	AllowedHosts string
	// CallbackAllow says where callbacks may go beside public addresses, as --callback-allow does: "loopback",
	// say, for receivers on this machine.
	CallbackAllow string
	// Drain bounds the orderly stop: 10 s.
	Drain time.Duration
	// Logger is none by default.
	Logger *slog.Logger
}

// Watermill is a user's Pub/Sub. Either half may be missing: its topics then stay on Options.Bus.
type Watermill struct {
	// Publisher takes what is published for others. An error makes the service publish again, as often as
	// it takes, unless it wraps bus.ErrTooLarge.
	Publisher message.Publisher
	// Subscriber gives commands. They are applied at least once, and acknowledged once they are committed and
	// answered. One subscription gives them in order if it waits for each acknowledgement. Several
	// processes must share the commands, as the members of a consumer group do.
	Subscriber message.Subscriber
	// Prefix begins the names of the topics: "timerbus".
	Prefix string
	// CommandsPerSecond throttles commands, 1 to 1,000,000; 0: not at all.
	CommandsPerSecond int
	// Middleware runs around each command, behind the router's own (correlation, poison queue, recoverer,
	// throttle). The error of one refuses the command for good: it goes to timerbus.dead with the reason.
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

// busBeside is the bus of a single process with the store.
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

// node returns what pkg/node is to open.
func (o *Options) node() *node.Options {
	return &node.Options{
		StoreURL: o.Store, BusURL: o.Bus, Partitions: o.Partitions, Migrate: true, Over: o.Watermill.over(o.Logger, o.Drain),
		Listener: o.Listener, Token: o.Token, AllowedHosts: o.AllowedHosts, CallbackAllow: o.CallbackAllow, Drain: o.Drain,
		Version: "embedded", Logger: o.Logger,
	}
}
