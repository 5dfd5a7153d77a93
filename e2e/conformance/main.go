// Command server starts the real service behind a fault proxy, and then runs a command, or waits for an interrupt.
//
//	server [-binary FILE] [COMMAND ARGUMENT…]
//
// It prints the addresses of the proxy and of the service, and sets TIMERBUS_CONFORMANCE_URL and TIMERBUS_CONFORMANCE_SERVICE to them for
// the command. Its exit code is that of the command.
//
// In addition to the paths of the proxy, `POST /conformance/kill` kills the service with SIGKILL and starts it again with the same data,
// and `GET /conformance/service` returns the address of the service.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/timerbus/timerbus/sdk/conformance"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string, out io.Writer) (code int, err error) {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	binary := flags.String("binary", "bin/timerbus", "the program of the service")
	if err := flags.Parse(args); err != nil {
		return 2, nil
	}
	folder, err := os.MkdirTemp("", "timerbus-conformance-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	s, err := newService(ctx, *binary, folder)
	if err != nil {
		return 1, err
	}
	if err := s.start(ctx); err != nil {
		return 1, err
	}
	defer s.kill()
	proxy, err := conformance.Start(s.url())
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	proxy.Handle("POST "+conformance.Prefix+"kill", func(w http.ResponseWriter, r *http.Request) {
		s.kill()
		if err := s.start(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	proxy.Handle("GET "+conformance.Prefix+"service", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"url": s.url()})
	})
	fmt.Fprintln(out, "proxy  ", proxy.URL())
	fmt.Fprintln(out, "service", s.url())
	if flags.NArg() == 0 {
		<-ctx.Done()
		return 0, nil
	}
	command := exec.CommandContext(ctx, flags.Arg(0), flags.Args()[1:]...) //nolint:gosec // the caller chooses the command
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, out, os.Stderr
	command.Env = append(os.Environ(), "TIMERBUS_CONFORMANCE_URL="+proxy.URL(), "TIMERBUS_CONFORMANCE_SERVICE="+s.url())
	err = command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// service is a process of the service that can be killed and started again.
type service struct {
	binary, folder, address string

	mu      sync.Mutex
	process *exec.Cmd
}

// newService reserves a port, so that the service has the same address after a kill.
func newService(ctx context.Context, binary, folder string) (*service, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &service{binary: binary, folder: folder, address: listener.Addr().String()}, listener.Close()
}

func (s *service) url() string { return "http://" + s.address }

// readiness bounds the start of the service.
const readiness = 30 * time.Second

// start returns when the service accepts requests.
func (s *service) start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	// The service outlives the request that started it.
	data := filepath.Join(s.folder, "data")
	s.process = exec.Command(s.binary, "dev", "--data", data, //nolint:noctx,gosec // see above; the caller chooses the program
		"--listen", s.address, "--nats-listen", "", "--log-level", "warn")
	s.process.Stdout, s.process.Stderr = log, log
	// Settings of the caller's shell are no settings of this service.
	s.process.Env = []string{"TIMERBUS_TOKEN=" + conformance.Token, "TIMERBUS_SECRET_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("start %s: %w (`make build` builds it)", s.binary, err)
	}
	end := time.Now().Add(readiness)
	for !s.ready(ctx) {
		if time.Now().After(end) || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the service was not ready within %s:\n%s", readiness, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

func (s *service) ready(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url()+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// kill sends SIGKILL, and waits for the end of the process.
func (s *service) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}
