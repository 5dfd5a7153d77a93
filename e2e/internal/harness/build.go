package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Binary returns the path of the binary under test: TIMERBUS_BIN, or one built into folder from the repository at root.
// TIMERBUS_RACE=1 builds it with the race detector.
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
	path := filepath.Join(folder, "timerbus")
	args := []string{"build", "-o", path}
	if os.Getenv("TIMERBUS_RACE") == "1" {
		args = append(args, "-race")
	}
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/timerbus")...)
	build.Dir = root
	build.Env = append(os.Environ(), "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ./cmd/timerbus in %s: %w\n%s", root, err, output)
	}
	return path, nil
}
