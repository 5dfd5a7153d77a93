package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type vector struct {
	Name      string   `json:"name"`
	Secrets   []string `json:"secrets"`
	ID        string   `json:"webhook-id"`
	Timestamp string   `json:"webhook-timestamp"`
	Body      string   `json:"body"`
	Signature string   `json:"webhook-signature"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	raw, err := os.ReadFile("../../../schemas/testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(raw, &all); err != nil || len(all) == 0 {
		t.Fatalf("%d vectors, %v", len(all), err)
	}
	return all
}

func (v *vector) header() http.Header {
	h := http.Header{}
	h.Set("Webhook-Id", v.ID)
	h.Set("Webhook-Timestamp", v.Timestamp)
	h.Set("Webhook-Signature", v.Signature)
	return h
}

func library(t *testing.T, secret string) *standardwebhooks.Webhook {
	t.Helper()
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return webhook
}

func TestTheLibraryAcceptsOurSignatures(t *testing.T) {
	const other = "whsec_b3RoZXJvdGhlcm90aGVyb3RoZXJvdGhlcm90aGVyb3Q="
	for _, v := range vectors(t) {
		for _, secret := range v.Secrets {
			if err := library(t, secret).VerifyIgnoringTimestamp([]byte(v.Body), v.header()); err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
			if err := library(t, secret).Verify([]byte(v.Body), v.header()); err == nil {
				t.Errorf("%s: an old timestamp was accepted", v.Name)
			}
		}
		changed := v
		changed.ID += "0"
		for what, err := range map[string]error{
			"another secret": library(t, other).VerifyIgnoringTimestamp([]byte(v.Body), v.header()),
			"another body":   library(t, v.Secrets[0]).VerifyIgnoringTimestamp([]byte(v.Body+" "), v.header()),
			"another id":     library(t, v.Secrets[0]).VerifyIgnoringTimestamp([]byte(v.Body), changed.header()),
		} {
			if err == nil {
				t.Errorf("%s: %s was accepted", v.Name, what)
			}
		}
	}
}

func TestReceiver(t *testing.T) {
	v := vectors(t)[0]
	handler := receiver(library(t, v.Secrets[0]).VerifyIgnoringTimestamp, io.Discard)
	for body, want := range map[string]int{v.Body: http.StatusNoContent, v.Body + " ": http.StatusUnauthorized} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header = v.header()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("answered %d, want %d: %s", w.Code, want, w.Body)
		}
	}
}
