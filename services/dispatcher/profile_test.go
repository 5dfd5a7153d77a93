package dispatcher_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/webhook"
	"github.com/timerbus/timerbus/services/dispatcher"
)

const (
	firstSecret  = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
	secondSecret = "whsec_yMnKy8zNzs/Q0dLT1NXW19jZ2tvc3d7f"
)

func (w *world) keys(name string) encryption.Keyring {
	w.t.Helper()
	keys, err := encryption.ParseKeys(base64.StdEncoding.EncodeToString([]byte(strings.Repeat(name, encryption.KeySize))))
	w.must(err)
	return keys
}

// encrypted returns a signing secret in the encrypted form that settings have.
func (w *world) encrypted(keys encryption.Keyring, namespace, text string, expires timer.Millis) store.Secret {
	w.t.Helper()
	s, err := webhook.ParseSecret(text)
	w.must(err)
	encrypted, err := keys.Encrypt(store.SecretContext(namespace), []byte(text))
	w.must(err)
	return store.Secret{ID: s.ID(), CreatedAt: 1, ExpiresAt: expires, Encrypted: encrypted}
}

// settle changes the settings of the namespace.
func (w *world) settle(change func(*store.Settings)) {
	w.t.Helper()
	ns, err := w.store.GetNamespace(w.t.Context(), "n")
	w.must(err)
	change(&ns.Settings)
	ns.UpdatedAt = timer.SystemClock()
	_, err = w.store.UpdateNamespace(w.t.Context(), ns)
	w.must(err)
}

// seen collects the secrets with which callbacks would be signed.
type seen struct {
	mu      sync.Mutex
	secrets map[string]string // by timer
	headers map[string]timer.Headers
}

func (s *seen) Call(_ context.Context, r dispatcher.Request) dispatcher.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	if r.Profile != nil {
		for _, secret := range r.Profile.Secrets {
			ids = append(ids, secret.Reveal())
		}
		s.headers[r.Timer.ID] = r.Profile.Headers
	}
	s.secrets[r.Timer.ID] = strings.Join(ids, " ")
	return dispatcher.Answer{Status: 404}
}

func TestCallbacksGoOutAsTheNamespaceSaysNow(t *testing.T) {
	inWorld(t, func(w *world) {
		keys := w.keys("k")
		receiver := &seen{secrets: map[string]string{}, headers: map[string]timer.Headers{}}
		w.start(func(c *dispatcher.Config) { c.Caller, c.Keys = receiver, keys })
		w.put("unsigned", time.Second, func(s *timer.Spec) { s.Retry.MaxAttempts = 1 })
		w.pass(2 * time.Second)
		w.wantStatus("unsigned", timer.StatusDead) // 404

		w.settle(func(s *store.Settings) {
			s.Headers = "X-A: 1\n"
			s.Secrets = store.Secrets{
				w.encrypted(keys, "n", firstSecret, 0),
				w.encrypted(keys, "n", secondSecret, timer.SystemClock().Add(time.Minute)),
			}
			s.FinalStatuses, _ = s.FinalStatuses.With(404)
		})
		w.pass(35 * time.Second) // the bound in docs/operations.md
		w.put("both", 0, nil)
		w.pass(time.Second)
		w.wantStatus("both", timer.StatusDead)
		w.pass(time.Minute)
		w.put("first", 0, nil)
		w.pass(time.Second)
		receiver.mu.Lock()
		defer receiver.mu.Unlock()
		for id, want := range map[string]string{"unsigned": "", "both": firstSecret + " " + secondSecret, "first": firstSecret} {
			if receiver.secrets[id] != want {
				t.Errorf("%s was signed with other secrets than wanted", id)
			}
		}
		if receiver.headers["both"] != "X-A: 1\n" || receiver.headers["unsigned"] != "" {
			t.Errorf("headers: %v", receiver.headers)
		}
	})
}

