package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/timer"
)

// correlationHeader is sent as X-Correlation-Id, the canonical form.
const correlationHeader = "X-Correlation-ID"

// Handler returns the HTTP API. Writes are answered while Run runs; earlier writes wait for it.
func (s *Service) Handler() http.Handler {
	h := &handler{
		Service: s, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(),
		bodies:      bodies{limit: s.cfg.BodyLimit, total: int64(s.cfg.BodiesBytes)},
		batchBodies: bodies{limit: s.cfg.BatchBodyLimit, total: int64(s.cfg.BatchBodiesBytes)},
		pages:       semaphore.NewWeighted(int64(s.cfg.ListBytes)),
		batches:     make(chan struct{}, s.cfg.BatchesInFlight),
		access:      s.cfg.Access,
	}
	h.metricsPage = h.exposition()
	api.HandlerWithOptions(h, api.StdHTTPServerOptions{BaseRouter: h.mux})
	h.mux.HandleFunc("/", h.notFound)
	return h
}

// NewServer returns an HTTP server with limits that fit the API: requests are small and answered within timeout.
func NewServer(h http.Handler, timeout time.Duration, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       timeout + 5*time.Second,
		WriteTimeout:      timeout + 10*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// handler is the HTTP side of a Service; its routes are in timers.go, namespaces.go and health.go.
type handler struct {
	*Service

	mux         *http.ServeMux
	origin      *http.CrossOriginProtection
	access      *access.Authenticator
	bodies      bodies
	batchBodies bodies
	pages       *semaphore.Weighted // bytes of pages that are being read and sent
	batches     chan struct{}       // has an element for each batch that is being served
	metricsPage http.Handler
}

var _ api.ServerInterface = (*handler)(nil)

// ServeHTTP does the common work of all routes.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recorder := &recorder{ResponseWriter: w, status: http.StatusOK}
	var route string // the mux sets it
	took := prometheus.NewTimer(prometheus.ObserverFunc(func(seconds float64) {
		h.metrics.seconds.WithLabelValues(route).Observe(seconds)
	}))
	if caller, err := h.admit(r); err != nil {
		h.fail(recorder, err)
	} else {
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, caller))
		h.mux.ServeHTTP(recorder, r)
	}
	route = routeOf(r)
	if !strings.HasPrefix(recorder.Header().Get("Content-Type"), "text/event-stream") { // a stream ends when its client does
		took.ObserveDuration()
	}
	h.metrics.requests.WithLabelValues(route, strconv.Itoa(recorder.status)).Inc()
}

// routeOf returns the route for metrics; all unknown paths are one route.
func routeOf(r *http.Request) string {
	if _, path, ok := strings.Cut(r.Pattern, " "); ok {
		return path
	}
	return "other"
}

// recorder records the status.
type recorder struct {
	http.ResponseWriter

	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap is used by http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// callerKey is the key of the caller in a request's context.
type callerKey struct{}

// callerOf returns the caller whom admit has found.
func callerOf(r *http.Request) access.Caller {
	caller, _ := r.Context().Value(callerKey{}).(access.Caller)
	return caller
}

// admit refuses requests that must not reach any route. Of other requests it returns the caller.
func (h *handler) admit(r *http.Request) (access.Caller, error) {
	// A web page of another origin must not be able to create timers through a browser on this machine or network.
	if err := h.origin.Check(r); err != nil {
		return access.Caller{}, &refusal{
			status: http.StatusForbidden, code: api.ErrorCodeForbidden, details: details{},
			message: "requests from web pages of other origins are not accepted",
		}
	}
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
		return access.Caller{}, nil
	}
	if err := h.cfg.Hosts.Check(r.Host); err != nil {
		return access.Caller{}, &refusal{
			status: http.StatusForbidden, code: api.ErrorCodeForbidden, message: err.Error(),
			details: details{"host": r.Host, "setting": "allowed-hosts"},
		}
	}
	return h.access.Caller(r)
}

// notFound answers 404 for unknown paths, and 405 with Allow for other methods of known paths.
func (h *handler) notFound(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := h.mux.Handler(other); pattern != "/" && pattern != "" {
			w.Header().Set("Allow", method)
			h.fail(w, &refusal{
				status: http.StatusMethodNotAllowed, code: api.ErrorCodeMethodNotAllowed,
				details: details{"method": r.Method, "accepted": method},
				message: fmt.Sprintf("%s of %s is not accepted: want %s", r.Method, r.URL.Path, method),
			})
			return
		}
	}
	h.fail(w, &refusal{
		status: http.StatusNotFound, code: api.ErrorCodeNotFound, details: details{"path": r.URL.Path},
		message: fmt.Sprintf("there is no route %s", r.URL.Path),
	})
}

