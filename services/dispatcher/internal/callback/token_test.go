package callback

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/egress"
)

const (
	clientID     = "client/ü"
	clientSecret = "hunter2:+ä%"
	issued       = `{"access_token":"tok-1","token_type":"bearer","expires_in":3600}`
)

// endpoint is a token endpoint on a real server.
type endpoint struct {
	*httptest.Server

	mu       sync.Mutex
	requests []*http.Request // with parsed forms
	answer   http.HandlerFunc
}

func newEndpoint(t *testing.T, answer http.HandlerFunc) *endpoint {
	t.Helper()
	e := &endpoint{answer: answer}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(e.serve))
	e.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // failed handshakes
	t.Cleanup(func() { e.CloseClientConnections(); e.Close() })
	return e
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	e.mu.Lock()
	e.requests = append(e.requests, r)
	answer := e.answer
	e.mu.Unlock()
	answer(w, r)
}

func (e *endpoint) seen() []*http.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests
}

func answerJSON(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func testCredentials(tokenURL string) Credentials {
	return Credentials{TokenURL: tokenURL, ClientID: clientID, ClientSecret: clientSecret, Scopes: "read write", Audience: "https://api"}
}

// fetcher requests tokens like production.
func fetcher(t *testing.T, tokenURL string, p *Profile, o HTTP) FetchToken {
	t.Helper()
	o.PerHost = 2
	caller := NewHTTPCaller(&o, "1.2.3")
	t.Cleanup(func() {
		caller.Close()
		if p != nil {
			p.Close()
		}
	})
	return caller.TokenFetcher(testCredentials(tokenURL), p)
}

// refuse fetches, and checks the error: it has the text, and no secret.
func refuse(t *testing.T, what string, fetch FetchToken, refused bool, text string) {
	t.Helper()
	token, err := fetch(t.Context())
	failure, ok := errors.AsType[*TokenError](err)
	switch {
	case !ok || token != (Token{}):
		t.Errorf("%s: %v, %v", what, token, err)
	case failure.Refused != refused || !strings.Contains(err.Error(), text):
		t.Errorf("%s: refused is %t: %v; want %t: … %s", what, failure.Refused, err, refused, text)
	}
	for _, secret := range []string{clientSecret, url.QueryEscape(clientSecret), "tok-", "hunter2", basic()[6:]} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error shows %s: %v", what, secret, err)
		}
	}
}

func basic() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(clientID)+":"+url.QueryEscape(clientSecret)))
}

func TestTokensAreRequestedWithClientCredentials(t *testing.T) {
	e := newEndpoint(t, answerJSON(200, issued))
	e.Start()
	fetch := fetcher(t, e.URL+"/token?tenant=a", nil, HTTP{})
	for range 2 {
		token, err := fetch(t.Context())
		if err != nil || token.Value != "tok-1" || token.Lifetime > time.Hour || token.Lifetime < time.Hour-patience {
			t.Fatalf("%q for %v, %v", token.Value, token.Lifetime, err)
		}
	}
	requests := e.seen()
	if len(requests) != 2 {
		t.Fatalf("%d requests for 2 tokens", len(requests))
	}
	for _, r := range requests {
		want := url.Values{"grant_type": {"client_credentials"}, "scope": {"read write"}, "audience": {"https://api"}}
		if r.Method != http.MethodPost || r.RequestURI != "/token?tenant=a" || r.PostForm.Encode() != want.Encode() ||
			r.Header.Get("Authorization") != basic() || r.UserAgent() != "timerbus/1.2.3" || r.Header.Get("Accept") != "application/json" {
			t.Errorf("requested with %s %s, %v, %v", r.Method, r.RequestURI, r.Header, r.PostForm)
		}
	}
}

