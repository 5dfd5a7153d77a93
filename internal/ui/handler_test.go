package ui_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/ui"
)

// serve returns the answers of a UI in front of an API that answers with the path that it gets.
func serve(t *testing.T, o ui.Options) func(method, path string, header ...string) *http.Response {
	t.Helper()
	if o.Path == "" {
		o.Path = "/ui/"
	}
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "API "+r.URL.Path) })
	h, err := ui.New(o, api)
	if err != nil {
		t.Fatal(err)
	}
	return func(method, path string, header ...string) *http.Response {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFilesAreServedAndOtherPathsAreTheAPIs(t *testing.T) {
	get := serve(t, ui.Options{})
	for path, contentType := range map[string]string{
		"/ui/": "text/html; charset=utf-8", "/ui/index.html": "text/html; charset=utf-8", "/ui/app.js": "text/javascript; charset=utf-8",
		"/ui/app.css": "text/css; charset=utf-8", "/ui/icon.svg": "image/svg+xml", "/ui/licenses.txt": "text/plain; charset=utf-8",
	} {
		r := get(http.MethodGet, path)
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != contentType || body(t, r) == "" {
			t.Errorf("%s: %d, %s", path, r.StatusCode, r.Header.Get("Content-Type"))
		}
	}
	for path, status := range map[string]int{
		"/ui/absent.js": http.StatusNotFound, "/ui/dist/app.js": http.StatusNotFound, "/ui/../handler.go": http.StatusNotFound, "/ui/%2e%2e/doc.go": http.StatusNotFound,
	} {
		if r := get(http.MethodGet, path); r.StatusCode != status {
			t.Errorf("%s: %d, want %d", path, r.StatusCode, status)
		}
	}
	for _, path := range []string{"/", "/api/v1/timers/get", "/healthz", "/uix", "/uix/app.js"} {
		if got := body(t, get(http.MethodGet, path)); got != "API "+path {
			t.Errorf("%s: %q, want the API's answer", path, got)
		}
	}
	if r := get(http.MethodPost, "/ui/"); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /ui/: %d, Allow %q", r.StatusCode, r.Header.Get("Allow"))
	}
	r := get(http.MethodGet, "/ui")
	if r.StatusCode != http.StatusPermanentRedirect || r.Header.Get("Location") != "ui/" {
		t.Errorf("/ui: %d to %q, want 308 to the relative ui/", r.StatusCode, r.Header.Get("Location"))
	}
}

// TestEveryAnswerForbidsForeignScriptsAndFrames: errors and the redirect, too.
func TestEveryAnswerForbidsForeignScriptsAndFrames(t *testing.T) {
	get := serve(t, ui.Options{})
	for path, status := range map[string]int{
		"/ui/": http.StatusOK, "/ui/app.js": http.StatusOK, "/ui/app.css": http.StatusOK, "/ui/absent": http.StatusNotFound,
		"/ui": http.StatusPermanentRedirect,
	} {
		answer := get(http.MethodGet, path)
		h := answer.Header
		if answer.StatusCode != status {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, status)
		}
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", path, name, h.Get(name), want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
			"form-action 'none'", "require-trusted-types-for 'script'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy has no %s: %s", path, want, policy)
			}
		}
		for _, never := range []string{"unsafe", "http:", "https:", "data:", "*"} {
			if strings.Contains(policy, never) {
				t.Errorf("%s: the policy contains %s: %s", path, never, policy)
			}
		}
	}
}

// TestThePageHasNoInlineScript: the policy would stop it. It loads nothing from other hosts.
func TestThePageHasNoInlineScript(t *testing.T) {
	get := serve(t, ui.Options{})
	page := body(t, get(http.MethodGet, "/ui/"))
	for what, pattern := range map[string]string{
		"an inline script": `<script[^>]*>[^<]`, "an inline style": `<style|style=`, "a handler": `\son[a-z]+=`,
		"an absolute address": `(?:src|href)="(?:[a-z]+:|/)`, "a placeholder": `\{\{`,
	} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page has %s: %s", what, found)
		}
	}
}

