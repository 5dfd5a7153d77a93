package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	now.Token, now.SecretKey, now.Store = "new", second+","+first, "postgres://hush@db/timerbus"
	r.once()
	wantToken("new")
	if len(keys.IDs()) != 2 {
		t.Errorf("keys %v, want two", keys.IDs())
	}
	failure = errors.New("TIMERBUS_TOKEN_FILE: file x is empty")
	r.once()
	wantToken("new")
	for _, want := range []string{"token replaced", "secret keys replaced", "restart the process to use it", "setting=store", "file x is empty"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "hush") || strings.Contains(log.String(), second) {
		t.Errorf("the log shows a secret: %s", log.String())
	}
}
