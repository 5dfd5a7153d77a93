//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// mysql is MySQL 9.
func mysql() recipe {
	return recipe{
		name: "mysql",
		container: &container{
			image: "mysql:9", port: "3306/tcp",
			env: map[string]string{"MYSQL_ALLOW_EMPTY_PASSWORD": "1"},
			// Without mysqlx=OFF, the log has port: 33060 of the X protocol, which would match ready.
			command: append([]string{"mysqld", "--mysqlx=OFF"}, mysqlSettings()...),
			// The line of the server has the port; the line of the first start, which creates the database, has 0.
			ready:   "port: 3306",
			address: mysqlAddress,
		},
		start: func(ctx context.Context, s *site) (string, error) {
			root, err := s.debianPackage(ctx, "mysql-server-core")
			if err != nil {
				return "", err
			}
			return s.startMySQL(ctx, root)
		},
	}
}

// startMySQL starts the server of an unpacked Debian package, with the C library of that package: the machine's may be
// older.
func (s *site) startMySQL(ctx context.Context, root string) (string, error) {
	root, err := s.reachable(root, "usr/sbin/mysqld")
	if err != nil {
		return "", err
	}
	loader, err := firstMatch(root+"/usr/lib*/ld-linux*.so.*", root+"/usr/lib/*/ld-linux*.so.*")
	if err != nil {
		return "", err
	}
	library, err := firstMatch(root + "/usr/lib/*-linux-gnu")
	if err != nil {
		return "", err
	}
	data := filepath.Join(s.folder, "data")
	args := []string{
		"--library-path", library + ":" + library + "/mysql/private", root + "/usr/sbin/mysqld",
		"--no-defaults", "--datadir=" + data, "--lc-messages-dir=" + root + "/usr/share/mysql",
	}
	if err := s.once(ctx, loader, append(slices.Clone(args), "--initialize-insecure")...); err != nil {
		return "", err
	}
	return s.runMySQL(ctx, loader, append(args, "--secure-file-priv=NULL", "--mysqlx=OFF")...)
}

// firstMatch returns a path that matches one of the patterns.
func firstMatch(patterns ...string) (string, error) {
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("no file matches %s", strings.Join(patterns, " or "))
}

// debianPackage returns a folder with the files of a package of Debian's suite sid and of all packages that it needs.
// apt's state is in that folder, so nothing is installed on the machine. The version is the one that sid had when the
// package was downloaded.
func (s *site) debianPackage(ctx context.Context, name string) (string, error) {
	folder := filepath.Join(s.cache, name+"-"+runtime.GOARCH)
	unlock, err := lockCached(folder)
	if err != nil {
		return "", err
	}
	defer unlock()
	root := filepath.Join(folder, "root")
	if version, err := os.ReadFile(filepath.Join(folder, "version")); err == nil {
		fmt.Fprintf(s.log, "testenv: %s: %s", s.name, version)
		return root, nil
	}
	half, err := os.MkdirTemp(s.cache, name+"-*.partial")
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	defer os.RemoveAll(half) //nolint:errcheck // a remaining folder only wastes disk space
	//nolint:gosec // servers that run as another user read it
	if err := os.Chmod(half, 0o755); err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	fmt.Fprintf(s.log, "testenv: %s: fetching the Debian package %s (once)\n", s.name, name)
	version, err := unpackDebian(ctx, half, name)
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	fmt.Fprintf(s.log, "testenv: %s: %s", s.name, version)
	if err := os.RemoveAll(folder); err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	if err := os.Rename(half, folder); err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	return root, nil
}

// unpackDebian downloads a package and all packages that it needs, and unpacks them in the folder root. It writes and
// returns the version.
func unpackDebian(ctx context.Context, folder, name string) (version string, err error) {
	mirror, err := debianMirror("/etc/apt")
	if err != nil {
		return "", err
	}
	for _, sub := range []string{"lists/partial", "cache/archives/partial", "packages", "root"} {
		//nolint:gosec // apt downloads as another user; servers read root as one
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			return "", err
		}
	}
	list := filepath.Join(folder, "sid.list")
	//nolint:gosec // apt reads it as another user
	if err := os.WriteFile(list, []byte("deb "+mirror+" sid main\n"), 0o644); err != nil {
		return "", err
	}
	options := []string{
		"-o", "Dir::Etc::sourcelist=" + list, "-o", "Dir::Etc::sourceparts=-",
		"-o", "Dir::State::lists=" + filepath.Join(folder, "lists"), "-o", "Dir::Cache=" + filepath.Join(folder, "cache"),
		"-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none",
	}
	apt := func(program string, args ...string) (string, error) {
		//nolint:gosec // the arguments are constants, our own folder and names of packages
		cmd := exec.CommandContext(ctx, program, slices.Concat(options, args)...)
		cmd.Dir = filepath.Join(folder, "packages")
		var problems strings.Builder
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("%s %s: %w\n%s%s", program, args[0], err, out, problems.String())
		}
		return string(out), nil
	}
	if _, err := apt("apt-get", "-q", "update"); err != nil {
		return "", err
	}
	tree, err := apt("apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks",
		"--no-replaces", "--no-enhances", name)
	if err != nil {
		return "", err
	}
	if _, err := apt("apt-get", append([]string{"-q", "download"}, packagesOf(tree)...)...); err != nil {
		return "", err
	}
	debs, err := filepath.Glob(filepath.Join(folder, "packages", "*.deb"))
	if err != nil {
		return "", err
	}
	for _, deb := range debs {
		cmd := exec.CommandContext(ctx, "dpkg", "-x", deb, filepath.Join(folder, "root")) //nolint:gosec // our own folder
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("dpkg -x %s: %w\n%s", deb, err, out)
		}
		if base := filepath.Base(deb); strings.HasPrefix(base, name+"_") {
			version = strings.TrimSuffix(base, ".deb") + "\n"
		}
	}
	for _, sub := range []string{"lists", "cache", "packages"} {
		if err := os.RemoveAll(filepath.Join(folder, sub)); err != nil {
			return "", err
		}
	}
	return version, os.WriteFile(filepath.Join(folder, "version"), []byte(version), 0o600)
}

// packagesOf returns the names of the packages in the output of apt-cache depends, which begin a line. A virtual package
// is in angle brackets; the packages that provide it follow it.
func packagesOf(tree string) []string {
	var names []string
	for line := range strings.Lines(tree) {
		if name := strings.TrimSpace(line); !strings.HasPrefix(line, " ") && !strings.HasPrefix(name, "<") && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var (
	deb822 = regexp.MustCompile(`^URIs:\s*(\S+/debian/?)(\s|$)`)
	oneDeb = regexp.MustCompile(`^deb\s+(?:\[[^]]*\]\s+)?(\S+/debian/?)\s`)
)

// debianMirror returns the mirror that the machine uses for Debian, from the files in the folder of apt's configuration.
func debianMirror(folder string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "sources.list.d", "*"))
	if err != nil {
		return "", err
	}
	for _, name := range append([]string{filepath.Join(folder, "sources.list")}, files...) {
		file, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		mirror := mirrorIn(bufio.NewScanner(file))
		_ = file.Close() // it was only read
		if mirror != "" {
			return mirror, nil
		}
	}
	return "", errors.New("apt has no mirror of Debian: set the server's address in the environment")
}

func mirrorIn(lines *bufio.Scanner) string {
	for lines.Scan() {
		for _, form := range []*regexp.Regexp{deb822, oneDeb} {
			if found := form.FindStringSubmatch(lines.Text()); found != nil {
				return found[1]
			}
		}
	}
	return ""
}
