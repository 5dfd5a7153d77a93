package timerbus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/node"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/internal/watermillsink"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Service is a Timerbus in this process, ready to run.
type Service struct {
	node   *node.Node
	url    string
	client *client.Client
}

// New builds a service on an open store and an open bus, and creates the cluster record and the namespace "default" if they do
// not exist. The caller must then call Run, which starts the service; ctx bounds only New.
//
// The cluster's number of partitions is that of b, and is fixed by the first service on s: with another number the error
// wraps store.ErrPartitions. The service never closes s and b: close them, first b, after Run has returned, unless its error
// wraps ErrNotDrained.
func New(ctx context.Context, s store.Store, b bus.Bus, o Options) (_ *Service, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("timerbus: %w", err)
		}
	}()
	o.withDefaults()
	if o.Listener == nil {
		if o.Listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	built := &Service{url: "http://" + o.Listener.Addr().String()}
	if s == nil || b == nil {
		err = errors.New("a store and a bus are required")
	} else {
		err = built.open(ctx, s, b, &o)
	}
	if err != nil {
		return nil, errors.Join(err, o.Listener.Close())
	}
	return built, nil
}

func (s *Service) open(ctx context.Context, timers store.Store, b bus.Bus, o *Options) (err error) {
	var options []client.Option
	if o.Token != "" {
		options = append(options, client.WithToken(o.Token))
	}
	if s.client, err = client.New(s.url, options...); err != nil {
		return err
	}
	n := &node.Options{
		Store: timers, Bus: b, Listener: o.Listener, Access: access.Options{Token: access.NewToken(o.Token)}, AllowedHosts: o.AllowedHosts,
		CallbackAllow: o.CallbackAllow, Drain: o.Drain, Version: "embedded", Logger: o.Logger,
		Tracer: tracing.New(o.TracerProvider),
	}
	if o.Watermill.Publisher != nil || o.Watermill.Subscriber != nil {
		identity, err := store.Identify(ctx, timers, b.Partitions(), timer.SystemClock(), rand.Uint64)
		if err != nil {
			return err
		}
		sink, err := o.sink(b, node.Source(identity))
		if err != nil {
			return err
		}
		n.Bus, n.Close = sink, sink.Close
	}
	s.node, err = node.Open(ctx, n)
	return err
}

// ErrNotDrained is wrapped by the error of Run if a component of the service did not stop within Options.Drain. That component may still
// use the store and the bus: end the process without closing them, as if it had crashed. Nothing is lost.
var ErrNotDrained = process.ErrNotDrained

// Run runs the service until ctx ends and finishes the work in flight. It closes neither the store nor the bus nor the
// Publisher nor the Subscriber. An error is the cause of an early end, or a failure while stopping.
func (s *Service) Run(ctx context.Context) error { return s.node.Run(ctx) }

// URL returns the base URL of the HTTP API, without a trailing slash.
func (s *Service) URL() string { return s.url }

// Client returns a client of the service. Requests that are made before Run wait until the service runs.
func (s *Service) Client() *client.Client { return s.client }

// sink puts the user's Pub/Sub over a bus. source is the CloudEvents source of the service's events.
func (o *Options) sink(b bus.Bus, source string) (*watermillsink.Sink, error) {
	w := &o.Watermill
	return watermillsink.New(watermillsink.Config{
		Inner: b, Publisher: w.Publisher, Subscriber: w.Subscriber, Prefix: w.Prefix,
		CommandsPerSecond: w.CommandsPerSecond, Middleware: w.Middleware,
		// A subscriber receives a delayed message as it was published.
		Unwrap: func(m *message.Message) { watermillclient.Unwrap(m) },
		Source: source, Clock: timer.SystemClock, Logger: o.Logger,
		// Closing waits for it up to four times, one after another.
		CloseTimeout: max(o.Drain/4, time.Millisecond),
	})
}
