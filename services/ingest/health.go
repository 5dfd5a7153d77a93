package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// unready is one reason why requests cannot be served. Its text goes to whoever asks; the cause, which
// may name hosts, to the log and to Ready's caller.
type unready struct {
	reason string
	cause  error
}

func (u *unready) Error() string { return fmt.Sprintf("%s: %v", u.reason, u.cause) }
func (u *unready) Unwrap() error { return u.cause }

// readiness remembers the last answer: probes come often and from anybody.
type readiness struct {
	turn  chan struct{} // holds one token: one asks at a time
	until timer.Millis
	last  []*unready
}

// readyFor is how long an answer is remembered.
const readyFor = time.Second

// Ready asks the store and the bus, at most once a second, and returns why requests cannot be served,
// or nil.
func (s *Service) Ready() error {
	var all []error
	for _, u := range s.unready() {
		all = append(all, u)
	}
	return errors.Join(all...)
}

func (s *Service) unready() []*unready {
	s.readiness.turn <- struct{}{}
	defer func() { <-s.readiness.turn }()
	switch s.state.Load() {
	case idle:
		return []*unready{{"the service is starting", errors.New("not running yet")}}
	case stopped:
		return []*unready{{"the service is stopping", errors.New("not running any more")}}
	}
	now := s.cfg.Clock()
	if now < s.readiness.until {
		return s.readiness.last
	}
	before := len(s.readiness.last)
	s.readiness.last = s.ask()
	s.readiness.until = s.cfg.Clock().Add(readyFor)
	switch after := len(s.readiness.last); {
	case after > 0 && before == 0:
		for _, u := range s.readiness.last {
			s.cfg.Logger.Warn("not ready", "reason", u.reason, "error", u.cause)
		}
	case after == 0 && before > 0:
		s.cfg.Logger.Info("ready again")
	}
	return s.readiness.last
}

func (s *Service) ask() []*unready {
	var reasons []*unready
	for _, question := range []struct {
		reason string
		ask    func(ctx context.Context) error
	}{
		{"the store does not answer", func(ctx context.Context) error {
			_, err := s.cfg.Store.Ping(ctx)
			return err
		}},
		{"the bus does not answer", func(ctx context.Context) error {
			_, err := s.cfg.Bus.Floor(ctx, bus.Commands, Group)
			return err
		}},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), s.cfg.ReadyTimeout)
		if err := question.ask(ctx); err != nil {
			reasons = append(reasons, &unready{question.reason, err})
		}
		cancel()
	}
	return reasons
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
		answer.Reasons = append(answer.Reasons, u.reason)
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
