package access_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/timerbus/timerbus/internal/access"
)

// serve sends a request through the Guard and returns its status.
func serve(t *testing.T, a *access.Authenticator, authorization string) int {
	t.Helper()
	served := a.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	r.Header.Set("Authorization", authorization)
	answer := httptest.NewRecorder()
	served.ServeHTTP(answer, r)
	if challenge := answer.Header().Get("WWW-Authenticate"); (challenge != "") != (answer.Code == http.StatusUnauthorized) {
		t.Errorf("answered %d with the challenge %q", answer.Code, challenge)
	}
	return answer.Code
}

func TestGuardChecksTheToken(t *testing.T) {
	for name, c := range map[string]struct {
		token, header string
		want          int
	}{
		"none required":       {"", "", http.StatusNoContent},
		"none required, sent": {"", "Bearer x", http.StatusNoContent},
		"the token":           {"secret", "Bearer secret", http.StatusNoContent},
		"lower case":          {"secret", "bearer  secret", http.StatusNoContent},
		"no header":           {"secret", "", http.StatusUnauthorized},
		"another token":       {"secret", "Bearer secrets", http.StatusUnauthorized},
		"an empty token":      {"secret", "Bearer ", http.StatusUnauthorized},
		"another scheme":      {"secret", "Basic secret", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			if got := serve(t, access.New(access.Options{Token: access.NewToken(c.token)}), c.header); got != c.want {
				t.Errorf("answered %d, want %d", got, c.want)
			}
		})
	}
}

func TestGuardChecksTheGrants(t *testing.T) {
	for grant, want := range map[string]int{
		"read@*":               http.StatusNoContent,
		"read,write@a,*":       http.StatusNoContent,
		"read@a*":              http.StatusForbidden,
		"write,admin@*":        http.StatusForbidden,
		"read@" + "**":         http.StatusForbidden, // only * means rights beyond namespaces
		"read,write,admin@a-*": http.StatusForbidden,
	} {
		g, err := access.ParseGrant("grant", grant)
		if err != nil {
			t.Fatal(err)
		}
		a := access.New(access.Options{Verify: func(context.Context, string) (access.Caller, error) {
			return access.Caller{Name: "someone", Grants: []access.Grant{g}}, nil
		}})
		if got := serve(t, a, "Bearer a.b.c"); got != want {
			t.Errorf("%s: answered %d, want %d", grant, got, want)
		}
	}
}

func TestGuardReportsAnOutageOfTheVerifier(t *testing.T) {
	a := access.New(access.Options{Token: access.NewToken("secret"), Verify: func(context.Context, string) (access.Caller, error) {
		return access.Caller{}, errors.New("no answer")
	}})
	for header, want := range map[string]int{
		"Bearer a.b.c": http.StatusServiceUnavailable, "Bearer a.b": http.StatusUnauthorized, "Bearer secret": http.StatusNoContent,
	} {
		if got := serve(t, a, header); got != want {
			t.Errorf("%s: answered %d, want %d", header, got, want)
		}
	}
}

func TestCertificatesAreRequiredInAddition(t *testing.T) {
	verified := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Subject: pkix.Name{CommonName: "ops"}}}}
	verified.VerifiedChains = [][]*x509.Certificate{verified.PeerCertificates}
	for name, c := range map[string]struct {
		token, header string
		state         *tls.ConnectionState
		caller        string // empty: denied
	}{
		"a certificate":                  {"", "", verified, "certificate CN=ops"},
		"no TLS":                         {"", "", nil, ""},
		"no certificate":                 {"", "", &tls.ConnectionState{}, ""},
		"both":                           {"secret", "Bearer secret", verified, "token"},
		"a certificate without a token":  {"secret", "", verified, ""},
		"a token without a certificate":  {"secret", "Bearer secret", &tls.ConnectionState{}, ""},
		"a certificate, another token":   {"secret", "Bearer other", verified, ""},
		"a certificate, a useless token": {"", "Bearer other", verified, "certificate CN=ops"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Authorization", c.header)
		r.TLS = c.state
		a := access.New(access.Options{Token: access.NewToken(c.token), Certificates: true})
		caller, err := a.Caller(r)
		var denied *access.DeniedError
		if caller.Name != c.caller || (err == nil) != (c.caller != "") || err != nil && !errors.As(err, &denied) {
			t.Errorf("%s: %+v, %v; want %q", name, caller, err, c.caller)
		}
	}
}

func TestTokenIsReplaced(t *testing.T) {
	token := access.NewToken("first")
	a := access.New(access.Options{Token: token})
	token.Set("second")
	for header, want := range map[string]int{"Bearer first": http.StatusUnauthorized, "Bearer second": http.StatusNoContent} {
		if got := serve(t, a, header); got != want {
			t.Errorf("%s: answered %d, want %d", header, got, want)
		}
	}
}
