package dispatcher_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// identity is a token endpoint and a receiver that accepts its newest token only. It issues t1, t2, ….
type identity struct {
	dispatcher.Caller // the receiver, once it has accepted the token

	delay, lifetime time.Duration

	mu       sync.Mutex
	requests []callback.Credentials
	sent     map[string][]string // headers by timer
	err      error
	revoked  int // tokens up to this number are refused
	deny     bool
}

func (i *identity) TokenFetcher(c callback.Credentials, _ *callback.Profile) callback.FetchToken {
	return func(ctx context.Context) (callback.Token, error) {
		i.mu.Lock()
		i.requests = append(i.requests, c)
		n, err := len(i.requests), i.err
		i.mu.Unlock()
		if !timer.Sleep(ctx, max(i.delay, 1)) {
			return callback.Token{}, &callback.TokenError{Reason: "cut off"}
		}
		return callback.Token{Value: fmt.Sprint("t", n), Lifetime: cmp.Or(i.lifetime, time.Hour)}, err
	}
}

func (i *identity) Call(ctx context.Context, r dispatcher.Request) dispatcher.Answer {
	i.mu.Lock()
	i.sent[r.Timer.ID] = append(i.sent[r.Timer.ID], r.Authorization)
	var n int
	_, err := fmt.Sscanf(r.Authorization, "Bearer t%d", &n)
	refused := i.deny || err == nil && n <= i.revoked
	i.mu.Unlock()
	if refused {
		return dispatcher.Answer{Status: http.StatusUnauthorized}
	}
	return i.Caller.Call(ctx, r)
}

func (i *identity) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// wantSent checks the headers of the calls of a timer, those that were refused included.
func (i *identity) wantSent(t *testing.T, id string, want ...string) {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	if got := strings.Join(i.sent[id], ", "); got != strings.Join(want, ", ") {
		t.Errorf("%s: sent %q, want %q", id, got, want)
	}
}

func (i *identity) wantRequests(t *testing.T, want int) {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.requests) != want {
		t.Errorf("%d requests of tokens, want %d", len(i.requests), want)
	}
}

// authenticated starts a node whose namespace authenticates with OAuth 2.0.
func (w *world) authenticated(i *identity, change ...func(*dispatcher.Config)) *node {
	w.t.Helper()
	keys := w.keys("k")
	i.sent = map[string][]string{}
	w.settle(func(s *store.Settings) { s.Auth = w.auth(keys, store.AuthOAuth2, "hunter2") })
	return w.start(append([]func(*dispatcher.Config){func(c *dispatcher.Config) {
		i.Caller, c.Caller, c.Keys = c.Caller, i, keys
	}}, change...)...)
}

func (w *world) auth(keys encryption.Keyring, kind store.AuthType, secret string) store.CallbackAuth {
	w.t.Helper()
	encrypted, err := keys.Encrypt(store.AuthContext("n"), []byte(secret))
	w.must(err)
	return store.CallbackAuth{
		Type: kind, TokenURL: "https://id.test/t", ClientID: "c", Scopes: "a b", Audience: "d", Username: "u", EncryptedSecret: encrypted,
	}
}

func TestCallbacksAuthenticateAsTheNamespaceSays(t *testing.T) {
	inWorld(t, func(w *world) {
		i := &identity{}
		w.authenticated(i)
		w.put("oauth2", 0, nil)
		w.put("both", 0, func(s *timer.Spec) { s.Deliver = timer.DeliverBoth })
		w.put("raw", 0, func(s *timer.Spec) { s.Request.Method = http.MethodPut })
		w.put("header", 0, func(s *timer.Spec) { s.Headers = "Authorization: mine\n" })
		w.put("user", 0, func(s *timer.Spec) { s.CallbackURL = "http://me:pw@receiver.test/" })
		w.pass(time.Second)
		for _, id := range []string{"oauth2", "both", "raw"} {
			i.wantSent(t, id, "Bearer t1")
		}
		// Credentials of the timer take precedence, and need no token.
		i.wantSent(t, "header", "")
		i.wantSent(t, "user", "")
		i.wantRequests(t, 1)
		if want := (callback.Credentials{TokenURL: "https://id.test/t", ClientID: "c", ClientSecret: "hunter2", Scopes: "a b", Audience: "d"}); i.requests[0] != want {
			t.Error("the request has other credentials than the settings")
		}
		keys := w.keys("k")
		for _, c := range []struct {
			kind store.AuthType
			want string
		}{
			{store.AuthBasic, "Basic " + base64.StdEncoding.EncodeToString([]byte("u:hunter2"))}, {store.AuthBearer, "Bearer hunter2"},
		} {
			w.settle(func(s *store.Settings) { s.Auth = w.auth(keys, c.kind, "hunter2") })
			w.pass(35 * time.Second)
			w.put(string(c.kind), 0, nil)
			w.pass(time.Second)
			i.wantSent(t, string(c.kind), c.want)
		}
		w.settle(func(s *store.Settings) { s.Auth = store.CallbackAuth{} })
		w.pass(35 * time.Second)
		w.put("none", 0, nil)
		w.pass(time.Second)
		i.wantSent(t, "none", "")
		i.wantRequests(t, 1)
	})
}

