package callback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/webhook"
)

const (
	dialTimeout = 5 * time.Second
	tlsTimeout  = 5 * time.Second
	// idleTimeout is shorter than what common servers keep idle connections for (5 s and up): a
	// request sent on a connection that its server is just closing is a failed attempt.
	idleTimeout = 4 * time.Second
	// maxHeader bounds an answer's header, in bytes.
	maxHeader = 64 << 10
)

// HTTPCaller is the Caller of production.
type HTTPCaller struct {
	transport *http.Transport
	agent     string
}

// NewHTTPCaller builds one. The user agent is timerbus/version. Guards are dialers inside the transport: a
// namespace with certificates of its own goes by a copy of it.
func NewHTTPCaller(transport *http.Transport, version string) *HTTPCaller {
	return &HTTPCaller{transport: transport, agent: "timerbus/" + version}
}

// NewTransport builds the transport that production uses, for that many callbacks at once.
//
// There are separate deadlines for dialling and TLS; header and body share the callback timeout, which
// is ctx's, because a receiver may take all of it to think. No proxy comes from the environment: where
// callbacks go is the timer's choice alone. Bodies are not decompressed, so that 64 KiB are 64 KiB.
func NewTransport(concurrency int) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:               nil,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: tlsTimeout,
		// The default of 2 would dial anew for nearly every callback to one receiver.
		MaxIdleConnsPerHost:    concurrency,
		MaxIdleConns:           4 * concurrency,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
	}
}

// Call implements Caller. It goes to the RoundTripper itself: http.Client would add redirects and
// cookies, both unwanted.
func (c *HTTPCaller) Call(ctx context.Context, r Request) Answer {
	req, err := c.request(ctx, &r)
	if err != nil {
		return Answer{Err: err}
	}
	resp, err := r.Profile.over(c.transport).RoundTrip(req)
	if err != nil {
		return Answer{Err: deadlineFirst(ctx, err)}
	}
	defer resp.Body.Close()
	a := Answer{Status: resp.StatusCode, RetryAfter: resp.Header.Get("Retry-After")}
	// One byte more tells a body of exactly MaxBody from a longer one. The connection is used again
	// only if this reached the body's end; what goes on longer is not worth draining.
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if len(a.Body) > MaxBody {
		a.Body, a.TooLong = a.Body[:MaxBody], true
	}
	if err != nil {
		a.Err = fmt.Errorf("read the answer: %w", deadlineFirst(ctx, err))
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
		return nil, fmt.Errorf("build the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.CallbackURL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
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
