package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Client is a client of one Timerbus. It is safe for concurrent use.
type Client struct {
	base      string // without a trailing slash
	token     string
	userAgent string
	http      *http.Client
	retry     retry
}

// Option changes a default of New.
type Option func(*Client)

// WithToken sends a bearer token with every call.
func WithToken(token string) Option { return func(c *Client) { c.token = token } }

// WithHTTPClient sets the HTTP client, which determines connections, proxies and timeouts. The default client has a
// timeout of 30 s per try.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithUserAgent sets the User-Agent, which names the caller in the server's logs. The default is "timerbus-go".
func WithUserAgent(name string) Option { return func(c *Client) { c.userAgent = name } }

// WithRetry sets how often a call is tried at most (default 4; 1 or less: no retries). The client sleeps between tries,
// for a random time that doubles from 100 ms and is at most longest (default 5 s). If the server sends Retry-After, the
// client sleeps that long if it is at most longest; otherwise it returns the server's error.
func WithRetry(tries int, longest time.Duration) Option {
	return func(c *Client) { c.retry.tries, c.retry.longest = tries, longest }
}

// New returns a client of the service at baseURL, such as "http://127.0.0.1:8080". It does not connect.
func New(baseURL string, options ...Option) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("base URL %q is not accepted: want http:// or https://, a host, and at most a path", baseURL)
	}
	c := &Client{
		base: strings.TrimRight(baseURL, "/"), userAgent: "timerbus-go",
		http: &http.Client{Timeout: 30 * time.Second}, retry: defaultRetry(),
	}
	for _, option := range options {
		option(c)
	}
	return c, nil
}

// call posts a request, with retries, and decodes the answer into answer, unless answer is nil or the response has no
// body. It returns the status, which is below 300.
func (c *Client) call(ctx context.Context, path string, repeat repeatable, request, answer any) (int, error) {
	body, err := encode(request)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	for try := 1; ; try++ {
		status, err := c.try(ctx, path, body, answer)
		if err == nil {
			return status, nil
		}
		pause, again := c.retry.pause(try, repeat, err)
		if !again || !timer.Sleep(ctx, pause) {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
	}
}

// encode does not escape characters such as <, so that payloads are sent unchanged.
func encode(request any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	err := enc.Encode(request)
	return body.Bytes(), err
}

func (c *Client) try(ctx context.Context, path string, body []byte, answer any) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", c.userAgent)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return 0, errorOf(response)
	}
	if answer != nil && response.StatusCode != http.StatusNoContent {
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
			return 0, fmt.Errorf("read the answer (%s): %w", response.Status, err)
		}
	}
	// Read the rest of the body, so that the connection can be reused.
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxErrorBody))
	return response.StatusCode, err
}
