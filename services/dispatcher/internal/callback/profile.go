package callback

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/webhook"
)

// Profile has the callback settings of one namespace. It is not changed once it is in use. A nil Profile is valid and
// has no settings.
type Profile struct {
	// Headers are added to every callback; a header of the timer overrides one of the same name.
	Headers timer.Headers
	// Secrets sign callbacks; if there are none, callbacks are not signed.
	Secrets []webhook.Secret
	// TLS replaces the TLS configuration of the transport; nil keeps it.
	TLS *tls.Config
	// Authorization is the header Authorization of each callback; empty for none.
	Authorization string
	// Tokens, if not nil, has the token that is sent instead.
	Tokens *Tokens

	once      sync.Once
	transport *http.Transport
}

// addHeaders adds the headers of namespace and timer to those of a request, and signs it.
func (p *Profile) addHeaders(h http.Header, r *Request, body []byte) {
	if p != nil {
		for name, value := range p.Headers.All() {
			h[name] = []string{value}
		}
	}
	if r.Authorization != "" {
		h["Authorization"] = []string{r.Authorization}
	}
	for name, value := range r.Timer.Headers.All() {
		h[name] = []string{value}
	}
	if r.Trace.Parent != "" {
		h["Traceparent"] = []string{r.Trace.Parent}
		delete(h, "Tracestate")
		if r.Trace.State != "" {
			h["Tracestate"] = []string{r.Trace.State}
		}
	}
	if p != nil && len(p.Secrets) > 0 {
		h[webhook.HeaderSignature] = []string{webhook.Sign(p.Secrets, r.Timer.WebhookID(), r.At.Time(), body)}
	}
}

// Authenticates reports whether the profile has something for the header Authorization of a timer's callback. A header
// of the timer, and a user in its URL, take precedence.
func (p *Profile) Authenticates(t *timer.Timer) bool {
	if p == nil || p.Authorization == "" && p.Tokens == nil || t.Headers.Get("Authorization") != "" {
		return false
	}
	u, err := url.Parse(t.CallbackURL)
	return err == nil && u.User == nil
}

// Close closes the profile's idle connections, like HTTPCaller.Close. The profile is not used afterwards. A profile
// that was replaced need not be closed: its connections are closed when they have been idle.
func (p *Profile) Close() {
	p.once.Do(func() {})
	if p.transport != nil {
		p.transport.CloseIdleConnections()
	}
}

// transportWith returns base, or a copy of it with the profile's TLS configuration.
func (p *Profile) transportWith(base *http.Transport) *http.Transport {
	if p == nil || p.TLS == nil {
		return base
	}
	p.once.Do(func() {
		p.transport = base.Clone()
		p.transport.TLSClientConfig = p.TLS.Clone() // HTTP/2 changes it
	})
	return p.transport
}
