package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// newHTTPServer returns a server with timeouts and limits against slow or greedy clients. logger may be nil.
func newHTTPServer(handler http.Handler, logger *slog.Logger) *http.Server {
	s := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      6 * time.Minute, // a receiver may use the longest callback timeout
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	if logger != nil {
		s.ErrorLog = slog.NewLogLogger(logger.Handler(), slog.LevelDebug)
	}
	return s
}

// cannotListen explains why an address cannot be used, and names the flag that chose it.
func cannotListen(flag, address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s %s: the port is in use by another process; stop that process, or choose another port (0 selects a free port)",
			flag, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s %s: this machine does not have the address; choose one of its addresses, such as 127.0.0.1", flag, address)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s %s: not permitted; ports below 1024 need privileges", flag, address)
	default:
		return fmt.Errorf("%s %s: %w", flag, address, err)
	}
}

// reachable returns an address to which this machine can connect, for an address on which it listens.
func reachable(listening string) string {
	host, port, err := net.SplitHostPort(listening)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listening
}
