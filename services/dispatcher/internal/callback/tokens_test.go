package callback

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// issuer issues the tokens t1, t2, … after a delay, in a synctest bubble.
type issuer struct {
	delay, lifetime time.Duration

	mu      sync.Mutex
	calls   int
	running int
	most    int // requests at the same time
	err     error
}

func (i *issuer) fetch(context.Context) (Token, error) {
	i.mu.Lock()
	i.calls++
	i.running++
	i.most = max(i.most, i.running)
	n, err := i.calls, i.err
	i.mu.Unlock()
	time.Sleep(i.delay)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.running--
	if err != nil {
		return Token{}, err
	}
	return Token{Value: fmt.Sprint("t", n), Lifetime: i.lifetime}, nil
}

func (i *issuer) fail(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.err = err
}

func (i *issuer) tokens() *Tokens {
	return NewTokens(i.fetch, time.Minute, timer.NewStopwatch().Elapsed, func(error) {})
}

func get(t *testing.T, tokens *Tokens, refused, want string) {
	t.Helper()
	if value, err := tokens.Get(t.Context(), refused); err != nil || value != want {
		t.Errorf("got %q, %v, want %q", value, err, want)
	}
}

// TestConcurrentCallbacksMakeOneRequestForEachToken over several lifetimes.
func TestConcurrentCallbacksMakeOneRequestForEachToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{delay: 3 * time.Second, lifetime: time.Minute}
		tokens := i.tokens()
		var wrong atomic.Int64
		var group sync.WaitGroup
		end := time.Now().Add(10 * time.Minute)
		for range 100 {
			group.Go(func() {
				for time.Now().Before(end) {
					asked := time.Now()
					value, err := tokens.Get(t.Context(), "")
					if err != nil || value == "" || time.Since(asked) > i.delay {
						wrong.Add(1)
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		group.Wait()
		// A token of a minute that took 3 s is used for 42 s.
		if want := 14; i.calls != want || i.most != 1 || wrong.Load() != 0 {
			t.Errorf("%d requests, %d at the same time, %d wrong answers; want %d requests", i.calls, i.most, wrong.Load(), want)
		}
	})
}

func TestTokensAreReplacedBeforeTheyExpire(t *testing.T) {
	for lifetime, use := range map[time.Duration]time.Duration{
		time.Hour:        time.Hour - 30*time.Second,
		time.Minute:      45 * time.Second,
		10 * time.Second: 7500 * time.Millisecond,
		time.Nanosecond:  time.Second,
		0:                5*time.Minute - 30*time.Second, // unknown
	} {
		synctest.Test(t, func(t *testing.T) {
			tokens := (&issuer{lifetime: lifetime}).tokens()
			get(t, tokens, "", "t1")
			time.Sleep(use - time.Nanosecond)
			get(t, tokens, "", "t1")
			time.Sleep(time.Nanosecond)
			get(t, tokens, "", "t2")
		})
	}
}

func TestARefusedTokenIsReplacedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{delay: time.Second, lifetime: time.Hour}
		tokens := i.tokens()
		get(t, tokens, "", "t1")
		get(t, tokens, "t1", "t1") // too young to be at fault
		time.Sleep(tokenMinAge)
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() { get(t, tokens, "t1", "t2") })
		}
		synctest.Wait()
		get(t, tokens, "", "t1") // other receivers may accept it
		group.Wait()
		get(t, tokens, "t1", "t2") // a late 401 to the old token
		get(t, tokens, "t2", "t2")
		if i.calls != 2 {
			t.Errorf("%d requests, want 2", i.calls)
		}
		// A receiver that answers 401 to everything causes a request in 10 s.
		for range 1000 {
			value, err := tokens.Get(t.Context(), "")
			if err == nil {
				_, err = tokens.Get(t.Context(), value)
			}
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if i.calls < 8 || i.calls > 12 {
			t.Errorf("%d requests in 100 s", i.calls)
		}
	})
}

func TestFailedRequestsArePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		i := &issuer{lifetime: time.Hour, err: down}
		tokens := i.tokens()
		for range 10 * 60 {
			for range 20 {
				if value, err := tokens.Get(t.Context(), ""); value != "" || !errors.Is(err, down) {
					t.Fatalf("%q, %v", value, err)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		// At 0, 1, 3, 7, 15, 31 s, and then every 30 s.
		if i.calls != 6 {
			t.Errorf("%d requests in a minute", i.calls)
		}
		i.fail(nil)
		time.Sleep(tokenMaxPause)
		get(t, tokens, "", "t7")
		time.Sleep(time.Hour)
		i.fail(down)
		if _, err := tokens.Get(t.Context(), ""); !errors.Is(err, down) {
			t.Error(err)
		}
		time.Sleep(tokenFirstPause) // not the long pause of the earlier failures
		i.fail(nil)
		get(t, tokens, "", "t9")
	})
}

// TestAnOutageOfTheEndpointDoesNotEndAValidToken: the request is made before the token expires.
func TestAnOutageOfTheEndpointDoesNotEndAValidToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		i := &issuer{lifetime: time.Hour}
		tokens := i.tokens()
		get(t, tokens, "", "t1")
		i.fail(down)
		time.Sleep(time.Hour - 20*time.Second)
		get(t, tokens, "", "t1") // after a failed request
		get(t, tokens, "", "t1") // without a request
		if value, err := tokens.Get(t.Context(), "t1"); !errors.Is(err, down) {
			t.Errorf("for a receiver that refuses it: %q, %v", value, err)
		}
		if i.calls != 2 {
			t.Errorf("%d requests, want 2", i.calls)
		}
		time.Sleep(20 * time.Second)
		if value, err := tokens.Get(t.Context(), ""); !errors.Is(err, down) {
			t.Errorf("after its end: %q, %v", value, err)
		}
	})
}

// TestAFailedRequestIsNoErrorForOthers: while a receiver that has refused the token waits for the next one, other callbacks use the
// present one until its end.
func TestAFailedRequestIsNoErrorForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{lifetime: time.Hour}
		tokens := i.tokens()
		get(t, tokens, "", "t1")
		i.fail(errors.New("down"))
		i.delay = time.Second
		time.Sleep(time.Hour - 20*time.Second) // it is to be replaced, and valid
		var refused sync.WaitGroup
		refused.Go(func() {
			if value, err := tokens.Get(t.Context(), "t1"); err == nil {
				t.Errorf("for the receiver that refuses it: %q", value)
			}
		})
		synctest.Wait()
		get(t, tokens, "", "t1")
		refused.Wait()
		if i.calls != 2 {
			t.Errorf("%d requests, want 2", i.calls)
		}
	})
}

// TestARequestOfATokenIsBoundedInTime by the timeout of Tokens and not by a callback.
func TestARequestOfATokenIsBoundedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := NewTokens(func(ctx context.Context) (Token, error) {
			<-ctx.Done()
			return Token{}, ctx.Err()
		}, 7*time.Second, timer.NewStopwatch().Elapsed, func(error) {})
		began := time.Now()
		if _, err := tokens.Get(t.Context(), ""); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 7*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