// TestAnEndpointThatReadsCredentialsInTheBodyOnly gets them there, from the second request on without a first try.
func TestAnEndpointThatReadsCredentialsInTheBodyOnly(t *testing.T) {
	e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.PostForm.Get("client_id") == "":
			answerJSON(400, `{"error":"invalid_request"}`)(w, r)
		case r.PostForm.Get("client_id") != clientID || r.PostForm.Get("client_secret") != clientSecret || r.Header.Get("Authorization") != "":
			answerJSON(401, `{"error":"invalid_client"}`)(w, r)
		default:
			answerJSON(200, issued)(w, r)
		}
	})
	e.Start()
	fetch := fetcher(t, e.URL, nil, HTTP{})
	for i, want := range []int{2, 3, 4} {
		if token, err := fetch(t.Context()); err != nil || token.Value != "tok-1" || len(e.seen()) != want {
			t.Errorf("fetch %d: %q, %v after %d requests, want %d", i+1, token.Value, err, len(e.seen()), want)
		}
	}
	// If the secret then is wrong, it is sent once.
	e.mu.Lock()
	e.answer = answerJSON(401, `{"error":"invalid_client"}`)
	e.mu.Unlock()
	refuse(t, "a wrong secret", fetch, true, "401 Unauthorized: invalid_client")
	if n := len(e.seen()); n != 5 {
		t.Errorf("%d requests, want 5", n)
	}
}

func TestAnswersOfTokenEndpoints(t *testing.T) {
	long := strings.Repeat("x", MaxBody)
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":%q,"error_description":%q}`, r.Header.Get("Authorization")+r.PostForm.Get("client_secret"), clientSecret)
	}
	for what, c := range map[string]struct {
		answer  http.HandlerFunc
		refused bool
		text    string
	}{
		"a wrong secret":           {answerJSON(401, `{"error":"invalid_client"}`), true, "401 Unauthorized: invalid_client"},
		"a wrong scope":            {answerJSON(400, `{"error":"invalid_scope"}`), true, "400 Bad Request: invalid_scope"},
		"an error with 200":        {answerJSON(200, `{"error":"invalid_grant"}`), true, "200 OK: invalid_grant"},
		"an echo":                  {echo, true, "400 Bad Request"},
		"an echo in HTML":          {answerJSON(403, clientSecret), true, "403 Forbidden"},
		"not found":                {answerJSON(404, ""), true, "404 Not Found"},
		"no JSON":                  {answerJSON(200, "<html>"+clientSecret), true, "200 without a token"},
		"no token":                 {answerJSON(200, `{"token_type":"bearer"}`), true, "200 without a token"},
		"another type":             {answerJSON(200, `{"access_token":"tok-1","token_type":"mac"}`), true, "not of the type Bearer"},
		"a header in the token":    {answerJSON(200, `{"access_token":"tok-1\r\nX-A: b"}`), true, "cannot be sent in a header"},
		"a token that is too long": {answerJSON(200, `{"access_token":"`+strings.Repeat("t", MaxToken+1)+`"}`), true, "longer than 8192 bytes"},
		"an answer that is too long": {
			answerJSON(200, `{"access_token":"tok-1","x":"`+long+`"}`), true, "more than 65536 bytes",
		},
		"down":               {answerJSON(503, ""), false, "503 Service Unavailable"},
		"down and talkative": {answerJSON(500, long+long), false, "500 Internal Server Error"},
		"busy":               {answerJSON(429, `{"error":"slow_down"}`), false, "429 Too Many Requests"},
		"for a while":        {answerJSON(400, `{"error":"temporarily_unavailable"}`), false, "temporarily_unavailable"},
		"an incomplete answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"access_token":"tok-1"`)
		}, false, "did not complete its answer"},
		"a closed connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false, "did not answer"},
	} {
		e := newEndpoint(t, c.answer)
		e.Start()
		refuse(t, what, fetcher(t, e.URL+"/token", nil, HTTP{}), c.refused, c.text)
		if n := len(e.seen()); n == 0 {
			t.Errorf("%s: the endpoint was not called", what)
		}
	}
}

