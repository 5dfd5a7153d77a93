package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/access/oidc"
)

// provider is an identity provider on loopback.
type provider struct {
	*testing.T
	*httptest.Server

	mu   sync.Mutex
	down bool
	keys []jose.JSONWebKey
}

func newProvider(t *testing.T) *provider {
	p := &provider{T: t}
	p.rotate("first")
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.answer(w, map[string]any{"issuer": p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL, "token_endpoint": p.URL})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		set := jose.JSONWebKeySet{}
		for _, key := range p.keys {
			set.Keys = append(set.Keys, key.Public())
		}
		p.mu.Unlock()
		p.answer(w, set)
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) answer(w http.ResponseWriter, body any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(body); err != nil {
		p.Error(err)
	}
}

// rotate replaces the keys of the provider.
func (p *provider) rotate(id string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = []jose.JSONWebKey{{Key: key, KeyID: id, Algorithm: "ES256", Use: "sig"}}
}

func (p *provider) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

type claims = map[string]any

// token signs valid claims, changed by others.
func (p *provider) token(changes claims) string {
	p.Helper()
	all := claims{
		"iss": p.URL, "aud": "timerbus", "sub": "ann", "exp": time.Now().Add(time.Hour).Unix(), "groups": []string{"billing"},
	}
	maps.Copy(all, changes)
	return sign(p, p.keys[0], all)
}

func sign(p *provider, key jose.JSONWebKey, all claims) string {
	p.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		p.Fatal(err)
	}
	body, err := json.Marshal(all)
	if err != nil {
		p.Fatal(err)
	}
	signed, err := signer.Sign(body)
	if err != nil {
		p.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		p.Fatal(err)
	}
	return text
}

func (p *provider) verifier(change func(*oidc.Config)) access.Verifier {
	p.Helper()
	c := oidc.Config{Issuer: p.URL, Audience: "timerbus", Grants: "billing=read,write@billing-* billing=read@shared ops=admin@*"}
	if change != nil {
		change(&c)
	}
	v, err := oidc.New(c)
	if err != nil {
		p.Fatal(err)
	}
	return v
}

func TestGrantsOfClaims(t *testing.T) {
	p := newProvider(t)
	for name, c := range map[string]struct {
		claim   string
		changes claims
		want    string
	}{
		"an array":            {"", nil, "read,write@billing-* read@shared"},
		"several values":      {"", claims{"groups": []any{"ops", 7, "billing"}}, "admin@* read,write@billing-* read@shared"},
		"words":               {"scope", claims{"scope": "openid ops"}, "admin@*"},
		"inside an object":    {"realm_access.roles", claims{"realm_access": claims{"roles": []string{"ops"}}}, "admin@*"},
		"a name with dots":    {"https://a.example/roles", claims{"https://a.example/roles": []string{"ops"}}, "admin@*"},
		"an unknown value":    {"", claims{"groups": []string{"guests"}}, ""},
		"no claim":            {"roles", nil, ""},
		"a number":            {"", claims{"groups": 1}, ""},
		"several audiences":   {"", claims{"aud": []string{"other", "timerbus"}, "groups": "ops"}, "admin@*"},
		"an object on a path": {"groups.x", nil, ""},
	} {
		v := p.verifier(func(o *oidc.Config) { o.Claim = c.claim })
		caller, err := v(t.Context(), p.token(c.changes))
		if got := access.Format(caller.Grants); err != nil || got != c.want || caller.Name != "user ann" {
			t.Errorf("%s: %s has %q, %v; want %q", name, caller.Name, got, err, c.want)
		}
	}
}

