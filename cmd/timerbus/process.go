package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/node"
	"github.com/timerbus/timerbus/internal/otlp"
	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/internal/testclock"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/internal/ui"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// serve runs a role until ctx ends. `timerbus dev` is node.All on one data folder.
func (p *program) serve(
	ctx context.Context, role node.Role, config *process.Config, settings func() (process.Config, error), logger *slog.Logger,
) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", config.Listen)
	if err != nil {
		return cannotListen("--listen", config.Listen, err)
	}
	defer l.Close()
	if config.TLSCert != "" {
		secure, err := process.ServerTLS(config.TLSCert, config.TLSKey, config.TLSClientCA, logger)
		if err != nil {
			return usageError{err}
		}
		l = tls.NewListener(l, secure)
	}
	stopDebug, err := serveDebug(ctx, config.DebugListen, logger)
	if err != nil {
		return err
	}
	defer stopDebug()
	storeURL, busURL := config.Store, config.Bus
	if storeURL == "" {
		storeURL = backend.FolderURL("sqlite", filepath.Clean(config.Data), nil)
	}
	if busURL == "" {
		query := url.Values{"sync": {config.NATSSync}}
		if config.NATSListen != "" {
			query.Set("listen", config.NATSListen)
		}
		busURL = backend.FolderURL("embedded", filepath.Join(config.Data, "nats"), query)
	}
	clock, err := clockOf(config)
	if err != nil {
		return err
	}
	now := timer.SystemClock
	if clock != nil {
		now = clock.Now
	}
	proxies, err := newProxy(config)
	if err != nil {
		return usageError{err}
	}
	keys, err := config.SecretKeys()
	if err != nil {
		return usageError{err}
	}
	var commands outbox.Outbox
	if config.Outbox != "" && (role == node.All || role == node.Ingest) {
		if commands, err = backend.OpenOutbox(config.Outbox); err != nil {
			return usageError{err}
		}
	}
	var tracer *tracing.Tracer
	if config.TraceShare > 0 {
		provider, err := otlp.Open(ctx, config.TraceShare, version, logger)
		if err != nil {
			return usageError{err}
		}
		defer flush(ctx, provider, logger)
		tracer = tracing.New(provider)
	}
	verify, err := verifierOf(config)
	if err != nil {
		return usageError{err}
	}
	token := access.NewToken(config.Token)
	opening := opening{
		backend: backend.Options{
			StoreURL: storeURL, BusURL: busURL, Role: string(role), Migrate: role == node.All, BusToken: config.Token,
			// The database stores the partition count. A different count is an error that names the stored one.
			Partitions: config.Partitions,
			Clock:      now, Random: rand.Uint64, Logger: logger,
		},
		node: node.Options{
			AllowedHosts: config.AllowedHosts, CallbackAllow: config.CallbackAllow, CallbackProxy: proxies.present(),
			Role: role, Outbox: commands, Name: config.Node, Listener: l, Keys: keys, Drain: config.DrainTimeout,
			MetricsNamespaces: config.MetricsNamespaces, Tracer: tracer, TestClock: clock, DueQueue: config.DueQueue,
			Version: version, Logger: logger,
			UI:     uiOf(config),
			Access: access.Options{Token: token, Verify: verify, Certificates: config.TLSClientCA != ""},
		},
	}
	n, err := opening.retry(ctx, config.StartWait)
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EADDRNOTAVAIL):
		return cannotListen("--nats-listen", config.NATSListen, err)
	case errors.Is(err, store.ErrPartitions):
		if config.Store == "" {
			return fmt.Errorf("--partitions %d: data folder %s: %w", config.Partitions, config.Data, err)
		}
		return fmt.Errorf("--partitions %d: %w", config.Partitions, err)
	case err != nil:
		return err
	}
	if role == node.All {
		p.banner(l.Addr().String(), opening.opened.BusAddress, config)
	} else {
		logger.Info("started", "role", role, "version", readBuildInfo().Version, "listen", l.Addr().String())
	}
	if process.HasSecretFiles(os.Environ()) {
		r := newReload(settings, config, token, keys, opening.opened, proxies, logger)
		ctx, cancel := context.WithCancel(ctx)
		var watch sync.WaitGroup
		watch.Go(func() { r.run(ctx) })
		defer watch.Wait()
		defer cancel()
	}
	err = n.Run(ctx)
	if err == nil {
		logger.Info("stopped")
	}
	return err
}

// uiOf returns the settings of the web UI; nil if it is not served.
func uiOf(config *process.Config) *ui.Options {
	if !config.UI {
		return nil
	}
	return &ui.Options{
		Path: config.UIPath, ReadOnly: config.UIReadOnly, HidePayloads: config.UIHidePayloads, Version: readBuildInfo().Version,
		SignIn: signInOf(config),
	}
}

func signInOf(c *process.Config) ui.SignIn {
	return ui.SignIn{Issuer: c.OIDCIssuer, Audience: c.OIDCAudience, ClientID: c.UIOIDCClientID, Scopes: c.UIOIDCScopes}
}

// clockOf returns the test clock of a process; nil if it runs on the machine's clock. A data folder whose test clock was moved
// has times in the future.
func clockOf(config *process.Config) (*testclock.Clock, error) {
	switch {
	case config.Store != "":
		return nil, nil //nolint:nilnil // it runs on the machine's clock.
	case config.TestClock:
		return testclock.Open(config.Data)
	default:
		return nil, testclock.Check(config.Data)
	}
}

// flushTimeout bounds the export of the last spans at the end of a process.
const flushTimeout = 3 * time.Second

// flush exports the spans that are left. ctx may have ended.
func flush(ctx context.Context, provider *sdktrace.TracerProvider, logger *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if err := provider.Shutdown(ctx); err != nil {
		logger.Warn("last spans not exported", "error", err)
	}
}
