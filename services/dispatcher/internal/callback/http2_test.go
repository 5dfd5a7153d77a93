package callback

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log" //nolint:depguard // net/http logs with package log.
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// frame encodes one HTTP/2 frame (RFC 9113, section 4.1).
func frame(kind, flags byte, stream uint32, payload string) string {
	n := len(payload)
	return string([]byte{
		byte(n >> 16), byte(n >> 8), byte(n), kind, flags, byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream),
	}) + payload
}

const (
	h2Data, h2Headers, h2Reset, h2Settings, h2Ping, h2GoAway, h2Continuation = 0, 1, 3, 4, 6, 7, 9

	preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// serve2 answers every HTTP/2 connection with SETTINGS and, after a request, calls h.do.
func (h *hostile) serve2(t *testing.T) (url string, roots *x509.CertPool, connections *atomic.Int64) {
	t.Helper()
	ours := newAuthority(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{ours.issue("receiver")}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	var serving sync.WaitGroup
	connections = new(atomic.Int64)
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			serving.Go(func() {
				defer c.Close()
				if _, err := io.ReadFull(c, make([]byte, len(preface))); err != nil || !write(c, frame(h2Settings, 0, 0, "")) {
					return
				}
				if untilHeaders(c) {
					go func() { _, _ = io.Copy(io.Discard, c) }()
					h.do(c, gone)
				}
			})
		}
	})
	t.Cleanup(func() { close(gone); l.Close(); serving.Wait() })
	return "https://" + l.Addr().String() + "/", ours.pool(), connections
}

// untilHeaders reads frames up to the HEADERS frame of a request.
func untilHeaders(c net.Conn) bool {
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(c, head); err != nil {
			return false
		}
		if _, err := io.CopyN(io.Discard, c, int64(head[0])<<16|int64(head[1])<<8|int64(head[2])); err != nil {
			return false
		}
		if head[3] == h2Headers {
			return true
		}
	}
}

// statusOK is the header ":status: 200", compressed.
const statusOK = "\x88"

func hostiles2() []hostile {
	const endStream, endHeaders = 1, 4
	header := strings.Repeat("\x00\x03x-a\x7f\x87\x01"+strings.Repeat("y", 262), 50) // name and value of 262 bytes, as they are
	return []hostile{
		{name: "every connection is to be given up", verdict: Retry, reason: "connections", do: func(c net.Conn, _ <-chan struct{}) {
			write(c, frame(h2GoAway, 0, 0, strings.Repeat("\x00", 8)))
		}},
		{name: "close without an answer", verdict: Retry, do: func(net.Conn, <-chan struct{}) {}},
		{name: "reset of the stream", verdict: Retry, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, frame(h2Reset, 0, 1, "\x00\x00\x00\x02"))
			<-gone
		}},
		{name: "nothing at all", verdict: Retry, waits: true, reason: "within", do: func(_ net.Conn, gone <-chan struct{}) { <-gone }},
		{name: "no stream is allowed", verdict: Retry, waits: true, reason: "within", do: func(c net.Conn, gone <-chan struct{}) {
			write(c, frame(h2Settings, 0, 0, "\x00\x03\x00\x00\x00\x00"))
			<-gone
		}},
		{name: "pings forever", verdict: Retry, waits: true, reason: "within", do: func(c net.Conn, gone <-chan struct{}) {
			forever(c, gone, 0, strings.Repeat(frame(h2Ping, 0, 0, "12345678"), 100))
		}},
		{name: "settings forever", verdict: Retry, waits: true, reason: "within", do: func(c net.Conn, gone <-chan struct{}) {
			forever(c, gone, 0, strings.Repeat(frame(h2Settings, 0, 0, ""), 100))
		}},
		{name: "header that never ends", verdict: Retry, reason: "PROTOCOL_ERROR", do: func(c net.Conn, gone <-chan struct{}) {
			write(c, frame(h2Headers, 0, 1, statusOK))
			forever(c, gone, 0, frame(h2Continuation, 0, 1, header))
		}},
		{name: "frames of a kind that must not be", verdict: Retry, do: func(c net.Conn, _ <-chan struct{}) {
			write(c, frame(h2Data, endStream, 1, "data before the header"))
		}},
		{name: "a frame too long", verdict: Retry, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, "\xff\xff\xff\x00\x00\x00\x00\x00\x01")
			forever(c, gone, 0, strings.Repeat("x", 4096))
		}},
		{name: "more than the window", verdict: Done, status: 200, do: func(c net.Conn, gone <-chan struct{}) {
			write(c, frame(h2Headers, endHeaders, 1, statusOK))
			forever(c, gone, 0, frame(h2Data, 0, 1, strings.Repeat("x", 16<<10)))
		}},
		{name: "slow body", verdict: Retry, status: 200, waits: true, reason: "within", do: func(c net.Conn, gone <-chan struct{}) {
			write(c, frame(h2Headers, endHeaders, 1, statusOK))
			forever(c, gone, 10*time.Millisecond, frame(h2Data, 0, 1, "x"))
		}},
		{name: "an answer that is none", verdict: Retry, do: func(c net.Conn, _ <-chan struct{}) { write(c, headOK, "\r\n") }},
	}
}

