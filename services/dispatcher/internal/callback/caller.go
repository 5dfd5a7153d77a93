package callback

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/webhook"
)

const (
	// maxConnections is how many new connections one callback may use. The transport repeats a request by itself if the
	// receiver closes the connection; a receiver that closes every connection would cause handshakes until the timeout.
	maxConnections = 4
	// maxHeader bounds an answer's header, in bytes.
	maxHeader = 64 << 10
)

var errNotBuilt = errors.New("build the request")

// HTTPCaller is the Caller used in production.
type HTTPCaller struct {
	transport *http.Transport
	policy    *egress.Policy
	body      time.Duration // Timeouts.Body
	agent     string
}

// NewHTTPCaller returns an HTTPCaller. Its user agent is timerbus/version. A namespace with TLS settings uses a copy of
// the transport.
func NewHTTPCaller(o *HTTP, version string) *HTTPCaller {
	return &HTTPCaller{transport: NewTransport(o), policy: o.Policy, body: o.Timeouts.withDefaults().Body, agent: "timerbus/" + version}
}

// HTTP configures how callbacks leave the process.
type HTTP struct {
	// PerHost is the maximum number of idle connections, to one host and in total.
	PerHost int
	// Policy limits the addresses of callbacks; nil allows all.
	Policy *egress.Policy
	// Proxy returns the proxy for callbacks; nil for none. Its user and password may change: each new connection to the proxy
	// uses the present ones. Earlier connections with HTTP/1.1 get no more callbacks; those with HTTP/2 stay in use.
	Proxy func() *url.URL
	// Timeouts limit the parts of a callback.
	Timeouts Timeouts
}

// Timeouts limit the parts of a callback. The callback timeout of the timer limits the whole call in addition. Each field
// is 1 ms to MaxTimeout; zero means the default in its comment.
type Timeouts struct {
	// Dial limits how long a TCP connection takes, including the DNS query: 5 s.
	Dial time.Duration
	// TLS limits a TLS handshake: 5 s.
	TLS time.Duration
	// Body limits how long the body takes once the header has arrived: 10 s. A receiver that has begun its answer has no
	// more work to do.
	Body time.Duration
	// Idle is how long an unused connection is kept: 4 s. It should be shorter than the idle timeout of common servers (5 s
	// and longer): a request sent on a connection that the server is just closing is a failed attempt.
	Idle time.Duration
	// Ping is the silence after which an HTTP/2 connection is pinged, and the limit for the answer to the ping: 5 s.
	Ping time.Duration
}

// MaxTimeout is the maximum of each field of Timeouts.
const MaxTimeout = timer.MaxCallbackTimeout

// Validate returns an error if a timeout is out of range.
func (t Timeouts) Validate() error {
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"Dial", t.Dial}, {"TLS", t.TLS}, {"Body", t.Body}, {"Idle", t.Idle}, {"Ping", t.Ping}} {
		if f.value != 0 && (f.value < time.Millisecond || f.value > MaxTimeout) {
			return fmt.Errorf("callback timeout %s: %v is not between 1ms and %v", f.name, f.value, MaxTimeout)
		}
	}
	return nil
}

func (t Timeouts) withDefaults() Timeouts {
	t.Dial = cmp.Or(t.Dial, 5*time.Second)
	t.TLS = cmp.Or(t.TLS, 5*time.Second)
	t.Body = cmp.Or(t.Body, 10*time.Second)
	t.Idle = cmp.Or(t.Idle, 4*time.Second)
	t.Ping = cmp.Or(t.Ping, 5*time.Second)
	return t
}

// NewTransport returns the transport that production uses.
//
// There are separate timeouts for dialling, for TLS, and, from the header on, for the body. The header is bounded by
// ctx's deadline only, which is the callback timeout and bounds the whole call: a receiver may use all of it. No proxy
// is taken from the environment: the timer and the operator decide where callbacks go. Bodies are not decompressed, so
// that 64 KiB received are 64 KiB read.
func NewTransport(o *HTTP) *http.Transport {
	timeouts := o.Timeouts.withDefaults()
	dialer := &net.Dialer{Timeout: timeouts.Dial, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy:               nil,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: timeouts.TLS,
		// With the default of 2, nearly every callback to one receiver would need a new connection.
		MaxIdleConnsPerHost:    o.PerHost,
		MaxIdleConns:           o.PerHost,
		IdleConnTimeout:        timeouts.Idle,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: timeouts.Ping, PingTimeout: timeouts.Ping},
	}
	switch {
	case o.Proxy != nil:
		// The proxy resolves the names, so only it can apply a policy to addresses. It may have any address itself.
		t.Proxy = func(*http.Request) (*url.URL, error) { return o.Proxy(), nil }
	case o.Policy != nil:
		t.DialContext = o.Policy.Guard(dialer)
	}
	return t
}

