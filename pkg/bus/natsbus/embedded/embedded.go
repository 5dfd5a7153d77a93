package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Options configures a Server.
type Options struct {
	// Dir is the data folder; it is made if missing, and belongs to one server at a time.
	Dir string
	// Listen is host:port for clients; port 0 takes a free one. Empty: only this process connects.
	Listen string
	// NoSync leaves fsync to the background (every 2 min). By default each message of a stream in
	// the default persist mode is fsynced before it is acknowledged; natsbus makes the streams that
	// can do without it asynchronous, so only commands, fired and dead events pay (0.2 ms each).
	NoSync bool
	// Name shows in the server's logs and to clients. Default "timerbus".
	Name string
	// Logger gets the server's log. Default: nothing.
	Logger *slog.Logger
}

// MaxPayload leaves room for NATS's own headers around the 1 MiB that the bus contract allows.
const MaxPayload = 1<<20 + 64<<10

// startWait bounds how long recovery of the streams may take.
const startWait = time.Minute

// Server is a running server.
type Server struct {
	inner *server.Server
	lock  *os.File
}

// Start starts a server and waits until it takes connections, or ctx ends.
func Start(ctx context.Context, opts Options) (*Server, error) {
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if opts.Dir == "" {
		return nil, errors.New("start NATS: no data folder given")
	}
	name := opts.Name
	if name == "" {
		name = "timerbus"
	}
	config := &server.Options{
		ServerName: name,
		JetStream:  true,
		StoreDir:   opts.Dir,
		// Without a figure of its own the server refuses streams whose limits exceed the free disk.
		JetStreamMaxStore: 1 << 50,
		SyncAlways:        !opts.NoSync,
		MaxPayload:        MaxPayload,
		NoSigs:            true,
		DontListen:        opts.Listen == "",
	}
	if opts.Listen != "" {
		if err := listen(ctx, config, opts.Listen); err != nil {
			return nil, err
		}
	}
	lock, err := lockDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	inner, err := server.NewServer(config)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start NATS: %w", err), lock.Close())
	}
	logger := &logger{log: log.With("component", "nats")}
	inner.SetLoggerV2(logger, false, false, false)
	inner.Start()
	s := &Server{inner: inner, lock: lock}
	if err := s.ready(ctx, opts.Listen != ""); err != nil {
		s.Close()
		if cause := logger.lastError(); cause != "" {
			err = fmt.Errorf("%w: %s", err, cause)
		}
		return nil, err
	}
	return s, nil
}

// listen fills in the address. It is tried out first, since the server reports a taken port by its
// log only.
func listen(ctx context.Context, config *server.Options, address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("start NATS: address %q: want host:port: %w", address, err)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 0 || number > 65535 {
		return fmt.Errorf("start NATS: address %q: port %q: want 0 to 65535", address, port)
	}
	try, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("start NATS on %s: %w", address, err)
	}
	if err := try.Close(); err != nil {
		return fmt.Errorf("start NATS on %s: %w", address, err)
	}
	config.Host, config.Port = host, number
	if number == 0 {
		config.Port = server.RANDOM_PORT
	}
	return nil
}

// lockDir makes the folder and takes it: two servers on one folder corrupt its streams.
func lockDir(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("start NATS: data folder: %w", err)
	}
	name := filepath.Join(dir, "timerbus-nats.lock")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start NATS: data folder: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("start NATS: data folder %s is in use by another process: %w", dir, err), f.Close())
	}
	return f, nil
}

// ready polls, because the server offers no signal that can be waited for together with ctx.
func (s *Server) ready(ctx context.Context, listens bool) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		if (s.inner.ReadyForConnections(10*time.Millisecond) || (!listens && s.inner.Running())) && s.inner.JetStreamEnabled() {
			return nil
		}
		if !s.inner.Running() {
			return errors.New("start NATS: the server gave up")
		}
		if ctx.Err() != nil {
			return fmt.Errorf("start NATS: not ready in time: %w", ctx.Err())
		}
	}
}

// InProcessConn connects without a socket; it makes the Server a nats.InProcessConnProvider.
func (s *Server) InProcessConn() (net.Conn, error) {
	conn, err := s.inner.InProcessConn()
	if err != nil {
		return nil, fmt.Errorf("connect in process: %w", err)
	}
	return conn, nil
}

// URL is the address for clients; empty if the server does not listen.
func (s *Server) URL() string {
	if addr, ok := s.inner.Addr().(*net.TCPAddr); ok {
		return "nats://" + addr.String()
	}
	return ""
}

// Close stops the server, waits for it and frees the folder. Close clients first: they would try to
// reconnect.
func (s *Server) Close() {
	s.inner.Shutdown()
	s.inner.WaitForShutdown()
	_ = s.lock.Close() // the lock goes with the descriptor in any case
}
