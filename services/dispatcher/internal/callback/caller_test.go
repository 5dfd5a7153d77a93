package callback

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// patience limits waits of tests that succeed much earlier.
const patience = 30 * time.Second

// receiver starts a real server and a caller for it, and counts the server's connections.
func receiver(t *testing.T, h http.HandlerFunc) (*HTTPCaller, string, *atomic.Int64) {
	t.Helper()
	var conns atomic.Int64
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	caller := NewHTTPCaller(&HTTP{PerHost: 4}, "1.2.3")
	t.Cleanup(func() { caller.transport.CloseIdleConnections(); srv.Close() })
	return caller, srv.URL, &conns
}

func call(t *testing.T, c *HTTPCaller, url string) Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tm := aTimer()
	tm.CallbackURL = url
	return c.Call(ctx, Request{Timer: tm, At: now})
}

func TestRequestIsWhatReceiversAreTold(t *testing.T) {
	var got *http.Request
	var body []byte
	c, url, _ := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	})
	tm := aTimer()
	tm.CallbackURL = strings.Replace(url, "://", "://user:secret@", 1) + "/hook?a=b"
	tm.Payload, tm.Attempts, tm.DueAt = []byte(`{"n":1}`), 2, now
	if a := c.Call(t.Context(), Request{Timer: tm, At: now.Add(999 * time.Millisecond)}); a.Err != nil || a.Status != 200 {
		t.Fatalf("%+v", a)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "timerbus/1.2.3", "Webhook-Id": tm.WebhookID(),
		"Webhook-Timestamp": "1896080400", "X-Correlation-Id": tm.UUID.String(), "Accept-Encoding": "",
	} {
		if h := got.Header.Get(name); h != want {
			t.Errorf("%s: %q, want %q", name, h, want)
		}
	}
	if user, password, _ := got.BasicAuth(); user != "user" || password != "secret" {
		t.Errorf("basic auth %q %q", user, password)
	}
	if got.Method != http.MethodPost || got.RequestURI != "/hook?a=b" {
		t.Errorf("%s %s", got.Method, got.RequestURI)
	}
	var d event.Delivery
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	if d.TimerID != "a" || d.Attempt != 3 || string(d.Payload) != `{"n":1}` || d.Generation != "7" {
		t.Errorf("body %s", body)
	}
}

