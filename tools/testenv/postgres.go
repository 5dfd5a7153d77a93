//go:build unix

package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// systemPostgres15 is the folder of Debian's package.
const systemPostgres15 = "/usr/lib/postgresql/15/bin"

// postgres is PostgreSQL 18.
func postgres() recipe {
	return recipe{
		name: "postgres",
		container: &container{
			image:   "postgres:18",
			port:    "5432/tcp",
			env:     map[string]string{"POSTGRES_HOST_AUTH_METHOD": "trust"},
			command: append([]string{"postgres"}, postgresSettings()...),
			ready:   "database system is ready to accept connections",
			// The image's first start creates the database; the second one is the server.
			occurrence: 2,
			address:    postgresAddress,
		},
		start: func(ctx context.Context, s *site) (string, error) {
			folder, err := s.fetch(ctx, "postgres", unpackPostgres)
			if err != nil {
				return "", err
			}
			return s.startPostgres(ctx, filepath.Join(folder, "bin"))
		},
	}
}

// postgres15 is the oldest supported version: Debian 12's if it is installed, otherwise a package.
func postgres15() recipe {
	return recipe{
		name: "postgres15",
		start: func(ctx context.Context, s *site) (string, error) {
			if _, err := os.Stat(filepath.Join(systemPostgres15, "initdb")); err == nil {
				return s.startPostgres(ctx, systemPostgres15)
			}
			folder, err := s.fetch(ctx, "postgres15", unpackPostgres)
			if err != nil {
				return "", err
			}
			return s.startPostgres(ctx, filepath.Join(folder, "bin"))
		},
	}
}

func postgresAddress(hostPort string) string {
	return "postgres://postgres@" + hostPort + "/postgres?sslmode=disable"
}

// postgresSettings differ from the defaults (fsync stays on). They are small for a real server, but large enough
// that checkpoints do not dominate measurements.
func postgresSettings() []string {
	return []string{"-c", "max_connections=200", "-c", "shared_buffers=256MB", "-c", "max_wal_size=2GB"}
}

// openJar opens the only file that matches a pattern.
func openJar(pattern string) (name string, jar *zip.ReadCloser, err error) {
	jars, err := filepath.Glob(pattern)
	if err != nil || len(jars) != 1 {
		return "", nil, fmt.Errorf("expected one jar, found %d (%w)", len(jars), err)
	}
	jar, err = zip.OpenReader(jars[0])
	return jars[0], jar, err
}

func unpackPostgres(ctx context.Context, folder string) error {
	name, jar, err := openJar(filepath.Join(folder, "*.jar"))
	if err != nil {
		return err
	}
	defer jar.Close() //nolint:errcheck // it was only read
	for _, file := range jar.File {
		if strings.HasSuffix(file.Name, ".txz") {
			return unpackTxz(ctx, file, folder)
		}
	}
	return fmt.Errorf("%s has no .txz in it", name)
}

func unpackTxz(ctx context.Context, file *zip.File, folder string) error {
	in, err := file.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := exec.CommandContext(ctx, "tar", "-xJf", "-", "-C", folder) //nolint:gosec // our own folder
	cmd.Stdin = in
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tar (with xz): %w\n%s", err, out)
	}
	return nil
}

func (s *site) startPostgres(ctx context.Context, bin string) (string, error) {
	home, err := s.reachable(filepath.Dir(bin), "bin/postgres")
	if err != nil {
		return "", err
	}
	bin = filepath.Join(home, "bin")
	data := filepath.Join(s.folder, "data")
	err = s.once(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if err == nil {
		err = requirePasswords(filepath.Join(data, "pg_hba.conf"))
	}
	if err != nil {
		return "", err
	}
	port, err := freePort(ctx)
	if err != nil {
		return "", err
	}
	err = s.run(ctx, program{
		name: s.name,
		path: filepath.Join(bin, "postgres"),
		args: append([]string{
			"-D", data, "-p", strconv.Itoa(port), "-k", s.folder, "-c", "listen_addresses=127.0.0.1",
		}, postgresSettings()...),
		quit:  syscall.SIGINT, // does not wait for clients to disconnect
		ready: func(_ context.Context, pid int) error { return postgresReady(data, pid) },
	})
	if err != nil {
		return "", err
	}
	return postgresAddress("127.0.0.1:" + strconv.Itoa(port)), nil
}

// requirePasswords makes the server require passwords from members of the role with_password, which tests may create.
func requirePasswords(hba string) error {
	trust, err := os.ReadFile(hba)
	if err != nil {
		return err
	}
	return os.WriteFile(hba, append([]byte("host all +with_password all scram-sha-256\n"), trust...), 0o600) // keeps its owner
}

// postgresReady reads the status that the server writes for pg_ctl, line 8 of its pid file. It compares the pid,
// because a killed server leaves its file behind.
func postgresReady(data string, pid int) error {
	const statusLine = 8
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if lines[0] != strconv.Itoa(pid) || len(lines) < statusLine || strings.TrimSpace(lines[statusLine-1]) != "ready" {
		return errors.New("still starting")
	}
	return nil
}

// reachable returns the folder of an installation. If the user who runs servers cannot run the program in it, for example
// because the folder is in root's home, it returns the folder of a copy.
func (s *site) reachable(home, program string) (string, error) {
	who, err := unprivileged()
	if err != nil || who == nil || s.canRun(filepath.Join(home, program)) {
		return home, err
	}
	copied := filepath.Join(s.folder, "installation")
	if err := os.CopyFS(copied, os.DirFS(home)); err != nil {
		return "", fmt.Errorf("copy programs to a folder that the user nobody can access: %w", err)
	}
	return copied, nil
}

// canRun reports whether the user who runs servers may execute a program.
func (s *site) canRun(path string) bool {
	return s.once(context.Background(), "/usr/bin/test", "-x", path) == nil
}
