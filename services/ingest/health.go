package ingest

import (
	"context"
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
)

// Ready queries the store and the bus, at most once a second. It returns an error if requests cannot be served.
// Components whose failure only degrades the service cause no error.
func (s *Service) Ready() error {
	var all []error
	for _, f := range s.failures() {
		if !f.Degrades {
			all = append(all, f)
		}
	}
	return errors.Join(all...)
}

func (s *Service) failures() []*process.ComponentError {
	own := func(reason, cause string) []*process.ComponentError {
		return []*process.ComponentError{{Component: "ingest", Reason: reason, Since: s.cfg.Clock(), Cause: errors.New(cause)}}
	}
	switch s.state.Load() {
	case idle:
		return own("the service is starting", "not running yet")
	case stopped:
		return own("the service is stopping", "not running any more")
	default:
		return s.readiness.Check()
	}
}

// readinessChecks returns the readiness queries. Requests need the store. Without the bus, rows are stored
// nevertheless, and the sweep finds timers whose hint was lost.
func (s *Service) readinessChecks() []process.Check {
	var others []process.Check
	if s.cfg.Outbox != nil {
		others = append(others, process.Check{
			Component: "outbox", Reason: outbox.ReasonAway, Degrades: true, Run: s.outboxState.check,
		})
	}
	return append(append([]process.Check{
		{Component: "store", Reason: "the store does not answer", Run: s.cfg.Store.Ping},
		{Component: "commands", Reason: "commands are not consumed", Degrades: true, Run: func(context.Context) error {
			return s.cfg.Bus.Ready(bus.Commands, Group)
		}},
		{Component: "bus", Reason: "the bus does not answer", Degrades: true, Run: func(ctx context.Context) error {
			_, err := s.cfg.Bus.Floor(ctx, bus.Commands, Group)
			return err
		}},
	}, others...), s.cfg.Ready...)
}

// GetHealth implements api.ServerInterface.
func (h *handler) GetHealth(w http.ResponseWriter, _ *http.Request) {
	h.write(w, http.StatusOK, api.Health{Status: "ok"})
}

// GetReadiness implements api.ServerInterface.
func (h *handler) GetReadiness(w http.ResponseWriter, _ *http.Request) {
	status, health := process.HealthOf(h.failures())
	h.write(w, status, health)
}

// GetMetrics implements api.ServerInterface.
func (h *handler) GetMetrics(w http.ResponseWriter, r *http.Request) {
	from := origin{caller: callerOf(r)}
	if err := from.requireEverywhere(access.Read); err != nil {
		h.fail(w, err)
		return
	}
	h.metricsPage.ServeHTTP(w, r)
}

func (h *handler) exposition() http.Handler {
	if h.cfg.Gatherer == nil {
		return http.HandlerFunc(h.notFound)
	}
	return promhttp.HandlerFor(h.cfg.Gatherer, promhttp.HandlerOpts{})
}
