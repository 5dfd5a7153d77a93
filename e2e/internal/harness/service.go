package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Service is one `timerbus dev`, or one role, with its addresses and its data folder, which stay the same over any
// number of starts. Only one goroutine at a time may start and stop it; the other methods are safe for concurrent use.
type Service struct {
	// Listen and NATS are host:port of the HTTP API (or of a role's probes) and of the bus.
	Listen, NATS string
	// Data is the data folder.
	Data string

	binary string
	role   string // empty for dev
	args   []string
	env    []string
	log    tail

	mu  sync.Mutex
	run *run // the latest; nil before the first
}

type run struct {
	command *exec.Cmd
	ended   chan struct{} // closed when the process has ended and all its output is in the log
}

// Option changes how a service is started.
type Option func(*Service)

// WithArgs adds flags.
func WithArgs(args ...string) Option {
	return func(s *Service) { s.args = append(s.args, args...) }
}

// WithEnv adds variables, each NAME=value.
func WithEnv(env ...string) Option {
	return func(s *Service) { s.env = append(s.env, env...) }
}

// WithRole runs a role instead of dev, with the URLs of a store and a bus.
func WithRole(role, store, bus string) Option {
	return func(s *Service) {
		s.role = role
		s.args = append(s.args, "--store", store, "--bus", bus, "--callback-allow", "loopback")
	}
}

// WithBinary starts another binary than that of New.
func WithBinary(path string) Option { return func(s *Service) { s.binary = path } }

// WithAddresses sets the listen addresses; an empty one is chosen.
func WithAddresses(listen, nats string) Option {
	return func(s *Service) { s.Listen, s.NATS = listen, nats }
}

// New returns a service on free ports. It starts nothing.
func New(binary, data string, options ...Option) (*Service, error) {
	s := &Service{Data: data, binary: binary}
	for _, option := range options {
		option(s)
	}
	for _, address := range []*string{&s.Listen, &s.NATS} {
		if *address != "" {
			continue
		}
		free, err := FreeAddress()
		if err != nil {
			return nil, err
		}
		*address = free
	}
	return s, nil
}

// SetBinary changes the binary of later starts.
func (s *Service) SetBinary(path string) { s.binary = path }

// URL returns the base URL of the HTTP API.
func (s *Service) URL() string { return "http://" + s.Listen }

// NATSURL returns the URL for NATS clients.
func (s *Service) NATSURL() string { return "nats://" + s.NATS }

// Log returns the output of all its processes, or the end of it.
func (s *Service) Log() string { return s.log.String() }

// Start launches the process and waits until it is ready.
func (s *Service) Start(ctx context.Context) error {
	if err := s.Launch(); err != nil {
		return err
	}
	return s.Ready(ctx)
}

// Launch starts the process and does not wait for readiness.
func (s *Service) Launch() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil && !s.run.over() {
		return errors.New("launch: already running")
	}
	args := []string{"dev", "--listen", s.Listen, "--nats-listen", s.NATS, "--data", s.Data}
	if s.role != "" {
		args = []string{s.role, "--listen", s.Listen}
	}
	args = append(args, s.args...)
	command := exec.Command(s.binary, args...)
	command.Env = append(strangers(os.Environ()), s.env...)
	command.Stdout, command.Stderr = &s.log, &s.log
	command.SysProcAttr = ownGroup()
	if err := command.Start(); err != nil {
		return fmt.Errorf("launch %s: %w", s.binary, err)
	}
	r := &run{command: command, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		// command.ProcessState has the result.
		_ = command.Wait()
	}()
	s.run = r
	return nil
}

// strangers removes variables for Timerbus: the service must not get the test's settings, and the test must not get a
// developer's.
func strangers(environ []string) []string {
	return slices.DeleteFunc(environ, func(v string) bool { return strings.HasPrefix(v, "TIMERBUS_") })
}

func (r *run) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// Ready waits until the service is ready. It fails as soon as the process has ended.
func (s *Service) Ready(ctx context.Context) error {
	current := s.current()
	if current == nil {
		return errors.New("ready: not launched")
	}
	client := &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last := errors.New("no readiness request yet")
	for {
		select {
		case <-current.ended:
			return fmt.Errorf("ended before it was ready: %v\n%s", current.command.ProcessState, s.Log())
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w: %w\n%s", context.Cause(ctx), last, s.Log())
		case <-tick.C:
			err := ask(ctx, client, s.URL()+"/readyz")
			if err == nil {
				return nil
			}
			if ctx.Err() == nil { // the error of a request that ctx has ended says nothing about the service
				last = err
			}
		}
	}
}

func ask(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s: %s", url, response.Status, body)
	}
	return nil
}

func (s *Service) current() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// Running reports whether the process is running.
func (s *Service) Running() bool {
	r := s.current()
	return r != nil && !r.over()
}

// PID returns the process's id.
func (s *Service) PID() int {
	if r := s.current(); r != nil {
		return r.command.Process.Pid
	}
	return 0
}

// Signal sends a signal. After the process has ended it returns an error, and signals no process.
func (s *Service) Signal(signal os.Signal) error {
	r := s.current()
	if r == nil {
		return errors.New("signal: not launched")
	}
	if err := r.command.Process.Signal(signal); err != nil {
		return fmt.Errorf("signal %v: %w", signal, err)
	}
	return nil
}

// Kill kills the process like a power failure, as far as the process can notice, and waits until it has ended.
func (s *Service) Kill() error {
	r := s.current()
	if r == nil || r.over() {
		return errors.New("kill: not running")
	}
	if err := s.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-r.ended
	return nil
}

// Stop sends SIGTERM and waits. It returns the exit code. If ctx ends first, it kills the process and returns an error.
func (s *Service) Stop(ctx context.Context) (code int, err error) {
	if err := s.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	return s.Exit(ctx)
}

// Exit waits until the process has ended and returns its exit code, -1 after a signal. If ctx ends first, it kills the
// process and returns an error.
func (s *Service) Exit(ctx context.Context) (code int, err error) {
	r := s.current()
	if r == nil {
		return 0, errors.New("exit: not launched")
	}
	select {
	case <-r.ended:
		return r.command.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		err = fmt.Errorf("still running: %w\n%s", context.Cause(ctx), s.Log())
		return -1, errors.Join(err, s.Kill())
	}
}

// Close makes sure that the process is not running.
func (s *Service) Close() error {
	if !s.Running() {
		return nil
	}
	// The kill also ends a frozen process.
	return s.Kill()
}
