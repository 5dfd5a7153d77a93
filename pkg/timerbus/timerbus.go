package timerbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/internal/node"
	"github.com/timerbus/timerbus/internal/watermillsink"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Service is a Timerbus in this process, ready to run.
type Service struct {
	node   *node.Node
	url    string
	client *client.Client
}

// Open opens the store and the bus, creates what does not exist, and builds the services. The caller must then call
// Run, which starts them; ctx bounds only the opening.
func Open(ctx context.Context, o Options) (_ *Service, err error) {
	if err := o.withDefaults(); err != nil {
		return nil, fmt.Errorf("timerbus: %w", err)
	}
	if o.Listener == nil {
		if o.Listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("timerbus: %w", err)
		}
	}
	s := &Service{url: "http://" + o.Listener.Addr().String()}
	var options []client.Option
	if o.Token != "" {
		options = append(options, client.WithToken(o.Token))
	}
	s.client, err = client.New(s.url, options...)
	if err == nil {
		s.node, err = node.Open(ctx, o.node())
	}
	if err != nil {
		return nil, fmt.Errorf("timerbus: %w", errors.Join(err, o.Listener.Close()))
	}
	return s, nil
}

// Run runs the service until ctx ends, finishes the work in flight and closes everything except the Publisher and the
// Subscriber. An error is the cause of an early end, or a failure while stopping.
func (s *Service) Run(ctx context.Context) error { return s.node.Run(ctx) }

// URL returns the base URL of the HTTP API, without a trailing slash.
func (s *Service) URL() string { return s.url }

// Client returns a client of the service. Requests that are made before Run wait until the service runs.
func (s *Service) Client() *client.Client { return s.client }

// over returns the function that puts the Pub/Sub over a bus; nil if there is no Pub/Sub.
func (w *Watermill) over(logger *slog.Logger, drain time.Duration) node.WrapBus {
	if w.Publisher == nil && w.Subscriber == nil {
		return nil
	}
	return func(below node.Layer, source string) (node.Layer, error) {
		over := below
		over.Prefix = cmp.Or(w.Prefix, below.Prefix)
		sink, err := watermillsink.New(watermillsink.Config{
			Inner: below.Bus, Publisher: w.Publisher, Subscriber: w.Subscriber, Prefix: over.Prefix, InnerPrefix: below.Prefix,
			CommandsPerSecond: w.CommandsPerSecond, Middleware: w.Middleware,
			// A subscriber receives a delayed message as it was published.
			Unwrap: func(m *message.Message) { watermillclient.Unwrap(m) },
			Source: source, Clock: timer.SystemClock, Logger: logger,
			// Closing waits for it up to four times, one after another.
			CloseTimeout: max(drain/4, time.Millisecond),
		})
		if err != nil {
			return below, err
		}
		over.Bus = sink
		if w.Publisher != nil {
			over.Format = watermillsink.Format
		}
		return over, nil
	}
}
