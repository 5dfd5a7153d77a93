//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

const (
	requireVariable = "TIMERBUS_REQUIRE"
	controlVariable = "TIMERBUS_TESTENV"
)

// environment contains everything that one run of testenv has started.
type environment struct {
	cache  string
	folder string // of this run, removed at the end
	log    io.Writer

	required  []string
	addresses map[string]string // by variable
	sites     []*site
	control   *control
}

func newEnvironment(cache string, log io.Writer) (*environment, error) {
	if cache == "" {
		root, err := repository()
		if err != nil {
			return nil, err
		}
		cache = filepath.Join(root, ".cache", "testenv")
	}
	cache, err := filepath.Abs(cache)
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil { //nolint:gosec // servers that run as another user read it
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	folder, err := os.MkdirTemp("", "timerbus-testenv-")
	if err != nil {
		return nil, fmt.Errorf("folder of this run: %w", err)
	}
	//nolint:gosec // a server that runs as another user must be able to reach its folder in it
	if err := os.Chmod(folder, 0o755); err != nil {
		return nil, fmt.Errorf("folder of this run: %w", err)
	}
	return &environment{cache: cache, folder: folder, log: log, addresses: map[string]string{}}, nil
}

// repository returns the folder with go.work: the current one or the nearest one above it.
func repository() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.work")); err == nil {
			return folder, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", errors.New("no go.work here or above: run testenv in the repository, or set --cache")
		}
		folder = above
	}
}

// start starts all servers concurrently.
func (e *environment) start(ctx context.Context, wanted []recipe) error {
	found := make([]string, len(wanted))
	group, ctx := errgroup.WithContext(ctx)
	for i := range wanted {
		r := &wanted[i]
		e.required = append(e.required, r.name)
		if given := os.Getenv(r.variable()); given != "" {
			fmt.Fprintf(e.log, "testenv: %s: using the server in $%s\n", r.name, r.variable())
			found[i] = given
			continue
		}
		s := &site{name: r.name, cache: e.cache, folder: filepath.Join(e.folder, r.name), log: e.log}
		e.sites = append(e.sites, s)
		group.Go(func() error {
			address, err := s.open(ctx, r)
			if err != nil {
				return fmt.Errorf("start %s: %w", r.name, err)
			}
			found[i] = address
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	for i := range wanted {
		e.addresses[wanted[i].variable()] = found[i]
	}
	for _, s := range e.sites {
		maps.Copy(e.addresses, s.extra)
	}
	var err error
	e.control, err = serveControl(ctx, e.sites)
	return err
}

// variables returns the variables for the command's environment, sorted.
func (e *environment) variables() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e.addresses)) {
		out = append(out, name+"="+e.addresses[name])
	}
	required := append(strings.Fields(strings.ReplaceAll(os.Getenv(requireVariable), ",", " ")), e.required...)
	slices.Sort(required)
	out = append(out, requireVariable+"="+strings.Join(slices.Compact(required), ","))
	if e.control != nil {
		out = append(out, controlVariable+"="+e.control.address)
	}
	return out
}

// close stops everything and removes the run's folder.
func (e *environment) close() error {
	var errs []error
	if e.control != nil {
		errs = append(errs, e.control.close())
	}
	for _, s := range slices.Backward(e.sites) {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, os.RemoveAll(e.folder))...)
}
