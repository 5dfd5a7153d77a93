package callback

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/webhook"
)

func secret(t *testing.T, text string) webhook.Secret {
	t.Helper()
	s, err := webhook.ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCallbacksAreSigned(t *testing.T) {
	var got *http.Request
	var body []byte
	c, url, _ := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	})
	today, before := secret(t, "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="), secret(t, "whsec_yMnKy8zNzs/Q0dLT1NXW19jZ2tvc3d7f")
	tm := aTimer()
	tm.CallbackURL, tm.Payload = url, []byte(`{"n":"<ä>"}`)
	at := now.Add(1999 * time.Millisecond)
	for _, secrets := range [][]webhook.Secret{{today}, {today, before}, nil} {
		if a := c.Call(t.Context(), Request{Timer: tm, At: at, Profile: &Profile{Secrets: secrets}}); a.Status != 200 {
			t.Fatalf("%+v", a)
		}
		want := ""
		if len(secrets) > 0 {
			want = webhook.Sign(secrets, tm.WebhookID(), at.Time(), body)
		}
		if h := got.Header.Get("Webhook-Signature"); h != want || strings.Count(h, "v1,") != len(secrets) {
			t.Errorf("with %d secrets it is signed %q, want %q", len(secrets), h, want)
		}
		if got.Header.Get("Webhook-Timestamp") != "1896080401" || got.Header.Get("Webhook-Id") != tm.WebhookID() {
			t.Errorf("signed is another id or time: %v", got.Header)
		}
	}
}

func TestHeadersOfTimerAndNamespace(t *testing.T) {
	var got http.Header
	c, url, _ := receiver(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	tm := aTimer()
	tm.CallbackURL = strings.Replace(url, "://", "://user:password@", 1)
	tm.Headers = "X-Both: timer\nX-Mine: a, b\n"
	p := &Profile{Headers: "Authorization: Bearer x\nUser-Agent: ours/1\nX-Both: namespace\nX-Theirs: c\n"}
	if a := c.Call(t.Context(), Request{Timer: tm, At: now, Profile: p}); a.Status != 200 {
		t.Fatalf("%+v", a)
	}
	for name, want := range map[string]string{
		"X-Both": "timer", "X-Mine": "a, b", "X-Theirs": "c", "User-Agent": "ours/1", "Authorization": "Bearer x",
		"Content-Type": "application/json", "Webhook-Id": tm.WebhookID(),
	} {
		if values := got.Values(name); len(values) != 1 || values[0] != want {
			t.Errorf("%s: %q, want %q", name, values, want)
		}
	}
	tm.CallbackURL = url
	if a := c.Call(t.Context(), Request{Timer: tm, At: now}); a.Status != 200 || got.Get("X-Mine") != "a, b" || got.Get("X-Theirs") != "" {
		t.Errorf("without a profile: %+v, %v", a, got)
	}
}

// The trace of an attempt replaces that of the timer's headers, also its state.
func TestTraceOfARequest(t *testing.T) {
	var got http.Header
	c, url, _ := receiver(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	tm := aTimer()
	tm.CallbackURL = url
	tm.Headers = "Traceparent: of the create\nTracestate: of=create\n"
	for _, trace := range []event.Trace{{Parent: "of the create", State: "of=create"}, {Parent: "new", State: "new=1"}, {Parent: "new"}} {
		r := Request{Timer: tm, At: now, Trace: trace}
		if trace.Parent == "of the create" {
			r.Trace = event.Trace{}
		}
		if a := c.Call(t.Context(), r); a.Status != 200 || got.Get("Traceparent") != trace.Parent || got.Get("Tracestate") != trace.State {
			t.Errorf("%+v: %+v, %v", trace, a, got)
		}
	}
}

func TestANamespaceListsFinalStatuses(t *testing.T) {
	final, err := timer.ParseStatusCodes("404 429")
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int]Kind{404: Dead, 429: Dead, 400: Retry, 409: Retry, 410: Dead, 200: Done, 500: Retry} {
		if v := Classify(aTimer(), Answer{Status: status}, final, now, middle); v.Kind != want {
			t.Errorf("%d is %v, want %v", status, v.Kind, want)
		}
	}
	v := Classify(aTimer(), Answer{Status: 409, RetryAfter: "600"}, final, now, middle)
	if v.NextAt != now.Add(10*time.Minute) || !strings.Contains(v.Reason, "409") {
		t.Errorf("409 with Retry-After: %+v", v)
	}
	last := aTimer()
	last.Attempts = timer.Attempt(last.Retry.MaxAttempts - 1)
	if v := Classify(last, Answer{Status: 409}, final, now, middle); v.Kind != Exhausted {
		t.Errorf("the last attempt: %+v", v)
	}
}

// authority signs certificates for a test.
type authority struct {
	t           *testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, key: must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key))
	a.certificate = must(x509.ParseCertificate(der))
	return a
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

