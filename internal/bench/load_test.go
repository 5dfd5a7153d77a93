package bench

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// echo is a service that records the bodies it receives.
type echo struct {
	mu     sync.Mutex
	bodies map[string]int
	heads  http.Header
	answer func(w http.ResponseWriter, body string)
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	e.bodies[string(body)]++
	e.heads = r.Header.Clone()
	e.mu.Unlock()
	if e.answer != nil {
		e.answer(w, string(body))
	}
}

func newEcho(t *testing.T) (*echo, *Target) {
	t.Helper()
	e := &echo{bodies: map[string]int{}}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	target, err := NewTarget(server.URL, "secret")
	if err != nil {
		t.Fatal(err)
	}
	return e, target
}

func numbered(to []byte, i int) []byte { return strconv.AppendInt(to, int64(i), 10) }

func TestLoadSendsEveryRequestOnce(t *testing.T) {
	e, target := newEcho(t)
	l := load{target: target, path: "/p", connections: 4, requests: 500, body: numbered, done: new(atomic.Int64)}
	sent, err := l.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(e.bodies) != 500 || len(sent.latencies) != 500 || l.done.Load() != 500 {
		t.Errorf("%d bodies, %d latencies, %d done, want 500", len(e.bodies), len(sent.latencies), l.done.Load())
	}
	for body, n := range e.bodies {
		if n != 1 {
			t.Errorf("%s was sent %d times", body, n)
		}
	}
	if got := e.heads.Get("Authorization"); got != "Bearer secret" {
		t.Errorf("Authorization %q", got)
	}
	if sent.latencies[0] <= 0 || sent.latencies[0] > sent.latencies[499] || sent.rate(10) < 10*sent.rate(1)-1 {
		t.Errorf("latencies %v to %v, rates %v and %v", sent.latencies[0], sent.latencies[499], sent.rate(1), sent.rate(10))
	}
}

func TestLoadStopsAtTheFirstRefusal(t *testing.T) {
	e, target := newEcho(t)
	e.answer = func(w http.ResponseWriter, body string) {
		if body == "100" {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, "no more")
		}
	}
	l := load{target: target, path: "/p", connections: 2, requests: 1_000_000, body: numbered, done: new(atomic.Int64)}
	_, err := l.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "/p") || !strings.Contains(err.Error(), "429") || !strings.Contains(err.Error(), "no more") {
		t.Errorf("error %v, want one with path, status and answer", err)
	}
}

func TestLoadChecksBatches(t *testing.T) {
	for answer, good := range map[string]bool{
		`{"failed":0,"results":[{"status":200}],"succeeded":1}`:              true,
		`{"succeeded":1,"results":[{"status":200}],"failed":0}`:              true,
		`{"failed":1,"results":[{"status":400,"error":{}}],"succeeded":0}`:   false,
		`{"failed":10,"results":[{"status":400,"error":{}}],"succeeded":90}`: false,
		`{}`: false,
		``:   false,
	} {
		if err := allTaken([]byte(answer)); (err == nil) != good {
			t.Errorf("%s: %v", answer, err)
		}
	}
	e, target := newEcho(t)
	e.answer = func(w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, `{"failed":1}`) }
	l := load{target: target, path: "/p", connections: 1, requests: 1, body: numbered, check: allTaken, done: new(atomic.Int64)}
	if _, err := l.run(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error %v", err)
	}
}

// A stall is included in the latency of every request that was scheduled during the stall.
func TestPacedLoadCountsFromWhenARequestWasMeant(t *testing.T) {
	e, target := newEcho(t)
	const stall = 200 * time.Millisecond
	e.answer = func(_ http.ResponseWriter, body string) {
		if body == "0" {
			time.Sleep(stall)
		}
	}
	l := load{target: target, path: "/p", connections: 1, requests: 100, rate: 1000, body: numbered, done: new(atomic.Int64)}
	sent, err := l.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sent.took < stall {
		t.Errorf("took %v", sent.took)
	}
	// Request 50 was scheduled at 50 ms, and could be sent at 200 ms at the earliest.
	if got := sent.latencies.quantile(.5); got < 100*time.Millisecond {
		t.Errorf("median latency %v: those behind the stall were not charged for it", got)
	}
}

func TestPacedLoadIsNotFasterThanItsRate(t *testing.T) {
	_, target := newEcho(t)
	l := load{target: target, path: "/p", connections: 4, requests: 101, rate: 1000, body: numbered, done: new(atomic.Int64)}
	sent, err := l.run(t.Context())
	if err != nil || sent.took < 100*time.Millisecond {
		t.Errorf("took %v, %v", sent.took, err)
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	e, target := newEcho(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	unblock := make(chan struct{})
	e.answer = func(http.ResponseWriter, string) {
		cancel(why)
		<-unblock // the load does not wait for this answer
	}
	l := load{target: target, path: "/p", connections: 2, requests: 10, body: numbered, done: new(atomic.Int64)}
	_, err := l.run(ctx)
	close(unblock)
	if !errors.Is(err, why) {
		t.Errorf("error %v, want the context's cause", err)
	}
}

func TestServiceThatIsNotThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	target, err := NewTarget(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	l := load{target: target, path: "/p", connections: 2, requests: 10, body: numbered, done: new(atomic.Int64)}
	if _, err := l.run(t.Context()); err == nil || !strings.Contains(err.Error(), "connect to the service") {
		t.Errorf("error %v", err)
	}
	for _, base := range []string{"", "127.0.0.1:8080", "ftp://x", "http://x?y"} {
		if _, err := NewTarget(base, ""); err == nil {
			t.Errorf("%q passes as a service", base)
		}
	}
}
