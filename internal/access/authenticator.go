package access

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// Challenge is the header WWW-Authenticate of an answer 401.
const Challenge = `Bearer realm="timerbus"`

// DeniedError reports a request whose credential is missing or not accepted. Its text is for the client.
type DeniedError struct{ Reason string }

func (d *DeniedError) Error() string { return d.Reason }

func denied(reason string) error { return &DeniedError{reason} }

// Verifier checks a token of an identity provider, a JWT. It returns a *DeniedError for a token that it does not accept.
type Verifier func(ctx context.Context, token string) (Caller, error)

// Options are the accepted credentials. Without a Token and a Verify no bearer token is required, and API keys are not
// accepted, because no caller could create one.
type Options struct {
	// Token is the token of the service, with all rights; nil: none.
	Token *Token
	// Keys are the accepted API keys; nil: none.
	Keys *Keys
	// Verify accepts tokens of an identity provider; nil: none.
	Verify Verifier
	// Certificates requires a client certificate, which the TLS server has verified, in addition to a bearer token.
	Certificates bool
}

// Authenticator finds the callers of requests. A nil *Authenticator accepts all requests.
type Authenticator struct{ Options }

// New returns an Authenticator. It is nil if no credential is required.
func New(o Options) *Authenticator {
	if o.Token == nil && o.Verify == nil && !o.Certificates {
		return nil
	}
	return &Authenticator{o}
}

// Keys returns the API keys that are accepted, nil if there are none.
func (a *Authenticator) Keys() *Keys {
	if a == nil || !a.bearer() {
		return nil
	}
	return a.Options.Keys
}

// bearer reports whether requests need a bearer token.
func (a *Authenticator) bearer() bool { return a.Token != nil || a.Verify != nil }

// Caller returns the sender of a request. It returns a *DeniedError, or an error of the store or the identity provider,
// which do not answer.
func (a *Authenticator) Caller(r *http.Request) (Caller, error) { return a.caller(r, false) }

// caller is Caller. If stale is set, it accepts an API key as it was last read while the store does not answer.
func (a *Authenticator) caller(r *http.Request, stale bool) (Caller, error) {
	if a == nil {
		return Anyone(), nil
	}
	if a.Certificates && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0) {
		return Caller{}, denied("want a client certificate of an authority that the service trusts")
	}
	if !a.bearer() {
		return Caller{Name: "certificate " + r.TLS.PeerCertificates[0].Subject.String(), Grants: everything()}, nil
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given = strings.TrimSpace(given)
	if !strings.EqualFold(scheme, "Bearer") || given == "" {
		return Caller{}, denied("want the header Authorization: Bearer TOKEN with " + a.accepted())
	}
	if a.Token.is(given) {
		return Caller{Name: "token", Grants: everything()}, nil
	}
	switch {
	case a.Options.Keys != nil && strings.HasPrefix(given, tokenStart):
		return a.Options.Keys.caller(r.Context(), given, stale)
	case a.Verify != nil && strings.Count(given, ".") == 2:
		return a.Verify(r.Context(), given)
	default:
		return Caller{}, denied("the token is not accepted: want " + a.accepted())
	}
}

// accepted lists the accepted credentials.
func (a *Authenticator) accepted() string {
	var all []string
	if a.Token != nil {
		all = append(all, "the token of the service")
	}
	if a.Options.Keys != nil {
		all = append(all, "the token of an API key")
	}
	if a.Verify != nil {
		all = append(all, "a token of the identity provider")
	}
	return strings.Join(all, " or ")
}

// Guard answers requests whose caller may not read all namespaces with 401, 403 or 503. It is for metrics, which are needed
// most while the store does not answer, so it accepts an API key that cannot be read as it was last read.
func (a *Authenticator) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := a.caller(r, true)
		var refused *DeniedError
		switch {
		case errors.As(err, &refused):
			w.Header().Set("WWW-Authenticate", Challenge)
			http.Error(w, refused.Reason, http.StatusUnauthorized)
		case err != nil:
			http.Error(w, "the credential cannot be checked now", http.StatusServiceUnavailable)
		case !caller.MayEverywhere(Read):
			http.Error(w, caller.Name+" may not read all namespaces: it has "+caller.Rights(), http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
