package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Options configures a Server.
type Options struct {
	// Dir is the data folder. Start creates it if it is missing. Only one server can use it at a time.
	Dir string
	// Listen is host:port for clients; port 0 selects a free port. If it is empty, only this process can connect.
	Listen string
	// NoSync leaves fsync to the background (every 2 min). By default each message of a stream in the default persist
	// mode is fsynced before it is acknowledged. natsbus makes due events, results and buckets asynchronous, because
	// they can be restored from the store; only the streams of commands, fired and dead events and user topics fsync
	// (0.2 ms for each message).
	NoSync bool
	// MaxStore bounds the sizes of all streams together, in bytes; 0: no bound. A stream that does not fit is
	// rejected when it is created.
	MaxStore int64
	// Token is required from every client, including those in the process; clients set natsbus.Options.Token. If it
	// is empty, every client that can connect has full access.
	Token string
	// Name appears in the server's logs and is sent to clients. Default "timerbus".
	Name string
	// Logger receives the server's log. By default the log is discarded.
	Logger *slog.Logger
}

// MaxPayload is 1 MiB, the limit of the bus contract, and room for NATS's headers.
const MaxPayload = 1<<20 + 64<<10

// startWait bounds how long recovery of the streams may take.
const startWait = time.Minute

// Server is a running server. After a write error, JetStream's streams reject every message until the server is
// restarted. Therefore Server restarts the inner server once the data folder has room again.
type Server struct {
	config *server.Options
	log    *logger
	lock   *os.File
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu    sync.Mutex
	inner *server.Server
}

// Start starts a server and waits until it accepts connections, or ctx ends.
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
		ServerName:    name,
		Authorization: opts.Token,
		JetStream:     true,
		StoreDir:      opts.Dir,
		// Without an explicit limit the server rejects streams whose limits exceed the free disk space.
		JetStreamMaxStore: cmp.Or(opts.MaxStore, 1<<50),
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
	s := &Server{config: config, log: newLogger(log), lock: lock}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if addr, ok := s.current().Addr().(*net.TCPAddr); ok {
		config.Port = addr.Port // restarts use the same port
	}
	tending, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Go(func() { s.tend(tending) })
	return s, nil
}

// start starts the inner server and waits until it accepts connections.
func (s *Server) start(ctx context.Context) error {
	inner, err := server.NewServer(s.config.Clone())
	if err != nil {
		return fmt.Errorf("start NATS: %w", err)
	}
	inner.SetLoggerV2(s.log, false, false, false)
	inner.Start()
	if err := ready(ctx, inner, !s.config.DontListen); err != nil {
		inner.Shutdown()
		inner.WaitForShutdown()
		if cause := s.log.lastError(); cause != "" {
			err = fmt.Errorf("%w: %s", err, cause)
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inner = inner
	return nil
}

func (s *Server) current() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inner
}

// listen sets the address in config. It first tries to listen, because the server reports a port that is in use only
// in its log.
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

// lockDir creates the folder and locks it: two servers on one folder corrupt its streams.
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

// ready polls, because the server has no signal that can be awaited together with ctx.
func ready(ctx context.Context, inner *server.Server, listens bool) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		if (inner.ReadyForConnections(10*time.Millisecond) || (!listens && inner.Running())) && inner.JetStreamEnabled() {
			return nil
		}
		if !inner.Running() {
			return errors.New("start NATS: the server stopped during startup")
		}
		if ctx.Err() != nil {
			return fmt.Errorf("start NATS: not ready in time: %w", ctx.Err())
		}
	}
}

// InProcessConn connects without a socket. With it, Server implements nats.InProcessConnProvider.
func (s *Server) InProcessConn() (net.Conn, error) {
	conn, err := s.current().InProcessConn()
	if err != nil {
		return nil, fmt.Errorf("connect in process: %w", err)
	}
	return conn, nil
}

// SyncsMessages reports whether the server syncs each message to the disk before it acknowledges it, except in streams in the
// asynchronous persist mode.
func (s *Server) SyncsMessages() bool { return s.config.SyncAlways }

// URL is the address for clients; empty if the server does not listen.
func (s *Server) URL() string {
	if addr, ok := s.current().Addr().(*net.TCPAddr); ok {
		return "nats://" + addr.String()
	}
	return ""
}

// Close stops the server, waits for it and unlocks the folder. Close clients first, because they would try to
// reconnect.
func (s *Server) Close() {
	s.stop()
	s.done.Wait()
	s.current().Shutdown()
	s.current().WaitForShutdown()
	_ = s.lock.Close() // closing the descriptor releases the lock in any case
}
