package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/benchmark/host"
	"github.com/timerbus/timerbus/internal/bench"
)

// topicPhase is measured on separate services, one for each setting of the bus.
const topicPhase = "topic"

// round is one measurement of all phases, in a folder that is removed afterwards.
type round struct {
	*options

	setup    *host.Setup
	servers  map[string]string // addresses by name
	folder   string
	receiver string
	stderr   io.Writer
	measured []bench.Figure
}

// playRound measures all phases once on one setup.
func playRound(ctx context.Context, o *options, on *host.Setup, stderr io.Writer) (_ []bench.Figure, err error) {
	folder, err := os.MkdirTemp("", "timerbus-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	r := &round{options: o, setup: on, folder: folder, stderr: stderr}
	if len(on.Needs) > 0 {
		started, err := host.StartServers(ctx, o.testenv, on.Needs)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, started.Stop()) }()
		r.servers = started.Addresses
		if on.Prepare != nil {
			if err := on.Prepare(ctx, r.servers); err != nil {
				return nil, err
			}
		}
	}
	receiver, err := host.Start("the receiver", o.binary, nil, "bench", "receive", "--listen", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, receiver.Stop()) }()
	found, err := receiver.See(ctx, regexp.MustCompile(`(http://\S+)\n`))
	if err != nil {
		return nil, err
	}
	r.receiver = found[1]
	main, topic := split(o.phases, o.short)
	if len(main) > 0 {
		if err := r.main(ctx, main); err != nil {
			return nil, err
		}
	}
	if topic {
		for _, sync := range on.Syncs {
			if err := r.topic(ctx, sync); err != nil {
				return nil, err
			}
		}
	}
	return r.measured, nil
}

// split returns the phases that share one service, and whether the topic is measured.
func split(named []string, short bool) (main []string, topic bool) {
	if len(named) > 0 {
		main = slices.DeleteFunc(slices.Clone(named), func(name string) bool { return name == topicPhase })
		return main, len(main) < len(named)
	}
	for _, phase := range bench.Phases() {
		if phase[0] != topicPhase && (!short || phase[0] != "million" && phase[0] != "tenants") {
			main = append(main, phase[0])
		}
	}
	return main, true
}

// main measures all phases except the topic on one service. It also measures the service's start, on an empty folder
// and then with all the data.
func (r *round) main(ctx context.Context, phases []string) error {
	args := r.setup.Arguments(filepath.Join(r.folder, "main"), r.servers)
	s, err := host.StartService(ctx, r.binary, args)
	if err != nil {
		return err
	}
	r.started("empty", "cold start to the first answer, empty", s.Up)
	measured, err := r.generate(ctx, s, phases)
	if err := errors.Join(err, s.Stop()); err != nil {
		return r.blame(s, err)
	}
	r.measured = append(r.measured, measured...)
	if s, err = host.StartService(ctx, r.binary, args); err != nil {
		return err
	}
	r.started("full", "cold start to the first answer, with the rows of all phases", s.Up)
	return r.blame(s, s.Stop())
}

// topic measures commands through the topic with one setting of the bus.
func (r *round) topic(ctx context.Context, sync string) error {
	s, err := host.StartService(ctx, r.binary, append(r.setup.Arguments(filepath.Join(r.folder, sync), r.servers), "--nats-sync", sync))
	if err != nil {
		return err
	}
	measured, err := r.generate(ctx, s, []string{topicPhase})
	if err := errors.Join(err, s.Stop()); err != nil {
		return r.blame(s, err)
	}
	for i := range measured {
		f := &measured[i]
		f.Key = strings.Replace(f.Key, topicPhase, topicPhase+"_"+sync, 1)
		what, of, found := strings.Cut(f.Name, ": ")
		f.Name = what + ", sync " + sync
		if found {
			f.Name += ": " + of
		}
	}
	r.measured = append(r.measured, measured...)
	return nil
}

func (r *round) started(key, name string, took time.Duration) {
	r.measured = append(r.measured, bench.Figure{
		Key: "start." + key, Name: name, Unit: bench.Milliseconds, Value: float64(took) / float64(time.Millisecond),
	})
}

// blame adds the last output of the service to an error.
func (r *round) blame(s *host.Service, err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(s.Output()), "\n")
	return fmt.Errorf("%w\nlast lines of the service:\n%s", err, strings.Join(lines[max(0, len(lines)-10):], "\n"))
}

// generate runs the load generator.
func (r *round) generate(ctx context.Context, s *host.Service, phases []string) ([]bench.Figure, error) {
	args := []string{
		"bench", "--json", "--keep", "--url", s.API, "--nats", s.NATS, "--receiver", r.receiver,
		"--pid", strconv.Itoa(s.PID()), "--phases", strings.Join(phases, ","),
	}
	if r.short {
		args = append(args, "--short")
	}
	p, err := host.Start("the generator", r.binary, r.stderr, append(args, r.extra...)...)
	if err != nil {
		return nil, err
	}
	text, err := p.Finish(ctx)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Figures []bench.Figure `json:"figures"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return nil, fmt.Errorf("read the generator's figures: %w", err)
	}
	return answer.Figures, nil
}
