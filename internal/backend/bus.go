package backend

import (
	"cmp"
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

const acceptedBuses = "embedded:FOLDER?listen=HOST:PORT&sync=always|interval&" +
	"commands-size=SIZE&due-size=SIZE&events-size=SIZE&due-streams=N, nats://HOST:PORT,…?…, kafka://HOST:PORT,…?… or memory:"

func (b *Backend) openBus(ctx context.Context, o *Options) error {
	name, rest := scheme(o.BusURL)
	switch name {
	case "embedded":
		return b.openEmbedded(ctx, o, rest)
	case "nats":
		options, err := natsOptions(o.BusURL)
		if err != nil {
			return err
		}
		return b.connect(ctx, o, options)
	case "kafka":
		return b.openKafka(ctx, o)
	case "memory":
		if rest != "" {
			return notAccepted("bus", o.BusURL, acceptedBuses)
		}
		b.Bus = membus.New(membus.Options{Partitions: o.Partitions}).Join("timerbus")
		b.closers = append(b.closers, b.Bus.Close)
		return nil
	default:
		return notAccepted("bus", o.BusURL, acceptedBuses)
	}
}

func (b *Backend) openEmbedded(ctx context.Context, o *Options, rest string) error {
	path, query, err := folder(rest)
	if err != nil {
		return notAccepted("bus", o.BusURL, acceptedBuses)
	}
	listen, sync := query.Get("listen"), cmp.Or(query.Get("sync"), "always")
	query.Del("listen")
	query.Del("sync")
	var options natsbus.Options
	for name := range query {
		known, err := setStreams(&options, name, query.Get(name))
		if !known {
			return notAccepted("bus", o.BusURL, acceptedBuses)
		}
		if err != nil {
			return fmt.Errorf("bus URL: %w: %w", ErrURL, err)
		}
	}
	if sync != "always" && sync != "interval" {
		return notAccepted("bus", o.BusURL, acceptedBuses)
	}
	server, err := embedded.Start(ctx, embedded.Options{
		Dir: path, Listen: listen, Token: o.BusToken, Logger: o.Logger, NoSync: sync == "interval",
	})
	if err != nil {
		return err
	}
	b.closers = append(b.closers, func() error {
		server.Close()
		return nil
	})
	b.BusAddress = server.URL()
	options.InProcess, options.Token = server, o.BusToken
	return b.connect(ctx, o, options)
}

func (b *Backend) connect(ctx context.Context, o *Options, options natsbus.Options) error {
	options.Partitions, options.Logger = o.Partitions, o.Logger
	connected, err := natsbus.Connect(ctx, options)
	if err != nil {
		return err
	}
	b.Bus = connected
	b.closers = append(b.closers, connected.Close)
	return nil
}
