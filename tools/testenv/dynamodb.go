//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// dynamodb is DynamoDB Local, the emulator of AWS, with the data in memory. Its address is an
// endpoint; it accepts any region and credentials.
func dynamodb() recipe { return dynamoDBLocal("dynamodb", "-inMemory") }

// dynamodbdisk stores the data in files, for tests that kill it and start it again.
func dynamodbdisk() recipe {
	r := dynamoDBLocal("dynamodbdisk", "-dbPath", ".")
	r.start = func(ctx context.Context, s *site) (string, error) {
		folder, err := s.volatileFolder()
		if err != nil {
			return "", err
		}
		return startDynamoDB(ctx, s, []string{"-dbPath", folder})
	}
	return r
}

// volatileFolder returns a folder for files that must survive the end of a process but not of the machine. If the system
// has a file system in memory, the folder is there, because DynamoDB Local waits 10 to 20 ms for an ordinary disk at every
// write.
func (s *site) volatileFolder() (string, error) {
	const memory = "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		return s.folder, nil //nolint:nilerr // not on this system
	}
	folder, err := os.MkdirTemp(memory, "timerbus-testenv-")
	if err != nil {
		return "", fmt.Errorf("folder in memory: %w", err)
	}
	s.mu.Lock()
	s.stops = append(s.stops, func() error { return os.RemoveAll(folder) })
	s.mu.Unlock()
	return folder, s.makeFolder(folder)
}

func dynamoDBLocal(name string, data ...string) recipe {
	return recipe{
		name: name,
		container: &container{
			image:   "amazon/dynamodb-local:3.1.0",
			port:    "8000/tcp",
			command: slices.Concat([]string{"-jar", "DynamoDBLocal.jar", "-disableTelemetry"}, data),
			ready:   "CorsParams",
			address: func(hostPort string) string { return "http://" + hostPort },
		},
		start: func(ctx context.Context, s *site) (string, error) { return startDynamoDB(ctx, s, data) },
	}
}

func startDynamoDB(ctx context.Context, s *site, data []string) (string, error) {
	folder, err := s.fetch(ctx, "dynamodb", nameSQLite)
	if err != nil {
		return "", err
	}
	java, err := findJava()
	if err != nil {
		return "", err
	}
	port, err := freePort(ctx)
	if err != nil {
		return "", err
	}
	address := "http://127.0.0.1:" + strconv.Itoa(port)
	err = s.run(ctx, program{
		name: s.name,
		path: java,
		args: slices.Concat([]string{
			// The second compiler does not pay off in short tests: without it the engine's suite uses a third less
			// processor time.
			"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dsqlite4java.library.path=" + filepath.Join(folder, nativeFolder),
			"-cp", filepath.Join(folder, "*"), "software.amazon.dynamodb.services.local.main.ServerRunner",
			"-disableTelemetry", "-port", strconv.Itoa(port),
		}, data),
		quit:  syscall.SIGKILL, // its data is removed in any case, and while it starts it ignores other signals
		ready: func(ctx context.Context, _ int) error { return dynamoDBReady(ctx, address) },
	})
	return address, err
}

// findJava returns the path of the program itself. The PATH contains a link, which another user may not be able to follow.
func findJava() (string, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return "", errors.New("java is missing: install a JDK, 17 or newer (Debian's default-jdk-headless), " +
			"or set the server's address in the environment")
	}
	if java, err = filepath.EvalSymlinks(java); err != nil {
		return "", fmt.Errorf("find java: %w", err)
	}
	return java, nil
}

// nativeFolder contains the native library of DynamoDB Local's SQLite, under the file name that DynamoDB Local loads.
const nativeFolder = "native"

// nameSQLite copies the native library, whose file name contains its version, to the path that the jar loads.
func nameSQLite(_ context.Context, folder string) error {
	// The name of the platform in sqlite4java.
	platform, suffix := runtime.GOOS+"-"+runtime.GOARCH, ".so"
	if runtime.GOOS == "darwin" {
		platform, suffix = "osx", ".dylib"
	}
	found, err := filepath.Glob(filepath.Join(folder, "libsqlite4java-"+platform+"-*"+suffix))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("the package has %d native libraries for %s, want 1: "+
			"set the address of a running DynamoDB Local in the environment",
			len(found), platform)
	}
	library, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	native := filepath.Join(folder, nativeFolder)
	if err := os.Mkdir(native, 0o755); err != nil { //nolint:gosec // servers that run as another user read it
		return err
	}
	//nolint:gosec // servers that run as another user read it
	return os.WriteFile(filepath.Join(native, "libsqlite4java-"+platform+suffix), library, 0o755)
}

// dynamoDBReady sends a request without credentials. A server that is ready refuses it.
func dynamoDBReady(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		return fmt.Errorf("answer %s, want a refusal", answer.Status)
	}
	return nil
}
