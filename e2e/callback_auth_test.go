package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/record"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/pkg/client"
)

// provider is an identity provider with TLS, and an API that accepts its tokens.
type provider struct {
	token, api *httptest.Server
	ca         string // PEM
	requests   record.Record[int]
	accepted   record.Record[string] // timers by id
	refused    record.Record[string]

	mu      sync.Mutex
	secrets map[string]bool
	tokens  map[string]string // the secret that each was issued for
	issued  []string
	status  int // of the token endpoint; 0: 200
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{secrets: map[string]bool{}, tokens: map[string]string{}}
	p.token = httptest.NewTLSServer(http.HandlerFunc(p.issue))
	p.api = httptest.NewServer(http.HandlerFunc(p.accept))
	p.ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.token.Certificate().Raw}))
	t.Cleanup(func() { p.token.Close(); p.api.Close() })
	return p
}

func (p *provider) issue(w http.ResponseWriter, r *http.Request) {
	status, body := p.answer(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
	p.requests.Add(status)
}

func (p *provider) answer(r *http.Request) (status int, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, escaped, _ := r.BasicAuth()
	secret, err := url.QueryUnescape(escaped)
	switch {
	case p.status != 0:
		return p.status, ""
	case err != nil || id != "timerbus" || !p.secrets[secret] || r.PostFormValue("scope") != "orders.write":
		return http.StatusUnauthorized, fmt.Sprintf(`{"error":"invalid_client","error_description":%q}`, secret)
	}
	token := random(32)
	p.issued = append(p.issued, token)
	p.tokens[token] = secret
	return http.StatusOK, fmt.Sprintf(`{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, token)
}

func (p *provider) accept(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	ok = ok && p.secrets[p.tokens[token]]
	p.mu.Unlock()
	var body struct {
		TimerID string `json:"timerId"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	if body.TimerID == "" {
		body.TimerID = r.Header.Get("Timerbus-Timer-Id")
	}
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		p.refused.Add(body.TimerID)
		return
	}
	p.accepted.Add(body.TimerID)
}

func (p *provider) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func isID(id string) func(string) bool { return func(got string) bool { return got == id } }

func anyOf[T any](T) bool { return true }

// TestCallbackAuth uses OAuth 2.0 on the real service: one token for many callbacks, a secret that is rotated while timers
// fire, kill -9, a wrong secret, an outage of the provider, and other keys of the service. At the end no
// secret is in an answer, an event, the log or the files.
func TestCallbackAuth(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	data := t.TempDir()
	key, nextKey, first, second, wrong := random(32), random(32), random(32), random(32), random(32)
	p.set(func() { p.secrets[first] = true })
	w := startSealed(t, data, key)
	results := []*record.Record[tap.Message]{w.listen(t, tap.Results)}
	var answers []string
	var logs strings.Builder
	secretFile := filepath.Join(t.TempDir(), "secret")
	setSecret := func(secret string) {
		t.Helper()
		if err := os.WriteFile(secretFile, []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, w.cli(t, 0, "namespace", "update", "default", "--callback-auth", "oauth2", "--callback-token-url", p.token.URL+"/token",
			"--callback-client-id", "timerbus", "--callback-scopes", "orders.write", "--callback-auth-secret", "@"+secretFile, "--json"))
	}
	toAPI := func(r *client.CreateTimerRequest) { r.CallbackURL, r.RetryPolicy = p.api.URL, quick(20) }
	wantRequests := func(what string, want int) {
		t.Helper()
		if got := len(p.requests.All()); got != want {
			t.Errorf("%s: %d requests of tokens, want %d: %v", what, got, want, p.requests.All())
		}
	}
	restart := func(keys string) {
		t.Helper()
		logs.WriteString(w.Log())
		w = startSealed(t, data, keys)
	}
	w.settings(t, fmt.Sprintf(`{"tls":{"ca":%q}}`, p.ca))
	setSecret(first)

	// Many timers that are due together, of both kinds of requests, and a timer that has the header itself.
	const many = 40
	for i := range many {
		w.create(t, fmt.Sprint("many", i), 0, toAPI, func(r *client.CreateTimerRequest) {
			if i%2 == 0 {
				r.Request = client.TimerRequest{Method: http.MethodPut, Body: new("body")}
			}
		})
	}
	for i := range many {
		if got := w.reaches(t, fmt.Sprint("many", i), isStatus("done")); got.Attempts != 1 {
			t.Errorf("many%d: %d attempts", i, got.Attempts)
		}
	}
	wantRequests("many timers", 1)
	w.create(t, "own", 0, toAPI, func(r *client.CreateTimerRequest) {
		r.Headers, r.RetryPolicy = client.Headers{"Authorization": "Bearer mine"}, quick(1)
	})
	if got := w.reaches(t, "own", isStatus("dead")); got.LastStatusCode != http.StatusUnauthorized {
		t.Errorf("with its own header: %d", got.LastStatusCode)
	}
	wantRequests("a header of the timer", 1)

	// The secret is rotated while timers fire, and the old one is revoked with its tokens.
	const rotating = 60
	for i := range rotating {
		w.create(t, fmt.Sprint("rotating", i), time.Duration(i)*50*time.Millisecond, toAPI)
		if i == rotating/3 {
			p.set(func() { p.secrets[second] = true })
			setSecret(second)
			p.set(func() { delete(p.secrets, first) })
		}
	}
	for i := range rotating {
		w.reaches(t, fmt.Sprint("rotating", i), isStatus("done"))
	}
	if n := len(p.requests.All()); n > 4 {
		t.Errorf("%d requests of tokens after a rotation: %v", n, p.requests.All())
	}

	// kill -9 while timers fire: the next process gets its own token.
	const killed = 40
	for i := range killed {
		w.create(t, fmt.Sprint("killed", i), time.Duration(i)*20*time.Millisecond, toAPI)
	}
	if _, err := p.accepted.Await(within(t, patience), 1, isID("killed0")); err != nil {
		t.Fatal(err)
	}
	if err := w.Kill(); err != nil {
		t.Fatal(err)
	}
	restart(key)
	results = append(results, w.listen(t, tap.Results))
	for i := range killed {
		w.reaches(t, fmt.Sprint("killed", i), isStatus("done"))
	}

	// A wrong secret uses attempts, and its reason is shown.
	setSecret(wrong)
	w.create(t, "wrong", 0, toAPI, func(r *client.CreateTimerRequest) { r.RetryPolicy = quick(2) })
	host := strings.TrimPrefix(p.token.URL, "https://")
	dead := w.reaches(t, "wrong", isStatus("dead"))
	if want := "not called: token of the callback: " + host + " answered 401 Unauthorized: invalid_client"; dead.LastError != want || dead.Attempts != 2 {
		t.Errorf("after %d attempts: %s; want %s", dead.Attempts, dead.LastError, want)
	}
	if n := len(p.accepted.All()); n == 0 || len(calledBy(p, "wrong")) != 0 {
		t.Error("the receiver of a callback without a token was called")
	}

	// An outage of the provider uses no attempts, even if the policy allows only one.
	p.set(func() { p.status = http.StatusServiceUnavailable })
	before := len(p.requests.All())
	setSecret(second)
	w.create(t, "outage", 0, toAPI, func(r *client.CreateTimerRequest) { r.RetryPolicy = quick(1) })
	if _, err := p.requests.Await(within(t, patience), before+1, anyOf); err != nil {
		t.Fatal(err)
	}
	p.set(func() { p.status = 0 })
	if got := w.reaches(t, "outage", isStatus("done")); got.Attempts != 1 {
		t.Errorf("after an outage: %d attempts", got.Attempts)
	}

	// Other keys of the service.
	for _, keys := range []string{nextKey + "," + key, nextKey} {
		if _, err := w.Stop(within(t, patience)); err != nil {
			t.Fatal(err)
		}
		restart(keys)
		answers = append(answers, w.cli(t, 0, "namespace", "update", "default", "--reseal", "--json"))
		id := fmt.Sprint("keys", len(keys))
		w.create(t, id, 0, toAPI)
		w.reaches(t, id, isStatus("done"))
	}
	for _, path := range []string{"namespaces/get", "namespaces/list", "timers/list", "timers/history"} {
		answers = append(answers, w.post(t, path, map[string]string{
			"namespaces/get": `{"name":"NS"}`, "namespaces/list": `{}`, "timers/list": `{"namespace":"NS"}`,
			"timers/history": `{"namespace":"NS","id":"wrong"}`,
		}[path]).body)
	}
	for _, m := range slices.Concat(results[0].All(), results[1].All()) {
		text, err := json.Marshal(m.Event)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, string(text))
	}
	metrics := w.do(t, http.MethodGet, "/metrics", "")
	if !strings.Contains(metrics.body, `timerbus_dispatcher_callback_tokens_total{result="issued"} 1`+"\n") {
		t.Error("the metrics do not count the token")
	}
	answers = append(answers, metrics.body)
	if _, err := w.Stop(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	logs.WriteString(w.Log())
	if !strings.Contains(logs.String(), "request of a token for callbacks failed") {
		t.Error("the log does not contain the reason")
	}
	hidden := map[string]string{"the first secret": first, "the second secret": second, "the wrong secret": wrong}
	for i, token := range p.issued {
		hidden[fmt.Sprint("token ", i)] = token
	}
	for what, secret := range map[string]string{"first": first, "second": second, "wrong": wrong} {
		hidden["the header with the "+what+" secret"] = base64.StdEncoding.EncodeToString([]byte("timerbus:" + url.QueryEscape(secret)))
	}
	for what, text := range hidden {
		for _, answer := range append(answers, logs.String()) {
			if strings.Contains(answer, text) || strings.Contains(answer, url.QueryEscape(text)) {
				t.Errorf("%s is in %.2000s", what, answer)
			}
		}
	}
	notInFiles(t, data, hidden)
}

func calledBy(p *provider, id string) []string {
	var calls []string
	for _, got := range append(p.accepted.All(), p.refused.All()...) {
		if got == id {
			calls = append(calls, got)
		}
	}
	return calls
}

// TestFixedCallbackAuth: user name and password, and a fixed token.
func TestFixedCallbackAuth(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	key, password, token := random(32), random(32), random(32)
	w := startSealed(t, data, key)
	var answers []string
	delivered := func(id string) http.Header {
		t.Helper()
		w.create(t, id, 0)
		return w.calls(t, id, 1)[0].Header
	}
	answers = append(answers, w.settings(t, fmt.Sprintf(`{"callbackAuth":{"type":"basic","username":"u","password":%q}}`, password)).body)
	if got, want := delivered("basic").Get("Authorization"), "Basic "+base64.StdEncoding.EncodeToString([]byte("u:"+password)); got != want {
		t.Errorf("sent %q", got)
	}
	answers = append(answers, w.settings(t, fmt.Sprintf(`{"callbackAuth":{"type":"bearer","token":%q}}`, token)).body)
	if got := delivered("bearer").Get("Authorization"); got != "Bearer "+token {
		t.Errorf("sent %q", got)
	}
	for _, body := range []string{
		`{"callbackAuth":{"type":"bearer","token":"` + token + ` "}}`, `{"callbackAuth":{"type":"` + token + `"`, `{"callbackAuth":"` + token + `"}`,
		`{"callbackAuth":{"type":"basic","username":"` + token + `:","password":"` + password + `"}}`,
		`{"callbackAuth":{"type":"oauth2","tokenUrl":"https://u:` + token + `@id","clientId":"c","clientSecret":"` + password + `"}}`,
	} {
		r := w.post(t, "namespaces/update", `{"name":"NS","settings":`+body+`}`)
		if r.status != http.StatusBadRequest {
			t.Errorf("%s: answered %d", body, r.status)
		}
		answers = append(answers, r.body)
	}
	answers = append(answers, w.settings(t, `{"callbackAuth":null}`).body)
	if got := delivered("none").Get("Authorization"); got != "" {
		t.Errorf("sent %q", got)
	}
	if _, err := w.Stop(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	hidden := map[string]string{
		"the password": password, "the token": token, "the header": base64.StdEncoding.EncodeToString([]byte("u:" + password)),
	}
	for what, text := range hidden {
		for _, answer := range append(answers, w.Log()) {
			if strings.Contains(answer, text) {
				t.Errorf("%s is in %.2000s", what, answer)
			}
		}
	}
	notInFiles(t, data, hidden)
}
