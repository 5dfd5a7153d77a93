package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
)

// Bus is one process's handle on the bus.
type Bus struct {
	opts   Options
	log    *slog.Logger
	client *kgo.Client // publishes and sends requests; each Consume has separate clients
	admin  *kadm.Client

	identities identities
	meetings   singleflight.Group  // look-ups of user topics, by name
	room       *semaphore.Weighted // limits the messages in transit to the brokers

	handle *handle.Handle // Close waits for its Consume and Floor calls, and for look-ups of user topics

	mu       sync.Mutex
	floorsOf map[string]*sharedFloors

	commitFailures *prometheus.CounterVec
}

var (
	_ bus.Bus         = (*Bus)(nil)
	_ bus.Credentials = (*Bus)(nil)
)

// Connect connects and creates missing topics. ctx bounds only this call.
func Connect(ctx context.Context, opts Options) (*Bus, error) {
	opts, err := complete(opts)
	if err != nil {
		return nil, err
	}
	b := &Bus{
		opts:       opts,
		log:        opts.Logger,
		identities: newIdentities(),
		room:       semaphore.NewWeighted(maxPending),
		handle:     handle.New(opts.Logger),
		floorsOf:   make(map[string]*sharedFloors),

		commitFailures: newCommitFailures(),
	}
	if b.client, err = opts.client(opts.producing()...); err != nil {
		return nil, err
	}
	b.admin = kadm.NewClient(b.client)
	if err := b.prepare(ctx); err != nil {
		b.client.Close()
		if unreachable(err) {
			err = fmt.Errorf("%w: %w", bus.ErrUnavailable, err)
		}
		return nil, fmt.Errorf("connect to Kafka at %s: %w", opts.address(), err)
	}
	opts.clientLog.start()
	return b, nil
}

func (b *Bus) prepare(ctx context.Context) error {
	// Ping first: it fails at the first error, while other requests are retried.
	if err := b.client.Ping(ctx); err != nil {
		if errors.Is(err, io.EOF) && b.opts.SASL.Mechanism != "" {
			err = fmt.Errorf("the broker closed the connection: check the SASL mechanism, user and password, "+
				"and whether it requires TLS: %w", err)
		}
		return err
	}
	if err := b.ensure(ctx); err != nil {
		return err
	}
	if err := b.keepCommands(ctx); err != nil {
		b.log.Warn("the topic of commands may remove commands before they are applied: its retention was not changed",
			"topic", b.opts.topic(bus.Commands), "want", b.opts.keptCommands(), "error", err)
	}
	var topics []string
	for _, t := range bus.Topics() {
		topics = append(topics, b.opts.topic(t))
	}
	return retryTransient(ctx, connectRetryFor, func(ctx context.Context) error { return b.identify(ctx, topics...) })
}

// SetCredentials implements bus.Credentials. A connection on which the broker requires a new authentication
// (connections.max.reauth.ms) uses them, too.
func (b *Bus) SetCredentials(user *url.Userinfo) { b.opts.credentials.Store(user) }

// Partitions implements bus.Bus.
func (b *Bus) Partitions() int { return b.opts.Partitions }

// Properties implements bus.Bus.
func (b *Bus) Properties() bus.Properties {
	return bus.Properties{Prefix: b.opts.Prefix, HeaderAttributes: true}
}

// Consume implements bus.Bus.
func (b *Bus) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	if err := spec.Complete(); err != nil {
		return err
	}
	if err := b.opts.checkOwn(spec.Topic); err != nil {
		return fmt.Errorf("consume %w", err)
	}
	return b.handle.Consume(ctx, spec, func(ctx context.Context, h *health.Consumer) error {
		return b.consumeGroup(ctx, spec, open, h)
	})
}

// Ready implements bus.Bus.
func (b *Bus) Ready(topic bus.Topic, group string) error { return b.handle.Ready(topic, group) }

// Close implements bus.Bus.
func (b *Bus) Close() error {
	if first := b.handle.Close(); !first {
		return nil
	}
	defer b.opts.clientLog.stop()
	defer b.client.Close()
	// The messages still in transit belong to Publish calls that have already returned with a timeout.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := b.client.Flush(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("close bus: flush: %w", err)
	}
	return nil
}
