// Package timercontainer runs Timerbus in a container for tests, as a module of testcontainers-go:
//
//	service, err := timercontainer.Run(ctx, "ghcr.io/timerbus/timerbus:0.2.0")
//	testcontainers.CleanupContainer(t, service)
//	api, err := service.Client(ctx)
//
// The container is the whole service (`timerbus dev`) with SQLite and NATS. Options of testcontainers-go change it: WithEnv for
// settings (TIMERBUS_…), WithCmd for another role, and WithNetwork of its package network for a database or a bus in another
// container. A test that needs no container is faster with pkg/timertest, which runs the service inside the test.
//
// It is a separate Go module, so that other users of Timerbus do not depend on testcontainers-go. It imports pkg/client.
//
// # Stability
//
// For programs. Until 1.0 a minor release may change it, with an entry in CHANGELOG.md. From 1.0 on, it stays compatible
// within a major version.
package timercontainer

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/timerbus/timerbus/pkg/client"
)

const (
	httpPort, natsPort = "8080/tcp", "4222/tcp"
	tokenVariable      = "TIMERBUS_TOKEN"
	// host is the name of the machine of the engine inside the container.
	host = "host.docker.internal"
	// startTimeout bounds the start of a container whose image is present.
	startTimeout = time.Minute
)

// Container is a running Timerbus.
type Container struct {
	testcontainers.Container

	token string
}

// Run starts a container and waits until /readyz answers 200. Without options, it has a random token, calls receivers at all
// addresses, and serves NATS to the test. If Run returns an error, the container may exist, so terminate it in any case.
func Run(ctx context.Context, image string, options ...testcontainers.ContainerCustomizer) (*Container, error) {
	env := map[string]string{tokenVariable: rand.Text(), "TIMERBUS_CALLBACK_ALLOW": "any", "TIMERBUS_NATS_LISTEN": "0.0.0.0:4222"}
	all := []testcontainers.ContainerCustomizer{
		testcontainers.WithCmd("dev"),
		testcontainers.WithEnv(env),
		testcontainers.WithExposedPorts(httpPort, natsPort),
		testcontainers.WithHostConfigModifier(func(c *container.HostConfig) { c.ExtraHosts = append(c.ExtraHosts, host+":host-gateway") }),
		testcontainers.WithWaitStrategyAndDeadline(startTimeout, wait.ForHTTP("/readyz").WithPort(httpPort).
			WithStatusCodeMatcher(func(status int) bool { return status == http.StatusOK })),
	}
	c := &Container{}
	all = append(all, options...)
	all = append(all, testcontainers.CustomizeRequestOption(func(r *testcontainers.GenericContainerRequest) error {
		c.token = r.Env[tokenVariable]
		return nil
	}))
	started, err := testcontainers.Run(ctx, image, all...)
	if started != nil {
		c.Container = started
	}
	if err != nil {
		return c, fmt.Errorf("run %s: %w", image, err)
	}
	return c, nil
}

// WithToken sets the token of the service instead of a random one.
func WithToken(token string) testcontainers.CustomizeRequestOption {
	return testcontainers.WithEnv(map[string]string{tokenVariable: token})
}

// Token returns the token of the service.
func (c *Container) Token() string { return c.token }

// URL returns the base URL of the HTTP API. Its port may change when the container is started again.
func (c *Container) URL(ctx context.Context) (string, error) {
	return c.PortEndpoint(ctx, httpPort, "http")
}

// Client returns a client of the HTTP API with the token.
func (c *Container) Client(ctx context.Context, options ...client.Option) (*client.Client, error) {
	url, err := c.URL(ctx)
	if err != nil {
		return nil, err
	}
	return client.New(url, append([]client.Option{client.WithToken(c.token)}, options...)...)
}

// NATSURL returns the URL of the NATS server in the container, for commands and events.
func (c *Container) NATSURL(ctx context.Context) (string, error) {
	address, err := c.PortEndpoint(ctx, natsPort, "")
	if err != nil {
		return "", err
	}
	return "nats://" + c.token + "@" + address, nil
}

// ReceiverURL returns the URL of a receiver that listens on a port of the test's machine, on all of its addresses, as the
// container can call it. The path begins with a slash.
func ReceiverURL(port int, path string) string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port)) + path
}
