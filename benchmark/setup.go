package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// setup is a choice of engines; `make bench STORE=… BUS=…` picks one, or several to compare.
type setup struct {
	name, about string
	// needs are the servers that tools/testenv starts for it, anew in each round; none if it is empty.
	needs []string
	// arguments are those of `timerbus`, for a service that keeps what it keeps itself in folder, on the
	// servers by their names.
	arguments func(folder string, servers map[string]string) []string
	// syncs are the settings of the bus between which commands are compared; the first is the default. The
	// topic is measured where there are any.
	syncs []string
}

// common are every service's arguments.
func common(folder string) []string {
	return []string{
		"dev", "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0",
		"--data", filepath.Join(folder, "data"), "--log-format", "text", "--log-level", "warn",
	}
}

var embedded = setup{
	name: "embedded", about: "SQLite and NATS in the process",
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

// setupsNamed finds setups by their names, with commas between.
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