// TestAnUnavailableTokenEndpointPostponesTimers: it uses no attempt, opens no circuit, and an event is published once.
func TestAnUnavailableTokenEndpointPostponesTimers(t *testing.T) {
	inWorld(t, func(w *world) {
		i := &identity{err: &callback.TokenError{Reason: "id.test did not answer"}}
		registry, logs := prometheus.NewRegistry(), &strings.Builder{}
		n := w.authenticated(i, func(c *dispatcher.Config) {
			c.Registerer, c.CircuitAfter = registry, 2
			c.Logger = slog.New(slog.NewTextHandler(logs, nil))
		})
		once := func(s *timer.Spec) { s.Retry.MaxAttempts = 1 }
		for k := range 30 {
			w.put(fmt.Sprint("t", k), 0, once)
		}
		w.put("both", 0, func(s *timer.Spec) { s.Deliver, s.Retry.MaxAttempts = timer.DeliverBoth, 1 })
		w.pass(10 * time.Minute)
		for _, id := range []string{"t0", "t29", "both"} {
			if got := w.wantStatus(id, timer.StatusScheduled); got.Attempts != 0 || len(w.events(id)) != 0 {
				t.Errorf("%s: %d attempts, events %v", id, got.Attempts, w.events(id))
			}
			i.wantSent(t, id)
		}
		if len(i.requests) > 30 {
			t.Errorf("%d requests in ten minutes", len(i.requests))
		}
		i.set(func() { i.err = nil })
		w.pass(90 * time.Second)
		for k := range 30 {
			w.wantStatus(fmt.Sprint("t", k), timer.StatusDone)
		}
		w.wantStatus("both", timer.StatusDone)
		n.end()
		if text := logs.String(); strings.Count(text, "id.test did not answer") != 1 || strings.Count(text, "issued again") != 1 ||
			strings.Contains(text, "host does not answer") || strings.Contains(text, "hunter2") {
			t.Errorf("log: %s", text)
		}
		families, err := registry.Gather()
		w.must(err)
		counted := map[string]float64{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				if family.GetName() == "timerbus_dispatcher_callback_tokens_total" {
					counted[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
		if want := map[string]float64{"issued": 1, "unavailable": float64(len(i.requests) - 1)}; !maps.Equal(counted, want) {
			t.Errorf("counted %v, want %v", counted, want)
		}
	})
}

// TestARefusedTokenRequestUsesAttempts: the reason is in the timer, and its policy ends it.
func TestARefusedTokenRequestUsesAttempts(t *testing.T) {
	inWorld(t, func(w *world) {
		i := &identity{err: &callback.TokenError{Refused: true, Reason: "id.test answered 401 Unauthorized: invalid_client"}}
		w.authenticated(i, func(c *dispatcher.Config) { c.CircuitAfter = 1 })
		w.put("dies", 0, func(s *timer.Spec) { s.Retry.MaxAttempts = 2 })
		w.put("lives", 0, nil)
		w.pass(time.Minute)
		got := w.wantStatus("dies", timer.StatusDead)
		if want := "not called: token of the callback: id.test answered 401 Unauthorized: invalid_client"; got.Attempts != 2 || got.LastError != want || got.LastStatus != 0 {
			t.Errorf("after %d attempts: %d %q", got.Attempts, got.LastStatus, got.LastError)
		}
		i.wantSent(t, "dies")
		w.settle(func(s *store.Settings) { s.Auth = w.auth(w.keys("k"), store.AuthOAuth2, "hunter3") })
		w.pass(35 * time.Second)
		i.set(func() { i.err = nil })
		w.pass(5 * time.Minute)
		w.wantStatus("lives", timer.StatusDone)
		if last := i.requests[len(i.requests)-1]; last.ClientSecret != "hunter3" {
			t.Error("the last request has the old secret")
		}
	})
}

func TestA401GetsANewTokenOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		i := &identity{delay: time.Second}
		w.authenticated(i)
		w.put("first", 0, nil)
		w.pass(time.Minute)
		i.set(func() { i.revoked = 1 })
		for k := range 20 {
			w.put(fmt.Sprint("t", k), 0, func(s *timer.Spec) { s.Retry.MaxAttempts = 1 })
		}
		w.pass(5 * time.Second)
		for k := range 20 {
			id := fmt.Sprint("t", k)
			i.wantSent(t, id, "Bearer t1", "Bearer t2")
			if got := w.wantStatus(id, timer.StatusDone); got.Attempts != 1 {
				t.Errorf("%s: %d attempts", id, got.Attempts)
			}
		}
		i.wantRequests(t, 2)
		// A receiver that refuses every token: the attempt fails, after one repetition at most.
		i.set(func() { i.deny = true })
		w.pass(time.Minute)
		w.put("denied", 0, func(s *timer.Spec) { s.Retry.MaxAttempts = 1 })
		w.pass(5 * time.Second)
		i.wantSent(t, "denied", "Bearer t2", "Bearer t3")
		if got := w.wantStatus("denied", timer.StatusDead); got.Attempts != 1 || got.LastStatus != http.StatusUnauthorized {
			t.Errorf("denied: %d attempts, %d", got.Attempts, got.LastStatus)
		}
		w.put("soon", 0, func(s *timer.Spec) { s.Retry.MaxAttempts = 1 })
		w.pass(time.Second)
		i.wantSent(t, "soon", "Bearer t3")
		i.wantRequests(t, 3)
	})
}

