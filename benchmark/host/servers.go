package host

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// serversPatience bounds the start of servers; the first download takes minutes.
const serversPatience = 10 * time.Minute

// Servers run until they are stopped.
type Servers struct {
	*Process

	Addresses map[string]string // by name
}

var (
	// testenv prints addresses first, then TIMERBUS_REQUIRE.
	told    = regexp.MustCompile(`export TIMERBUS_REQUIRE=`)
	address = regexp.MustCompile(`export TIMERBUS_TEST_(\w+)=(\S+)\n`)
)

// StartServers starts servers on empty folders, with testenv.
func StartServers(ctx context.Context, testenv string, needs []string) (_ *Servers, err error) {
	if testenv == "" {
		return nil, errors.New("this setup needs servers: run `make bench`, or set -testenv")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, serversPatience, errors.New("the servers did not become ready"))
	defer cancel()
	p, err := Start("testenv", testenv, nil, "--need", strings.Join(needs, ","))
	if err != nil {
		return nil, err
	}
	s := &Servers{Process: p, Addresses: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Stop())
		}
	}()
	if _, err := p.See(ctx, told); err != nil {
		return nil, err
	}
	text, _ := p.screen.text()
	for _, found := range address.FindAllStringSubmatch(text, -1) {
		s.Addresses[strings.ToLower(found[1])] = found[2]
	}
	for _, name := range needs {
		if s.Addresses[name] == "" {
			return nil, fmt.Errorf("testenv printed no address of %s: %s", name, text)
		}
	}
	return s, nil
}
