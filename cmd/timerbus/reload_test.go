package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/process"
)

func TestReloadAppliesChangedSecrets(t *testing.T) {
	const first, second = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
	config := process.DefaultConfig()
	config.Token, config.SecretKey = "old", first
	keys, err := config.SecretKeys()
	if err != nil {
		t.Fatal(err)
	}
	now, failure := config, error(nil)
	var log bytes.Buffer
	r := reload{
		settings: func() (process.Config, error) { return now, failure }, config: config, token: access.NewToken("old"), keys: keys,
		logger: slog.New(slog.NewTextHandler(&log, nil)),
	}
	wantToken := func(token string) {
		t.Helper()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		request.Header.Set("Authorization", "Bearer "+token)
		if _, err := access.New(access.Options{Token: r.token}).Caller(request); err != nil {
			t.Errorf("the token %s: %v", token, err)
		}
	}
	r.once()
	wantToken("old")
	if log.Len() > 0 {
		t.Errorf("nothing has changed, and the log has %s", log.String())
	}
	now.Token, now.SecretKey = "new", second+","+first
	r.once()
	wantToken("new")
	if len(keys.IDs()) != 2 {
		t.Errorf("keys %v, want two", keys.IDs())
	}
	failure = errors.New("TIMERBUS_TOKEN_FILE: file x is empty")
	r.once()
	wantToken("new")
	for _, want := range []string{"token replaced", "secret keys replaced", "file x is empty"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "hush") || strings.Contains(log.String(), second) {
		t.Errorf("the log shows a secret: %s", log.String())
	}
}

// TestReloadAppliesChangedUsersOfURLs: a changed user or password is used; another change is refused and logged once, and does not
// prevent later changes of the password.
func TestReloadAppliesChangedUsersOfURLs(t *testing.T) {
	config := process.DefaultConfig()
	config.Store, config.Bus, config.CallbackProxy = "postgres://a:hush1@db/x", "nats://hush1@nats:4222", "http://a:hush1@proxy:3128"
	now := config
	var log bytes.Buffer
	r := reload{
		settings: func() (process.Config, error) { return now, nil }, config: config,
		logger: slog.New(slog.NewTextHandler(&log, nil)),
	}
	set := map[string]string{}
	note := func(setting string) func(*url.Userinfo) {
		return func(user *url.Userinfo) { set[setting] = user.String() }
	}
	proxies, err := newProxy(&config)
	if err != nil {
		t.Fatal(err)
	}
	r.watch("store", func(c *process.Config) string { return c.Store }, note("store"))
	r.watch("bus", func(c *process.Config) string { return c.Bus }, note("bus"))
	r.watch("callback-proxy", func(c *process.Config) string { return c.CallbackProxy }, proxies.setUser)
	wantLog := func(lines int, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the log lacks %q: %s", part, log.String())
			}
		}
		if n := strings.Count(log.String(), "\n"); n != lines || strings.Contains(log.String(), "hush") {
			t.Errorf("the log has %d lines, want %d, without secrets: %s", n, lines, log.String())
		}
		log.Reset()
	}
	r.once()
	wantLog(0)

	now.Store, now.Bus, now.CallbackProxy = "postgres://b:hush2@db/x", "nats://hush2@nats:4222", "http://b:hush2@proxy:3128"
	r.once()
	wantLog(3, "user and password replaced", "setting=store", "setting=bus", "setting=callback-proxy")
	if set["store"] != "b:hush2" || set["bus"] != "hush2" || proxies.present()().String() != now.CallbackProxy {
		t.Errorf("applied %v and the proxy %v", set, proxies.present()())
	}

	now.Store = "postgres://b:hush3@other/x?sslmode=require"
	r.once()
	r.once()
	wantLog(1, "not used until a restart", "setting=store", `changed="the host, the parameter sslmode"`)
	if set["store"] != "b:hush2" {
		t.Errorf("a user of another host is applied: %s", set["store"])
	}

	now.Store = "postgres://b:hush4@db/x"
	r.once()
	wantLog(1, "user and password replaced", "setting=store")
	if set["store"] != "b:hush4" {
		t.Errorf("applied %s, want hush4", set["store"])
	}
}
