package node

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
)

// probeTimeout bounds each check of the readiness.
const probeTimeout = 2 * time.Second

// probes serves /healthz, /readyz and /metrics for roles without the HTTP API, in the same way as that API: /metrics
// requires the same credentials.
func (w *dependencies) probes() process.Component {
	o := w.options
	ready := process.NewReadiness(w.clock.Now, probeTimeout, o.Logger,
		process.Check{Component: "store", Reason: "the store does not answer", Run: o.Store.Ping},
		w.clockCheck(), w.consumeCheck(o.Role), w.busCheck(),
	)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) {
		process.WriteHealth(rw, http.StatusOK, api.Health{Status: "ok"})
	})
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) {
		status, health := process.HealthOf(ready.Check())
		process.WriteHealth(rw, status, health)
	})
	mux.Handle("GET /metrics", w.hosts.Guard(w.access.Guard(process.MetricsHandler(w.registry))))
	return httpComponent(&http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}, o.Listener, o.Drain/5)
}

// consumeCheck checks that the role's consumption from the bus makes progress.
func (w *dependencies) consumeCheck(role Role) process.Check {
	topic, group, part, reason := bus.Due, bus.GroupDispatchers, "due events", "due events are not consumed"
	if role == Scheduler {
		topic, group, part, reason = bus.Shards, bus.GroupSchedulers, "hints", "hints are not consumed"
	}
	return process.Check{Component: part, Reason: reason, Run: func(context.Context) error {
		select {
		case <-w.reach.Lost():
			return givenUpError(part + " are left to other processes until the store answers")
		case <-w.clock.Lost():
			return givenUpError(part + " are left to other processes until the clock is trusted")
		default:
			return w.bus.Ready(topic, group)
		}
	}}
}

// givenUpError is the reason why a role does not consume: this process does not reach the store, or does not trust its
// clock.
type givenUpError string

func (g givenUpError) Error() string { return string(g) }

// ReadyReason returns the reason for the answer of /readyz.
func (g givenUpError) ReadyReason() string { return string(g) }

// clockCheck checks that the clock is trusted. While it is not, the process delivers nothing and writes no timer.
func (w *dependencies) clockCheck() process.Check {
	return process.Check{Component: "clock", Reason: "the clock is not trusted", Run: func(context.Context) error {
		if reason := w.clock.Distrusted(); reason != "" {
			return givenUpError(reason)
		}
		return nil
	}}
}

// busCheck checks that the bus answers the requests that schedulers and dispatchers need.
func (w *dependencies) busCheck() process.Check {
	return process.Check{Component: "bus", Reason: "the bus does not answer", Run: func(ctx context.Context) error {
		_, err := w.options.Bus.Floor(ctx, bus.Due, bus.GroupDispatchers)
		return err
	}}
}
