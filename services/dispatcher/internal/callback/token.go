package callback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/timerbus/timerbus/internal/egress"
)

// Credentials are those of a client at a token endpoint (RFC 6749, section 4.4).
type Credentials struct {
	TokenURL, ClientID, ClientSecret string
	// Scopes are separated by single spaces. Scopes and Audience are optional.
	Scopes, Audience string
}

// Format omits the secret, so that printing credentials does not reveal it.
func (c Credentials) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "client %q of %s", c.ClientID, c.TokenURL)
}

// Token is an answer of a token endpoint.
type Token struct {
	Value string
	// Lifetime begins when the token was requested; 0 if the answer does not contain it.
	Lifetime time.Duration
}

// Format omits the value.
func (t Token) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "token for %v", t.Lifetime) }

// FetchToken requests a token. The error is a *TokenError. Calls are serialised.
type FetchToken func(ctx context.Context) (Token, error)

// TokenClient is implemented by Callers that can request tokens.
type TokenClient interface {
	// TokenFetcher returns the function that requests tokens for the credentials, with the TLS configuration of a
	// profile, which may be nil.
	TokenFetcher(c Credentials, p *Profile) FetchToken
}

// TokenError is why there is no token. It never contains a part of the answer other than its status and a known code.
type TokenError struct {
	// Refused: the token endpoint or the egress policy refused the request, and refuses repetitions until a setting
	// changes. If it is false, the token endpoint was not available.
	Refused bool
	Reason  string
}

func (e *TokenError) Error() string { return "token of the callback: " + e.Reason }

// MaxToken bounds a token, in bytes. Many servers accept no longer header.
const MaxToken = 8192

// tokenEndpoint requests tokens for one client.
type tokenEndpoint struct {
	caller      *HTTPCaller
	profile     *Profile
	credentials Credentials
	host        string
	// style is how the endpoint accepts the credentials, once it has issued a token.
	style oauth2.AuthStyle
}

// TokenFetcher implements TokenClient.
func (c *HTTPCaller) TokenFetcher(credentials Credentials, p *Profile) FetchToken {
	e := &tokenEndpoint{caller: c, profile: p, credentials: credentials, host: "the token endpoint"}
	if u, err := url.Parse(credentials.TokenURL); err == nil {
		e.host = u.Host
	}
	return e.fetch
}

// fetch sends the credentials in a header, as all servers must accept. Some accept them only in the body, so it then tries
// that, until it knows which way the endpoint accepts.
func (e *tokenEndpoint) fetch(ctx context.Context) (Token, error) {
	if e.style != oauth2.AuthStyleAutoDetect {
		token, _, err := e.try(ctx, e.style)
		return token, err
	}
	token, refused, err := e.try(ctx, oauth2.AuthStyleInHeader)
	if err == nil {
		e.style = oauth2.AuthStyleInHeader
		return token, nil
	}
	if !refused.credentials() {
		return token, err
	}
	token, again, other := e.try(ctx, oauth2.AuthStyleInParams)
	switch {
	case other == nil:
		e.style = oauth2.AuthStyleInParams
		return token, nil
	case again.code == invalidClient:
		return Token{}, other // the endpoint has read the credentials of the body only
	default:
		return Token{}, err
	}
}

// refusal is the answer of a token endpoint that issued no token.
type refusal struct {
	status int
	code   string
}

// credentials reports whether the endpoint may have refused the credentials or the way in which they were sent.
func (r refusal) credentials() bool {
	return r.status == http.StatusBadRequest || r.status == http.StatusUnauthorized
}

const invalidClient = "invalid_client"

// errorCodes are the codes that reasons may contain (RFC 6749, sections 4.1.2.1 and 5.2; RFC 8707). The text of another
// code may be anything, a part of the request included.
var errorCodes = []string{
	invalidClient, "invalid_request", "invalid_grant", "invalid_scope", "invalid_target", "unauthorized_client",
	"unsupported_grant_type", "access_denied", "server_error", "temporarily_unavailable",
}

