package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// script returns one step per try, and records when each try came.
type script struct {
	steps []step
	tries []time.Time
}

type step struct {
	err        error
	status     int
	retryAfter string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	now := s.steps[min(len(s.tries), len(s.steps)-1)]
	s.tries = append(s.tries, time.Now())
	if now.err != nil {
		return nil, now.err
	}
	body := `{"error":"UNAVAILABLE","message":"busy","details":{}}`
	if now.status < 300 {
		body = `{"results":[{"status":200},{"status":200}]}`
	}
	h := http.Header{}
	h.Set("Retry-After", now.retryAfter)
	return &http.Response{StatusCode: now.status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func TestRetry(t *testing.T) {
	broken := step{err: errors.New("connection reset")}
	refused := step{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
	busy, limited, unknown, ok := step{status: 503}, step{status: 429}, step{status: 504}, step{status: 200}
	soon, late := step{status: 503, retryAfter: "2"}, step{status: 503, retryAfter: "60"}

	get := func(ctx context.Context, c *client.Client) error {
		_, err := c.GetTimer(ctx, client.TimerSelection{})
		return err
	}
	create := func(on client.OnConflict) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.CreateTimer(ctx, client.CreateTimerRequest{OnConflict: on})
			return err
		}
	}
	update := func(guard string) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.UpdateTimer(ctx, client.UpdateTimerRequest{IfGeneration: guard})
			return err
		}
	}
	updateNamespace := func(version int64) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.UpdateNamespace(ctx, client.UpdateNamespaceRequest{IfVersion: version})
			return err
		}
	}
	remove := func(ctx context.Context, c *client.Client) error {
		_, err := c.DeleteTimer(ctx, client.DeleteTimerRequest{})
		return err
	}

	createBatch := func(on client.OnConflict) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.BatchCreateTimers(ctx, []client.CreateTimerRequest{{ID: "a"}, {ID: "b", OnConflict: on}})
			return err
		}
	}
	removeBatch := func(ctx context.Context, c *client.Client) error {
		_, err := c.BatchDeleteTimers(ctx, []client.DeleteTimerRequest{{TimerID: "a"}, {TimerID: "b"}})
		return err
	}
	arm := func(ctx context.Context, c *client.Client) error {
		_, err := c.RetryTimer(ctx, client.RetryTimerRequest{})
		return err
	}
	removeMatching := func(ctx context.Context, c *client.Client) error {
		_, err := c.DeleteMatching(ctx, client.DeleteMatchingRequest{})
		return err
	}
	reschedule := func(by string) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.RescheduleMatching(ctx, client.RescheduleMatchingRequest{ShiftBy: by})
			return err
		}
	}

	for name, c := range map[string]struct {
		call  func(context.Context, *client.Client) error
		steps []step
		tries int
		fails bool
	}{
		"a read goes on":                        {get, []step{broken, refused, busy, ok}, 4, false},
		"a read gives up":                       {get, []step{busy}, 4, true},
		"limited":                               {get, []step{limited, ok}, 2, false},
		"unknown outcome":                       {get, []step{unknown, ok}, 1, true},
		"asked to wait":                         {get, []step{soon, ok}, 2, false},
		"asked to wait too long":                {get, []step{late, ok}, 1, true},
		"asked to wait for 300 years":           {get, []step{{status: 503, retryAfter: "9467280000"}, ok}, 1, true},
		"a creation, broken":                    {create(""), []step{broken, ok}, 2, false},
		"a creation with keep, broken":          {create(client.Keep), []step{broken, ok}, 2, false},
		"a creation with fail, broken":          {create(client.Fail), []step{broken, ok}, 1, true},
		"a creation with fail, never connected": {create(client.Fail), []step{refused, busy, ok}, 3, false},
		"an update, broken":                     {update(""), []step{broken, ok}, 2, false},
		"a guarded update, broken":              {update("7"), []step{broken, ok}, 1, true},
		"a guarded update, busy":                {update("7"), []step{busy, ok}, 2, false},
		"an update of a namespace, broken":      {updateNamespace(0), []step{broken, ok}, 2, false},
		"with a version, broken":                {updateNamespace(3), []step{broken, ok}, 1, true},
		"a deletion, broken":                    {remove, []step{broken, ok}, 1, true},
		"a deletion, busy":                      {remove, []step{busy, refused, ok}, 3, false},
		"a batch, broken":                       {createBatch(client.Keep), []step{broken, ok}, 2, false},
		"a batch with one fail, broken":         {createBatch(client.Fail), []step{broken, ok}, 1, true},
		"a batch with one fail, busy":           {createBatch(client.Fail), []step{busy, ok}, 2, false},
		"a batch of deletions, broken":          {removeBatch, []step{broken, ok}, 1, true},
		"arming again, broken":                  {arm, []step{broken, ok}, 1, true},
		"deletion by filter, broken":            {removeMatching, []step{broken, ok}, 2, false},
		"another time by filter, broken":        {reschedule(""), []step{broken, ok}, 2, false},
		"a shift by filter, broken":             {reschedule("1h"), []step{broken, ok}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: c.steps}
				api, err := client.New("http://timerbus", client.WithHTTPClient(&http.Client{Transport: s}))
				if err != nil {
					t.Fatal(err)
				}
				if err := c.call(t.Context(), api); (err != nil) != c.fails {
					t.Errorf("error %v", err)
				}
				if len(s.tries) != c.tries {
					t.Errorf("%d tries, want %d", len(s.tries), c.tries)
				}
				for i := 1; i < len(s.tries); i++ {
					pause, at := s.tries[i].Sub(s.tries[i-1]), 100*time.Millisecond<<(i-1)
					if c.steps[min(i-1, len(c.steps)-1)] == soon {
						at = 2 * time.Second
					}
					if pause < at/2 || pause > at+time.Millisecond {
						t.Errorf("pause %d took %v, want %v to %v", i, pause, at/2, at)
					}
				}
			})
		})
	}
}

