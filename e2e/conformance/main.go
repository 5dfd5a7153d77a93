// Command conformance starts the real service behind the fault proxy of sdk/conformance, and then runs a command, or waits for an interrupt.
//
//	conformance [-binary FILE] [COMMAND ARGUMENT…]
//
// It prints the addresses of the proxy and of the service, and sets TIMERBUS_CONFORMANCE_URL and TIMERBUS_CONFORMANCE_SERVICE to them for
// the command. Its exit code is that of the command.
//
// In addition to the paths of the proxy, `POST /conformance/kill` kills the service with SIGKILL and starts it again with the same data.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/sdk/conformance"
)

// readiness bounds the start of the service.
const readiness = 30 * time.Second

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
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	binary := flags.String("binary", "bin/timerbus", "the program of the service; `make build` builds it")
	if err := flags.Parse(args); err != nil {
		return 2, nil
	}
	folder, err := os.MkdirTemp("", "timerbus-conformance-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	service, err := harness.New(*binary, filepath.Join(folder, "data"),
		harness.WithArgs("--nats-listen", "", "--log-level", "warn"), harness.WithEnv(conformance.Environment()...))
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	if err := start(ctx, service); err != nil {
		return 1, err
	}
	proxy, err := conformance.Start(service.URL())
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	var restart sync.Mutex
	proxy.Handle("POST "+conformance.Prefix+"kill", func(w http.ResponseWriter, r *http.Request) {
		restart.Lock()
		defer restart.Unlock()
		err := service.Kill()
		if err == nil {
			err = start(r.Context(), service)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	fmt.Fprintln(out, "proxy  ", proxy.URL())
	fmt.Fprintln(out, "service", service.URL())
	if flags.NArg() == 0 {
		<-ctx.Done()
		return 0, nil
	}
	command := exec.CommandContext(ctx, flags.Arg(0), flags.Args()[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, out, os.Stderr
	command.Env = append(os.Environ(), "TIMERBUS_CONFORMANCE_URL="+proxy.URL(), "TIMERBUS_CONFORMANCE_SERVICE="+service.URL())
	err = command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// start returns when the service accepts requests.
func start(ctx context.Context, service *harness.Service) error {
	ctx, stop := context.WithTimeout(ctx, readiness)
	defer stop()
	return service.Start(ctx)
}
