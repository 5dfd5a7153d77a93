package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// noon is the initial time in most tests.
const noon timer.Millis = 1_900_000_000_000

// world is one ingest service with a store and a bus in memory.
type world struct {
	t       testing.TB
	now     atomic.Int64
	store   *gate
	broker  *membus.Broker
	member  *membus.Member
	svc     *ingest.Service
	handler http.Handler
	metrics *prometheus.Registry
	stop    func()
	// doomed: the test will kill the service's process, so Run may return an error.
	doomed bool
}

// gate lets tests intercept writes to the store.
type gate struct {
	*memstore.Store

	mu    sync.Mutex
	write func(ctx context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error)
}

func (g *gate) set(f func(ctx context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.write = f
}

func (g *gate) through(ctx context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
	g.mu.Lock()
	f := g.write
	g.mu.Unlock()
	if f == nil {
		return do()
	}
	return f(ctx, ops, do)
}

func (g *gate) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	return g.through(ctx, ops, func() ([]store.Written, error) { return g.Store.Write(ctx, now, ops) })
}

func (g *gate) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, move store.Move) ([]store.Written, error) {
	return g.through(ctx, ops, func() ([]store.Written, error) { return g.Store.WriteAt(ctx, now, ops, move) })
}

// newWorld returns a world whose service runs until the test ends.
func newWorld(tb testing.TB, tune ...func(*ingest.Config)) *world {
	tb.Helper()
	w := &world{t: tb, broker: membus.New(membus.Options{Partitions: 4})}
	w.now.Store(int64(noon))
	w.member = w.broker.Join("ingest")
	w.store = &gate{Store: memstore.NewDatabaseAt(w.clock).Open()}
	w.build(tune...)
	w.makeNamespace("default", 16)
	w.run()
	return w
}

func (w *world) clock() timer.Millis { return timer.Millis(w.now.Load()) }

func (w *world) build(tune ...func(*ingest.Config)) {
	w.t.Helper()
	w.metrics = prometheus.NewRegistry()
	cfg := ingest.Config{
		Store: w.store, Positions: w.store, Flows: w.store, Directory: store.NewDirectory(w.store), Bus: w.member,
		Clock: w.clock, Revisions: timer.NewRevisions(w.clock, rand.New(rand.NewPCG(1, 2)).Uint64),
		Source: "//test", Registerer: w.metrics, Logger: slog.New(slog.NewTextHandler(testWriter{w.t}, nil)),
	}
	for _, f := range tune {
		f(&cfg)
	}
	svc, err := ingest.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.svc, w.handler = svc, svc.Handler()
}

// run starts the service; stop ends it and waits.
func (w *world) run() {
	ctx, cancel := context.WithCancel(context.Background()) // Run must outlive the test's context; stop waits for it
	done := make(chan error, 1)
	svc := w.svc
	w.doomed = false
	go func() { done <- svc.Run(ctx) }()
	doomed := func() bool { return w.doomed || w.svc != svc }
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !doomed() {
			w.t.Errorf("Run: %v", err)
		}
	})
	w.t.Cleanup(w.stop)
}

// restart starts another process after the present one, which has ended, hangs or is stopped.
func (w *world) restart(tune ...func(*ingest.Config)) {
	w.t.Helper()
	w.member = w.broker.Join("ingest")
	w.build(tune...)
	w.run()
}

// killAfterWrite kills the process as soon as its next write is in the store, before the acknowledgement.
func (w *world) killAfterWrite() {
	killed := w.member
	w.doomed = true
	w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		written, err := do()
		killed.Crash()
		return written, err
	})
}

// awaitReady waits until commands are consumed.
func (w *world) awaitReady() {
	w.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		err := w.svc.Ready()
		got := w.send(w.t.Context(), http.MethodGet, "/readyz", "")
		if err == nil && got.field("degraded") == nil {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatal(err, got.text)
		}
	}
}

func (w *world) makeNamespace(name string, shards int) store.Namespace {
	w.t.Helper()
	settings := store.DefaultSettings()
	settings.ZoneVersion = zone.Version
	ns, err := w.store.CreateNamespace(w.t.Context(), store.Namespace{
		Name: name, Shards: shard.Block{Count: shards}, Settings: settings, CreatedAt: noon, UpdatedAt: noon,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return ns
}

// ref returns the row of a timer in namespace default.
func (w *world) ref(id string) store.Ref {
	w.t.Helper()
	ns, err := w.store.GetNamespace(w.t.Context(), "default")
	if err != nil {
		w.t.Fatal(err)
	}
	return store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf("default", id)}
}

// row reads a timer of namespace default directly from the store.
func (w *world) row(id string) (timer.Timer, error) {
	w.t.Helper()
	return w.store.Get(w.t.Context(), w.clock(), w.ref(id))
}

// reply is an HTTP answer.
type reply struct {
	status int
	header http.Header
	text   string
	json   map[string]any
}

// post sends a body and checks the answer against the OpenAPI document.
func (w *world) post(path, body string, header ...string) reply {
	w.t.Helper()
	return w.send(w.t.Context(), http.MethodPost, "/api/v1/"+path, body, header...)
}

func (w *world) send(ctx context.Context, method, path, body string, header ...string) reply {
	w.t.Helper()
	request := func() *http.Request {
		r := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return r
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, request())
	got := reply{status: rec.Code, header: rec.Header(), text: rec.Body.String()}
	if strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(rec.Body.Bytes(), &got.json); err != nil {
			w.t.Fatalf("%s %s answered %q: %v", method, path, got.text, err)
		}
	}
	document.check(w.t, request(), body, &got)
	return got
}

