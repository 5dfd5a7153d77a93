package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/timerbus/timerbus/internal/process"
)

// serveDebug serves profiles until stop is called.
func serveDebug(ctx context.Context, address string, logger *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, cannotListen("--debug-listen", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	hosts, err := process.ParseHosts("") // a web page must not read the process's memory
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	server := &http.Server{
		Handler: hosts.Guard(mux), ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			logger.Warn("profile server failed", "error", err)
		}
	}()
	logger.Info("profile server started", "address", l.Addr().String())
	return func() {
		if err := server.Close(); err != nil {
			logger.Warn("profile server close failed", "error", err)
		}
		<-done
	}, nil
}
