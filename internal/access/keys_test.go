package access_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

var readAll = []access.Grant{{Verbs: []access.Verb{access.Read}, Namespaces: []string{"*"}}}

// counted counts reads of keys, and can be unreachable.
type counted struct {
	store.APIKeys

	mu    sync.Mutex
	reads int
	lists int
	err   error
	after func() error // runs after a key was read, if not nil; its error replaces the key
}

func (c *counted) GetAPIKey(ctx context.Context, name string) (store.APIKey, error) {
	c.mu.Lock()
	c.reads++
	err, after := c.err, c.after
	c.mu.Unlock()
	if err != nil {
		return store.APIKey{}, err
	}
	key, err := c.APIKeys.GetAPIKey(ctx, name)
	if after != nil {
		if failed := after(); failed != nil {
			return store.APIKey{}, failed
		}
	}
	return key, err
}

func (c *counted) ListAPIKeys(ctx context.Context) ([]store.APIKey, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists++; c.err != nil {
		return nil, c.err
	}
	return c.APIKeys.ListAPIKeys(ctx)
}

// world is a store with two processes.
type world struct {
	*testing.T

	store       *counted
	keys, other *access.Keys
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, store: &counted{APIKeys: memstore.NewDatabase().Open()}}
	w.keys = access.NewKeys(w.store, timer.SystemClock)
	w.other = access.NewKeys(w.store, timer.SystemClock)
	return w
}

func (w *world) create(name string, ends timer.Millis) string {
	w.Helper()
	_, token, err := w.keys.Create(w.Context(), name, readAll, ends, "token")
	if err != nil {
		w.Fatal(err)
	}
	return token
}

// want checks the answer to a token: the caller's name, or a part of the reason why it is denied.
func (w *world) want(k *access.Keys, token, name, reason string) {
	w.Helper()
	r := httptest.NewRequestWithContext(w.Context(), http.MethodGet, "/", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+token)
	caller, err := access.New(access.Options{Token: access.NewToken("service token"), Keys: k}).Caller(r)
	var denied *access.DeniedError
	switch {
	case reason == "":
		if err != nil || caller.Name != name || !caller.MayEverywhere(access.Read) {
			w.Errorf("%+v, %v; want %s", caller, err, name)
		}
	case !errors.As(err, &denied) || !strings.Contains(denied.Reason, reason) || len(caller.Grants) != 0:
		w.Errorf("%+v, %v; want a denial: %s", caller, err, reason)
	}
}

func TestKeysAreAccepted(t *testing.T) {
	w := newWorld(t)
	token := w.create("ci_1", 0)
	if !strings.HasPrefix(token, "tb_ci_1_") || len(token) < len("tb_ci_1_")+26 {
		t.Errorf("the token is %s", token)
	}
	w.want(w.keys, token, "key ci_1", "")
	w.want(w.other, token, "key ci_1", "")
	for _, wrong := range []string{token[:len(token)-1], token + "A", "tb_ci_1_", "tb_ci_1", "tb_", "tb_ci_2_" + token[8:], "tb_ /x_y"} {
		w.want(w.keys, wrong, "", "API key")
	}
	if all, err := w.store.ListAPIKeys(t.Context()); err != nil || strings.Contains(all[0].Body, token[8:]) {
		t.Errorf("the store has %+v, %v; want no secret in it", all, err)
	}
	if _, _, err := w.keys.Create(t.Context(), "ci_1", readAll, 0, "token"); !errors.Is(err, access.ErrKeyExists) {
		t.Errorf("created twice: %v", err)
	}
}

func TestKeysExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		token := w.create("a", timer.SystemClock().Add(time.Hour))
		time.Sleep(time.Hour - time.Millisecond)
		w.want(w.keys, token, "key a", "")
		time.Sleep(time.Millisecond)
		w.want(w.keys, token, "", "token of API key a expired at ")
		w.want(w.other, token, "", "expired")
	})
}

func TestRotationKeepsTwoTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		tokens := []string{w.create("a", 0)}
		for range 2 {
			key, token, err := w.keys.Rotate(t.Context(), "a", time.Minute, 0)
			if err != nil || len(key.Secrets) != 2 || key.CreatedBy != "token" {
				t.Fatalf("%+v, %v", key, err)
			}
			tokens = append(tokens, token)
		}
		w.want(w.keys, tokens[0], "", "was replaced")
		w.want(w.keys, tokens[1], "key a", "")
		w.want(w.other, tokens[2], "key a", "")
		time.Sleep(time.Minute)
		w.want(w.keys, tokens[1], "", "expired")
		w.want(w.keys, tokens[2], "key a", "")
		// Without an overlap the earlier token ends immediately, and is not kept.
		key, token, err := w.keys.Rotate(t.Context(), "a", 0, 0)
		if err != nil || len(key.Secrets) != 1 {
			t.Fatalf("%+v, %v", key, err)
		}
		w.want(w.keys, tokens[2], "", "was replaced")
		w.want(w.keys, token, "key a", "")
		if _, _, err := w.keys.Rotate(t.Context(), "b", 0, 0); !errors.Is(err, access.ErrKeyNotFound) {
			t.Errorf("rotate an unknown key: %v", err)
		}
	})
}

// A rotation never extends the validity of the earlier token.
func TestRotationKeepsAnEarlierEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		token := w.create("a", timer.SystemClock().Add(time.Minute))
		if _, _, err := w.keys.Rotate(t.Context(), "a", time.Hour, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.want(w.keys, token, "", "expired")
	})
}

func TestRevokedKeysEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		token := w.create("a", 0)
		w.want(w.keys, token, "key a", "")
		w.want(w.other, token, "key a", "")
		if err := w.keys.Revoke(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		w.want(w.keys, token, "", "revoked")
		time.Sleep(5 * time.Second)
		w.want(w.other, token, "", "revoked")
		if err := w.keys.Revoke(t.Context(), "a"); !errors.Is(err, access.ErrKeyNotFound) {
			t.Errorf("revoked twice: %v", err)
		}
		again := w.create("a", 0)
		w.want(w.other, token, "", "was replaced")
		w.want(w.other, again, "key a", "")
	})
}

func TestKeysAreReadOnceInFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		token := w.create("a", 0)
		for range 3 {
			var group sync.WaitGroup
			for range 100 {
				group.Go(func() { w.want(w.keys, token, "key a", "") })
			}
			group.Wait()
			time.Sleep(5 * time.Second)
		}
		if w.store.reads < 2 || w.store.reads > 4 { // concurrent requests may share a read
			t.Errorf("%d reads for 300 requests in 3 periods", w.store.reads)
		}
	})
}

// TestUnknownKeysAreOneReadInFiveSeconds: a client that invents tokens cannot load the store.
func TestUnknownKeysAreOneReadInFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		token := w.create("a", 0)
		w.store.lists = 0
		for period := range 3 {
			for i := range 100 {
				w.want(w.other, fmt.Sprintf("tb_unknown%d-%d_x", period, i), "", "does not exist")
			}
			w.want(w.other, token, "key a", "")
			time.Sleep(5 * time.Second)
		}
		if w.store.lists != 3 || w.store.reads != 0 {
			t.Errorf("%d lists and %d reads of single keys for 300 requests in 3 periods, want 3 and 0", w.store.lists, w.store.reads)
		}
		w.want(w.keys, "tb_b_x", "", "does not exist")
		w.want(w.other, "tb_b_x", "", "does not exist")
		b := w.create("b", 0)
		w.want(w.keys, b, "key b", "") // the process that created it knows it
		w.want(w.other, b, "", "does not exist")
		time.Sleep(5 * time.Second)
		w.want(w.other, b, "key b", "")
	})
}

// TestAKeyThatCannotBeReadHarmsNoOther: its error names the key.
func TestAKeyThatCannotBeReadHarmsNoOther(t *testing.T) {
	w := newWorld(t)
	token := w.create("a", 0)
	if err := w.store.PutAPIKey(t.Context(), store.APIKey{Name: "damaged", Body: "{"}); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.Header.Set("Authorization", "Bearer tb_damaged_x")
	_, err := access.New(access.Options{Token: access.NewToken("x"), Keys: w.keys}).Caller(r)
	if err == nil || !strings.Contains(err.Error(), `API key "damaged"`) {
		t.Errorf("a damaged key: %v", err)
	}
	w.want(w.keys, token, "key a", "")
}

func TestKeysWhileTheStoreDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		token := w.create("a", 0)
		w.want(w.keys, token, "key a", "")
		_, unused, err := w.other.Create(t.Context(), "b", readAll, 0, "token")
		if err != nil {
			t.Fatal(err)
		}
		w.store.err = fmt.Errorf("down: %w", store.ErrUnavailable)
		authenticator := access.New(access.Options{Token: access.NewToken("x"), Keys: w.keys})
		time.Sleep(4999 * time.Millisecond)
		w.want(w.keys, token, "key a", "")
		for _, wait := range []time.Duration{time.Millisecond, 100 * time.Millisecond, time.Hour} {
			time.Sleep(wait)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			r.Header.Set("Authorization", "Bearer "+token)
			if caller, err := authenticator.Caller(r); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("a key that may have been revoked: %+v, %v", caller, err)
			}
			if got := serve(t, authenticator, "Bearer "+token); got != http.StatusNoContent {
				t.Errorf("metrics answered %d", got)
			}
		}
		w.store.reads = 0
		for range 1000 {
			serve(t, authenticator, "Bearer "+token)
			time.Sleep(time.Millisecond)
		}
		if w.store.reads > 4 {
			t.Errorf("%d reads within a second", w.store.reads)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+unused)
		if _, err := access.New(access.Options{Token: access.NewToken("x"), Keys: w.keys}).Caller(r); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a key that was never read: %v", err)
		}
		w.store.err = nil
		time.Sleep(250 * time.Millisecond)
		w.want(w.keys, token, "key a", "")
	})
}

// TestARevokedKeyEndsIfTheProcessIsSuspended: a process is suspended after the store has read a key, which is then revoked.
// Requests that the process gets when it continues must not use the key, whether the read succeeds or fails.
func TestARevokedKeyEndsIfTheProcessIsSuspended(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
	}{{"read", nil}, {"read timed out", context.DeadlineExceeded}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				token := w.create("a", 0)
				w.want(w.keys, token, "key a", "")
				time.Sleep(6 * time.Second)
				w.store.after = func() error {
					w.store.after = nil
					time.Sleep(10 * time.Second)
					return c.err
				}
				first := make(chan struct{})
				go func() { defer close(first); w.want(w.keys, token, "", "revoked") }()
				synctest.Wait()
				if err := w.other.Revoke(t.Context(), "a"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(9 * time.Second)
				w.want(w.keys, token, "", "revoked") // it joins the read of the first request
				<-first
			})
		})
	}
}

func TestListKeys(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"b", "a"} {
		w.create(name, 0)
	}
	all, err := w.keys.List(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" || all[1].Grants[0].String() != "read@*" {
		t.Errorf("%+v, %v", all, err)
	}
	for i := range access.MaxKeys - 2 {
		w.create(fmt.Sprint("n", i), 0)
	}
	if _, _, err := w.keys.Create(t.Context(), "more", readAll, 0, ""); err == nil || !strings.Contains(err.Error(), "revoke one first") {
		t.Errorf("one key too many: %v", err)
	}
}