func TestWhatCannotBeSignedWaitsAndUsesNoAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) { s.Secrets[0] = w.encrypted(w.keys("k"), "n", firstSecret, 0) })
		without := w.start(func(c *dispatcher.Config) { c.Keys = w.keys("o") })
		w.put("callback", time.Second, nil)
		w.put("both", time.Second, func(s *timer.Spec) { s.Deliver = timer.DeliverBoth })
		w.put("event", time.Second, func(s *timer.Spec) { s.Deliver, s.CallbackURL = timer.DeliverEvent, "" })
		w.pass(time.Minute)
		for _, id := range []string{"callback", "both"} {
			w.wantCalls(id, 0)
			if got := w.wantStatus(id, timer.StatusScheduled); got.Attempts != 0 || len(w.events(id)) != 0 {
				t.Errorf("%s: attempts %d, events %v", id, got.Attempts, w.events(id))
			}
		}
		w.wantStatus("event", timer.StatusDone)

		without.end()
		w.start(func(c *dispatcher.Config) { c.Keys = w.keys("k") })
		w.pass(time.Minute)
		for _, id := range []string{"callback", "both"} {
			w.wantStatus(id, timer.StatusDone)
			w.wantCalls(id, 1)
		}
	})
}

// The timers of a namespace whose secrets cannot be decrypted must not be written to the store every few seconds.
func TestWhatCannotBeSignedIsLookedAtSeldomer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) { s.Secrets[0] = w.encrypted(w.keys("k"), "n", firstSecret, 0) })
		n := w.start(func(c *dispatcher.Config) { c.Keys = w.keys("o") })
		var postponed atomic.Int64
		n.store.set(func(_ string, items []store.Finish) error {
			if isKind(items, store.FinishPostponed) {
				postponed.Add(1)
			}
			return nil
		}, nil)
		w.put("waits", 0, nil)
		w.pass(10 * time.Minute)
		if got := postponed.Load(); got < 10 || got > 20 {
			t.Errorf("%d postponements in ten minutes", got)
		}
	})
}

// TestI13_WhatCannotBeSignedIsNotParked: no callback was made, so the counted starts are returned.
func TestI13_WhatCannotBeSignedIsNotParked(t *testing.T) {
	inWorld(t, func(w *world) {
		w.settle(func(s *store.Settings) { s.Secrets[0] = w.encrypted(w.keys("k"), "n", firstSecret, 0) })
		w.put("waits", 0, nil)
		w.count("waits", 2)
		n := w.start(func(c *dispatcher.Config) { c.Keys = w.keys("o") })
		w.pass(10 * time.Minute)
		w.wantCalls("waits", 0)
		if now := w.wantStatus("waits", timer.StatusScheduled); now.Starts != 2 {
			t.Errorf("%d starts are counted, want 2", now.Starts)
		}
		n.end()
	})
}

func TestSettingsAreCheckedBeforeAStart(t *testing.T) {
	inWorld(t, func(w *world) {
		keys := w.keys("k")
		good := w.namespace
		good.Settings.Secrets[0] = w.encrypted(keys, "n", firstSecret, 0)
		moved, expired := good, good
		moved.Name = "other"
		expired.Settings.Secrets[0].ExpiresAt = 5
		key := w.namespace
		key.Settings.TLS = store.TLS{Certificate: "x", EncryptedKey: good.Settings.Secrets[0].Encrypted}
		for what, c := range map[string]struct {
			keys encryption.Keyring
			ns   store.Namespace
			want error
		}{
			"the right key":     {keys, good, nil},
			"another key":       {w.keys("o"), good, encryption.ErrUnknownKey},
			"no key":            {encryption.Keyring{}, good, encryption.ErrUnknownKey},
			"nothing encrypted": {encryption.Keyring{}, w.namespace, nil},
			"expired":           {encryption.Keyring{}, expired, nil},
			"another's":         {keys, moved, encryption.ErrDamaged},
			"not a TLS key":     {keys, key, encryption.ErrDamaged},
			"TLS without key":   {encryption.Keyring{}, key, encryption.ErrUnknownKey},
		} {
			err := dispatcher.CheckSettings(c.keys, []store.Namespace{w.namespace, c.ns}, 10)
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.ns.Name) {
				t.Errorf("%s: %v, want %v", what, err, c.want)
			}
		}
	})
}
