package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// service is a running timerbus, and a receiver of its callbacks.
type service struct {
	url     string
	command *exec.Cmd
	log     bytes.Buffer
	ended   chan struct{}

	receiver *http.Server
	hook     string
	called   atomic.Int64
}

// launch starts a service on the store and waits until it is ready.
func launch(ctx context.Context, binary, store, folder string) (*service, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &service{url: "http://" + address, ended: make(chan struct{})}
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	//nolint:gosec,noctx // the path of the binary is an argument; the process is stopped with a signal.
	s.command = exec.Command(binary, "dev", "--listen", address, "--nats-listen", "", "--nats-sync", "interval",
		"--data", folder, "--store", store, "--log-level", "warn")
	s.command.Env = environment(os.Environ())
	s.command.Stdout, s.command.Stderr = &s.log, &s.log
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	go func() {
		defer close(s.ended)
		_ = s.command.Wait() // ProcessState has the result
	}()
	err = s.until(ctx, time.Minute, func() (bool, error) {
		_, err := s.get(ctx, "/readyz")
		return err == nil, nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s is not ready: %w", binary, err), s.close())
	}
	return s, nil
}

// environment removes a developer's settings, and adds the credentials for DynamoDB Local.
func environment(environ []string) []string {
	kept := []string{"AWS_ACCESS_KEY_ID=cost", "AWS_SECRET_ACCESS_KEY=cost"}
	for _, v := range environ {
		if !strings.HasPrefix(v, "TIMERBUS_") && !strings.HasPrefix(v, "AWS_ACCESS") && !strings.HasPrefix(v, "AWS_SECRET") {
			kept = append(kept, v)
		}
	}
	return kept
}

func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// listen starts the receiver.
func (s *service) listen(ctx context.Context) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("receiver: %w", err)
	}
	s.hook = "http://" + l.Addr().String()
	s.receiver = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		s.called.Add(1)
	})}
	go func() { _ = s.receiver.Serve(l) }()
	return nil
}

// close stops the service in an orderly way.
func (s *service) close() (err error) {
	defer func() { err = errors.Join(err, s.receiver.Close()) }()
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the service: %w", err)
	}
	patience := time.NewTimer(30 * time.Second)
	defer patience.Stop()
	select {
	case <-s.ended:
	case <-patience.C:
		err := s.command.Process.Kill()
		<-s.ended
		return errors.Join(errors.New("the service did not stop within 30 s"), err)
	}
	if code := s.command.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the service ended with exit code %d:\n%s", code, s.log.String())
	}
	return nil
}

func (s *service) get(ctx context.Context, path string) ([]byte, error) {
	return s.ask(ctx, http.MethodGet, path, nil)
}

func (s *service) post(ctx context.Context, path string, body any) ([]byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return s.ask(ctx, http.MethodPost, "/api/v1/"+path, encoded)
}

func (s *service) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %s", path, answer.Status, text)
	}
	return text, err
}

// until repeats is until it returns true or an error.
func (s *service) until(ctx context.Context, patience time.Duration, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := is()
		if ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-s.ended:
			return fmt.Errorf("the service has ended:\n%s", s.log.String())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reading has the service's metrics at one time, by operation of DynamoDB.
type reading struct {
	requests, units map[string]float64
	atRest          float64
}

const (
	requestsMetric = "timerbus_dynamodb_requests_total{"
	unitsMetric    = "timerbus_dynamodb_capacity_units_total{"
	idleMetric     = "timerbus_scheduler_shards_idle "
)

func (s *service) read(ctx context.Context) (reading, error) {
	text, err := s.get(ctx, "/metrics")
	if err != nil {
		return reading{}, err
	}
	return parse(bytes.NewReader(text))
}

func parse(text io.Reader) (reading, error) {
	r := reading{requests: map[string]float64{}, units: map[string]float64{}}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		line := lines.Text()
		name, number, ok := strings.Cut(line, "} ")
		rest, isRest := strings.CutPrefix(line, idleMetric)
		if isRest {
			number = rest
		}
		value, err := strconv.ParseFloat(number, 64)
		switch {
		case isRest && err == nil:
			r.atRest = value
		case !ok:
		case strings.HasPrefix(name, requestsMetric) && err == nil:
			r.requests[operation(name)] += value
		case strings.HasPrefix(name, unitsMetric) && err == nil:
			r.units[operation(name)] += value
		}
	}
	return r, lines.Err()
}

// operation returns the value of the label operation.
func operation(labelled string) string {
	_, rest, _ := strings.Cut(labelled, `operation="`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}
