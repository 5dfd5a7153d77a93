package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/api"
)

// healthcheckTimeout is longer than the process takes to check its components, and shorter than the timeouts of the container's
// health checks, so that the command can name its reason.
const healthcheckTimeout = 4 * time.Second

func (p *program) healthcheckCommand() *cobra.Command {
	var base string
	c := &cobra.Command{
		Use: "healthcheck", Short: "Ask the process on this machine whether it is ready", Args: exactly(),
		Long: `Ask the process on this machine whether it is ready (GET /readyz), and print one line. The exit code is 0 if it is
ready, and 1 if it is not or does not answer. This is the health check of the container image.

Without --url it asks the address on which the process listens: --listen, TIMERBUS_LISTEN or the line of the YAML
file that --config names.`,
		Example: "  timerbus healthcheck --url http://127.0.0.1:8081",
	}
	settings := onlyFlags(c, "listen")
	c.Flags().Lookup("listen").Usage = "address on which the process listens, host:port"
	c.Flags().StringVar(&base, "url", "", "URL of the process, such as http://127.0.0.1:8081 (default: the address of --listen)")
	c.MarkFlagsMutuallyExclusive("url", "listen")
	c.RunE = func(c *cobra.Command, _ []string) error {
		connection := &http.Client{Transport: &http.Transport{}} // not the proxy of the environment
		if base == "" {
			config, err := settings()
			if err != nil {
				return usageError{err}
			}
			base = ownURL(&config)
			if connection, err = ownClient(&config); err != nil {
				return usageError{err}
			}
		}
		u, err := url.Parse(base)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return usagef("--url %q is not accepted: want the URL of a process, such as http://127.0.0.1:8081", base)
		}
		health, err := askReady(c.Context(), connection, u)
		if err != nil {
			return err
		}
		if len(health.Degraded) == 0 {
			_, err = fmt.Fprintf(p.stdout, "%s is ready\n", base)
			return err
		}
		reasons := make([]string, 0, len(health.Degraded))
		for _, part := range health.Degraded {
			reasons = append(reasons, part.Reason)
		}
		_, err = fmt.Fprintf(p.stdout, "%s is ready, but degraded: %s\n", base, strings.Join(reasons, "; "))
		return err
	}
	return c
}

// askReady returns the answer of a process that is ready. Its error wraps no cause, so that the exit code is always 1: container
// engines reserve the other codes.
func askReady(ctx context.Context, c *http.Client, base *url.URL) (api.Health, error) {
	ctx, cancel := context.WithTimeout(ctx, healthcheckTimeout)
	defer cancel()
	health, ready, err := readHealth(ctx, c, base)
	switch {
	case err != nil:
		return health, fmt.Errorf("%s does not answer: %s", base, err.Error())
	case !ready:
		return health, fmt.Errorf("%s is not ready: %s", base, strings.Join(health.Reasons, "; "))
	}
	return health, nil
}

// readHealth reads /readyz, which needs no credential.
func readHealth(ctx context.Context, c *http.Client, base *url.URL) (health api.Health, ready bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("readyz").String(), http.NoBody)
	if err != nil {
		return health, false, err
	}
	defer c.CloseIdleConnections()
	response, err := c.Do(request)
	if err != nil {
		return health, false, err
	}
	defer response.Body.Close()
	ready = response.StatusCode == http.StatusOK
	err = json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&health)
	if err != nil || health.Status == "" || !ready && response.StatusCode != http.StatusServiceUnavailable {
		return health, false, fmt.Errorf("GET /readyz: %s is not the answer of a Timerbus process", response.Status)
	}
	return health, ready, nil
}