// answer is the result of a route.
type answer struct {
	status int
	body   any // nil for none
	// text is the encoded body, if not nil. sent is then called after it was sent.
	text []byte
	sent func()
	// stream, if not nil, sends the whole answer, for any time.
	stream func()
	// correlation is the correlation id of the answered timer.
	correlation string
}

// serve reads a request, calls the route with the request timeout, and writes the answer.
func (h *handler) serve(
	w http.ResponseWriter, r *http.Request, route func(ctx context.Context, body []byte, from origin) (answer, error),
) {
	h.serveFrom(w, r, &h.bodies, h.cfg.RequestTimeout, route)
}

// serveFrom is serve with other bounds for the body and for the time.
func (h *handler) serveFrom(
	w http.ResponseWriter, r *http.Request, bodies *bodies, timeout time.Duration,
	route func(ctx context.Context, body []byte, from origin) (answer, error),
) {
	if stream := h.answer(w, r, bodies, timeout, route); stream != nil {
		stream() // the span of the request has ended, and the memory of its body is free
	}
}

// answer serves a request, except for a stream, which it returns.
func (h *handler) answer(
	w http.ResponseWriter, r *http.Request, bodies *bodies, timeout time.Duration,
	route func(ctx context.Context, body []byte, from origin) (answer, error),
) (stream func()) {
	from := h.receivedNow()
	from.caller = callerOf(r)
	from.correlationID, from.trace = r.Header.Get(correlationHeader), traceOf(r.Header)
	traced, span := h.cfg.Tracer.Request(r.Context(), trace.SpanKindServer, routeOf(r), from.trace)
	from.trace = tracing.Of(traced, from.trace)
	defer func() { endRequest(span, w) }()
	if from.correlationID != "" {
		if timer.CheckCorrelationID(from.correlationID) != nil {
			h.fail(w, timer.Invalid("X-Correlation-Id", from.correlationID, "1 to 255 bytes of UTF-8 without control characters"))
			return nil
		}
		w.Header().Set(correlationHeader, from.correlationID)
	}
	body, release, err := bodies.read(w, r)
	defer release()
	if err != nil {
		h.fail(w, err)
		return nil
	}
	ctx, cancel := context.WithTimeout(traced, timeout)
	defer cancel()
	a, err := route(ctx, body, from)
	if err != nil {
		h.fail(w, err)
		return nil
	}
	if from.correlationID == "" && a.correlation != "" {
		w.Header().Set(correlationHeader, a.correlation)
	}
	switch {
	case a.stream != nil:
	case a.text != nil:
		defer a.sent()
		h.send(w, a.status, a.text)
	default:
		h.write(w, a.status, a.body)
	}
	return a.stream
}

// endRequest ends the span of a request. An error of the client is not an error of the span.
func endRequest(span trace.Span, w http.ResponseWriter) {
	status := 0
	if r, ok := w.(*recorder); ok {
		status = r.status
	}
	failed := ""
	if status >= http.StatusInternalServerError {
		failed = http.StatusText(status)
	}
	tracing.EndHTTP(span, status, failed)
}

// traceOf returns the trace of a request. Two traceparents are invalid; several tracestates are joined.
func traceOf(h http.Header) event.Trace {
	parents := h["Traceparent"]
	if len(parents) != 1 {
		return event.Trace{}
	}
	return event.TraceOf(parents[0], strings.Join(h["Tracestate"], ","))
}

// fail writes an error.
func (h *handler) fail(w http.ResponseWriter, err error) {
	f := refuse(err)
	switch f.code {
	case api.ErrorCodeRateLimited, api.ErrorCodeUnavailable:
		seconds := int64(math.Ceil(max(f.retryAfter, time.Second).Seconds()))
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	case api.ErrorCodeUnauthorized:
		w.Header().Set("WWW-Authenticate", access.Challenge)
	case api.ErrorCodeInternalError:
		h.cfg.Logger.Error("request failed", "error", f.cause)
	default:
	}
	h.write(w, f.status, h.renderError(f))
}

func (s *Service) renderError(f *refusal) api.Error {
	return api.Error{Error: f.code, Message: f.message, Details: f.details, Timestamp: instant(s.cfg.Clock())}
}

// write writes an answer. It encodes before it sends the status, so that an encoding error cannot follow a 200.
func (h *handler) write(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	text, err := encode(body)
	if err != nil {
		h.fail(w, fmt.Errorf("encode an answer: %w", err)) // an api.Error can always be encoded
		return
	}
	h.send(w, status, text)
}

// send writes an encoded answer.
func (h *handler) send(w http.ResponseWriter, status int, text []byte) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(text)))
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// If the client is gone, the error cannot be reported to it.
	_, _ = io.Copy(w, bytes.NewReader(text))
}

// encode writes JSON without the standard library's HTML escapes, which would change payloads.
func encode(body any) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, 1024)) // a timer without its payload has about 700 bytes
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	err := e.Encode(body)
	return buf.Bytes(), err
}
