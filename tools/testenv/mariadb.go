//go:build unix

package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// mariadb is MariaDB 11.4.
func mariadb() recipe {
	return recipe{
		name: "mariadb",
		container: &container{
			image: "mariadb:11.4", port: "3306/tcp",
			env:     map[string]string{"MARIADB_ALLOW_EMPTY_ROOT_PASSWORD": "1"},
			command: append([]string{"mariadbd"}, mysqlSettings()...),
			ready:   "ready for connections",
			// The image's first start creates the database; the second one is the server.
			occurrence: 2,
			address:    mysqlAddress,
		},
		start: func(ctx context.Context, s *site) (string, error) {
			folder, err := s.fetch(ctx, "mariadb", unpackMariaDB)
			if err != nil {
				return "", err
			}
			return s.startMariaDB(ctx, filepath.Join(folder, "server"))
		},
	}
}

// unpackMariaDB unpacks the folder linux/ of the jar as server/, and removes the jar.
func unpackMariaDB(_ context.Context, folder string) error {
	jars, err := filepath.Glob(filepath.Join(folder, "*.jar"))
	if err != nil {
		return err
	}
	unpacked := 0
	for _, jar := range jars {
		n, err := unpackBelow(jar, "/linux/", filepath.Join(folder, "server"))
		if err != nil {
			return err
		}
		unpacked += n
		if err := os.Remove(jar); err != nil {
			return err
		}
	}
	if unpacked == 0 {
		return errors.New("no jar contains a folder linux")
	}
	return nil
}

// unpackBelow unpacks the files of a zip archive whose path contains the given folder, and returns their number.
func unpackBelow(archive, below, to string) (n int, err error) {
	in, err := zip.OpenReader(archive)
	if err != nil {
		return 0, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	for _, file := range in.File {
		_, path, found := strings.Cut(file.Name, below)
		if !found || path == "" || strings.HasSuffix(path, "/") {
			continue
		}
		if !filepath.IsLocal(path) {
			return n, fmt.Errorf("%s contains %q", archive, file.Name)
		}
		target := filepath.Join(to, path)
		//nolint:gosec // servers that run as another user read it
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return n, err
		}
		if err := unpackProgram(file, target); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (s *site) startMariaDB(ctx context.Context, home string) (string, error) {
	home, err := s.reachable(home, "bin/mariadbd")
	if err != nil {
		return "", err
	}
	data := filepath.Join(s.folder, "data")
	err = s.once(ctx, filepath.Join(home, "scripts", "mariadb-install-db"), "--no-defaults", "--basedir="+home, "--datadir="+data,
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	if err != nil {
		return "", err
	}
	// With TLS, which is the default, each start generates a key. This takes seconds, on a busy machine half a minute.
	return s.runMySQL(ctx, filepath.Join(home, "bin", "mariadbd"), "--no-defaults", "--basedir="+home, "--datadir="+data, "--skip-ssl")
}

// runMySQL starts a server of the MySQL family on a free port. args name its data, and are followed by its settings.
func (s *site) runMySQL(ctx context.Context, path string, args ...string) (string, error) {
	port, err := freePort(ctx)
	if err != nil {
		return "", err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	args = append(args, "--port="+strconv.Itoa(port), "--bind-address=127.0.0.1",
		"--socket="+filepath.Join(s.folder, "socket"), "--pid-file="+filepath.Join(s.folder, "pid"))
	err = s.run(ctx, program{
		name: s.name, path: path, args: append(args, mysqlSettings()...),
		ready: func(ctx context.Context, _ int) error { return mysqlReady(ctx, address) },
	})
	if err != nil {
		return "", err
	}
	return mysqlAddress(address), nil
}

// mysqlSettings are small for a real server, but large enough that checkpoints do not dominate measurements: InnoDB
// does not use the operating system's cache, so its own is larger than that of PostgreSQL. Every commit is on the disk before
// its answer. No test reads a binary log.
func mysqlSettings() []string {
	return []string{"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=1G", "--max-connections=300", "--skip-log-bin"}
}

func mysqlAddress(hostPort string) string { return "mysql://root@" + hostPort + "/" }

// mysqlReady reads the first packet of a connection: three bytes of length, a sequence number, and the protocol version, 10.
// A server that is starting or full sends an error packet instead.
func mysqlReady(ctx context.Context, address string) error {
	const version = 10
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	var start [5]byte
	if _, err := io.ReadFull(conn, start[:]); err != nil {
		return err
	}
	if start[4] != version {
		return fmt.Errorf("the server sends %x instead of a handshake", start)
	}
	return nil
}
