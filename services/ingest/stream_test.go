package ingest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/services/ingest"
)

// follower is a client of a stream, over an HTTP server whose connections are in memory and have no buffers.
type follower struct {
	t    *testing.T
	lost error         // why the stream has ended; valid when got is closed
	got  chan sseEvent // closed at the end of the stream
	end  func()
}

// sseEvent is an event, or a line without data (a heartbeat).
type sseEvent struct {
	name, id string
	data     map[string]any
}

func (e *sseEvent) String() string {
	if e.name != "change" {
		return e.name
	}
	for _, field := range []string{"timerId", "scheduleId"} {
		if id, ok := e.data[field]; ok {
			return fmt.Sprint(e.data["type"], " ", id)
		}
	}
	return "a change of nothing"
}

// serveInMemory starts an HTTP server with the service's handler, and returns how to connect to it.
func (w *world) serveInMemory(t *testing.T, protocols ...func(*http.Protocols)) (dial func(context.Context) (net.Conn, error), server *http.Server) {
	t.Helper()
	accepted := make(chan net.Conn)
	closed := make(chan struct{})
	l := &memoryListener{accepted: accepted, closed: closed}
	server = ingest.NewServer(w.handler, 10*time.Second, slog.New(slog.DiscardHandler))
	server.RegisterOnShutdown(w.svc.EndStreams)
	for _, set := range protocols {
		server.Protocols = new(http.Protocols)
		set(server.Protocols)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { _ = server.Close(); serving.Wait() })
	return func(ctx context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case accepted <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, server
}

type memoryListener struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *memoryListener) Close() error { l.once.Do(func() { close(l.closed) }); return nil }
func (l *memoryListener) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
}

// follow opens a stream. Its answer must have the status.
func follow(
	t *testing.T, dial func(context.Context) (net.Conn, error), body string, status int, header ...string,
) (*follower, *http.Response) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:8080/api/v1/events/stream", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != status {
		text, _ := io.ReadAll(answer.Body)
		t.Fatalf("status %d, want %d: %s", answer.StatusCode, status, text)
	}
	f := &follower{t: t, got: make(chan sseEvent, 10_000)}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(f.got)
		f.lost = f.read(answer.Body)
	})
	f.end = func() { cancel(); reading.Wait(); answer.Body.Close() }
	t.Cleanup(f.end)
	return f, answer
}

func (f *follower) read(body io.Reader) error {
	lines := bufio.NewScanner(body)
	var e sseEvent
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				return err
			}
		case "":
			if lines.Text() == "" {
				f.got <- e
				e = sseEvent{}
			}
		default:
			return fmt.Errorf("the line %q", lines.Text())
		}
	}
	return lines.Err()
}

// next returns the next event, without heartbeats.
func (f *follower) next() sseEvent {
	f.t.Helper()
	for e := range f.got {
		if e.name != "" {
			return e
		}
	}
	f.t.Fatalf("the stream has ended: %v", f.lost)
	return sseEvent{}
}

// want fails unless these are the next events. It returns the position after them.
func (f *follower) want(all ...string) (position string) {
	f.t.Helper()
	for _, want := range all {
		e := f.next()
		if e.String() != want {
			f.t.Fatalf("the event %s, want %s", &e, want)
		}
		position = e.id
	}
	return position
}

// ended fails unless the stream ends without a further event.
func (f *follower) ended() {
	f.t.Helper()
	for e := range f.got {
		if e.name != "" {
			f.t.Fatalf("the event %s, want the end of the stream", &e)
		}
	}
}

func TestStreamHasTheChangesOfItsNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.AllChanges = true })
		w.makeNamespace("other", 1)
		dial, _ := w.serveInMemory(t)
		w.post("timers/create", `{"id":"before","executeIn":"1h"}`).must(t, http.StatusOK)
		f, answer := follow(t, dial, `{}`, http.StatusOK)
		if h := answer.Header; h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" || h.Get("X-Accel-Buffering") != "no" ||
			h.Get("Content-Encoding") != "" {
			t.Error(h)
		}
		if e := f.next(); e.name != "open" || e.data["complete"] != true {
			t.Errorf("%+v", e)
		}
		for _, c := range []struct {
			path, body, want string
			status           int
		}{
			{"timers/create", `{"id":"a","executeIn":"1h","payload":{"secret":1}}`, "created a", 200},
			{"timers/create", `{"id":"a","executeIn":"2h","onConflict":"keep"}`, "", 200},
			{"timers/create", `{"id":"a","executeIn":"2h","onConflict":"fail"}`, "", 409},
			{"timers/create", `{"namespace":"other","id":"a","executeIn":"1h"}`, "", 200},
			{"timers/create", `{"id":"a","executeIn":"2h"}`, "replaced a", 200},
			{"timers/update", `{"id":"a","executeIn":"3h"}`, "updated a", 200},
			{"timers/pause", `{"id":"a"}`, "paused a", 200},
			{"timers/pause", `{"id":"a"}`, "", 200},
			{"timers/resume", `{"id":"a"}`, "resumed a", 200},
			{"timers/run-now", `{"id":"a"}`, "updated a", 202},
			{"timers/delete", `{"id":"a"}`, "deleted a", 202},
			{"timers/delete", `{"id":"a"}`, "", 404},
			{"schedules/create", `{"id":"s","specs":[{"every":"1h"}]}`, "created s", 200},
			{"schedules/pause", `{"id":"s"}`, "paused s", 200},
			{"timers/batch-create", `{"timers":[{"id":"b","executeIn":"1h"}]}`, "created b", 200},
			{"timers/delete-matching", `{"namespace":"default","correlationId":"none"}`, "", 200},
		} {
			got := w.post(c.path, c.body)
			if got.status != c.status && (got.status != 204 || c.status != 202) && (got.status != 200 || c.status != 202) {
				t.Fatalf("%s: %d %s", c.path, got.status, got.text)
			}
			if c.want == "" {
				continue
			}
			e := f.next()
			if e.String() != c.want {
				t.Fatalf("%s %s: the event %s, want %s", c.path, c.body, &e, c.want)
			}
			if e.data["namespace"] != "default" || e.data["payload"] != nil || e.id == "" {
				t.Errorf("%+v", e)
			}
			if e.data["timerId"] == "a" && (e.data["generation"] == nil || e.data["status"] == nil || e.data["at"] == nil) {
				t.Errorf("%+v", e)
			}
		}
	})
}

