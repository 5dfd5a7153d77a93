package ingest

import (
	"context"
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/runtime"
)

// Ready asks the store and the bus, at most once a second, and returns why requests cannot be served,
// or nil.
func (s *Service) Ready() error {
	var all []error
	for _, u := range s.unready() {
		all = append(all, u)
	}
	return errors.Join(all...)
}

func (s *Service) unready() []*runtime.UnreadyError {
	switch s.state.Load() {
	case idle:
		return []*runtime.UnreadyError{{Reason: "the service is starting", Cause: errors.New("not running yet")}}
	case stopped:
		return []*runtime.UnreadyError{{Reason: "the service is stopping", Cause: errors.New("not running any more")}}
	default:
		return s.readiness.Ask()
	}
}

func (s *Service) questions() []runtime.Question {
	return append([]runtime.Question{
		{Reason: "the store does not answer", Ask: func(ctx context.Context) error {
			_, err := s.cfg.Store.Ping(ctx)
			return err
		}},
		{Reason: "commands are not consumed", Ask: func(context.Context) error { return s.cfg.Bus.Ready(bus.Commands, Group) }},
		{Reason: "the bus does not answer", Ask: func(ctx context.Context) error {
			_, err := s.cfg.Bus.Floor(ctx, bus.Commands, Group)
			return err
		}},
	}, s.cfg.Ready...)
}

// GetHealth implements api.ServerInterface.
func (h *handler) GetHealth(w http.ResponseWriter, _ *http.Request) {
	h.write(w, http.StatusOK, api.Health{Status: "ok"})
}

// GetReadiness implements api.ServerInterface.
func (h *handler) GetReadiness(w http.ResponseWriter, _ *http.Request) {
	reasons := h.unready()
	if len(reasons) == 0 {
		h.write(w, http.StatusOK, api.Health{Status: "ready"})
		return
	}
	answer := api.Health{Status: "not ready"}
	for _, u := range reasons {
		answer.Reasons = append(answer.Reasons, u.Reason)
	}
	h.write(w, http.StatusServiceUnavailable, answer)
}

// GetMetrics implements api.ServerInterface.
func (h *handler) GetMetrics(w http.ResponseWriter, r *http.Request) { h.metricsPage.ServeHTTP(w, r) }

func (h *handler) exposition() http.Handler {
	if h.cfg.Gatherer == nil {
		return http.HandlerFunc(h.elsewhere)
	}
	return promhttp.HandlerFor(h.cfg.Gatherer, promhttp.HandlerOpts{})
}
