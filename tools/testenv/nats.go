//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// natsServer is the main package of the module whose server the product also embeds. It is built in the version of the
// product's go.mod, so that all tests use one version.
const natsServer = "github.com/nats-io/nats-server/v2"

// natsMaxPayload, in bytes, has room for the product's largest message (1 MiB) and its headers; the
// server's default has not.
const natsMaxPayload = 1<<20 + 64<<10

// nats is one nats-server with JetStream.
func nats() recipe {
	return recipe{name: "nats", start: func(ctx context.Context, s *site) (string, error) { return s.startNATS(ctx, 1) }}
}

// nats3 is a cluster of three servers.
func nats3() recipe {
	return recipe{name: "nats3", start: func(ctx context.Context, s *site) (string, error) { return s.startNATS(ctx, 3) }}
}

// natsNode contains the addresses of one node: for clients, for the other nodes, for health checks.
type natsNode struct {
	name                   string
	client, route, monitor string
}

// startNATS returns the servers' addresses, separated by commas. Processes have the name of the server; with
// several nodes nats3-1, nats3-2 and so on.
func (s *site) startNATS(ctx context.Context, nodes int) (string, error) {
	binary, err := s.buildNATS(ctx)
	if err != nil {
		return "", err
	}
	all, err := s.natsNodes(ctx, nodes)
	if err != nil {
		return "", err
	}
	// Nodes of a cluster are healthy only when a majority of them runs.
	group, ctx := errgroup.WithContext(ctx)
	addresses := make([]string, nodes)
	for i, n := range all {
		addresses[i] = n.client
		group.Go(func() error { return s.runNATS(ctx, binary, n, all) })
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	return "nats://" + strings.Join(addresses, ","), nil
}

func (s *site) natsNodes(ctx context.Context, nodes int) ([]natsNode, error) {
	ports, err := freePorts(ctx, 3*nodes)
	if err != nil {
		return nil, err
	}
	all := make([]natsNode, nodes)
	for i := range all {
		at := func(n int) string { return "127.0.0.1:" + strconv.Itoa(ports[3*i+n]) }
		all[i] = natsNode{s.name, at(0), at(1), at(2)}
		if nodes > 1 {
			all[i].name += "-" + strconv.Itoa(i+1)
		}
	}
	return all, nil
}

// buildNATS returns a binary in the folder of this run.
func (s *site) buildNATS(ctx context.Context) (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	cached := filepath.Join(s.cache, "nats-server")
	unlock, err := lockCached(cached)
	if err != nil {
		return "", err
	}
	defer unlock()
	// Does nothing if it is up to date.
	build := exec.CommandContext(ctx, "go", "build", "-o", cached, natsServer) //nolint:gosec // our own cache
	build.Dir, build.Env = root, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", natsServer, err, out)
	}
	return s.copyBinary(cached)
}

func (s *site) runNATS(ctx context.Context, binary string, n natsNode, all []natsNode) error {
	data := filepath.Join(s.folder, n.name)
	if err := s.makeFolder(data); err != nil {
		return err
	}
	settings := filepath.Join(s.folder, n.name+".conf")
	//nolint:gosec // the user who runs servers reads it
	if err := os.WriteFile(settings, []byte(natsSettings(n, all, data)), 0o644); err != nil {
		return fmt.Errorf("settings of %s: %w", n.name, err)
	}
	return s.run(ctx, program{
		name: n.name,
		path: binary,
		args: []string{"-c", settings},
		// The data is removed in any case, and after a graceful stop the last nodes would look for a node to take over.
		quit:  syscall.SIGKILL,
		ready: func(ctx context.Context, _ int) error { return natsReady(ctx, n.monitor) },
	})
}

func natsSettings(n natsNode, all []natsNode, data string) string {
	var b strings.Builder
	// Without max_file_store JetStream counts the maximum sizes of streams against the free disk space.
	fmt.Fprintf(&b, `server_name: %q
listen: %q
http: %q
max_payload: %d
jetstream { store_dir: %q, max_file_store: 1PB }
`, n.name, n.client, n.monitor, natsMaxPayload, data)
	if len(all) > 1 {
		b.WriteString("cluster {\n  name: testenv\n")
		fmt.Fprintf(&b, "  listen: %q\n  routes: [\n", n.route)
		for _, o := range all {
			fmt.Fprintf(&b, "    %q\n", "nats://"+o.route)
		}
		b.WriteString("  ]\n}\n")
	}
	return b.String()
}

// natsReady checks whether JetStream works; in a cluster this needs a leader.
func natsReady(ctx context.Context, monitor string) error {
	return answersOK(ctx, http.DefaultClient, "http://"+monitor+"/healthz", "")
}
