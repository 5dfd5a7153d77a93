package callback

import (
	"crypto/tls"
	"net/http"
	"sync"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/webhook"
)

// Profile is how the callbacks of one namespace go out. It is not changed once it is in use; nil has nothing
// to say.
type Profile struct {
	// Headers go under the timer's own.
	Headers timer.Headers
	// Secrets sign; without any, callbacks are not signed.
	Secrets []webhook.Secret
	// TLS is in place of the transport's; nil: the transport's.
	TLS *tls.Config

	once      sync.Once
	transport *http.Transport
}

// dress puts the headers of namespace and timer into those of a request, and signs it.
func (p *Profile) dress(h http.Header, r *Request, body []byte) {
	if p != nil {
		for name, value := range p.Headers.All() {
			h[name] = []string{value}
		}
	}
	for name, value := range r.Timer.Headers.All() {
		h[name] = []string{value}
	}
	if p != nil && len(p.Secrets) > 0 {
		h[webhook.HeaderSignature] = []string{webhook.Sign(p.Secrets, r.Timer.WebhookID(), r.At.Time(), body)}
	}
}

// Close is for the profile's own connections what HTTPCaller.Close is for the others; the profile is not used any more
// then. One that was replaced needs none: they go when they are idle.
func (p *Profile) Close() {
	p.once.Do(func() {})
	if p.transport != nil {
		p.transport.CloseIdleConnections()
	}
}

// over returns the transport to go by: the given one, or one like it with the profile's TLS.
func (p *Profile) over(base *http.Transport) *http.Transport {
	if p == nil || p.TLS == nil {
		return base
	}
	p.once.Do(func() {
		p.transport = base.Clone()
		p.transport.TLSClientConfig = p.TLS.Clone() // HTTP/2 adds to it
	})
	return p.transport
}
