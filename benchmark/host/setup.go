package host

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

// Setup is a choice of engines; `make bench STORE=… BUS=…` selects one, or several for a comparison.
type Setup struct {
	Name, About string
	// Needs are the servers that tools/testenv starts for it, new ones in each round; empty for none.
	Needs []string
	// Prepare makes the servers usable, if they need more than a start.
	Prepare func(ctx context.Context, servers map[string]string) error
	// Arguments returns the arguments of `timerbus`, for a service with its data in folder and the given servers.
	Arguments func(folder string, servers map[string]string) []string
	// Syncs are the settings of the bus for which commands are compared; the first is the default. If there are none,
	// the topic is not measured.
	Syncs []string
}

// common returns the arguments that all services have.
func common(folder string) []string {
	return []string{
		"dev", "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0",
		"--data", filepath.Join(folder, "data"), "--log-format", "text", "--log-level", "warn",
	}
}

// Embedded needs no servers.
var Embedded = Setup{
	Name: "embedded", About: "SQLite and embedded NATS",
	Arguments: func(folder string, _ map[string]string) []string { return common(folder) },
	Syncs:     []string{"always", "interval"},
}

// on is a database with a bus of one node, or of three.
func on(database, bus, about string, url func(servers string) string) Setup {
	s := Setup{
		Name: database + "+" + bus, About: about, Needs: []string{database, bus},
		Arguments: func(folder string, servers map[string]string) []string {
			return append(common(folder), "--store", servers[database], "--bus", url(servers[bus]))
		},
	}
	if database != "postgres" {
		s.Prepare = func(ctx context.Context, servers map[string]string) error {
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

// Setups returns all setups.
func Setups() []Setup {
	asIs := func(servers string) string { return servers }
	kafka := func(servers string) string { return "kafka://" + servers }
	three := func(url func(string) string) func(string) string {
		return func(servers string) string { return url(servers) + "?replicas=3" }
	}
	return []Setup{
		Embedded,
		on("postgres", "nats", "PostgreSQL and a NATS server", asIs),
		on("postgres", "nats3", "PostgreSQL and three NATS servers", three(asIs)),
		on("postgres", "kafka", "PostgreSQL and Kafka", kafka),
		on("postgres", "kafka3", "PostgreSQL and three Kafka brokers", three(kafka)),
		on("mysql", "nats", "MySQL and a NATS server", asIs),
		on("mariadb", "nats", "MariaDB and a NATS server", asIs),
	}
}

// SetupNames returns the names of all setups.
func SetupNames() []string {
	var names []string
	for _, s := range Setups() {
		names = append(names, s.Name)
	}
	return names
}

// SetupsNamed returns the setups with the given names, separated by commas.
func SetupsNamed(names string) ([]Setup, error) {
	var found []Setup
	for name := range strings.SplitSeq(names, ",") {
		known := false
		for _, s := range Setups() {
			if s.Name == name {
				found, known = append(found, s), true
			}
		}
		if !known {
			return nil, fmt.Errorf("-setup %q is not accepted: want one or more of %s", name, strings.Join(SetupNames(), ", "))
		}
	}
	return found, nil
}
