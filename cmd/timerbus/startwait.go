package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/node"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// startPause is the wait between two attempts to reach the database and the bus.
const startPause = 500 * time.Millisecond

// opening opens a node with its store and bus.
type opening struct {
	backend backend.Options
	node    node.Options
	// opened is the store and bus of the node.
	opened *backend.Backend
}

func (o *opening) once(ctx context.Context) (*node.Node, error) {
	b, err := backend.Open(ctx, o.backend)
	if err != nil {
		return nil, err
	}
	o.opened = b
	o.node.Store, o.node.Bus, o.node.Close = b.Store, b.Bus, b.Close
	return node.Open(ctx, &o.node)
}

// retry opens the node. While its database or its bus does not answer, it retries for up to wait. During that time it answers
// probes at the listener with "not ready" and the reason.
func (o *opening) retry(ctx context.Context, wait time.Duration) (*node.Node, error) {
	n, err := o.once(ctx)
	if err == nil || wait <= 0 || away(err) == "" {
		return n, err
	}
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var told lobby
	stop := told.open(o.node.Listener, o.node.Logger)
	defer stop()
	o.node.Logger.Warn("not started yet, retrying", "because", away(err), "for", wait.String(), "error", err)
	for {
		told.say(away(err))
		if !timer.Sleep(limit, startPause) {
			return nil, err // err of the last attempt names the cause
		}
		if n, err = o.once(ctx); err == nil || away(err) == "" {
			return n, err
		}
	}
}

// away returns which component does not answer, or "" if err has another cause.
func away(err error) string {
	dial, network := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, bus.ErrUnavailable):
		return "the bus does not answer"
	case errors.Is(err, store.ErrUnavailable), network && dial.Op == "dial":
		return "the store does not answer"
	default:
		return ""
	}
}

// lobby answers probes at a node's address before the node is open.
type lobby struct {
	mu     sync.Mutex
	reason string
}

func (l *lobby) say(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reason = reason
}

// open serves until stop is called. The listener stays open for the node.
func (l *lobby) open(listener net.Listener, logger *slog.Logger) (stop func()) {
	server := newHTTPServer(l, logger)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(&lent{listener}) // returns when stop closes the server
	}()
	return func() {
		_ = server.Close()
		<-served
		if d, ok := listener.(deadliner); ok {
			_ = d.SetDeadline(time.Time{})
		}
	}
}

func (l *lobby) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	health := api.Health{Status: "not ready", Reasons: []string{l.reason}}
	l.mu.Unlock()
	status := http.StatusServiceUnavailable
	if r.URL.Path == "/healthz" {
		health, status = api.Health{Status: "ok"}, http.StatusOK
	}
	w.Header().Set("Retry-After", "1")
	process.WriteHealth(w, status, health)
}

// lent is a listener that its server may close: Close makes Accept return, and the port stays open.
type lent struct{ net.Listener }

type deadliner interface{ SetDeadline(time.Time) error }

func (l *lent) Close() error {
	if d, ok := l.Listener.(deadliner); ok {
		return d.SetDeadline(time.Unix(1, 0))
	}
	return l.Listener.Close()
}
