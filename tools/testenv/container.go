//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const askEngine = 5 * time.Second

// container describes how a server runs as a container.
type container struct {
	image   string
	port    string // as "5432/tcp"
	env     map[string]string
	command []string
	// ready is the log line that means that the server answers, and occurrence is how often it must appear.
	ready      string
	occurrence int
	// address returns the server's address for host:port.
	address func(hostPort string) string
}

// contain starts the container. ok is false if there is no engine, or if it does not have the image:
// images are not pulled, so that a test run depends on no registry.
func (s *site) contain(ctx context.Context, c *container) (address string, ok bool, err error) {
	if !hasImage(ctx, c.image) {
		return "", false, nil
	}
	// The reaper of testcontainers would be another image to pull. It is not needed, because testenv stops its containers.
	if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
		return "", false, err
	}
	fmt.Fprintf(s.log, "testenv: %s: container of %s\n", s.name, c.image)
	started, err := testcontainers.Run(ctx, c.image,
		testcontainers.WithExposedPorts(c.port),
		testcontainers.WithEnv(c.env),
		testcontainers.WithCmd(c.command...),
		testcontainers.WithWaitStrategy(wait.ForLog(c.ready).WithOccurrence(max(1, c.occurrence)).WithStartupTimeout(startTimeout)),
	)
	if started != nil {
		s.mu.Lock()
		s.stops = append(s.stops, func() error { return testcontainers.TerminateContainer(started) })
		s.mu.Unlock()
	}
	if err != nil {
		return "", false, err
	}
	hostPort, err := started.PortEndpoint(ctx, c.port, "")
	if err != nil {
		return "", false, err
	}
	return c.address(hostPort), true, nil
}

// hasImage reports whether a Docker engine answers and has an image.
func hasImage(ctx context.Context, image string) bool {
	ctx, cancel := context.WithTimeout(ctx, askEngine)
	defer cancel()
	engine, err := client.New(client.FromEnv)
	if err != nil {
		return false
	}
	defer engine.Close() //nolint:errcheck // nothing was changed
	_, err = engine.ImageInspect(ctx, image)
	return err == nil
}
