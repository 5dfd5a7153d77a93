package callback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/pkg/egress"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/webhook"
)

const (
	dialTimeout = 5 * time.Second
	tlsTimeout  = 5 * time.Second
	// bodyTimeout is for the body once the header is there: who has begun to answer has done thinking.
	bodyTimeout = 10 * time.Second
	// idleTimeout is shorter than what common servers keep idle connections for (5 s and up): a
	// request sent on a connection that its server is just closing is a failed attempt.
	idleTimeout = 4 * time.Second
	// pingTimeout is after what silence of an HTTP/2 connection it is asked whether it is still there, and how long it
	// then has to say so.
	pingTimeout = 5 * time.Second
	// maxConnections is on how many new connections one callback may go out. The transport changes to another by
	// itself where one has just been given up; a receiver that gives up every one would keep it busy with handshakes
	// until the timeout.
	maxConnections = 4
	// maxHeader bounds an answer's header, in bytes.
	maxHeader = 64 << 10
)

var errNotBuilt = errors.New("build the request")

// HTTPCaller is the Caller of production.
type HTTPCaller struct {
	transport *http.Transport
	policy    *egress.Policy
	agent     string
}

// NewHTTPCaller builds one. The user agent is timerbus/version. A namespace with certificates of its own
// goes by a copy of the transport.
func NewHTTPCaller(o *HTTP, version string) *HTTPCaller {
	return &HTTPCaller{transport: NewTransport(o), policy: o.Policy, agent: "timerbus/" + version}
}

// HTTP says how callbacks leave the process.
type HTTP struct {
	// PerHost is how many idle connections are kept, to one host and in all.
	PerHost int
	// Policy says where they may go; nil: everywhere.
	Policy *egress.Policy
	// Proxy is what they go by; nil: by none.
	Proxy *url.URL
}

// NewTransport builds the transport that production uses.
//
// There are separate deadlines for dialling, TLS and, from the header on, the body. The header's is the
// callback timeout, ctx's, which bounds everything: a receiver may take all of it to think. No proxy comes
// from the environment: where callbacks go is the timer's choice and the operator's. Bodies are not
// decompressed, so that 64 KiB are 64 KiB.
func NewTransport(o *HTTP) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy:               nil,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: tlsTimeout,
		// The default of 2 would dial anew for nearly every callback to one receiver.
		MaxIdleConnsPerHost:    o.PerHost,
		MaxIdleConns:           o.PerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingTimeout, PingTimeout: pingTimeout},
	}
	switch {
	case o.Proxy != nil:
		// The proxy resolves the names, so it is who can judge what they mean. It may stand anywhere.
		t.Proxy = http.ProxyURL(o.Proxy)
	case o.Policy != nil:
		t.DialContext = o.Policy.Guard(dialer)
	}
	return t
}

// Close closes the connections that nobody uses, and those in use when they are done.
func (c *HTTPCaller) Close() { c.transport.CloseIdleConnections() }

// Call implements Caller. It goes to the RoundTripper itself: http.Client would add redirects and
// cookies, both unwanted.
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
	var greeted atomic.Bool
	var fresh atomic.Int32
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		greeted.Store(req.URL.Scheme == "https")
		if !got.Reused && fresh.Add(1) > maxConnections {
			cancel()
		}
	}}))
	resp, err := r.Profile.over(c.transport).RoundTrip(req)
	if err != nil {
		if fresh.Load() > maxConnections && total.Err() == nil {
			err = fmt.Errorf("no answer on any of %d new connections", maxConnections)
		}
		return Answer{Err: deadlineFirst(total, err), greeted: greeted.Load()}
	}
	defer resp.Body.Close()
	defer time.AfterFunc(bodyTimeout, cancel).Stop() //nolint:forbidigo // a deadline of a socket, which real time decides.
	a := Answer{Status: resp.StatusCode, RetryAfter: resp.Header.Get("Retry-After")}
	// One byte more tells a body of exactly MaxBody from a longer one. The connection is used again
	// only if this reached the body's end; what goes on longer is not worth draining.
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if len(a.Body) > MaxBody {
		a.Body, a.TooLong = a.Body[:MaxBody], true
	}
	switch {
	case err == nil:
	case total.Err() == nil && ctx.Err() != nil:
		a.Err = fmt.Errorf("read the answer: its body was not there %v after its header", bodyTimeout)
	default:
		a.Err = fmt.Errorf("read the answer: %w", deadlineFirst(total, err))
	}
	return a
}

// deadlineFirst names the deadline where that is what ended the call; what the transport says then
// depends on what it was doing.
func deadlineFirst(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

func (c *HTTPCaller) request(ctx context.Context, r *Request) (*http.Request, error) {
	t := r.Timer
	delivery := event.DeliveryOf(t)
	body, err := delivery.Body()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotBuilt, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.CallbackURL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotBuilt, err)
	}
	req.Header = http.Header{
		"Content-Type":          {"application/json"},
		"User-Agent":            {c.agent},
		webhook.HeaderID:        {t.WebhookID()},
		webhook.HeaderTimestamp: {webhook.Timestamp(r.At.Time())},
		"X-Correlation-Id":      {t.Correlation()},
	}
	if user := req.URL.User; user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	r.Profile.dress(req.Header, r, body)
	return req, nil
}
