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

// probeTimeout bounds each question of a readiness check.
const probeTimeout = 2 * time.Second

// probes serves /healthz, /readyz and /metrics for a role without the HTTP API, as that API does.
func (w *works) probes() runtime.Part {
	o := w.options
	ready := runtime.NewReadiness(w.clock.now, probeTimeout, o.Logger,
		runtime.Question{Part: "store", Reason: "the store does not answer", Ask: func(ctx context.Context) error {
			_, err := w.backend.Store.Ping(ctx)
			return err
		}},
		w.consumption(o.Role), w.busAnswers(),
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

// consumption asks whether what a role consumes from the bus makes progress.
func (w *works) consumption(role Role) runtime.Question {
	topic, group, part, reason := bus.Due, bus.GroupDispatchers, "due events", "due events are not consumed"
	if role == Scheduler {
		topic, group, part, reason = bus.Shards, bus.GroupSchedulers, "hints", "hints are not consumed"
	}
	return runtime.Question{Part: part, Reason: reason, Ask: func(context.Context) error {
		select {
		case <-w.reach.Lost():
			return givenUpError(part)
		default:
			return w.backend.Bus.Ready(topic, group)
		}
	}}
}

// givenUpError says that a role does not consume, because this process does not reach the store.
type givenUpError string

func (g givenUpError) Error() string { return g.ReadyReason() }

// ReadyReason is what a process that is not ready for this reason answers.
func (g givenUpError) ReadyReason() string {
	return string(g) + " are left to other processes until the store answers"
}

// busAnswers asks the bus for what schedulers and dispatchers require of it.
func (w *works) busAnswers() runtime.Question {
	return runtime.Question{Part: "bus", Reason: "the bus does not answer", Ask: func(ctx context.Context) error {
		_, err := w.backend.Bus.Floor(ctx, bus.Due, bus.GroupDispatchers)
		return err
	}}
}
