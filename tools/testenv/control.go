//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// control lets tests control the processes that testenv started, over HTTP:
//
//	POST /kill/{process}    kill -9 of the process and all its children
//	POST /freeze/{process}  SIGSTOP, and /thaw/{process} SIGCONT
//	POST /start/{process}   start it again, with the same folder and port; the answer follows when it is ready
//
// 204 means success; otherwise the body of the answer contains the error.
type control struct {
	address string
	server  *http.Server
	served  chan error
}

func serveControl(ctx context.Context, sites []*site) (*control, error) {
	known := map[string]*process{}
	for _, s := range sites {
		for _, p := range s.processes {
			known[p.name] = p
		}
	}
	if len(known) == 0 {
		return nil, nil //nolint:nilnil // nothing to control: servers were given, or are containers
	}
	mux := http.NewServeMux()
	for verb, do := range map[string]func(context.Context, *process) error{
		"kill":   func(_ context.Context, p *process) error { return p.kill() },
		"freeze": func(_ context.Context, p *process) error { return p.freeze() },
		"thaw":   func(_ context.Context, p *process) error { return p.thaw() },
		"start":  func(ctx context.Context, p *process) error { return p.start(ctx) },
	} {
		mux.HandleFunc("POST /"+verb+"/{process}", func(w http.ResponseWriter, r *http.Request) {
			p := known[r.PathValue("process")]
			if p == nil {
				http.Error(w, fmt.Sprintf("there is no process %q", r.PathValue("process")), http.StatusNotFound)
				return
			}
			if err := do(r.Context(), p); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		})
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("control server: %w", err)
	}
	c := &control{
		address: "http://" + l.Addr().String(),
		server:  &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second},
		served:  make(chan error, 1),
	}
	go func() { c.served <- c.server.Serve(l) }()
	return c, nil
}

func (c *control) close() error {
	err := c.server.Close()
	if served := <-c.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