// Close closes the idle connections. Connections in use are closed when their calls end.
func (c *HTTPCaller) Close() { c.transport.CloseIdleConnections() }

// Call implements Caller. It uses the RoundTripper directly, because http.Client would follow redirects and keep
// cookies.
func (c *HTTPCaller) Call(ctx context.Context, r Request) Answer {
	total := ctx
	ctx, cancel := context.WithCancel(total)
	defer cancel()
	req, err := c.request(ctx, &r)
	if err != nil {
		return Answer{Err: err}
	}
	if c.policy != nil {
		if err := c.policy.CheckHost(req.URL.Hostname()); err != nil {
			return Answer{Err: err}
		}
	}
	var greeted, refused atomic.Bool
	var fresh atomic.Int32
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		greeted.Store(req.URL.Scheme == "https")
		if r.Confirm != nil && !r.Confirm() {
			refused.Store(true)
			cancel()
			sendNothing(got.Conn)
			return
		}
		if !got.Reused && fresh.Add(1) > maxConnections {
			cancel()
		}
	}}))
	resp, err := r.Profile.transportWith(c.transport).RoundTrip(req)
	if err != nil && refused.Load() {
		return Answer{Err: ErrNotConfirmed}
	}
	if err != nil {
		if fresh.Load() > maxConnections && total.Err() == nil {
			err = fmt.Errorf("no answer on %d new connections", maxConnections)
		}
		return Answer{Err: deadlineFirst(total, err), sawCertificate: greeted.Load()}
	}
	defer resp.Body.Close()
	defer time.AfterFunc(c.body, cancel).Stop() //nolint:forbidigo // a deadline of a socket runs in real time.
	a := Answer{Status: resp.StatusCode, RetryAfter: resp.Header.Get("Retry-After")}
	// One more byte distinguishes a body of exactly MaxBody from a longer one. The connection can be reused only if the
	// whole body was read; a longer body is not worth reading for that.
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if len(a.Body) > MaxBody {
		a.Body, a.TooLong = a.Body[:MaxBody], true
	}
	switch {
	case err == nil:
	case total.Err() == nil && ctx.Err() != nil:
		a.Err = fmt.Errorf("read the answer: body incomplete %v after its header", c.body)
	default:
		a.Err = fmt.Errorf("read the answer: %w", deadlineFirst(total, err))
	}
	return a
}

// sendNothing makes sure that a connection does not send the request whose context was canceled. HTTP/2 looks at the context before it
// sends, but HTTP/1 does not.
func sendNothing(c net.Conn) {
	if secure, ok := c.(*tls.Conn); ok && secure.ConnectionState().NegotiatedProtocol == "h2" {
		return // it has other requests
	}
	_ = c.Close()
}

// deadlineFirst adds ctx's error if it ended the call, because the error of the transport depends on the state of the
// call.
func deadlineFirst(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

func (c *HTTPCaller) request(ctx context.Context, r *Request) (*http.Request, error) {
	t := r.Timer
	delivery := event.DeliveryOf(t)
	method, body, contentType := t.Request.Method, t.Payload, t.Request.ContentType
	if !t.Request.Raw() {
		var err error
		if body, err = delivery.Body(); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotBuilt, err)
		}
		method, contentType = http.MethodPost, "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, method, t.CallbackURL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotBuilt, err)
	}
	req.Header = http.Header{
		"User-Agent":            {c.agent},
		webhook.HeaderID:        {t.WebhookID()},
		webhook.HeaderTimestamp: {webhook.Timestamp(r.At.Time())},
		"X-Correlation-Id":      {t.Correlation()},
	}
	if contentType != "" {
		req.Header["Content-Type"] = []string{contentType}
	}
	if t.Request.Raw() {
		delivery.EachHeader(func(name, value string) { req.Header[name] = []string{value} })
	}
	if user := req.URL.User; user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	r.Profile.addHeaders(req.Header, r, body)
	return req, nil
}
