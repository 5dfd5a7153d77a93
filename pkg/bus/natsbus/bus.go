package natsbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/pkg/bus"
)

// Bus is one process's handle on the bus.
type Bus struct {
	opts    Options
	log     *slog.Logger
	nc      *nats.Conn
	js      jetstream.JetStream
	streams map[bus.Topic]*stream // of the logs
	queue   *dueQueue
	foreign foreign            // of user topics
	members jetstream.KeyValue // the live processes
	owners  jetstream.KeyValue // the owner and the committed position of each partition
	link    *link
	lease   *lease

	restoring sync.Mutex // at most one goroutine recreates lost streams

	delivered sync.Map // the last session's delivered value, by owner record key

	handle *handle.Handle // fails when the connection is permanently closed
	outage *outage.Log    // of the connection and of this handle's background operations
}

var (
	_ bus.Bus         = (*Bus)(nil)
	_ bus.Credentials = (*Bus)(nil)
)

// Connect connects and creates missing streams and buckets. ctx bounds only this call.
func Connect(ctx context.Context, opts Options) (*Bus, error) {
	opts, err := complete(opts)
	if err != nil {
		return nil, err
	}
	b := &Bus{
		opts:    opts,
		log:     opts.Logger,
		outage:  outage.New(opts.Logger, "nats", "operation"),
		handle:  handle.New(opts.Logger),
		streams: make(map[bus.Topic]*stream),
		queue:   &dueQueue{homes: opts.QueueStreams},
		foreign: foreign{by: make(map[bus.Topic]*stream)},
		link:    newLink(),
	}
	b.queue.grow(&b.opts, opts.QueueStreams)
	if b.nc, err = nats.Connect(opts.URL, b.connection()...); err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", opts.address(), unreachable(err))
	}
	b.js, err = jetstream.New(b.nc,
		jetstream.WithPublishAsyncMaxPending(maxPending),
		jetstream.WithPublishAsyncTimeout(opts.AckTimeout))
	if err == nil {
		err = b.ensure(ctx)
	}
	if unanswered(err) {
		err = fmt.Errorf("JetStream is not responding: is it enabled on this server? %w", err)
	}
	if err != nil {
		b.handle.Close() // so that the closed connection is no failure
		b.nc.Close()
		return nil, fmt.Errorf("prepare NATS at %s: %w", opts.address(), unreachable(err))
	}
	b.lease = newLease(b)
	return b, nil
}

// unreachable adds bus.ErrUnavailable to an error if no server responded, or if no server could decide yet.
func unreachable(err error) error {
	var network *net.OpError
	if errors.Is(err, nats.ErrNoServers) || errors.As(err, &network) || passing(err) {
		return fmt.Errorf("%w: %w", bus.ErrUnavailable, err)
	}
	return err
}

func (o *Options) address() string {
	if o.InProcess != nil {
		return "the server in this process"
	}
	return o.URL
}

// connecting is the name of the connection in the outage log.
const connecting = "connect"

// plain replaces the error that the client library returns for every call without a connection: with a buffer of size
// 0 it is "outbound buffer limit exceeded".
func (b *Bus) plain(err error) error {
	if !errors.Is(err, nats.ErrReconnectBufExceeded) {
		return err
	}
	return fmt.Errorf("not connected to NATS at %s", b.opts.address())
}

func (b *Bus) connection() []nats.Option {
	options := []nats.Option{
		nats.Name(b.opts.Name),
		nats.Timeout(2 * time.Second),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(100 * time.Millisecond),
		nats.PingInterval(5 * time.Second), // detects a dead idle connection within 15 s
		// The client buffers nothing while it is disconnected: a publish then fails immediately and is known not to
		// have been sent, and a renewal or acknowledgement is never sent late.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			b.link.change()
			if err != nil {
				b.outage.Failed(connecting, err)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { b.outage.Failed(connecting, err) }),
		nats.ReconnectHandler(func(*nats.Conn) {
			b.link.change()
			b.outage.Succeeded(connecting)
		}),
		// Do not give up if the server does not know the token yet, for example while it starts.
		nats.IgnoreAuthErrorAbort(),
		nats.ClosedHandler(b.connectionClosed),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if sub != nil {
				b.outage.Failed("subscription", err, "subject", sub.Subject)
			} else {
				b.outage.Failed(connecting, err)
			}
		}),
	}
	if b.opts.InProcess != nil {
		options = append(options, nats.InProcessServer(b.opts.InProcess))
	}
	return append(options, b.opts.credentials()...)
}

// connectionClosed ends every Consume with an error when the client library has closed the connection permanently.
// The library is configured to reconnect forever, but may still close the connection. Without this handler, Consume
// would receive nothing more and report no error.
func (b *Bus) connectionClosed(nc *nats.Conn) {
	if b.handle.Closed() {
		return
	}
	err := fmt.Errorf("%w: the connection to NATS at %s is permanently closed", bus.ErrUnavailable, b.opts.address())
	if last := nc.LastError(); last != nil {
		err = fmt.Errorf("%w: %w", err, last)
	}
	b.log.Error("connection permanently closed", "error", err)
	b.handle.Fail(err)
}

// SetCredentials implements bus.Credentials.
func (b *Bus) SetCredentials(user *url.Userinfo) { b.opts.current.Store(user) }

// Partitions implements bus.Bus.
func (b *Bus) Partitions() int { return b.opts.Partitions }

// Properties implements bus.Bus.
func (b *Bus) Properties() bus.Properties { return bus.Properties{Prefix: b.opts.Prefix} }

// Consume implements bus.Bus.
func (b *Bus) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	if err := spec.Complete(); err != nil {
		return err
	}
	if err := b.opts.checkOwn(spec.Topic); err != nil {
		return fmt.Errorf("consume %w", err)
	}
	return b.handle.Consume(ctx, spec, func(ctx context.Context, h *health.Consumer) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var trimming sync.WaitGroup
		if spec.Topic == bus.Commands && spec.Group == bus.GroupIngest {
			trimming.Go(func() { b.trim(ctx) })
		}
		consume := b.consumeOwned
		if spec.Mode == bus.Queue {
			consume = b.consumeQueue
		}
		err := consume(ctx, spec, open, h)
		cancel()
		trimming.Wait()
		return err
	})
}

// Ready implements bus.Bus.
func (b *Bus) Ready(topic bus.Topic, group string) error {
	if !b.handle.Closed() && !b.nc.IsConnected() {
		return fmt.Errorf("consume %s in group %q: %w: not connected to NATS at %s", topic, group, bus.ErrUnavailable, b.opts.address())
	}
	return b.handle.Ready(topic, group)
}

// Close implements bus.Bus.
func (b *Bus) Close() error {
	if first := b.handle.Close(); !first {
		return nil
	}
	b.lease.stop()
	defer b.outage.Stop()
	defer b.nc.Close()
	if !b.nc.IsConnected() {
		return nil
	}
	if err := b.nc.FlushTimeout(time.Second); err != nil {
		return fmt.Errorf("close bus: flush: %w", err)
	}
	return nil
}

// link signals when the connection is lost or restored, and when streams or buckets were created again.
type link struct {
	mu      sync.Mutex
	changed chan struct{}
}

func newLink() *link { return &link{changed: make(chan struct{})} }

func (l *link) change() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
}

// next returns a channel that is closed at the next change.
func (l *link) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}
