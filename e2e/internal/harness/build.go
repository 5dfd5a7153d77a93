package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Race reports whether Binary builds with the race detector.
func Race() bool { return os.Getenv("TIMERBUS_RACE") == "1" }

// Binary returns the path of the binary under test: TIMERBUS_BIN, or one built into folder from the repository at root.
// It is built as `make build` does, static and stripped; TIMERBUS_RACE=1 builds it with the race detector, which needs cgo.
func Binary(ctx context.Context, root, folder string) (string, error) {
	if given := os.Getenv("TIMERBUS_BIN"); given != "" {
		path, err := filepath.Abs(given)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return "", fmt.Errorf("TIMERBUS_BIN: %w", err)
		}
		return path, nil
	}
	return Build(ctx, root, folder, Race())
}

// Build is Binary without TIMERBUS_BIN, with the race detector if race is set.
func Build(ctx context.Context, root, folder string, race bool) (string, error) {
	path := filepath.Join(folder, "timerbus")
	args, cgo := []string{
		"build", "-o", path, "-tags=grpcnotrace", "-gcflags=github.com/aws/...=-l", "-gcflags=google.golang.org/...=-l",
		"-gcflags=github.com/twmb/franz-go/pkg/kmsg=-l",
		"-ldflags=-s -w -X main.version=e2e -X main.commit=e2e",
	}, "CGO_ENABLED=0"
	if race {
		args, cgo = append(args, "-race"), "CGO_ENABLED=1"
	}
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/timerbus")...)
	build.Dir = root
	build.Env = append(os.Environ(), "GOWORK=off", cgo)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ./cmd/timerbus in %s: %w\n%s", root, err, output)
	}
	return path, nil
}
