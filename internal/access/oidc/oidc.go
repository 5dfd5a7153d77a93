// Package oidc accepts tokens of an identity provider that supports OpenID Connect Discovery: JWTs as bearer tokens of
// the HTTP API. It may import internal/access and pkg/timer.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// requestTimeout bounds each request to the provider.
	requestTimeout = 5 * time.Second
	// retryAfter is the shortest time between two attempts to discover the provider.
	retryAfter = time.Second
)

// DefaultClaim is the default of Config.Claim.
const DefaultClaim = "groups"

// Config selects the tokens that are accepted, and their grants.
type Config struct {
	// Issuer is the provider's URL. Audience must be in the tokens' claim aud.
	Issuer, Audience string
	// Claim is the claim whose values get grants, such as groups, scope or realm_access.roles: an array of texts, or
	// words in one text. Default: DefaultClaim.
	Claim string
	// Grants are items VALUE=GRANT, separated by spaces: a caller whose claim has the value gets the grant, in the form
	// of access.ParseGrant.
	Grants string
	// Now replaces the wall clock in tests.
	Now func() time.Time
}

// verifier verifies tokens.
type verifier struct {
	Config

	grants map[string][]access.Grant
	client *http.Client

	mu       sync.Mutex
	tokens   *oidc.IDTokenVerifier // nil before the provider was discovered
	failed   error                 // the last attempt, at failedAt
	failedAt time.Time
}

// New returns the Verifier of a Config. It sends no request: the first token does.
func New(c Config) (access.Verifier, error) {
	if c.Claim == "" {
		c.Claim = DefaultClaim
	}
	u, err := url.Parse(c.Issuer)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, timer.Invalid("oidc-issuer", c.Issuer, "the URL of an identity provider, such as https://accounts.example.com")
	case c.Audience == "":
		return nil, timer.Invalid("oidc-audience", c.Audience, "the audience that tokens must have, such as timerbus")
	}
	v := &verifier{Config: c, client: &http.Client{Timeout: requestTimeout}}
	if v.grants, err = parseGrants(c.Grants); err != nil {
		return nil, err
	}
	return v.verify, nil
}

func parseGrants(text string) (map[string][]access.Grant, error) {
	const field = "oidc-grants"
	grants := map[string][]access.Grant{}
	for item := range strings.FieldsSeq(text) {
		value, grant, ok := strings.Cut(item, "=")
		if !ok || value == "" {
			return nil, timer.Invalid(field, item, "VALUE=VERBS@NAMESPACES, such as billing-team=read,write@billing-*")
		}
		g, err := access.ParseGrant(field, grant)
		if err != nil {
			return nil, err
		}
		grants[value] = append(grants[value], g)
	}
	if len(grants) == 0 {
		return nil, timer.Invalid(field, text, "one or more of VALUE=VERBS@NAMESPACES: without them, no token has a right")
	}
	return grants, nil
}

// verify implements access.Verifier.
func (v *verifier) verify(ctx context.Context, token string) (access.Caller, error) {
	tokens, err := v.discover(ctx)
	if err != nil {
		return access.Caller{}, fmt.Errorf("identity provider %s: %w", v.Issuer, err)
	}
	var unreachable error
	verified, err := tokens.Verify(context.WithValue(ctx, unreachableKey{}, &unreachable), token)
	switch {
	case unreachable != nil:
		return access.Caller{}, fmt.Errorf("identity provider %s: %w", v.Issuer, unreachable)
	case err != nil:
		return access.Caller{}, &access.DeniedError{Reason: "the token of the identity provider is not accepted: " + err.Error()}
	}
	var claims map[string]any
	if err := verified.Claims(&claims); err != nil {
		return access.Caller{}, &access.DeniedError{Reason: "the token of the identity provider has no readable claims"}
	}
	caller := access.Caller{Name: "user " + verified.Subject}
	for _, value := range valuesOf(claims, v.Claim) {
		caller.Grants = append(caller.Grants, v.grants[value]...)
	}
	return caller, nil
}

// valuesOf returns the texts of a claim. Dots in its name lead into objects.
func valuesOf(claims map[string]any, name string) []string {
	if claim, ok := claims[name]; ok {
		return texts(claim)
	}
	first, rest, ok := strings.Cut(name, ".")
	if inner, is := claims[first].(map[string]any); ok && is {
		return valuesOf(inner, rest)
	}
	return nil
}

func texts(claim any) []string {
	switch claim := claim.(type) {
	case string:
		return strings.Fields(claim)
	case []any:
		var all []string
		for _, element := range claim {
			if s, ok := element.(string); ok {
				all = append(all, s)
			}
		}
		return all
	default:
		return nil
	}
}

// discover returns the verifier of the provider's tokens. It asks the provider at the first call, and again after a
// failure.
func (v *verifier) discover(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tokens != nil {
		return v.tokens, nil
	}
	if v.failed != nil && time.Since(v.failedAt) < retryAfter {
		return nil, v.failed
	}
	// Other callers wait for this request, so it does not end with the first one.
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), v.client)
	provider, err := oidc.NewProvider(ctx, v.Issuer)
	var found struct {
		Keys string `json:"jwks_uri"` //nolint:tagliatelle // OpenID Connect defines it.
	}
	if err == nil {
		err = provider.Claims(&found)
	}
	if err != nil {
		v.failed, v.failedAt = err, time.Now()
		return nil, err
	}
	v.tokens = oidc.NewVerifier(v.Issuer, keySet{oidc.NewRemoteKeySet(ctx, found.Keys)}, &oidc.Config{
		ClientID: v.Audience, Now: v.Now,
		SupportedSigningAlgs: []string{
			oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
		},
	})
	return v.tokens, nil
}

// keySet reports to the context's unreachableKey that the provider's keys could not be fetched: the error of Verify does not
// distinguish that from a wrong signature.
type keySet struct{ oidc.KeySet }

type unreachableKey struct{}

// VerifySignature implements oidc.KeySet.
func (k keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.KeySet.VerifySignature(ctx, token)
	if failed, ok := ctx.Value(unreachableKey{}).(*error); ok && err != nil {
		var refused *url.Error
		if errors.As(err, &refused) || strings.HasPrefix(err.Error(), "fetching keys") {
			*failed = err
		}
	}
	return payload, err
}
