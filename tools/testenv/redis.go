//go:build unix

package main

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// redis is a Redis server, 6.2 or newer: the system's if it is installed, otherwise one from a package.
func redis() recipe {
	return recipe{
		name: "redis",
		container: &container{
			image: "redis:7", port: "6379/tcp", ready: "Ready to accept connections", occurrence: 1,
			address: redisAddress,
		},
		start: func(ctx context.Context, s *site) (string, error) { return s.startRedis(ctx) },
	}
}

func redisAddress(hostPort string) string { return "redis://" + hostPort }

func (s *site) startRedis(ctx context.Context) (string, error) {
	program, err := s.redisServer(ctx)
	if err != nil {
		return "", err
	}
	port, err := freePort(ctx)
	if err != nil {
		return "", err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := s.run(ctx, redisProgram(s.name, program, s.folder, address, port)); err != nil {
		return "", err
	}
	return redisAddress(address), nil
}

// redisServer returns the path of the program.
func (s *site) redisServer(ctx context.Context) (string, error) {
	if installed, err := exec.LookPath("redis-server"); err == nil {
		return installed, nil
	}
	cached, err := s.fetch(ctx, "redis", unpackRedis)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(cached, "redis-server"))
	if err != nil {
		return "", fmt.Errorf("copy redis-server: %w", err)
	}
	// The user who runs servers may not be able to access the cache.
	program := filepath.Join(s.folder, "redis-server")
	//nolint:gosec // the user who runs servers runs it
	if err := os.WriteFile(program, text, 0o755); err != nil {
		return "", fmt.Errorf("copy redis-server: %w", err)
	}
	return program, nil
}

// unpackRedis unpacks the program for this platform from the jar.
func unpackRedis(_ context.Context, folder string) error {
	name, jar, err := openJar(filepath.Join(folder, "embedded-redis-*.jar"))
	if err != nil {
		return err
	}
	defer jar.Close() //nolint:errcheck // it was only read
	suffix := "-" + runtime.GOOS + "-" + runtime.GOARCH
	for _, file := range jar.File {
		if strings.HasPrefix(file.Name, "redis-server-") && strings.HasSuffix(file.Name, suffix) {
			return unpackProgram(file, filepath.Join(folder, "redis-server"))
		}
	}
	return fmt.Errorf("%s has no redis-server for %s", name, suffix[1:])
}

func unpackProgram(file *zip.File, to string) error {
	in, err := file.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755) //nolint:gosec // it is a program
}

// redisProgram stores nothing on the disk, because tests do not need the files.
func redisProgram(name, path, folder, address string, port int) program {
	return program{
		name: name, path: path,
		args: []string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"},
		quit: syscall.SIGTERM,
		ready: func(ctx context.Context, _ int) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return redisReady(ctx, address)
		},
	}
}

func redisReady(ctx context.Context, address string) error {
	c, err := connect(ctx, address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, "PING\r\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "+PONG") {
		err = errors.New(strings.TrimSpace(line))
	}
	return err
}
