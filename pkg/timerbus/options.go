package timerbus

import (
	"cmp"
	"log/slog"
	"net"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"go.opentelemetry.io/otel/trace"
)

// Options configure New. All fields are optional.
type Options struct {
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
	// TracerProvider records the service's spans: requests, writes, the wait until a timer is due, callbacks and outcomes. Its
	// sampler decides at the create, after the request's traceparent. The spans of an attempt that is planned more than an
	// hour after the create begin their own trace, with a link to the create; a sampler that should follow that decision
	// must sample a root span whose link is sampled. Default: no spans. The program shuts the provider down after Run.
	TracerProvider trace.TracerProvider
	// Logger receives the service's log. Default: none.
	Logger *slog.Logger
}

// Watermill is a user's Pub/Sub. If Publisher or Subscriber is nil, its topics stay on the service's bus.
type Watermill struct {
	// Publisher publishes the public events. If it returns an error, the service publishes again, until it succeeds or
	// the error wraps bus.ErrTooLarge.
	Publisher message.Publisher
	// Subscriber delivers commands. They are applied at least once, and acknowledged when they are committed and
	// answered. One subscription delivers them in order if it waits for each acknowledgement. Several processes must
	// share the commands, like the members of a consumer group.
	Subscriber message.Subscriber
	// Prefix begins the names of the topics. Default: the prefix of the bus, usually "timerbus".
	Prefix string
	// CommandsPerSecond limits the rate of commands, 1 to 1,000,000; 0: no limit.
	CommandsPerSecond int
	// Middleware runs around each command, after the router's own middleware (correlation, poison queue, recoverer,
	// throttle). An error of a middleware permanently refuses the command: it is published on timerbus.dead with the
	// reason.
	Middleware []message.HandlerMiddleware
}

func (o *Options) withDefaults() {
	o.Drain = cmp.Or(o.Drain, 10*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}