// A client that continues at a position gets the changes after it, or a reset if the process does not have them.
func TestStreamResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.Changes = changes.New(20_000, 7) })
		dial, _ := w.serveInMemory(t)
		create := func(id string) {
			w.post("timers/create", fmt.Sprintf(`{"id":%q,"executeIn":"1h"}`, id)).must(t, http.StatusOK)
		}
		f, _ := follow(t, dial, `{}`, http.StatusOK)
		f.want("open")
		create("a")
		position := f.want("created a")
		f.end()
		create("b")
		create("c")
		f, _ = follow(t, dial, `{}`, http.StatusOK, "Last-Event-ID", position)
		last := f.want("open", "created b", "created c")
		f.end()
		f, _ = follow(t, dial, `{}`, http.StatusOK, "Last-Event-ID", last)
		f.want("open")
		create("d")
		f.want("created d")
		f.end()
		for _, unknown := range []string{"0000000000000008-1", "1", "0000000000000007-999"} {
			f, _ = follow(t, dial, `{}`, http.StatusOK, "Last-Event-ID", unknown)
			f.want("open", "reset")
			create("e-" + unknown)
			f.want("created e-" + unknown)
			f.end()
		}
		for i := range 300 { // more than the log keeps
			create(fmt.Sprint("f-", i))
		}
		f, _ = follow(t, dial, `{}`, http.StatusOK, "Last-Event-ID", position)
		f.want("open", "reset")
		create("g")
		f.want("created g")
	})
}

// The work for a busy namespace is bounded: a client gets a reset instead of many changes.
func TestStreamOfABusyNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		dial, _ := w.serveInMemory(t)
		f, _ := follow(t, dial, `{}`, http.StatusOK)
		f.want("open")
		var items []string
		for i := range 101 {
			items = append(items, fmt.Sprintf(`{"id":"a-%d","executeIn":"1h"}`, i))
		}
		w.post("timers/batch-create", `{"timers":[`+strings.Join(items, ",")+`]}`).must(t, http.StatusOK)
		f.want("reset")
		w.post("timers/delete", `{"id":"a-0"}`)
		f.want("deleted a-0")
	})
}

// A quiet stream has a heartbeat with the position of the process, and outlives the deadlines of the server.
func TestStreamHasHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.Changes = changes.New(1<<20, 7) })
		w.makeNamespace("other", 1)
		dial, _ := w.serveInMemory(t)
		f, _ := follow(t, dial, `{}`, http.StatusOK)
		f.want("open")
		w.post("timers/create", `{"namespace":"other","id":"a","executeIn":"1h"}`).must(t, http.StatusOK)
		begun := time.Now()
		for i := range 240 {
			if e := <-f.got; e.name != "" || e.id != "0000000000000007-1" {
				t.Fatalf("heartbeat %d: %+v", i, e)
			}
		}
		if took := time.Since(begun); took > time.Hour+time.Second {
			t.Errorf("240 heartbeats in %v", took)
		}
		w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, http.StatusOK)
		f.want("created a")
	})
}

// TestAQuietStreamStaysOpenOverHTTP2: there, a deadline ends a stream also if nothing is being written.
func TestAQuietStreamStaysOpenOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) { c.StreamHeartbeat = time.Hour })
		protocol := func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }
		dial, _ := w.serveInMemory(t, protocol)
		transport := &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }, Protocols: new(http.Protocols),
		}
		protocol(transport.Protocols)
		defer transport.CloseIdleConnections()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:8080/api/v1/events/stream", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(r)
		if err != nil || answer.ProtoMajor != 2 {
			t.Fatalf("%+v, %v", answer, err)
		}
		f := &follower{t: t, got: make(chan sseEvent, 100)}
		go func() {
			defer close(f.got)
			f.lost = f.read(answer.Body)
		}()
		f.want("open")
		time.Sleep(5 * time.Minute)
		w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, http.StatusOK)
		f.want("created a")
		cancel()
		f.ended()
		answer.Body.Close()
	})
}

func TestStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *ingest.Config) {
			c.Streams, c.StreamsOfCaller = 3, 2
			c.Access = access.New(access.Options{Token: access.NewToken("t"), Verify: func(_ context.Context, token string) (access.Caller, error) {
				return access.Caller{Name: "user " + token, Grants: access.Anyone().Grants}, nil
			}})
		})
		dial, _ := w.serveInMemory(t)
		of := func(token string, status int) *follower {
			f, answer := follow(t, dial, `{}`, status, "Authorization", "Bearer "+token)
			if status != http.StatusOK && answer.Header.Get("Retry-After") != "30" {
				t.Errorf("%d with Retry-After %q", status, answer.Header.Get("Retry-After"))
			}
			return f
		}
		first := of("t", http.StatusOK)
		first.want("open")
		of("t", http.StatusOK).want("open")
		of("t", http.StatusTooManyRequests)
		of("a.b.c", http.StatusOK).want("open")
		of("d.e.f", http.StatusServiceUnavailable)
		w.wantMetric("timerbus_ingest_event_streams", "3")
		first.end()
		synctest.Wait()
		of("d.e.f", http.StatusOK).want("open")
		w.wantMetric(`timerbus_ingest_event_streams_ended_total{reason="client"}`, "1")
	})
}

// wantMetric compares a line of /metrics.
func (w *world) wantMetric(name, value string) {
	w.t.Helper()
	for line := range strings.Lines(w.send(w.t.Context(), http.MethodGet, "/metrics", "", "Authorization", "Bearer t").text) {
		if got, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			if got != value {
				w.t.Errorf("%s is %s, want %s", name, got, value)
			}
			return
		}
	}
	w.t.Errorf("there is no %s", name)
}

// A client that does not read is disconnected; others are not affected.
func TestAStreamThatIsNotReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		dial, _ := w.serveInMemory(t)
		other, _ := follow(t, dial, `{}`, http.StatusOK)
		other.want("open")
		c, err := dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "POST /api/v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.wantMetric("timerbus_ingest_event_streams", "2")
		time.Sleep(11 * time.Second)
		w.wantMetric("timerbus_ingest_event_streams", "1")
		w.wantMetric(`timerbus_ingest_event_streams_ended_total{reason="slow"}`, "1")
		w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, http.StatusOK)
		other.want("created a")
	})
}

// A key that is revoked, or that loses its grant, ends its stream.
func TestStreamsNeedTheirCredential(t *testing.T) {
	for name, change := range map[string]func(*access.Caller) error{
		"revoked":            func(*access.Caller) error { return &access.DeniedError{Reason: "revoked"} },
		"without the right":  func(c *access.Caller) error { c.Grants = nil; return nil },
		"cannot be verified": func(*access.Caller) error { return errors.New("no answer") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				changed := func(*access.Caller) error { return nil }
				w := newWorld(t, func(c *ingest.Config) {
					c.Access = access.New(access.Options{Token: access.NewToken("t"), Verify: func(context.Context, string) (access.Caller, error) {
						mu.Lock()
						defer mu.Unlock()
						caller := access.Caller{Name: "user", Grants: access.Anyone().Grants}
						return caller, changed(&caller)
					}})
				})
				dial, _ := w.serveInMemory(t)
				f, _ := follow(t, dial, `{}`, http.StatusOK, "Authorization", "Bearer a.b.c")
				f.want("open")
				time.Sleep(10 * time.Minute)
				w.wantMetric("timerbus_ingest_event_streams", "1")
				mu.Lock()
				changed = func(c *access.Caller) error { return change(c) }
				mu.Unlock()
				begun := time.Now()
				f.ended()
				if took := time.Since(begun); took > time.Minute {
					t.Errorf("the stream ended after %v", took)
				}
				synctest.Wait()
				w.wantMetric(`timerbus_ingest_event_streams_ended_total{reason="denied"}`, "1")
			})
		})
	}
}

// An orderly stop does not wait for the clients.
func TestShutdownEndsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		dial, server := w.serveInMemory(t)
		f, _ := follow(t, dial, `{}`, http.StatusOK)
		f.want("open")
		begun := time.Now()
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the shutdown took %v", took)
		}
		f.ended()
		if f.lost != nil {
			t.Errorf("the stream was cut off: %v", f.lost)
		}
	})
}

func TestStreamIsRefused(t *testing.T) {
	w := newWorld(t)
	w.post("events/stream", `{"namespace":"none"}`).must(t, http.StatusNotFound)
	w.post("events/stream", `{"namespaces":["default"]}`).must(t, http.StatusBadRequest)
	w.post("events/stream", `{}`, "Sec-Fetch-Site", "cross-site").must(t, http.StatusForbidden)
}
