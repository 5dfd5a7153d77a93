package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/timerbus/timerbus/benchmark/host"
)

// peer is a system that is measured.
type peer struct {
	name, about string
	// durability says what has been written to the disk when a create is answered.
	durability string
	// needs are the servers that tools/testenv starts for it, new ones in each round.
	needs []string
	// setup is the setup of package host that runs Timerbus; empty for other systems.
	setup string
	// library is the driver in this program. Without one, script is the folder of a program for Node.js.
	library driver
	script  bool
	// embedded means that one process creates and fires timers.
	embedded bool
	// noBatch means that the system has no call that creates several timers.
	noBatch bool
	// prepare changes the servers' settings, if that is needed.
	prepare func(ctx context.Context, servers map[string]string) error
}

// reference is the peer to which ratios are computed.
const reference = "river-tuned"

const (
	commitDurable = "fsync for each commit"
	redisDurable  = "fsync once a second"
)

// peers are all systems, in the order of the tables.
func peers() []peer {
	return []peer{
		timerbusOn("timerbus-embedded", "embedded", nil),
		timerbusOn("timerbus-postgres", "postgres+nats", []string{"postgres", "nats"}),
		timerbusOn("timerbus-postgres-kafka", "postgres+kafka", []string{"postgres", "kafka"}),
		timerbusOn("timerbus-mysql", "mysql+nats", []string{"mysql", "nats"}),
		{
			name: reference, about: "River on PostgreSQL, polls every 10 ms, 512 workers",
			durability: commitDurable, needs: []string{"postgres"}, library: riverTuned,
		},
		{
			name: "river-default", about: "River on PostgreSQL, its default settings, 100 workers",
			durability: commitDurable, needs: []string{"postgres"}, library: riverDefault,
		},
		{
			name: "river-sqlite", about: "River on SQLite, in the process of the client, polls every 10 ms, 512 workers",
			durability: commitDurable, library: riverSQLite, embedded: true,
		},
		{
			name: "nats-schedules", about: "message schedules of NATS, callbacks by a consumer, 256 at a time; no outcomes",
			durability: "no fsync", needs: []string{"nats"}, library: natsDriver{},
		},
		{
			name: "asynq", about: "asynq on Redis, looks for due tasks every 50 ms, 256 workers",
			durability: redisDurable, needs: []string{"redis"}, library: asynqDriver{}, noBatch: true, prepare: appendOnly,
		},
		{
			name: "bullmq", about: "BullMQ on Redis, one worker process, 256 jobs at a time",
			durability: redisDurable, needs: []string{"redis"}, script: true, prepare: appendOnly,
		},
	}
}

func timerbusOn(name, setup string, needs []string) peer {
	p := peer{name: name, setup: setup, needs: needs, durability: commitDurable, library: timerbusDriver{}}
	if found, err := host.SetupsNamed(setup); err == nil {
		p.about = "Timerbus on " + found[0].About
		p.prepare = found[0].Prepare
	}
	return p
}

func peerNames() []string {
	var names []string
	for _, p := range peers() {
		names = append(names, p.name)
	}
	return names
}

func peerNamed(name string) (peer, error) {
	all := peers()
	if i := slices.IndexFunc(all, func(p peer) bool { return p.name == name }); i >= 0 {
		return all[i], nil
	}
	return peer{}, fmt.Errorf("system %q is not accepted: want one or more of %s", name, strings.Join(peerNames(), ", "))
}

// command returns the command of one of its processes.
func (p *peer) command(o *options, role string, surroundings []byte) (binary string, args []string, err error) {
	if p.script {
		return "node", []string{filepath.Join(o.bullmq, "drive.mjs"), role, string(surroundings)}, nil
	}
	self, err := os.Executable()
	return self, []string{"drive", p.name, role, string(surroundings)}, err
}

// missing returns why the system cannot run on this machine; empty if it can.
func (p *peer) missing(o *options) string {
	if !p.script {
		return ""
	}
	if _, err := exec.LookPath("node"); err != nil {
		return "no Node.js"
	}
	if _, err := os.Stat(filepath.Join(o.bullmq, "node_modules", "bullmq")); err != nil {
		return "no package bullmq in " + o.bullmq
	}
	return ""
}

// appendOnly makes a Redis server write its log to the disk once a second, as both libraries on Redis advise.
func appendOnly(ctx context.Context, servers map[string]string) error {
	u, err := url.Parse(servers["redis"])
	if err != nil {
		return err
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return err
	}
	defer connection.Close()
	answers := bufio.NewReader(connection)
	for _, setting := range []string{"appendfsync everysec", "appendonly yes"} {
		if _, err := io.WriteString(connection, "CONFIG SET "+setting+"\r\n"); err != nil {
			return err
		}
		answer, err := answers.ReadString('\n')
		if err == nil && answer != "+OK\r\n" {
			err = errors.New(strings.TrimSpace(answer))
		}
		if err != nil {
			return fmt.Errorf("CONFIG SET %s: %w", setting, err)
		}
	}
	return nil
}