// must fails the test unless the answer has the status.
func (r reply) must(tb testing.TB, status int) reply {
	tb.Helper()
	if r.status != status {
		tb.Fatalf("status %d, want %d: %s", r.status, status, r.text)
	}
	return r
}

// field returns a member of the answer, by path.
func (r reply) field(path ...string) any {
	var v any = r.json
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

// document is schemas/openapi.yaml.
var document openAPI

type openAPI struct {
	once   sync.Once
	doc    *openapi3.T
	router routers.Router
	err    error
}

func (d *openAPI) load(tb testing.TB) routers.Router {
	tb.Helper()
	d.once.Do(func() {
		var text []byte
		if text, d.err = os.ReadFile("../../schemas/openapi.yaml"); d.err != nil {
			return
		}
		if d.doc, d.err = openapi3.NewLoader().LoadFromData(text); d.err != nil {
			return
		}
		if d.err = d.doc.Validate(context.Background()); d.err != nil { //nolint:usetesting // shared by all tests.
			return
		}
		d.router, d.err = legacy.NewRouter(d.doc)
		openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.FileBodyDecoder)
	})
	if d.err != nil {
		tb.Fatalf("schemas/openapi.yaml: %v", d.err)
	}
	return d.router
}

// paths iterates over the paths of the API after /api/v1/.
func (d *openAPI) paths(tb testing.TB) iter.Seq[string] {
	tb.Helper()
	d.load(tb)
	return func(yield func(string) bool) {
		for path := range d.doc.Paths.Map() {
			if short, ok := strings.CutPrefix(path, "/api/v1/"); ok && !yield(short) {
				return
			}
		}
	}
}

// check validates an answer, and the request if it was accepted, against the document.
func (d *openAPI) check(tb testing.TB, r *http.Request, body string, got *reply) {
	tb.Helper()
	route, params, err := d.load(tb).FindRoute(r)
	if err != nil {
		if got.status != http.StatusNotFound && got.status != http.StatusMethodNotAllowed && got.status != http.StatusUnauthorized {
			tb.Errorf("%s %s answered %d, and the document does not know it: %v", r.Method, r.URL.Path, got.status, err)
		}
		return
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: options}
	if got.status < 300 {
		if err := openapi3filter.ValidateRequest(tb.Context(), in); err != nil {
			tb.Errorf("the document refuses a request that was accepted: %s %s: %v", r.URL.Path, body, err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: got.status, Header: got.header,
		Body: io.NopCloser(strings.NewReader(got.text)), Options: options,
	}
	if err := openapi3filter.ValidateResponse(tb.Context(), out); err != nil {
		tb.Errorf("the document does not allow the answer %d of %s: %v\n%s", got.status, r.URL.Path, err, got.text)
	}
	if at := nullIn(got.json); at != "" {
		tb.Errorf("the answer %d of %s has null at %s, which should be absent: %s", got.status, r.URL.Path, at, got.text)
	}
}

// nullIn returns the path of a null in an answer, outside payloads; empty if there is none.
func nullIn(v any) string {
	switch v := v.(type) {
	case nil:
		return "."
	case []any:
		for _, element := range v {
			if at := nullIn(element); at != "" {
				return "[]" + at
			}
		}
	case map[string]any:
		for name, member := range v {
			if at := nullIn(member); at != "" && (name != "payload" || member == nil) {
				return "." + name + at
			}
		}
	}
	return ""
}

// testWriter sends logs to the test.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(string(bytes.TrimRight(p, "\n")))
	return len(p), nil
}

// tap collects the messages published on a topic.
type tap struct {
	topic bus.Topic
	got   chan bus.Message
	stop  func()
}

// listen consumes a topic with a separate member.
func (w *world) listen(topic bus.Topic) *tap {
	w.t.Helper()
	l := &tap{topic: topic, got: make(chan bus.Message, 4096)}
	ctx, cancel := context.WithCancel(context.Background()) // ended by the cleanup below, which waits
	mode := bus.Ordered
	if topic.Kind() == bus.KindHints {
		mode = bus.Live
	}
	var open sync.WaitGroup
	open.Add(w.member.Partitions())
	var ended sync.WaitGroup
	member := w.broker.Join("tap")
	ended.Go(func() {
		err := member.Consume(ctx, bus.Spec{Topic: topic, Group: "tap", Mode: mode},
			func(context.Context, shard.Partition) (bus.Session, error) { open.Done(); return l, nil })
		if err != nil {
			w.t.Errorf("tap on %s: %v", topic, err)
		}
	})
	l.stop = sync.OnceFunc(func() { cancel(); ended.Wait() })
	w.t.Cleanup(l.stop)
	open.Wait()
	return l
}

func (l *tap) Deliver(_ context.Context, d *bus.Delivery) error {
	l.got <- d.Message
	d.Ack()
	return nil
}

func (l *tap) Close(context.Context, error) error { return nil }