// TestI7_ATimerThatChangesDuringATokenRequestIsNotDelivered: the request takes seconds, and ingest may have answered a later
// operation on the timer as in time. The same applies to the request that replaces a refused token, and to the expiry (I18).
func TestI7_ATimerThatChangesDuringATokenRequestIsNotDelivered(t *testing.T) {
	for _, refused := range []bool{false, true} {
		inWorld(t, func(w *world) {
			i := &identity{delay: 5 * time.Second}
			w.authenticated(i)
			var calls []string
			if refused {
				w.put("first", 0, nil)
				w.pass(time.Minute)
				i.set(func() { i.revoked = 1 })
				calls = []string{"Bearer t1"}
			}
			w.put("deleted", 0, nil)
			w.put("paused", 0, nil)
			w.put("resumed", 0, nil)
			w.put("skipped", 0, nil)
			w.put("expired", 0, func(s *timer.Spec) { s.ExpireAfter = 3 * time.Second })
			w.put("replaced", 0, nil)
			kept := w.put("kept", 0, nil)
			w.pass(time.Second)
			w.write(store.Delete{Ref: w.ref("deleted")})
			for _, id := range []string{"paused", "resumed", "skipped"} {
				w.write(store.Pause{Ref: w.ref(id), Revision: w.revisions.Next()})
			}
			w.write(store.Resume{Ref: w.ref("resumed"), Revision: w.revisions.Next(), Delay: time.Hour})
			w.write(store.Resume{Ref: w.ref("skipped"), Revision: w.revisions.Next(), Skip: true, Delay: time.Hour})
			w.put("replaced", time.Hour, nil)
			w.pass(time.Minute)
			for _, id := range []string{"deleted", "paused", "resumed", "skipped", "expired", "replaced"} {
				i.wantSent(t, id, calls...)
			}
			w.wantStatus("replaced", timer.StatusScheduled)
			w.wantStatus("paused", timer.StatusPaused)
			if got := w.wantStatus("expired", timer.StatusDead); !strings.HasPrefix(got.LastError, timer.ExpiredError) {
				t.Errorf("expired: %s", got.LastError)
			}
			if got := w.wantStatus("kept", timer.StatusDone); got.Attempts != 1 || got.Generation != kept.Generation {
				t.Errorf("kept: %d attempts of %s", got.Attempts, got.Generation)
			}
		})
	}
}

// TestATokenThatExpiresDuringARowCheckIsNotSent: the store answers the check after the request of a token only when the token has
// expired.
func TestATokenThatExpiresDuringARowCheckIsNotSent(t *testing.T) {
	inWorld(t, func(w *world) {
		i := &identity{delay: 10 * time.Millisecond, lifetime: 8 * time.Second}
		n := w.authenticated(i)
		var reads atomic.Int32
		n.store.set(func(op string, _ []store.Finish) error {
			if op == "current" && reads.Add(1) == 2 {
				time.Sleep(9 * time.Second)
			}
			return nil
		}, nil)
		w.put("a", 0, nil)
		w.pass(time.Minute)
		i.wantSent(t, "a", "Bearer t2")
		if got := w.wantStatus("a", timer.StatusDone); got.Attempts != 1 {
			t.Errorf("%d attempts", got.Attempts)
		}
	})
}

