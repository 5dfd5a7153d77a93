package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// setup is a choice of engines; `make bench STORE=… BUS=…` selects one, or several for a comparison.
type setup struct {
	name, about string
	// needs are the servers that tools/testenv starts for it, new ones in each round; empty for none.
	needs []string
	// prepare makes the servers usable, if they need more than a start.
	prepare func(ctx context.Context, servers map[string]string) error
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

// on is a database with a bus of one node, or of three.
func on(database, bus, about string, url func(servers string) string) setup {
	s := setup{
		name: database + "+" + bus, about: about, needs: []string{database, bus},
		arguments: func(folder string, servers map[string]string) []string {
			return append(common(folder), "--store", servers[database], "--bus", url(servers[bus]))
		},
	}
	if database != "postgres" {
		s.prepare = func(ctx context.Context, servers map[string]string) error {
			at, err := createDatabase(ctx, servers[database])
			servers[database] = at
			return err
		}
	}
	return s
}

// createDatabase creates a database on a server of MySQL or MariaDB, and returns its URL.
func createDatabase(ctx context.Context, server string) (at string, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", u.Host, u.User.Username()
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return "", err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	const name = "timerbus"
	_, err = db.ExecContext(ctx, "CREATE DATABASE "+name)
	u.Path = "/" + name
	return u.String(), err
}

func setups() []setup {
	asIs := func(servers string) string { return servers }
	kafka := func(servers string) string { return "kafka://" + servers }
	three := func(url func(string) string) func(string) string {
		return func(servers string) string { return url(servers) + "?replicas=3" }
	}
	return []setup{
		embedded,
		on("postgres", "nats", "PostgreSQL and a NATS server", asIs),
		on("postgres", "nats3", "PostgreSQL and three NATS servers", three(asIs)),
		on("postgres", "kafka", "PostgreSQL and Kafka", kafka),
		on("postgres", "kafka3", "PostgreSQL and three Kafka brokers", three(kafka)),
		on("mysql", "nats", "MySQL and a NATS server", asIs),
		on("mariadb", "nats", "MariaDB and a NATS server", asIs),
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
