package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/internal/bench"
)

// surroundings are what the processes of a system need to know.
type surroundings struct {
	// Servers are addresses by the names of tools/testenv. Service is the API of Timerbus.
	Servers map[string]string `json:"servers"`
	Service string            `json:"service"`
	// Callback is the URL of the receiver.
	Callback string `json:"callback"`
	// Folder is for files of the system, new in each round.
	Folder string `json:"folder"`
}

// driver is a system as a library of this program.
type driver interface {
	// Client returns a client and the versions of what it uses.
	Client(ctx context.Context, in surroundings) (client, string, error)
	// Work calls ready, then fires timers until ctx ends.
	Work(ctx context.Context, in surroundings, ready func()) error
}

// client creates timers.
type client interface {
	create(ctx context.Context, c creation) error
	close() error
}

// The roles of a process. A process with both is a program that embeds the system.
const (
	clientRole = "client"
	workerRole = "worker"
	bothRoles  = "both"
)

// drive runs a process of a system until ctx ends: `peers drive NAME ROLE SURROUNDINGS`. A worker prints "works". A client
// prints the URL at which it accepts creations over HTTP, and the versions.
func drive(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 3 {
		return fmt.Errorf("drive %q is not accepted: want a system, a role and its surroundings", args)
	}
	p, err := peerNamed(args[0])
	if err != nil {
		return err
	}
	var in surroundings
	if err := json.Unmarshal([]byte(args[2]), &in); err != nil {
		return fmt.Errorf("surroundings: %w", err)
	}
	switch args[1] {
	case workerRole:
		return p.library.Work(ctx, in, func() { fmt.Fprintln(stdout, "works") })
	case clientRole:
		return serveClient(ctx, p.library, in, stdout)
	case bothRoles:
		return both(ctx, p.library, in, stdout)
	default:
		return fmt.Errorf("role %q is not accepted: want %s, %s or %s", args[1], clientRole, workerRole, bothRoles)
	}
}

func both(ctx context.Context, d driver, in surroundings, stdout io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ready := make(chan struct{})
	var worker sync.WaitGroup
	defer worker.Wait()
	worker.Go(func() {
		if err := d.Work(ctx, in, func() { close(ready) }); err != nil {
			cancel(err)
		}
	})
	select {
	case <-ready:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := serveClient(ctx, d, in, stdout)
	cancel(nil)
	return err
}

// serveClient accepts creations over HTTP until ctx ends.
func serveClient(ctx context.Context, d driver, in surroundings, stdout io.Writer) (err error) {
	c, versions, err := d.Client(ctx, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var order creation
			err := json.NewDecoder(r.Body).Decode(&order)
			began := time.Now()
			if err == nil {
				err = c.create(r.Context(), order)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintf(w, `{"seconds":%.6f}`, time.Since(began).Seconds()) // an error means that the caller has disconnected
		}),
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Fprintf(stdout, "client http://%s of %s\n", listener.Addr(), versions)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// created is the answer of a client.
type created struct {
	Seconds float64 `json:"seconds"`
}

// inCalls creates timers by calls with the numbers from, up to but without upto, over c.Connections goroutines.
func inCalls(ctx context.Context, c *creation, call func(ctx context.Context, from, upto int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range c.Connections {
		workers.Go(func() {
			for ctx.Err() == nil {
				from := (int(next.Add(1)) - 1) * c.Batch
				if from >= c.Count {
					return
				}
				if err := call(ctx, from, min(from+c.Batch, c.Count)); err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// caller calls the receiver from a worker.
type caller struct {
	http *http.Client
	url  string
}

// callTimeout bounds one callback.
const callTimeout = 10 * time.Second

// newCaller returns a caller that keeps a connection for each of concurrent callbacks.
func newCaller(url string, concurrent int) *caller {
	transport := &http.Transport{MaxIdleConnsPerHost: concurrent, MaxIdleConns: concurrent, IdleConnTimeout: time.Minute}
	return &caller{http: &http.Client{Transport: transport, Timeout: callTimeout}, url: url}
}

func (c *caller) call(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("callback: answered %s", response.Status)
	}
	return nil
}

// delivery returns the body of the n-th callback.
func (c *creation) delivery(n int) []byte { return bench.AppendDelivery(nil, c.Prefix, n, c.at(n)) }

// moduleVersion returns the name of a module and the version that is linked into this program.
func moduleVersion(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return name + " " + m.Version
			}
		}
	}
	return name
}