func TestRedirectsOfTokenEndpointsAreNotFollowed(t *testing.T) {
	other := newEndpoint(t, answerJSON(200, issued))
	other.Start()
	for _, status := range []int{301, 302, 303, 307, 308} {
		e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, status) })
		e.Start()
		refuse(t, fmt.Sprint(status), fetcher(t, e.URL, nil, HTTP{}), true, "redirects are not followed")
	}
	if n := len(other.seen()); n != 0 {
		t.Errorf("the other endpoint got %d requests", n)
	}
}

func TestASlowTokenEndpointIsNotAvailable(t *testing.T) {
	hold := make(chan struct{})
	e := newEndpoint(t, func(http.ResponseWriter, *http.Request) { <-hold })
	e.Start()
	defer close(hold)
	fetch := fetcher(t, e.URL, nil, HTTP{})
	refuse(t, "slow", func(ctx context.Context) (Token, error) {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		return fetch(ctx)
	}, false, "did not answer in time")
}

func TestTokenEndpointsAreCalledWithTheTLSSettingsOfTheNamespace(t *testing.T) {
	e := newEndpoint(t, answerJSON(200, issued))
	e.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	e.StartTLS()
	refuse(t, "an unknown authority", fetcher(t, e.URL, nil, HTTP{}), false, "certificate")
	roots := x509.NewCertPool()
	roots.AddCert(e.Certificate())
	profile := &Profile{TLS: &tls.Config{RootCAs: roots, Certificates: e.TLS.Certificates, MinVersion: tls.VersionTLS12}}
	token, err := fetcher(t, e.URL, profile, HTTP{})(t.Context())
	if err != nil || token.Value != "tok-1" {
		t.Fatalf("%q, %v", token.Value, err)
	}
	if requests := e.seen(); len(requests) != 1 || len(requests[0].TLS.PeerCertificates) != 1 {
		t.Error("the client certificate was not sent")
	}
}

// TestTokenEndpointsAreWhereCallbacksMayGo: a token URL must not reach an address that a callback URL cannot reach.
func TestTokenEndpointsAreWhereCallbacksMayGo(t *testing.T) {
	e := newEndpoint(t, answerJSON(200, issued))
	e.Start()
	public, err := egress.Parse("")
	if err != nil {
		t.Fatal(err)
	}
	refuse(t, "an address", fetcher(t, e.URL, nil, HTTP{Policy: public}), true, "loopback")
	u, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	refuse(t, "a name", fetcher(t, "http://localhost:"+u.Port(), nil, HTTP{Policy: public}), true, "loopback")
	// A name that only the resolver knows is checked when the connection is made.
	caller := NewHTTPCaller(&HTTP{PerHost: 1}, "")
	caller.transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return public.Guard(&net.Dialer{})(ctx, network, u.Host)
	}
	t.Cleanup(caller.Close)
	refuse(t, "another name", caller.TokenFetcher(testCredentials("http://id.example/token"), nil), true, "loopback")
	if n := len(e.seen()); n != 0 {
		t.Errorf("the endpoint got %d requests", n)
	}
	loopback, err := egress.Parse("loopback")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fetcher(t, e.URL, nil, HTTP{Policy: loopback})(t.Context()); err != nil {
		t.Errorf("an allowed address: %v", err)
	}
}

func TestTokenEndpointsAreCalledThroughTheProxy(t *testing.T) {
	proxy := newEndpoint(t, answerJSON(200, issued))
	proxy.Start()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	token, err := fetcher(t, "http://id.example/token", nil, HTTP{Proxy: func() *url.URL { return u }})(t.Context())
	if requests := proxy.seen(); err != nil || token.Value != "tok-1" || len(requests) != 1 || requests[0].RequestURI != "http://id.example/token" {
		t.Errorf("%q, %v after %d requests", token.Value, err, len(requests))
	}
}

func TestSecretsOfTokensAreNotPrinted(t *testing.T) {
	c := testCredentials("https://id.example/token")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb+" "+verb+" "+verb, c, &c, Token{Value: "tok-1"}); strings.Contains(text, clientSecret) || strings.Contains(text, "tok-1") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}
