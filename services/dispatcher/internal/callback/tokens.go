package callback

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// tokenMargin is how long before its end a token is replaced, at most; of short lifetimes it is a quarter.
	tokenMargin = 30 * time.Second
	// tokenLifetime is that of tokens whose answer does not contain it.
	tokenLifetime = 5 * time.Minute
	// tokenMinUse bounds the requests if tokens have a lifetime of nearly 0.
	tokenMinUse = time.Second
	// tokenMinAge is the age from which a 401 of a receiver replaces a token. A younger one is not at fault, and a
	// receiver that answers 401 to everything must not cause a request for each callback.
	tokenMinAge = 10 * time.Second
	// tokenFirstPause and tokenMaxPause are the pauses after the first failed request and after many: identity providers
	// lock clients that repeat wrong credentials.
	tokenFirstPause = time.Second
	tokenMaxPause   = 30 * time.Second
)

// Tokens has the present token of one client, and requests the next one when it is needed. It is safe for concurrent use,
// and makes one request at a time.
type Tokens struct {
	fetch   FetchToken
	timeout time.Duration
	elapsed func() time.Duration
	observe func(err error)

	requests singleflight.Group

	mu             sync.Mutex
	value          string
	since          time.Duration // by elapsed
	until, end     time.Duration // when to replace the token, and when it is no longer valid
	failure        error
	pause, retryAt time.Duration
}

// NewTokens returns Tokens without a token. timeout bounds each request. elapsed is a monotonic clock. observe is called
// with the result of each request.
func NewTokens(fetch FetchToken, timeout time.Duration, elapsed func() time.Duration, observe func(err error)) *Tokens {
	return &Tokens{fetch: fetch, timeout: timeout, elapsed: elapsed, observe: observe}
}

// Get returns a token. It requests a new one shortly before the present one expires, and keeps the present one until then
// if that fails. refused is the token that a receiver did not accept, or empty. If Get
// returns refused again, there is no better token. The error is a *TokenError; while requests fail, most calls return the
// error of the last request.
func (t *Tokens) Get(ctx context.Context, refused string) (string, error) {
	if r, ok := t.known(refused); ok {
		return r.value, r.err
	}
	// The function's error is part of its value.
	r, _, _ := t.requests.Do("", func() (any, error) {
		if r, ok := t.known(refused); ok {
			return r, nil // another request has ended since
		}
		return t.request(ctx, refused), nil
	})
	result, _ := r.(tokenResult) // the function above returns this type only
	if own, ok := t.known(refused); ok {
		result = own // another caller's request may have failed for a token that this caller can still use
	}
	return result.value, result.err
}

// Valid reports whether a token that Get returned can still be sent. It is false after the end of the token, and if another has
// replaced it.
func (t *Tokens) Valid(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return token == t.value && t.elapsed() < max(t.end, t.until)
}

// tokenResult is a token, or why there is none.
type tokenResult struct {
	value string
	err   error
}

// known returns the present token, or the error of the last request; ok is false if a request is needed.
func (t *Tokens) known(refused string) (r tokenResult, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.elapsed()
	switch {
	case t.value != "" && now < t.until && (t.value != refused || now < t.since+tokenMinAge):
		return tokenResult{value: t.value}, true
	case t.failure != nil && now < t.retryAt:
		return t.afterFailure(now, refused), true
	default:
		return tokenResult{}, false
	}
}

// afterFailure returns the present token while it is valid, otherwise the error of the last request.
func (t *Tokens) afterFailure(now time.Duration, refused string) tokenResult {
	if t.value != "" && t.value != refused && now < t.end {
		return tokenResult{value: t.value}
	}
	return tokenResult{err: t.failure}
}

func (t *Tokens) request(ctx context.Context, refused string) tokenResult {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	began := t.elapsed()
	token, err := t.fetch(ctx)
	t.observe(err)
	return t.record(began, token, err, refused)
}

func (t *Tokens) record(began time.Duration, token Token, err error, refused string) tokenResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.elapsed()
	if err != nil {
		t.pause = min(max(2*t.pause, tokenFirstPause), tokenMaxPause)
		t.failure, t.retryAt = err, now+t.pause
		return t.afterFailure(now, refused)
	}
	lifetime := token.Lifetime
	if lifetime == 0 {
		lifetime = tokenLifetime
	}
	t.value, t.since = token.Value, now
	t.end = began + lifetime
	t.until = max(t.end-min(tokenMargin, lifetime/4), now+tokenMinUse)
	t.failure, t.pause, t.retryAt = nil, 0, 0
	return tokenResult{value: t.value}
}