func TestConnectionIsKeptWhenTheBodyWasReadWhole(t *testing.T) {
	c, url, conns := receiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"ok":true}`) })
	for range 3 {
		if a := call(t, c, url); string(a.Body) != `{"ok":true}` || a.Err != nil || a.TooLong {
			t.Fatalf("%+v", a)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestHugeBodyIsNotReadToItsEnd(t *testing.T) {
	c, url, conns := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	for range 2 {
		if a := call(t, c, url); len(a.Body) != MaxBody || !a.TooLong || a.Err != nil {
			t.Fatalf("%d bytes, too long %t, %v", len(a.Body), a.TooLong, a.Err)
		}
	}
	if n := conns.Load(); n != 2 {
		t.Errorf("%d connections, want 2: a connection that was not read to its end must not be reused", n)
	}
}

func TestBodyOfExactlyTheLimitIsWhole(t *testing.T) {
	c, url, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, MaxBody)) })
	if a := call(t, c, url); len(a.Body) != MaxBody || a.TooLong || a.Err != nil {
		t.Fatalf("%d bytes, too long %t, %v", len(a.Body), a.TooLong, a.Err)
	}
}

func TestRedirectIsTheAnswer(t *testing.T) {
	var calls atomic.Int64
	c, url, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	if a := call(t, c, url); a.Status != http.StatusTemporaryRedirect || calls.Load() != 1 {
		t.Fatalf("%+v after %d calls", a, calls.Load())
	}
}

func TestGzipStaysAsItCame(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, `{"ok":false}`)
	z.Close()
	c, url, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(zipped.Bytes())
	})
	a := call(t, c, url)
	if !bytes.Equal(a.Body, zipped.Bytes()) {
		t.Fatalf("body %q", a.Body)
	}
	if v := Classify(aTimer(), a, timer.StatusCodes{}, now, middle); v.Kind != Done {
		t.Errorf("kind %d, want Done for a compressed body", v.Kind)
	}
}

func TestProxyFromTheEnvironmentIsNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	if NewTransport(&HTTP{}).Proxy != nil {
		t.Fatal("a proxy is set")
	}
}

// A configured proxy is used for all callbacks and resolves the names. The policy does not apply to the proxy's
// address, but it does to addresses in URLs. If its user changes, the next callback has the new one.
func TestProxyThatIsConfigured(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer proxy.Close()
	public := must(egress.Parse(""))
	by := must(url.Parse(strings.Replace(proxy.URL, "://", "://us:er@", 1)))
	c := NewHTTPCaller(&HTTP{PerHost: 1, Policy: public, Proxy: func() *url.URL { return by }}, "test")
	defer c.transport.CloseIdleConnections()
	if a := call(t, c, "http://user:secret@inside.test/hook?a=b"); a.Status != 200 || a.Err != nil {
		t.Errorf("%+v", a)
	}
	if a := call(t, c, "https://inside.test/"); a.Err == nil || a.RefusedByPolicy() || strings.Contains(a.Err.Error(), "us:er") {
		t.Errorf("%+v", a)
	}
	if a := call(t, c, "http://127.0.0.1/"); !a.RefusedByPolicy() {
		t.Errorf("an address that is refused: %+v", a)
	}
	other := *by
	other.User = url.UserPassword("other", "")
	by = &other
	if a := call(t, c, "http://inside.test/next"); a.Status != 200 || a.Err != nil {
		t.Errorf("%+v", a)
	}
	want := []string{
		"POST http://inside.test/hook?a=b Basic dXM6ZXI=", "CONNECT inside.test:443 Basic dXM6ZXI=",
		"POST http://inside.test/next Basic b3RoZXI6",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("the proxy received\n%q, want\n%q", asked, want)
	}
}

func TestTimeoutsAndResets(t *testing.T) {
	hang := make(chan struct{})
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		status  int
		want    error // expected in the answer's error; nil: any
	}{
		"no header in time": {
			handler: func(http.ResponseWriter, *http.Request) { <-hang },
			want:    context.DeadlineExceeded,
		},
		"no end of the body in time": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"ok":`)
				_ = http.NewResponseController(w).Flush()
				<-hang
			},
			status: 200, want: context.DeadlineExceeded,
		},
		"reset before the header": {
			handler: func(w http.ResponseWriter, _ *http.Request) { reset(w, "") },
		},
		"reset within the body": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				reset(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
			},
			status: 200,
		},
		"not HTTP": {
			handler: func(w http.ResponseWriter, _ *http.Request) { reset(w, "SSH-2.0-OpenSSH\r\n") },
		},
		"header without end": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				reset(w, "HTTP/1.1 200 OK\r\nX-Long: "+strings.Repeat("x", 2*maxHeader))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			caller, url, _ := receiver(t, c.handler)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			tm := aTimer()
			tm.CallbackURL = url
			a := caller.Call(ctx, Request{Timer: tm, At: now})
			if name[:2] == "no" && name != "not HTTP" {
				hang <- struct{}{}
			}
			if a.Err == nil || a.Status != c.status || c.want != nil && !errors.Is(a.Err, c.want) {
				t.Fatalf("status %d, %v; want %d, %v", a.Status, a.Err, c.status, c.want)
			}
			if v := Classify(tm, a, timer.StatusCodes{}, now, middle); v.Kind != Retry {
				t.Errorf("kind %d, want a retry", v.Kind)
			}
		})
	}
}

// reset writes raw bytes and closes the connection.
func reset(w http.ResponseWriter, raw string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, raw)
	if tcp, ok := conn.(*net.TCPConn); ok && raw == "" {
		_ = tcp.SetLinger(0) // a reset instead of an orderly close
	}
	conn.Close()
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	a := call(t, NewHTTPCaller(&HTTP{}, "test"), url)
	if a.Err == nil || !strings.Contains(a.Err.Error(), "refused") {
		t.Fatalf("%+v", a)
	}
}

