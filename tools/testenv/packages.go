//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

//go:embed packages.txt
var packages string

const copyDependencies = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

// coordinates returns the Maven coordinates of the parts of one package.
func coordinates(table, name string) ([]string, error) {
	arch := runtime.GOARCH
	if arch == "arm64" {
		arch = "arm64v8"
	}
	var out []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 || strings.Count(fields[1], ":") != 2 {
			return nil, fmt.Errorf("packages.txt: %q is not a name and group:artifact:version", strings.TrimSpace(line))
		}
		if fields[0] == name {
			out = append(out, strings.ReplaceAll(fields[1], "{platform}", runtime.GOOS+"-"+arch))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("packages.txt has no package %q", name)
	}
	return out, nil
}

// fetch returns a folder with the jars of a package. finish, if not nil, runs once and unpacks in that folder what the
// recipe needs. The returned folder is complete and never changes.
func (s *site) fetch(ctx context.Context, name string, finish func(ctx context.Context, folder string) error) (string, error) {
	wanted, err := coordinates(packages, name)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256([]byte(strings.Join(wanted, "\n")))
	folder := filepath.Join(s.cache, name+"-"+hex.EncodeToString(digest[:6]))

	// Another testenv may be downloading the same package.
	unlock, err := lockCached(folder)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	fmt.Fprintf(s.log, "testenv: %s: fetching %s (once)\n", s.name, strings.Join(wanted, ", "))
	half, err := os.MkdirTemp(s.cache, name+"-*.partial")
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	defer os.RemoveAll(half) //nolint:errcheck // a remaining folder only wastes disk space
	//nolint:gosec // servers that run as another user read it
	if err := os.Chmod(half, 0o755); err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	if err := maven(ctx, half, wanted); err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	if finish != nil {
		if err := finish(ctx, half); err != nil {
			return "", fmt.Errorf("unpack %s: %w", name, err)
		}
	}
	if err := os.Rename(half, folder); err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	return folder, nil
}

// lockCached waits until no other testenv writes this part of the cache.
func lockCached(path string) (unlock func(), err error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the cache: %w", err), lock.Close())
	}
	return func() { _ = lock.Close() }, nil // closing the file releases the lock
}

// maven copies jars and their dependencies into a folder.
func maven(ctx context.Context, folder string, wanted []string) error {
	if _, err := exec.LookPath("mvn"); err != nil {
		return errors.New("mvn is missing: install Maven (Debian's maven), or set the server's address in the environment")
	}
	pom := filepath.Join(folder, "pom.xml")
	if err := os.WriteFile(pom, []byte(project(wanted)), 0o600); err != nil {
		return err
	}
	//nolint:gosec // the arguments are constants and our own folder
	cmd := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", pom, copyDependencies, "-DoutputDirectory="+folder)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mvn: %w\n%s", err, out)
	}
	return nil
}

// project returns a pom.xml with only dependencies.
func project(wanted []string) string {
	var b strings.Builder
	b.WriteString(`<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>timerbus</groupId><artifactId>testenv</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
`)
	for _, w := range wanted {
		parts := strings.Split(w, ":")
		fmt.Fprintf(&b, "    <dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>\n",
			parts[0], parts[1], parts[2])
	}
	b.WriteString("  </dependencies>\n</project>\n")
	return b.String()
}