func TestSettingsAreInThePage(t *testing.T) {
	get := serve(t, ui.Options{ReadOnly: true, Version: `v1"><script>`})
	page := body(t, get(http.MethodGet, "/ui/"))
	for _, want := range []string{`data-read-only="true"`, `data-hide-payloads="false"`, `content="v1&#34;&gt;&lt;script&gt;"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// TestThePolicyAllowsRequestsToTheIssuer: only to its origin, and only if users can sign in there.
func TestThePolicyAllowsRequestsToTheIssuer(t *testing.T) {
	signIn := ui.SignIn{Issuer: "https://login.example.com:8443/tenant/v2.0", Audience: "timerbus", ClientID: `ui"><script>`, Scopes: "openid email"}
	for clientID, want := range map[string]string{signIn.ClientID: "connect-src 'self' https://login.example.com:8443;", "": "connect-src 'self';"} {
		s := signIn
		s.ClientID = clientID
		get := serve(t, ui.Options{SignIn: s})
		for _, path := range []string{"/ui/", "/ui/absent", "/ui"} {
			if policy := get(http.MethodGet, path).Header.Get("Content-Security-Policy"); !strings.Contains(policy, want) {
				t.Errorf("%s of %q: %s, want %s", path, clientID, policy, want)
			}
		}
		page := body(t, get(http.MethodGet, "/ui/"))
		if strings.Contains(page, "login.example.com") != (clientID != "") || strings.Contains(page, "<script>") {
			t.Errorf("the page of %q: %s", clientID, page)
		}
	}
}

func TestCheckSignIn(t *testing.T) {
	for name, c := range map[string]struct {
		signIn ui.SignIn
		want   string // empty: accepted
	}{
		"none":            {ui.SignIn{Issuer: "x"}, ""},
		"usual":           {ui.SignIn{ClientID: "ui", Issuer: "https://login.example.com", Scopes: "openid"}, ""},
		"an address":      {ui.SignIn{ClientID: "ui", Issuer: "http://[::1]:8080/realms/a", Scopes: "email openid"}, ""},
		"no issuer":       {ui.SignIn{ClientID: "ui", Scopes: "openid"}, "oidc-issuer"},
		"no scope openid": {ui.SignIn{ClientID: "ui", Issuer: "https://login.example.com", Scopes: "email"}, "ui-oidc-scopes"},
		"another policy":  {ui.SignIn{ClientID: "ui", Issuer: "https://a.example;img-src,*", Scopes: "openid"}, "oidc-issuer"},
		"another scheme":  {ui.SignIn{ClientID: "ui", Issuer: "ftp://a.example", Scopes: "openid"}, "oidc-issuer"},
		"no host":         {ui.SignIn{ClientID: "ui", Issuer: "https:///a", Scopes: "openid"}, "oidc-issuer"},
		"credentials":     {ui.SignIn{ClientID: "ui", Issuer: "https://*.example", Scopes: "openid"}, "oidc-issuer"},
	} {
		err := c.signIn.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestUnchangedFilesAreNotSentAgain(t *testing.T) {
	get := serve(t, ui.Options{})
	for _, coding := range []string{"", "gzip"} {
		first := get(http.MethodGet, "/ui/app.js", "Accept-Encoding", coding)
		tag := first.Header.Get("ETag")
		if tag == "" || first.Header.Get("Cache-Control") != "no-cache" || first.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: ETag %q, Cache-Control %q, Vary %q", coding, tag, first.Header.Get("Cache-Control"), first.Header.Get("Vary"))
		}
		if again := get(http.MethodGet, "/ui/app.js", "Accept-Encoding", coding, "If-None-Match", tag); again.StatusCode != http.StatusNotModified {
			t.Errorf("%q: %d for a file that the browser has", coding, again.StatusCode)
		}
	}
	// Pages with other settings are other files.
	readOnly := serve(t, ui.Options{ReadOnly: true})
	if get(http.MethodGet, "/ui/").Header.Get("ETag") == readOnly(http.MethodGet, "/ui/").Header.Get("ETag") {
		t.Error("a page with other settings has the same ETag")
	}
}

func TestFilesAreCompressedIfTheBrowserAcceptsIt(t *testing.T) {
	get := serve(t, ui.Options{})
	plain := body(t, get(http.MethodGet, "/ui/app.js"))
	for accepted, compressed := range map[string]bool{"gzip": true, "br, GZIP;q=0.5": true, "br": false, "gzip;q=0": false, "": false} {
		r := get(http.MethodGet, "/ui/app.js", "Accept-Encoding", accepted)
		text := body(t, r)
		if (r.Header.Get("Content-Encoding") == "gzip") != compressed {
			t.Errorf("%q: Content-Encoding %q", accepted, r.Header.Get("Content-Encoding"))
			continue
		}
		if compressed {
			z, err := gzip.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if _, err := io.Copy(&out, z); err != nil {
				t.Fatal(err)
			}
			text = out.String()
		}
		if text != plain {
			t.Errorf("%q: other content", accepted)
		}
	}
}

// TestBundleSize: all files together, as browsers get them.
func TestBundleSize(t *testing.T) {
	const most = 60 << 10
	get := serve(t, ui.Options{})
	size := 0
	for _, name := range []string{"", "app.js", "app.css", "icon.svg"} {
		size += len(body(t, get(http.MethodGet, "/ui/"+name, "Accept-Encoding", "gzip")))
	}
	if size > most {
		t.Errorf("the UI has %d bytes compressed, want at most %d", size, most)
	}
	t.Logf("%d bytes compressed", size)
}

func TestTheAPIIsServedBelowTheBase(t *testing.T) {
	get := serve(t, ui.Options{Path: "/ops/timers/ui/"})
	for path, want := range map[string]string{
		"/ops/timers/api/v1/timers/get": "API /api/v1/timers/get", "/api/v1/timers/get": "API /api/v1/timers/get", "/ops/timers/readyz": "API /readyz",
		"/ops/api/v1/timers/get": "API /ops/api/v1/timers/get", "/ui/": "API /ui/",
	} {
		if got := body(t, get(http.MethodGet, path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if r := get(http.MethodGet, "/ops/timers/ui/app.js"); r.StatusCode != http.StatusOK {
		t.Errorf("the UI below its base: %d", r.StatusCode)
	}
	if r := get(http.MethodGet, "/ops/timers/ui"); r.Header.Get("Location") != "ui/" {
		t.Errorf("redirected to %q", r.Header.Get("Location"))
	}
}

// TestForeignHosts: a web page whose name resolves to this machine gets no UI.
func TestForeignHosts(t *testing.T) {
	get := serve(t, ui.Options{CheckHost: func(host string) error {
		if host != "example.com" { // the host of httptest
			return errors.New("another host")
		}
		return nil
	}})
	if r := get(http.MethodGet, "http://rebound.example/ui/"); r.StatusCode != http.StatusForbidden {
		t.Errorf("another host: %d", r.StatusCode)
	}
	if r := get(http.MethodGet, "/ui/"); r.StatusCode != http.StatusOK {
		t.Errorf("its own host: %d", r.StatusCode)
	}
}

func TestCheckPath(t *testing.T) {
	for path, ok := range map[string]bool{
		"/ui/": true, "/timers/ui/": true, "/a.b/c_d-e/": true,
		"": false, "/": false, "ui": false, "/ui": false, "ui/": false, "//": false, "/../ui/": false, "/ui//": false, "/u i/": false, "/ui/?": false,
		"/timers/api/": false, "/timers/healthz/": false, "/timers/api/ui/": true,
		"/api/": false, "/api/ui/": false, "/metrics/": false, "/readyz/ui/": false, "/.hidden/": false, "/apis/ui/": true,
	} {
		if err := ui.CheckPath(path); (err == nil) != ok {
			t.Errorf("CheckPath(%q) = %v", path, err)
		}
	}
}