func TestTimeoutsOfATransport(t *testing.T) {
	chosen := Timeouts{Dial: 1 * time.Second, TLS: 2 * time.Second, Body: 3 * time.Second, Idle: 6 * time.Second, Ping: 7 * time.Second}
	for name, c := range map[string]struct{ have, want Timeouts }{
		"defaults": {Timeouts{}, Timeouts{Dial: 5 * time.Second, TLS: 5 * time.Second, Body: 10 * time.Second, Idle: 4 * time.Second, Ping: 5 * time.Second}},
		"chosen":   {chosen, chosen},
	} {
		if all := c.have.withDefaults(); all != c.want {
			t.Errorf("%s: %+v, want %+v", name, all, c.want)
		}
		caller := NewHTTPCaller(&HTTP{Timeouts: c.have}, "test")
		tr := caller.transport
		if tr.TLSHandshakeTimeout != c.want.TLS || caller.body != c.want.Body || tr.IdleConnTimeout != c.want.Idle ||
			tr.HTTP2.SendPingTimeout != c.want.Ping || tr.HTTP2.PingTimeout != c.want.Ping {
			t.Errorf("%s: body %v, TLS %v, idle %v, HTTP/2 %+v", name, caller.body, tr.TLSHandshakeTimeout, tr.IdleConnTimeout, *tr.HTTP2)
		}
	}
}

func TestTimeoutsHaveARange(t *testing.T) {
	for _, field := range []func(*Timeouts) *time.Duration{
		func(o *Timeouts) *time.Duration { return &o.Dial }, func(o *Timeouts) *time.Duration { return &o.TLS },
		func(o *Timeouts) *time.Duration { return &o.Body }, func(o *Timeouts) *time.Duration { return &o.Idle },
		func(o *Timeouts) *time.Duration { return &o.Ping },
	} {
		for value, valid := range map[time.Duration]bool{
			0: true, time.Millisecond: true, MaxTimeout: true, -1: false, time.Millisecond - 1: false, MaxTimeout + 1: false,
		} {
			var o Timeouts
			*field(&o) = value
			if err := o.Validate(); (err == nil) != valid {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
}

func TestCloseLeavesNoConnections(t *testing.T) {
	closed := make(chan struct{}, 2)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- struct{}{}
		}
	}
	srv.StartTLS()
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	trust := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	c := NewHTTPCaller(&HTTP{PerHost: 1, Timeouts: Timeouts{Idle: MaxTimeout}}, "test")
	c.transport.TLSClientConfig = trust
	tm, profile := aTimer(), &Profile{TLS: trust}
	tm.CallbackURL = srv.URL
	for _, p := range []*Profile{nil, profile} {
		if a := c.Call(t.Context(), Request{Timer: tm, At: now, Profile: p}); a.Status != 200 {
			t.Fatalf("%+v", a)
		}
	}
	c.Close()
	profile.Close()
	(&Profile{TLS: trust}).Close() // never used
	for range 2 {
		select {
		case <-closed:
		case <-time.After(patience):
			t.Fatal("a connection is left")
		}
	}
}

// TestARequestThatIsNotConfirmedIsNotSent: on new and on idle connections, of all versions of HTTP, with and without a body.
func TestARequestThatIsNotConfirmedIsNotSent(t *testing.T) {
	for _, c := range []struct{ secure, http2, empty bool }{{}, {empty: true}, {secure: true}, {secure: true, http2: true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			var requests, sent atomic.Int64
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
			profile := &Profile{}
			if c.secure {
				ours := newAuthority(t)
				srv.TLS = &tls.Config{Certificates: []tls.Certificate{ours.issue("receiver")}, MinVersion: tls.VersionTLS12}
				srv.EnableHTTP2 = c.http2
				srv.StartTLS()
				profile.TLS = &tls.Config{RootCAs: ours.pool(), MinVersion: tls.VersionTLS12}
			} else {
				srv.Start()
			}
			defer srv.Close()
			caller := NewHTTPCaller(&HTTP{PerHost: 4}, "test")
			defer caller.transport.CloseIdleConnections()
			tm := aTimer()
			tm.CallbackURL = srv.URL
			if c.empty {
				tm.Request, tm.Payload = timer.Request{Method: http.MethodGet}, nil
			}
			call := func(confirmed bool) Answer {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				return caller.Call(ctx, Request{Timer: tm, At: now, Profile: profile, Confirm: func() bool {
					if confirmed {
						sent.Add(1)
					}
					return confirmed
				}})
			}
			for range 20 {
				for _, confirmed := range []bool{false, true, false} {
					if a := call(confirmed); confirmed && a.Status != 200 || !confirmed && !errors.Is(a.Err, ErrNotConfirmed) {
						t.Fatalf("confirmed %v: %+v", confirmed, a)
					}
				}
			}
			if requests.Load() != 20 || sent.Load() != 20 {
				t.Errorf("%d requests, %d confirmed, want 20", requests.Load(), sent.Load())
			}
			if profile.transport != nil {
				profile.transport.CloseIdleConnections()
			}
		})
	}
}
