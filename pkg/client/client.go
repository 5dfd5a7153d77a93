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
)

// Client is a handle on one Timerbus. It is safe for concurrent use.
type Client struct {
	base      string // without a slash at its end
	token     string
	userAgent string
	http      *http.Client
	retry     retry
}

// Option changes a default of New.
type Option func(*Client)

// WithToken presents a bearer token with every call.
func WithToken(token string) Option { return func(c *Client) { c.token = token } }

// WithHTTPClient takes connections, proxies and timeouts from h. The default has a timeout of 30 s for
// each try.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithUserAgent names the caller in the server's logs. The default is "timerbus-go".
func WithUserAgent(name string) Option { return func(c *Client) { c.userAgent = name } }

// WithRetry bounds how often a call is tried (default 4; 1 or less: no repetition). Between tries lie
// random pauses that double from 100 ms and stay below longest (default 5 s). A pause that the server
// asks for is kept if it is not longer than that; else its error is returned.
func WithRetry(tries int, longest time.Duration) Option {
	return func(c *Client) { c.retry.tries, c.retry.longest = tries, longest }
}

// New makes a client of the service at baseURL, such as "http://127.0.0.1:8080". It does not connect.
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

// call posts a request, as often as the retry allows, and reads the answer into answer unless that is
// nil or there is none. It returns the status, which is below 300.
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
		if !again || sleep(ctx, pause) != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
	}
}

// encode leaves characters such as < as they are: payloads travel as they were given.
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
	// What is left unread would cost the connection.
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxErrorBody))
	return response.StatusCode, err
}