// TestRetryOfABatcher: one caller that must not be applied twice keeps the whole batch from being sent again.
func TestRetryOfABatcher(t *testing.T) {
	for _, c := range []struct {
		first, second client.OnConflict
		tries         int
	}{
		{client.Keep, client.Replace, 2},
		{client.Fail, client.Keep, 1},
		{client.Keep, client.Fail, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{steps: []step{{err: errors.New("connection reset")}, {status: 200}}}
			api, err := client.New("http://timerbus", client.WithHTTPClient(&http.Client{Transport: s}))
			if err != nil {
				t.Fatal(err)
			}
			b := client.NewBatcher(api, client.BatcherOptions{})
			defer closed(t, b)
			var callers sync.WaitGroup
			for _, on := range []client.OnConflict{c.first, c.second} {
				callers.Go(func() {
					if _, err := b.CreateTimer(t.Context(), client.CreateTimerRequest{ID: "a", OnConflict: on}); (err != nil) != (c.tries == 1) {
						t.Errorf("%v and %v: error %v", c.first, c.second, err)
					}
				})
				synctest.Wait() // the batch has the first before the second
			}
			callers.Wait()
			if len(s.tries) != c.tries {
				t.Errorf("%v and %v: %d tries, want %d", c.first, c.second, len(s.tries), c.tries)
			}
		})
	}
}

func TestNoRetryWhereNoneIsWanted(t *testing.T) {
	s := &script{steps: []step{{status: 503}}}
	c, err := client.New("http://timerbus", client.WithHTTPClient(&http.Client{Transport: s}), client.WithRetry(1, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ListNamespaces(t.Context()); err == nil || len(s.tries) != 1 {
		t.Errorf("%d tries, error %v", len(s.tries), err)
	}
}

func TestAnEndedContextEndsTheRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{status: 503}}}
		c, err := client.New("http://timerbus", client.WithHTTPClient(&http.Client{Transport: s}), client.WithRetry(1000, time.Second))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		if _, err = c.ListNamespaces(ctx); !client.IsCode(err, client.CodeUnavailable) {
			t.Errorf("error %v, want the last answer", err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("took %v, want 10 s", took)
		}
	})
}
