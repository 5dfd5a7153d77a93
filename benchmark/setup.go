package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// setup is a choice of engines; `make bench STORE=… BUS=…` selects one, or several for a comparison.
type setup struct {
	name, about string
	// needs are the servers that tools/testenv starts for it, new ones in each round; empty for none.
	needs []string
	// arguments returns the arguments of `timerbus`, for a service with its data in folder and the given servers.
	arguments func(folder string, servers map[string]string) []string
	// syncs are the settings of the bus for which commands are compared; the first is the default. If there are none,
	// the topic is not measured.
	syncs []string
}

// common returns the arguments that all services have.
func common(folder string) []string {
	return []string{
		"dev", "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0",
		"--data", filepath.Join(folder, "data"), "--log-format", "text", "--log-level", "warn",
	}
}

var embedded = setup{
	name: "embedded", about: "SQLite and embedded NATS",
	arguments: func(folder string, _ map[string]string) []string { return common(folder) },
	syncs:     []string{"always", "interval"},
}

// onPostgres is PostgreSQL with a bus of one node, or of three.
func onPostgres(bus, about string, url func(servers string) string) setup {
	return setup{
		name: "postgres+" + bus, about: "PostgreSQL and " + about, needs: []string{"postgres", bus},
		arguments: func(folder string, servers map[string]string) []string {
			return append(common(folder), "--store", servers["postgres"], "--bus", url(servers[bus]))
		},
	}
}

func setups() []setup {
	asIs := func(servers string) string { return servers }
	return []setup{
		embedded,
		onPostgres("nats", "a NATS server", asIs),
		onPostgres("nats3", "three NATS servers", func(servers string) string { return servers + "?replicas=3" }),
		onPostgres("kafka", "Kafka", func(servers string) string { return "kafka://" + servers }),
		onPostgres("kafka3", "three Kafka brokers", func(servers string) string { return "kafka://" + servers + "?replicas=3" }),
	}
}

func setupNames() []string {
	var names []string
	for _, s := range setups() {
		names = append(names, s.name)
	}
	return names
}

// setupsNamed returns the setups with the given names, separated by commas.
func setupsNamed(names string) ([]setup, error) {
	var found []setup
	for name := range strings.SplitSeq(names, ",") {
		known := false
		for _, s := range setups() {
			if s.name == name {
				found, known = append(found, s), true
			}
		}
		if !known {
			return nil, fmt.Errorf("-setup %q is not accepted: want one or more of %s", name, strings.Join(setupNames(), ", "))
		}
	}
	return found, nil
}