// TestTheDelayOfARetryBeginsAfterTheRequestOfAToken that did not replace a refused one. Otherwise a result would say that the next
// attempt is before its end.
func TestTheDelayOfARetryBeginsAfterTheRequestOfAToken(t *testing.T) {
	inWorld(t, func(w *world) {
		i := &identity{delay: 5 * time.Second}
		w.authenticated(i)
		w.put("first", 0, nil)
		w.pass(time.Minute)
		i.set(func() { i.revoked, i.err = 1, &callback.TokenError{Reason: "id.test did not answer"} })
		w.put("a", 0, func(s *timer.Spec) { s.Retry.InitialInterval = 10 * time.Second })
		w.pass(6 * time.Second)
		got := w.wantStatus("a", timer.StatusRetrying)
		if after := got.DueAt.Sub(got.ExecuteAt); got.LastStatus != http.StatusUnauthorized || after < 14*time.Second || after > 16*time.Second {
			t.Errorf("answered %d, and the next attempt is %v after the first, want 5 s and 10 s ± 10 %%", got.LastStatus, after)
		}
	})
}

// TestASlowTokenEndpointLeavesTheReceiverItsTime: the time limit of a callback begins when the token is there, so that its
// host is not taken for silent.
func TestASlowTokenEndpointLeavesTheReceiverItsTime(t *testing.T) {
	inWorld(t, func(w *world) {
		i := &identity{delay: 9 * time.Second}
		w.answer = answerAfter(900*time.Millisecond, 200)
		w.authenticated(i)
		w.put("a", 0, func(s *timer.Spec) { s.CallbackTimeout, s.Retry.MaxAttempts = time.Second, 1 })
		w.pass(11 * time.Second)
		if got := w.wantStatus("a", timer.StatusDone); got.Attempts != 1 {
			t.Errorf("%d attempts", got.Attempts)
		}
		w.wantCalls("a", 1)
	})
}

// TestTheTokenIsKeptWhileOtherSettingsChange: each change of a namespace decrypts its settings again.
func TestTheTokenIsKeptWhileOtherSettingsChange(t *testing.T) {
	inWorld(t, func(w *world) {
		i := &identity{}
		w.authenticated(i)
		for k := range 5 {
			id := fmt.Sprint("t", k)
			w.put(id, 0, nil)
			w.pass(time.Second)
			i.wantSent(t, id, "Bearer t1")
			w.settle(func(s *store.Settings) {
				s.Headers = timer.Headers(fmt.Sprintf("X-A: %d\n", k))
				s.Auth = w.auth(w.keys("k"), store.AuthOAuth2, "hunter2") // encrypted again
			})
			w.pass(35 * time.Second)
		}
		// Other TLS settings may be refused by the endpoint, so the token is requested with them.
		w.settle(func(s *store.Settings) { s.HostConcurrency, s.Auth.Scopes = 3, "other" })
		w.pass(35 * time.Second)
		w.put("scopes", 0, nil)
		w.pass(time.Second)
		i.wantSent(t, "scopes", "Bearer t2")
	})
}

// TestAStopDuringATokenRequestUsesNoAttempt, and the next process delivers the timer.
func TestAStopDuringATokenRequestUsesNoAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		i := &identity{delay: time.Hour}
		n := w.authenticated(i, func(c *dispatcher.Config) { c.TokenTimeout, c.Drain = 2*time.Hour, time.Second })
		w.put("a", 0, func(s *timer.Spec) { s.Retry.MaxAttempts = 1 })
		w.pass(time.Second)
		n.end()
		if got := w.wantStatus("a", timer.StatusScheduled); got.Attempts != 0 {
			t.Errorf("%d attempts", got.Attempts)
		}
		w.authenticated(&identity{})
		w.pass(20 * time.Second)
		w.wantStatus("a", timer.StatusDone)
	})
}

func TestWhatCannotAuthenticateWaitsAndUsesNoAttempt(t *testing.T) {
	for _, kind := range []store.AuthType{store.AuthOAuth2, store.AuthBasic, store.AuthBearer, "later"} {
		inWorld(t, func(w *world) {
			w.settle(func(s *store.Settings) { s.Auth = w.auth(w.keys("k"), kind, "hunter2") })
			own := "o"
			if kind == "later" {
				own = "k" // only the type is not known
			}
			w.start(func(c *dispatcher.Config) { c.Keys = w.keys(own) })
			w.put("a", 0, func(s *timer.Spec) { s.Retry.MaxAttempts = 1 })
			w.pass(time.Minute)
			w.wantCalls("a", 0)
			if got := w.wantStatus("a", timer.StatusScheduled); got.Attempts != 0 {
				t.Errorf("%s: %d attempts", kind, got.Attempts)
			}
			ns, err := w.store.GetNamespace(t.Context(), "n")
			w.must(err)
			if err := dispatcher.CheckSettings(w.keys(own), []store.Namespace{ns}, 1); err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: a dispatcher would start: %v", kind, err)
			}
		})
	}
}
