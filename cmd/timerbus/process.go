package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/timerbus/timerbus/pkg/backend"
	"github.com/timerbus/timerbus/pkg/runtime"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
	"github.com/timerbus/timerbus/services/ingest"
	"github.com/timerbus/timerbus/services/scheduler"
)

const (
	defaultNamespace = "default"
	defaultShards    = 16

	// requestTimeout bounds an HTTP request.
	requestTimeout = 10 * time.Second
)

// serve is `timerbus dev`: it opens what there is to open, runs the services until ctx ends, drains them
// and closes everything.
func (p *program) serve(ctx context.Context, config *runtime.Config, logger *slog.Logger) (err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", config.Listen)
	if err != nil {
		return cannotListen("--listen", config.Listen, err)
	}
	defer l.Close()
	b, err := openBackend(ctx, config, logger)
	if err != nil {
		return err
	}
	defer func() {
		// What was left behind may hold on to the backend for ever. The process ends, and everything
		// is as after a crash, which it is made for.
		if !errors.Is(err, runtime.ErrNotDrained) {
			err = errors.Join(err, b.Close())
		}
	}()
	if err := ensureNamespace(ctx, b.Store); err != nil {
		return err
	}
	parts, err := assemble(b, config, l, logger)
	if err != nil {
		return err
	}
	p.banner(l.Addr().String(), b.BusAddress, config)
	group := runtime.Group{Parts: parts, Drain: config.DrainTimeout, Logger: logger}
	err = group.Run(ctx)
	if err == nil {
		logger.Info("stopped")
	}
	return err
}

func openBackend(ctx context.Context, config *runtime.Config, logger *slog.Logger) (*backend.Backend, error) {
	bus := url.Values{"sync": {config.NATSSync}}
	if config.NATSListen != "" {
		bus.Set("listen", config.NATSListen)
	}
	b, err := backend.Open(ctx, backend.Options{
		StoreURL: backend.FolderURL("sqlite", filepath.Clean(config.Data), nil),
		BusURL:   backend.FolderURL("embedded", filepath.Join(config.Data, "nats"), bus),
		// The folder remembers the count; asking for another one is an error that names it.
		Partitions: config.Partitions, BusToken: config.Token,
		Clock: timer.SystemClock, Random: rand.Uint64, Logger: logger,
	})
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, cannotListen("--nats-listen", config.NATSListen, err)
	case errors.Is(err, store.ErrPartitions):
		return nil, fmt.Errorf("--partitions %d: data folder %s: %w", config.Partitions, config.Data, err)
	}
	return b, err
}

// ensureNamespace makes the namespace that requests without one mean.
func ensureNamespace(ctx context.Context, s store.Namespaces) error {
	now := timer.SystemClock()
	_, err := s.CreateNamespace(ctx, store.Namespace{
		Name: defaultNamespace, Shards: shard.Block{Count: defaultShards}, Settings: store.DefaultSettings(),
		CreatedAt: now, UpdatedAt: now,
	})
	if err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("make namespace %s: %w", defaultNamespace, err)
	}
	return nil
}

// assemble builds the services and lists the parts of the process in the order in which they start: what
// takes in comes last, so that it stops first.
func assemble(b *backend.Backend, config *runtime.Config, l net.Listener, logger *slog.Logger) ([]runtime.Part, error) {
	registry := runtime.NewRegistry(version)
	directory := store.NewDirectory(b.Store)
	clock, revisions := timer.Clock(timer.SystemClock), timer.NewRevisions(timer.SystemClock, rand.Uint64)
	// One source for all services: an event that two of them tell is the same one.
	source := "timerbus/" + b.Cluster.ID.String()
	node, err := os.Hostname()
	if err != nil {
		node = "unknown" // a name for people, nothing more
	}
	positions, _ := store.As[store.Positions](b.Store)

	deliver, err := dispatcher.New(dispatcher.Config{
		Store: b.Store, Bus: b.Bus, Directory: directory, Clock: clock, Revisions: revisions, Random: rand.Uint64,
		Version: version, Source: source, Format: b.Format, Logger: logger, Registerer: registry,
		// The parts before it need some of the time.
		Drain: max(config.DrainTimeout-2*time.Second, config.DrainTimeout/2, time.Millisecond),
	})
	if err != nil {
		return nil, err
	}
	schedule, err := scheduler.New(scheduler.Config{
		Store: b.Store, Bus: b.Bus, Directory: directory, Clock: clock, Random: rand.Uint64, Node: node,
		Source: source, Format: b.Format, Logger: logger, Registerer: registry,
	})
	if err != nil {
		return nil, err
	}
	take, err := ingest.New(ingest.Config{
		Store: b.Store, Positions: positions, Directory: directory, Bus: b.Bus, Clock: clock, Revisions: revisions,
		Source: source, Format: b.Format, Logger: logger.With("component", "ingest"), Registerer: registry, Gatherer: registry,
		Token: config.Token, RequestTimeout: requestTimeout,
	})
	if err != nil {
		return nil, err
	}
	return []runtime.Part{
		{Name: "watch", Run: newWatch(b.Store, clock, logger, registry).run},
		{Name: "dispatcher", Run: deliver.Run},
		{Name: "scheduler", Run: schedule.Run},
		{Name: "ingest", Run: take.Run},
		serverPart(ingest.NewServer(take.Handler(), requestTimeout, logger), l, config.DrainTimeout/5),
	}, nil
}

// serverPart serves until it is stopped, and then answers what it has taken. A request that is not through
// within patience is cut off: a client that sends for ever must not use up the time of the other parts.
func serverPart(server *http.Server, l net.Listener, patience time.Duration) runtime.Part {
	return runtime.Part{
		Name: "http",
		Run: func(context.Context) error {
			return ended(server.Serve(l))
		},
		Stop: func(ctx context.Context) error {
			patient, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			err := server.Shutdown(patient)
			if err == nil {
				return nil
			}
			if patient.Err() != nil && ctx.Err() == nil {
				err = nil
			}
			return errors.Join(err, server.Close())
		},
	}
}
