package timertest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/node"
	"github.com/timerbus/timerbus/internal/testclock"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// startTimeout is far longer than a start takes on a machine that is busy with tests.
	startTimeout = 30 * time.Second
	// drain bounds how long callbacks in flight can delay the end of the test.
	drain = 5 * time.Second
	// partitions is sufficient for one process.
	partitions = 4
)

// Service is a running Timerbus.
type Service struct {
	// URL is the base URL of the HTTP API, without a trailing slash.
	URL string
	// NATSURL is the URL at which NATS clients reach the topics; empty unless WithNATS was given.
	NATSURL string
	// Client is a client of the service at URL.
	Client *client.Client

	testClock bool
	close     func() error
}

// Option is an option of Start and Open.
type Option func(*settings)

type settings struct {
	memory    bool
	nats      bool
	testClock bool
	level     slog.Level
}

// InMemory keeps all data in memory, without disk and NATS server. It is for tests with many timers or services; the
// behaviour is the same.
func InMemory() Option { return func(s *settings) { s.memory = true } }

// WithNATS lets NATS clients connect, for tests that publish commands or consume events. It cannot be combined with
// InMemory, which has no server.
func WithNATS() Option { return func(s *settings) { s.nats = true } }

// WithTestClock runs the service on a clock that Advance moves forward. Until then it shows the machine's time.
func WithTestClock() Option { return func(s *settings) { s.testClock = true } }

// WithLogLevel sets the minimum level of the service's log lines that are written to the test's log (with Open: to the
// standard error output). The default is slog.LevelWarn.
func WithLogLevel(l slog.Level) Option { return func(s *settings) { s.level = l } }

// Start starts a Timerbus for a test. When the test ends, the service is drained and removed. The test fails if the
// service had ended before, or does not stop in an orderly way.
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

// endWith closes the service when the test ends.
func endWith(tb testing.TB, s *Service, log *output) {
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("timertest: the service: %v", err)
		}
		log.close()
	})
}

// Open is Start for code without a testing.TB, such as TestMain and examples. The caller must close the service; ctx
// bounds only the start.
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

// Close drains the service and removes its data. It returns the cause of an early end, or a failure while stopping.
// After Start there is no need to call it.
func (s *Service) Close() error { return s.close() }

// Advance moves the clock of a service with WithTestClock forward. It delivers the timers that become due, in the order of their due
// times, and returns when the clock has reached the target and no timer is due. The test fails if the service has no test clock, or
// if timers are still due after a minute. Without a testing.TB, use Client.AdvanceClock. Events may arrive later than Advance
// returns.
func (s *Service) Advance(tb testing.TB, by time.Duration) {
	tb.Helper()
	s.needTestClock(tb)
	if _, err := s.Client.AdvanceClock(tb.Context(), client.AdvanceClockRequest{By: by.String()}); err != nil {
		tb.Fatalf("timertest: advance by %s: %v", timer.FormatDuration(by), err)
	}
}

// Now returns the time that the service's test clock shows.
func (s *Service) Now(tb testing.TB) time.Time {
	tb.Helper()
	s.needTestClock(tb)
	clock, err := s.Client.Clock(tb.Context())
	if err != nil {
		tb.Fatalf("timertest: %v", err)
	}
	return clock.Now.Time
}

func (s *Service) needTestClock(tb testing.TB) {
	tb.Helper()
	if !s.testClock {
		tb.Fatalf("timertest: the service runs on the machine's clock: start it with WithTestClock")
	}
}

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
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: s.level}))
	urls := backend.Options{
		StoreURL: "memory:", BusURL: "memory:", Partitions: partitions,
		Clock: timer.SystemClock, Random: rand.Uint64, Logger: logger,
	}
	if !s.memory {
		urls.StoreURL, urls.BusURL = s.folders(folder())
	}
	var clock *testclock.Clock
	if s.testClock {
		clock = testclock.New()
		urls.Clock = clock.Now
	}
	b, err := backend.Open(starting, urls)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	n, err := node.Open(starting, &node.Options{
		Store: b.Store, Bus: b.Bus, Close: b.Close,
		// A test's receivers are on this machine.
		CallbackAllow: "loopback",
		Listener:      l, Drain: drain, Version: "timertest", Logger: logger, TestClock: clock,
	})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	service := run(ctx, n.Run)
	service.testClock = s.testClock
	service.URL, service.NATSURL = "http://"+l.Addr().String(), b.BusAddress
	service.Client, err = client.New(service.URL, client.WithUserAgent("timertest"))
	if err != nil {
		return nil, errors.Join(err, service.Close())
	}
	return service, nil
}

// folders returns the URLs of a store and a bus in a temporary folder. The bus syncs only in the background, because
// its messages need not survive a power failure.
func (s *settings) folders(folder string) (storeURL, busURL string) {
	bus := url.Values{"sync": {"interval"}}
	if s.nats {
		bus.Set("listen", "127.0.0.1:0")
	}
	return backend.FolderURL("sqlite", folder, nil), backend.FolderURL("embedded", filepath.Join(folder, "nats"), bus)
}

// run runs the service until it is closed. The listener already accepts connections, so callers do not need to wait for
// the services.
func run(ctx context.Context, service func(context.Context) error) *Service {
	// The context of a test ends before its cleanups begin. Cleanups that were registered later run first and may still
	// use the service.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- service(ctx) }()
	return &Service{close: sync.OnceValue(func() error {
		stop()
		return <-ended
	})}
}

// output writes to the test's log until the test ends. A write after that, by a part that did not stop, would panic the
// test binary.
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
