package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// phase is one measurement.
type phase struct {
	name, about string
	run         func(r *run, ctx context.Context, f *figures) error
	// seldom phases take long and run only if they are named.
	seldom bool
	// topic phases need the bus's address.
	topic bool
}

// phases returns all phases in the order in which they run. A phase starts with the timers of the phases before it, so
// that the same 100,000 timers are pending during idle, lateness and backlog.
func phases() []phase {
	return []phase{
		{name: "create", about: "creates/s over HTTP, one timer per request", run: (*run).create},
		{name: "topic", about: "commands/s through the topic", run: (*run).commands, topic: true},
		{name: "batch", about: "creates/s over HTTP in batches", run: (*run).batch},
		{name: "idle", about: "CPU and memory of the idle service", run: (*run).idle},
		{name: "lateness", about: "lateness of timers at a steady rate", run: (*run).lateness},
		{name: "backlog", about: "fires/s when many timers are due at the same time", run: (*run).backlog},
		{name: "hosts", about: "fires/s over many hosts and to one host", run: (*run).hostsPhase},
		{name: "isolation", about: "lateness of timers while other receivers hang", run: (*run).isolation},
		{name: "fairness", about: "lateness of a small namespace while another has a backlog", run: (*run).fairness, seldom: true},
		{name: "busy", about: "lateness of timers during creates", run: (*run).busy},
		{name: "large", about: "creates/s with a 1.5 KB payload", run: (*run).large},
		{name: "million", about: "idle again, with 1,000,000 pending", run: (*run).million, seldom: true},
		{name: "tenants", about: "idle again, with 1,000,000 pending in 10,000 namespaces", run: (*run).tenants, seldom: true},
	}
}

// Phases returns the name and the description of every phase.
func Phases() [][2]string {
	var all [][2]string
	for _, p := range phases() {
		all = append(all, [2]string{p.name, p.about})
	}
	return all
}

// choose returns the phases with the given names. Without names it returns all except the seldom phases and, without
// the bus's address, those that need it.
func choose(named []string, topic bool) ([]phase, error) {
	all := phases()
	for _, name := range named {
		if !slices.ContainsFunc(all, func(p phase) bool { return p.name == name }) {
			var names []string
			for _, p := range all {
				names = append(names, p.name)
			}
			return nil, fmt.Errorf("phase %q is not accepted: want some of %s", name, strings.Join(names, ", "))
		}
	}
	var chosen []phase
	for _, p := range all {
		switch {
		case slices.Contains(named, p.name):
			if p.topic && !topic {
				return nil, fmt.Errorf("phase %s needs the bus's address", p.name)
			}
			chosen = append(chosen, p)
		case len(named) == 0 && !p.seldom && (!p.topic || topic):
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

// CheckPhases returns an error that names the first phase that cannot run.
func (o *Options) CheckPhases() error {
	_, err := choose(o.Phases, o.NATS != "")
	return err
}
