// Command demo is run by `make demo`. It starts the service and a receiver, creates timers of every kind, prints
// deliveries and their lateness, and fails if any result is not as expected.
//
// It is an end-to-end test with readable output, so it uses the same harness, receiver and bus client as the tests.
// Read main.go, then play.go (the timers) and stage.go (their observation and checks).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
)

// longest is the maximum duration of the demo.
const longest = 19 * time.Second

func main() { os.Exit(run(os.Stdout, os.Stderr)) }

func run(stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, longest, fmt.Errorf("not finished within %v", longest))
	defer cancel()
	if err := demo(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "demo: %v\n", err)
		return 1
	}
	return 0
}

func demo(ctx context.Context, out io.Writer) (err error) {
	binary, err := service()
	if err != nil {
		return err
	}
	data, err := os.MkdirTemp("", "timerbus-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	s, err := harness.New(binary, data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	began := time.Now()
	if err := s.Start(ctx); err != nil {
		return fmt.Errorf("start the service: %w", err)
	}
	fmt.Fprintf(out, "The service is ready after %.1f s: API %s, bus %s\n", time.Since(began).Seconds(), s.URL(), s.NATSURL())
	stage, err := build(s, out)
	if err != nil {
		return err
	}
	defer stage.close()
	if err := stage.play(ctx, acts()); err != nil {
		return fmt.Errorf("%w\n\nlog of the service:\n%s", err, s.Log())
	}
	code, err := s.Stop(ctx)
	if err == nil && code != 0 {
		err = fmt.Errorf("the service stopped with exit code %d\n%s", code, s.Log())
	}
	return err
}

// service finds the binary: TIMERBUS_BIN, or timerbus in the folder of this program, where make puts it.
func service() (string, error) {
	path := os.Getenv("TIMERBUS_BIN")
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		path = filepath.Join(filepath.Dir(self), "timerbus")
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("no service binary (run `make demo`, or set TIMERBUS_BIN): %w", err)
	}
	return path, nil
}
