package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"syscall"

	"github.com/timerbus/timerbus/pkg/backend"
	"github.com/timerbus/timerbus/pkg/node"
	"github.com/timerbus/timerbus/pkg/runtime"
	"github.com/timerbus/timerbus/pkg/store"
)

// serve is `timerbus dev`: the whole service on one folder, until ctx ends.
func (p *program) serve(ctx context.Context, config *runtime.Config, logger *slog.Logger) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", config.Listen)
	if err != nil {
		return cannotListen("--listen", config.Listen, err)
	}
	defer l.Close()
	bus := url.Values{"sync": {config.NATSSync}}
	if config.NATSListen != "" {
		bus.Set("listen", config.NATSListen)
	}
	n, err := node.Open(ctx, &node.Options{
		StoreURL: backend.FolderURL("sqlite", filepath.Clean(config.Data), nil),
		BusURL:   backend.FolderURL("embedded", filepath.Join(config.Data, "nats"), bus),
		// The folder remembers the count; asking for another one is an error that names it.
		Partitions: config.Partitions,
		Listener:   l, Token: config.Token, Drain: config.DrainTimeout, Version: version, Logger: logger,
	})
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EADDRNOTAVAIL):
		return cannotListen("--nats-listen", config.NATSListen, err)
	case errors.Is(err, store.ErrPartitions):
		return fmt.Errorf("--partitions %d: data folder %s: %w", config.Partitions, config.Data, err)
	case err != nil:
		return err
	}
	p.banner(l.Addr().String(), n.BusAddress(), config)
	err = n.Run(ctx)
	if err == nil {
		logger.Info("stopped")
	}
	return err
}
