package node

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/runtime"
)

// probeTimeout bounds each check of the readiness.
const probeTimeout = 2 * time.Second

// probes serves /healthz, /readyz and /metrics for roles without the HTTP API, in the same way as that API.
func (w *works) probes() runtime.Part {
	o := w.options
	ready := runtime.NewReadiness(w.clock.Now, probeTimeout, o.Logger,
		runtime.Question{Part: "store", Reason: "the store does not answer", Ask: w.backend.Store.Ping},
		w.clockIsTrusted(), w.consumption(o.Role), w.busAnswers(),
	)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) {
		runtime.WriteHealth(rw, http.StatusOK, api.Health{Status: "ok"})
	})
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) {
		status, health := runtime.HealthOf(ready.Ask())
		runtime.WriteHealth(rw, status, health)
	})
	mux.Handle("GET /metrics", w.hosts.Guard(runtime.MetricsHandler(w.registry)))
	return serverPart(&http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}, o.Listener, o.Drain/5)
}

// consumption checks that the role's consumption from the bus makes progress.
func (w *works) consumption(role Role) runtime.Question {
	topic, group, part, reason := bus.Due, bus.GroupDispatchers, "due events", "due events are not consumed"
	if role == Scheduler {
		topic, group, part, reason = bus.Shards, bus.GroupSchedulers, "hints", "hints are not consumed"
	}
	return runtime.Question{Part: part, Reason: reason, Ask: func(context.Context) error {
		select {
		case <-w.reach.Lost():
			return givenUpError(part + " are left to other processes until the store answers")
		case <-w.clock.Lost():
			return givenUpError(part + " are left to other processes until the clock is trusted")
		default:
			return w.backend.Bus.Ready(topic, group)
		}
	}}
}

// givenUpError is the reason why a role does not consume: this process does not reach the store, or does not trust its
// clock.
type givenUpError string

func (g givenUpError) Error() string { return string(g) }

// ReadyReason returns the reason for the answer of /readyz.
func (g givenUpError) ReadyReason() string { return string(g) }

// clockIsTrusted checks that the clock is trusted. While it is not, the process delivers nothing and writes no timer.
func (w *works) clockIsTrusted() runtime.Question {
	return runtime.Question{Part: "clock", Reason: "the clock is not trusted", Ask: func(context.Context) error {
		if reason := w.clock.Distrusted(); reason != "" {
			return givenUpError(reason)
		}
		return nil
	}}
}

// busAnswers checks that the bus answers the requests that schedulers and dispatchers need.
func (w *works) busAnswers() runtime.Question {
	return runtime.Question{Part: "bus", Reason: "the bus does not answer", Ask: func(ctx context.Context) error {
		_, err := w.backend.Bus.Floor(ctx, bus.Due, bus.GroupDispatchers)
		return err
	}}
}