func TestTokensThatAreNotAccepted(t *testing.T) {
	p := newProvider(t)
	other := newProvider(t)
	valid := p.token(nil)
	head, rest, _ := strings.Cut(valid, ".")
	body, signature, _ := strings.Cut(rest, ".")
	_, otherRest, _ := strings.Cut(p.token(claims{"sub": "eve"}), ".")
	otherBody, _, _ := strings.Cut(otherRest, ".")
	for name, c := range map[string]struct{ token, want string }{
		"expired":            {p.token(claims{"exp": time.Now().Add(-time.Second).Unix()}), "expired"},
		"no expiry":          {p.token(claims{"exp": nil}), "not accepted"},
		"not valid yet":      {p.token(claims{"nbf": time.Now().Add(time.Hour).Unix()}), "nbf"},
		"another audience":   {p.token(claims{"aud": "mail"}), "audience"},
		"no audience":        {p.token(claims{"aud": nil}), "audience"},
		"another issuer":     {p.token(claims{"iss": "https://evil.example"}), "different provider"},
		"another key":        {sign(p, other.keys[0], claims{"iss": p.URL, "aud": "timerbus", "exp": time.Now().Add(time.Hour).Unix()}), "signature"},
		"changed claims":     {head + "." + otherBody + "." + signature, "signature"},
		"no signature":       {head + "." + body + ".", "not accepted"},
		"the algorithm none": {"eyJhbGciOiJub25lIn0." + body + ".", "not accepted"},
		"not a token":        {"a.b.c", "malformed"},
	} {
		caller, err := p.verifier(nil)(t.Context(), c.token)
		var denied *access.DeniedError
		if !errors.As(err, &denied) || !strings.Contains(denied.Reason, c.want) || len(caller.Grants) != 0 {
			t.Errorf("%s: %+v, %v; want a denial with %q", name, caller, err, c.want)
		}
	}
}

func TestProviderRotatesItsKeys(t *testing.T) {
	p := newProvider(t)
	v := p.verifier(nil)
	if _, err := v(t.Context(), p.token(nil)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"second", "third"} {
		p.rotate(id)
		// go-oidc may use the answer of a request that ended just before the rotation.
		for begun := time.Now(); ; {
			_, err := v(t.Context(), p.token(nil))
			if err == nil {
				break
			}
			if time.Since(begun) > 10*time.Second {
				t.Fatalf("key %s: %v", id, err)
			}
		}
	}
}

// A provider that does not answer is no denial: the client may try again.
func TestProviderDoesNotAnswer(t *testing.T) {
	p := newProvider(t)
	v := p.verifier(nil)
	wantOutage := func(when string) {
		t.Helper()
		_, err := v(t.Context(), p.token(nil))
		var denied *access.DeniedError
		// go-oidc may use the answer of a request that ended just before the provider stopped.
		for begun := time.Now(); errors.As(err, &denied) && time.Since(begun) < 10*time.Second; {
			_, err = v(t.Context(), p.token(nil))
		}
		if err == nil || errors.As(err, &denied) || !strings.Contains(err.Error(), p.URL) {
			t.Errorf("%s: %v; want an error that names the provider", when, err)
		}
	}
	p.setDown(true)
	wantOutage("before the discovery")
	p.setDown(false)
	wantOutage("within a second")
	v = p.verifier(nil)
	if _, err := v(t.Context(), p.token(nil)); err != nil {
		t.Fatal(err)
	}
	p.setDown(true)
	if _, err := v(t.Context(), p.token(nil)); err != nil {
		t.Errorf("with known keys: %v", err)
	}
	p.rotate("second")
	wantOutage("with an unknown key")
}

func TestConfigsThatAreNotAccepted(t *testing.T) {
	for want, c := range map[string]oidc.Config{
		`oidc-issuer: "accounts"`: {Issuer: "accounts", Audience: "a", Grants: "a=read@*"},
		"oidc-audience: ":         {Issuer: "https://a", Grants: "a=read@*"},
		`oidc-grants: ""`:         {Issuer: "https://a", Audience: "a"},
		`oidc-grants: "read@*"`:   {Issuer: "https://a", Audience: "a", Grants: "read@*"},
		`oidc-grants.verbs: "x"`:  {Issuer: "https://a", Audience: "a", Grants: "b=x@*"},
	} {
		if _, err := oidc.New(c); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s…", c, err, want)
		}
	}
}