func (e *tokenEndpoint) try(ctx context.Context, style oauth2.AuthStyle) (Token, refusal, error) {
	c := clientcredentials.Config{
		ClientID: e.credentials.ClientID, ClientSecret: e.credentials.ClientSecret, TokenURL: e.credentials.TokenURL,
		Scopes: strings.Fields(e.credentials.Scopes), AuthStyle: style,
	}
	if e.credentials.Audience != "" {
		c.EndpointParams = url.Values{"audience": {e.credentials.Audience}}
	}
	x := &tokenExchange{base: e.profile.transportWith(e.caller.transport), policy: e.caller.policy, agent: e.caller.agent}
	client := &http.Client{
		Transport:     x,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	token, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		r := refusal{status: x.status}
		if retrieved, ok := errors.AsType[*oauth2.RetrieveError](err); ok && slices.Contains(errorCodes, retrieved.ErrorCode) {
			r.code = retrieved.ErrorCode
		}
		return Token{}, r, e.classify(ctx, err, x, r)
	}
	if !strings.EqualFold(token.Type(), "Bearer") {
		return Token{}, refusal{}, e.refused("answered with a token that is not of the type Bearer")
	}
	if len(token.AccessToken) > MaxToken || strings.ContainsFunc(token.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		reason := fmt.Sprintf("answered with a token that is longer than %d bytes or cannot be sent in a header", MaxToken)
		return Token{}, refusal{}, e.refused(reason)
	}
	got := Token{Value: token.AccessToken}
	if !token.Expiry.IsZero() {
		got.Lifetime = max(time.Until(token.Expiry), time.Nanosecond) //nolint:forbidigo // the library sets Expiry by time.Now, monotonic
	}
	return got, refusal{}, nil
}

func (e *tokenEndpoint) refused(reason string) error {
	return &TokenError{Refused: true, Reason: truncate(e.host+" "+reason, maxReason)}
}

func (e *tokenEndpoint) unavailable(reason string) error {
	return &TokenError{Reason: truncate(e.host+" "+reason, maxReason)}
}

// classify distinguishes an endpoint that is not available from one that refuses the request.
func (e *tokenEndpoint) classify(ctx context.Context, err error, x *tokenExchange, r refusal) error {
	said := strings.TrimSpace(fmt.Sprintf("answered %d %s", r.status, http.StatusText(r.status)))
	if r.code != "" {
		said += ": " + r.code
	}
	switch {
	case errors.Is(err, egress.ErrRefused):
		return e.refused("is not called: " + innermost(err).Error())
	case r.status == 0 && ctx.Err() != nil:
		return e.unavailable("did not answer in time")
	case r.status == 0:
		return e.unavailable("did not answer: " + innermost(err).Error())
	case r.status >= 500, r.status == http.StatusRequestTimeout, r.status == http.StatusTooEarly, r.status == http.StatusTooManyRequests,
		r.code == "server_error", r.code == "temporarily_unavailable":
		return e.unavailable(said)
	case errors.Is(x.body, errTokenTooLong):
		return e.refused(fmt.Sprintf("answered with more than %d bytes", MaxBody))
	case x.body != nil:
		return e.unavailable("did not complete its answer")
	case r.status >= 300 && r.status <= 399:
		return e.refused(said + ": redirects are not followed")
	case r.status >= 400 || r.code != "":
		return e.refused(said)
	default:
		return e.refused(fmt.Sprintf("answered %d without a token", r.status))
	}
}

// innermost removes the URL of a request from an error.
func innermost(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

var errTokenTooLong = errors.New("the answer is too long")

// tokenExchange sends one request, and records what the errors of the library do not contain.
type tokenExchange struct {
	base   http.RoundTripper
	policy *egress.Policy
	agent  string

	status int
	body   error // why the body could not be read
}

// RoundTrip implements http.RoundTripper.
func (x *tokenExchange) RoundTrip(req *http.Request) (*http.Response, error) {
	if x.policy != nil {
		if err := x.policy.CheckHost(req.URL.Hostname()); err != nil {
			return nil, err
		}
	}
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", x.agent)
	req.Header.Set("Accept", "application/json")
	resp, err := x.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.status = resp.StatusCode
	resp.Body = &tokenBody{ReadCloser: resp.Body, exchange: x, left: MaxBody}
	return resp, nil
}

// tokenBody fails if the body is longer than MaxBody.
type tokenBody struct {
	io.ReadCloser

	exchange *tokenExchange
	left     int
}

func (b *tokenBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		n, err = 0, errTokenTooLong
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.exchange.body = err
	}
	return n, err
}
