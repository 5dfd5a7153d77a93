package timertest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/backend"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/node"
)

const (
	// startTimeout is far beyond what a start takes on a machine that is busy with tests.
	startTimeout = 30 * time.Second
	// drain bounds how long callbacks under way can hold up the end of the test.
	drain = 5 * time.Second
	// partitions suffice for one process.
	partitions = 4
)

// Service is a running Timerbus.
type Service struct {
	// URL is the HTTP API's, without a slash at its end.
	URL string
	// NATSURL is where NATS clients reach the topics; empty unless WithNATS was given.
	NATSURL string
	// Client talks to the service at URL.
	Client *client.Client

	close func() error
}

// Option changes how Start and Open do it.
type Option func(*settings)

type settings struct {
	memory bool
	nats   bool
	level  slog.Level
}

// InMemory keeps everything in memory and leaves out the disk and the NATS server. It is for tests that
// want many timers or services; the rules are the same.
func InMemory() Option { return func(s *settings) { s.memory = true } }

// WithNATS lets NATS clients connect, for tests that publish commands or listen to events. It does not go
// together with InMemory, which has no server.
func WithNATS() Option { return func(s *settings) { s.nats = true } }

// WithLogLevel says how much of the service's log goes to the test's (for Open: to the standard error
// output). The default is slog.LevelWarn.
func WithLogLevel(l slog.Level) Option { return func(s *settings) { s.level = l } }

// Start starts a Timerbus for a test. When the test is over the service is drained and removed; if it had
// ended by itself or does not stop in good order, the test fails.
func Start(tb testing.TB, options ...Option) *Service {
	tb.Helper()
	log := &output{to: tb.Output()}
	s, err := open(tb.Context(), tb.TempDir, log, options)
	if err != nil {
		tb.Fatalf("timertest: %v", err)
	}
	endWith(tb, s, log)
	return s
}

// endWith closes the service when the test is over.
func endWith(tb testing.TB, s *Service, log *output) {
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("timertest: the service: %v", err)
		}
		log.close()
	})
}

// Open is Start where there is no test, such as in TestMain and in examples. The caller closes the service;
// ctx bounds the start only.
func Open(ctx context.Context, options ...Option) (*Service, error) {
	folder, err := os.MkdirTemp("", "timertest-")
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, func() string { return folder }, os.Stderr, options)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	end := s.close
	s.close = sync.OnceValue(func() error { return errors.Join(end(), os.RemoveAll(folder)) })
	return s, nil
}

// Close drains the service and removes what it kept. It returns what the service died of, or what went
// wrong while it stopped. After Start there is no need to call it.
func (s *Service) Close() error { return s.close() }

func open(ctx context.Context, folder func() string, log io.Writer, options []Option) (*Service, error) {
	s := settings{level: slog.LevelWarn}
	for _, option := range options {
		option(&s)
	}
	if s.memory && s.nats {
		return nil, errors.New("InMemory and WithNATS exclude each other: a bus in memory has no server")
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(starting, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := node.Options{
		StoreURL: "memory:", BusURL: "memory:", Partitions: partitions,
		// A test's receivers are on this machine.
		CallbackAllow: "loopback",
		Listener:      l, Drain: drain, Version: "timertest",
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: s.level})),
	}
	if !s.memory {
		o.StoreURL, o.BusURL = s.folders(folder())
	}
	n, err := node.Open(starting, &o)
	if err != nil {
		l.Close()
		return nil, err
	}
	service := run(ctx, n.Run)
	service.URL, service.NATSURL = "http://"+l.Addr().String(), n.BusAddress()
	service.Client, err = client.New(service.URL, client.WithUserAgent("timertest"))
	if err != nil {
		return nil, errors.Join(err, service.Close())
	}
	return service, nil
}

// folders are the URLs of a store and a bus in a folder that nobody will miss: what is acknowledged need
// not survive the machine.
func (s *settings) folders(folder string) (storeURL, busURL string) {
	bus := url.Values{"sync": {"interval"}}
	if s.nats {
		bus.Set("listen", "127.0.0.1:0")
	}
	return backend.FolderURL("sqlite", folder, nil), backend.FolderURL("embedded", filepath.Join(folder, "nats"), bus)
}

// run runs the service until it is closed. The listener has taken connections since before, so nobody
// needs to wait for the services.
func run(ctx context.Context, service func(context.Context) error) *Service {
	// A test's own context ends before its cleanups begin, and the service must outlive those that were
	// registered later, which may still use it.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- service(ctx) }()
	return &Service{close: sync.OnceValue(func() error {
		stop()
		return <-ended
	})}
}

// output is the test's log until the test is over. What a part that was left behind says later would
// bring down the whole test binary.
type output struct {
	mu sync.Mutex
	to io.Writer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(p)
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to = io.Discard
}
