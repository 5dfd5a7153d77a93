package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// setup is a choice of engines. One that needs servers would start them before the service and say here
// how the service is told of them; `make bench STORE=<name>` picks it.
type setup struct {
	name, about string
	// arguments are those of `timerbus`, for a service that keeps what it keeps itself in folder.
	arguments func(folder string) []string
	// syncs are the settings of the bus between which commands are compared; the first is the default.
	syncs []string
}

var embedded = setup{
	name: "embedded", about: "SQLite and NATS in the process",
	arguments: func(folder string) []string {
		return []string{
			"dev", "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0",
			"--data", filepath.Join(folder, "data"), "--log-format", "text", "--log-level", "warn",
		}
	},
	syncs: []string{"always", "interval"},
}

func setups() []setup { return []setup{embedded} }

func setupNames() []string {
	var names []string
	for _, s := range setups() {
		names = append(names, s.name)
	}
	return names
}

func setupNamed(name string) (setup, error) {
	for _, s := range setups() {
		if s.name == name {
			return s, nil
		}
	}
	return setup{}, fmt.Errorf("-store %q is not accepted: want one of %s", name, strings.Join(setupNames(), ", "))
}