func (a *authority) issue(name string) tls.Certificate {
	a.t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der := must(x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestCertificatesOfTheNamespace(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) { testCertificates(t, http2) })
	}
}

func testCertificates(t *testing.T, http2 bool) {
	t.Helper()
	ours, others := newAuthority(t), newAuthority(t)
	var subject string
	var major int
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		subject, major = r.TLS.PeerCertificates[0].Subject.CommonName, r.ProtoMajor
	}))
	srv.TLS = &tls.Config{
		Certificates: []tls.Certificate{ours.issue("receiver")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.pool(),
		MinVersion: tls.VersionTLS12,
	}
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // refused handshakes are expected
	srv.EnableHTTP2 = http2
	srv.StartTLS()
	defer srv.Close()
	c := NewHTTPCaller(&HTTP{PerHost: 4}, "1.2.3")
	defer c.transport.CloseIdleConnections()

	with := func(roots *x509.CertPool, certificates ...tls.Certificate) *Profile {
		return &Profile{TLS: &tls.Config{RootCAs: roots, Certificates: certificates, MinVersion: tls.VersionTLS12}}
	}
	tm := aTimer()
	tm.CallbackURL = srv.URL
	// The base transport would accept the receiver, too. A connection made under one profile must not be used for
	// another.
	c.transport.TLSClientConfig = &tls.Config{RootCAs: ours.pool(), MinVersion: tls.VersionTLS12}
	good := with(ours.pool(), ours.issue("timerbus"))
	for range 2 {
		if a := c.Call(t.Context(), Request{Timer: tm, At: now, Profile: good}); a.Status != 200 || subject != "timerbus" {
			t.Fatalf("%+v, as %q", a, subject)
		}
	}
	if (major == 2) != http2 {
		t.Errorf("it was HTTP/%d", major)
	}
	if a := c.Call(t.Context(), Request{Timer: tm, At: now, Profile: with(ours.pool(), ours.issue("other"))}); a.Status != 200 || subject != "other" {
		t.Errorf("another profile: %+v, as %q", a, subject)
	}
	if one := good.transportWith(c.transport); one != good.transport || one == c.transport {
		t.Error("want one transport per profile")
	}
	defer good.transport.CloseIdleConnections()
	for what, p := range map[string]*Profile{
		"no profile": nil, "no certificate": with(ours.pool()), "another's certificate": with(ours.pool(), others.issue("x")),
		"another's roots": with(others.pool(), ours.issue("timerbus")),
	} {
		a := c.Call(t.Context(), Request{Timer: tm, At: now, Profile: p})
		if a.Status != 0 || a.Err == nil {
			t.Errorf("%s: %+v", what, a)
		}
		if v := Classify(tm, a, timer.StatusCodes{}, now, middle); v.Kind != Retry {
			t.Errorf("%s: %+v", what, v)
		}
		if a.Silent() {
			t.Errorf("%s: what is between one namespace and the host counts as the host's silence: %v", what, a.Err)
		}
	}
}
