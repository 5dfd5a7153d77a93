//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/user"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// site contains one server: its folders, its processes and its container.
type site struct {
	name   string
	cache  string // folder of packages, shared with other runs
	folder string // of this server in this run, removed at the end
	log    io.Writer

	mu        sync.Mutex
	processes []*process
	stops     []func() error // of containers and folders

	// extra contains further variables for the command, in addition to the address. They are set before open returns.
	extra map[string]string
}

// open starts the server: as a container if possible, otherwise with the recipe's start.
func (s *site) open(ctx context.Context, r *recipe) (string, error) {
	if err := s.makeFolder(s.folder); err != nil {
		return "", err
	}
	if r.container != nil {
		address, ok, err := s.contain(ctx, r.container)
		if ok || err != nil {
			return address, err
		}
	}
	return r.start(ctx, s)
}

// makeFolder creates a folder that belongs to the user who runs servers.
func (s *site) makeFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	who, err := unprivileged()
	if err != nil || who == nil {
		return err
	}
	if err := os.Chown(folder, int(who.Uid), int(who.Gid)); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return nil
}

func (s *site) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, p := range slices.Backward(s.processes) {
		errs = append(errs, p.stop())
	}
	for _, stop := range slices.Backward(s.stops) {
		errs = append(errs, stop())
	}
	return errors.Join(errs...)
}

// unprivileged returns the user for servers. If this program runs as root, it is the user nobody, because some servers
// refuse root; otherwise it is nil, which means the current user.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // the zero value of SysProcAttr.Credential
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("servers cannot run as root, and the user nobody is missing: %w", err)
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("uid of nobody: %w", err)
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("gid of nobody: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// Ports are below the range that systems use for outgoing connections. Otherwise an outgoing connection could occupy
// a server's port between its kill and its start.
const (
	firstPort = 17000
	lastPort  = 31999
)

// freePort finds a free port of the loopback interface. Another process may take it before
// the server does; then the start of the server fails with an error.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	var err error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		var l net.Listener
		if l, err = config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}

// freePorts finds n different ports.
func freePorts(ctx context.Context, n int) ([]int, error) {
	ports := make([]int, 0, n)
	for len(ports) < n {
		port, err := freePort(ctx)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports, nil
}