// TestHostileReceiversOverHTTP2: as over HTTP/1.1. In addition, no receiver can make one callback use ever more
// connections.
func TestHostileReceiversOverHTTP2(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	// The receivers keep their connections, so each case ends when its idle connections are closed.
	caller := NewHTTPCaller(&HTTP{PerHost: 8, Timeouts: Timeouts{Idle: 50 * time.Millisecond}}, "test")
	before := settled(t, 0)
	for _, h := range hostiles2() {
		t.Run(h.name, func(t *testing.T) {
			url, roots, connections := h.serve2(t)
			tm := aTimer()
			tm.CallbackURL, tm.CallbackTimeout = url, 20*time.Second
			if h.waits {
				tm.CallbackTimeout = 500 * time.Millisecond
			}
			profile := &Profile{TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
			ctx, cancel := context.WithTimeout(t.Context(), tm.CallbackTimeout)
			defer cancel()
			began := time.Now()
			a := caller.Call(ctx, Request{Timer: tm, At: now, Profile: profile})
			took := time.Since(began)
			profile.transport.CloseIdleConnections()
			v := Classify(tm, a, timer.StatusCodes{}, now, middle)
			switch {
			case a.Status != h.status || v.Kind != h.verdict || !strings.Contains(v.Reason, h.reason):
				t.Errorf("status %d, %s, %q, %v", a.Status, kindName[v.Kind], v.Reason, a.Err)
			case len(a.Body) > MaxBody:
				t.Errorf("%d bytes of body", len(a.Body))
			case took > tm.CallbackTimeout+10*time.Second:
				t.Errorf("took %v of %v", took, tm.CallbackTimeout)
			}
			if n := connections.Load(); n > maxConnections+2 { // two may be in flight when the limit is reached
				t.Errorf("%d connections for one callback", n)
			}
		})
	}
	if after := settled(t, before+2); after > before+2 {
		stacks := make([]byte, 64<<10)
		t.Errorf("%d goroutines before, %d after\n%s", before, after, stacks[:runtime.Stack(stacks, true)])
	}
}

// TestTLSHasItsOwnDeadline: a receiver that accepts a connection and sends nothing has Timeouts.TLS, not the whole
// callback timeout.
func TestTLSHasItsOwnDeadline(t *testing.T) {
	const tlsTimeout = 100 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0") // nothing accepts
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tm := aTimer()
	tm.CallbackURL = "https://" + l.Addr().String()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	a := NewHTTPCaller(&HTTP{PerHost: 1, Timeouts: Timeouts{TLS: tlsTimeout}}, "test").Call(ctx, Request{Timer: tm, At: now})
	if took := time.Since(began); took < tlsTimeout || a.Err == nil || !strings.Contains(a.Err.Error(), "TLS handshake timeout") {
		t.Errorf("after %v: %v", took, a.Err)
	}
	if !a.Silent() {
		t.Error("the host counts as one that answered")
	}
}

// relay forwards connections to a server until it is frozen. Then existing connections stay open but forward nothing,
// as behind a router that has lost them. New connections are forwarded.
type relay struct {
	net.Listener
	to     string
	frozen atomic.Int64 // number of frozen connections, from the first
	passed atomic.Int64
}

func (r *relay) serve(done <-chan struct{}) {
	var passing sync.WaitGroup
	defer passing.Wait()
	for {
		c, err := r.Accept()
		if err != nil {
			return
		}
		on, err := net.Dial("tcp", r.to)
		if err != nil {
			c.Close()
			continue
		}
		number := r.passed.Add(1)
		pass := func(to, from net.Conn) {
			defer to.Close()
			buffer := make([]byte, 32<<10)
			for {
				n, err := from.Read(buffer)
				if err != nil {
					return
				}
				if r.frozen.Load() >= number {
					<-done
					return
				}
				if _, err := to.Write(buffer[:n]); err != nil {
					return
				}
			}
		}
		passing.Go(func() { pass(on, c) })
		passing.Go(func() { pass(c, on) })
	}
}

// TestALostConnectionIsFoundOut: many callbacks share an HTTP/2 connection, and TCP needs a quarter of an hour to
// detect that the other side is gone. The connection of the second callback is lost before its answer.
func TestALostConnectionIsFoundOut(t *testing.T) {
	ours := newAuthority(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	var requests atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) == 2 {
			r.frozen.Store(r.passed.Load())
		}
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{ours.issue("receiver")}, MinVersion: tls.VersionTLS12}
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	r.to = srv.Listener.Addr().String()
	done := make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() { r.serve(done) })
	caller := NewHTTPCaller(&HTTP{PerHost: 8, Timeouts: Timeouts{Ping: 300 * time.Millisecond}}, "test")
	profile := &Profile{TLS: &tls.Config{RootCAs: ours.pool(), MinVersion: tls.VersionTLS12}}
	defer func() {
		close(done)
		l.Close()
		profile.transport.CloseIdleConnections()
		srv.CloseClientConnections()
		serving.Wait()
	}()
	tm := aTimer()
	tm.CallbackURL = "https://" + l.Addr().String()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if a := caller.Call(ctx, Request{Timer: tm, At: now, Profile: profile}); a.Status != 200 {
		t.Fatalf("%+v", a)
	}
	if a := caller.Call(ctx, Request{Timer: tm, At: now, Profile: profile}); a.Err == nil || ctx.Err() != nil {
		t.Errorf("on the lost connection: %+v", a)
	}
	if a := caller.Call(ctx, Request{Timer: tm, At: now, Profile: profile}); a.Status != 200 {
		t.Errorf("after it: %+v", a)
	}
}
