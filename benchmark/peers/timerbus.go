package main

import (
	"context"
	"errors"

	"github.com/timerbus/timerbus/internal/bench"
)

// timerbusDriver creates timers over the HTTP API of a service. The service is a separate program, so there is no worker.
type timerbusDriver struct{}

// Client implements driver.
func (timerbusDriver) Client(_ context.Context, in surroundings) (client, string, error) {
	target, err := bench.NewTarget(in.Service, "")
	return timerbusClient{target, in.Callback}, "the service", err
}

// Work implements driver.
func (timerbusDriver) Work(context.Context, surroundings, func()) error {
	return errors.New("the service fires timers by itself")
}

type timerbusClient struct {
	target   *bench.Target
	callback string
}

func (timerbusClient) close() error { return nil }

func (c timerbusClient) create(ctx context.Context, order creation) error {
	_, err := c.target.Create(ctx, bench.Creation{
		Namespace: "peers", Shards: 16, Prefix: order.Prefix, Count: order.Count, Callback: c.callback, At: order.at,
		Connections: order.Connections, Batch: order.Batch,
	})
	return err
}
