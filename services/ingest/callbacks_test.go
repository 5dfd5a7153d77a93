package ingest_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest"
)

const (
	firstSecret  = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
	secondSecret = "whsec_yMnKy8zNzs/Q0dLT1NXW19jZ2tvc3d7f"
)

func withKeys(t *testing.T) (tune func(*ingest.Config), keys encryption.Keyring) {
	t.Helper()
	keys, err := encryption.ParseKeys(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", encryption.KeySize))))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *ingest.Config) { c.Keys = keys }, keys
}

func TestHeadersOfTimers(t *testing.T) {
	w := newWorld(t)
	made := w.post("timers/create", `{"id":"a","executeIn":"1h","callbackUrl":"http://h","headers":{"x-team":"billing","X-Order":"17"}}`).must(t, 200)
	if got := made.field("headers", "X-Team"); got != "billing" || made.field("headers", "X-Order") != "17" {
		t.Errorf("answered %s", made.text)
	}
	if row, err := w.row("a"); err != nil || row.Headers != "X-Order: 17\nX-Team: billing\n" {
		t.Errorf("kept %q, %v", row.Headers, err)
	}
	kept := w.post("timers/update", `{"id":"a","payload":1}`).must(t, 200)
	if kept.field("headers", "X-Team") != "billing" {
		t.Errorf("an update of something else answered %s", kept.text)
	}
	other := w.post("timers/update", `{"id":"a","headers":{"X-Other":"1"}}`).must(t, 200)
	if other.field("headers", "X-Other") != "1" || other.field("headers", "X-Team") != nil {
		t.Errorf("other headers: %s", other.text)
	}
	none := w.post("timers/update", `{"id":"a","headers":null}`).must(t, 200)
	if none.field("headers") != nil || none.field("payload") == nil {
		t.Errorf("no headers: %s", none.text)
	}
	batch := w.post("timers/batch-create", `{"timers":[{"id":"b","executeIn":"1h","headers":{"X-A":"1"}},{"id":"c","executeIn":"1h","headers":{"Host":"1"}}]}`).must(t, 200)
	if row, err := w.row("b"); err != nil || row.Headers != "X-A: 1\n" {
		t.Errorf("by batch: %q, %v", row.Headers, err)
	}
	if !strings.Contains(batch.text, `timers[1].headers: \"Host\" is not accepted`) {
		t.Errorf("refused in a batch: %s", batch.text)
	}
	replaced := w.post("timers/create", `{"id":"b","executeIn":"1h"}`).must(t, 200)
	if replaced.field("headers") != nil {
		t.Errorf("replaced by one without: %s", replaced.text)
	}
}

func TestNamespacesSayHowCallbacksGoOut(t *testing.T) {
	tune, keys := withKeys(t)
	w := newWorld(t, tune)
	made := w.post("namespaces/create", `{"name":"n","settings":{"headers":{"x-env":"test"},"finalStatuses":[404,409],"secrets":{"set":"`+firstSecret+`"}}}`).must(t, 200)
	w.now.Add(1000)
	rotated := w.post("namespaces/update", `{"name":"n","settings":{"secrets":{"rotate":"`+secondSecret+`","overlap":"1h"}}}`).must(t, 200)
	secrets, _ := rotated.field("settings", "secrets").([]any)
	if len(secrets) != 2 {
		t.Fatalf("rotated: %s", rotated.text)
	}
	newer, _ := secrets[0].(map[string]any)
	older, _ := secrets[1].(map[string]any)
	if newer["createdAt"] == older["createdAt"] || newer["expiresAt"] != nil || older["expiresAt"] == nil || newer["id"] == older["id"] {
		t.Errorf("rotated: %s", rotated.text)
	}
	got := w.post("namespaces/get", `{"name":"n"}`).must(t, 200)
	if got.text != rotated.text {
		t.Errorf("get answers %s, the update did %s", got.text, rotated.text)
	}
	w.now.Add(3_600_000)
	late := w.post("namespaces/list", `{}`).must(t, 200)
	if strings.Count(late.text, `"expiresAt"`) != 0 || strings.Count(late.text, `"createdAt"`) != 3 {
		t.Errorf("after the overlap: %s", late.text)
	}
	for _, r := range []reply{made, rotated, got, late} {
		for _, secret := range []string{firstSecret[6:], secondSecret[6:], "v1:"} {
			if strings.Contains(r.text, secret) {
				t.Errorf("an answer shows a secret: %s", r.text)
			}
		}
	}
	ns, err := w.store.GetNamespace(t.Context(), "n")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := keys.Decrypt(store.SecretContext("n"), ns.Settings.Secrets[0].Encrypted); err != nil || string(text) != secondSecret {
		t.Errorf("what is stored does not open as what was set: %v", err)
	}
	w.post("namespaces/update", `{"name":"n","settings":{}}`).must(t, 200)
	cleared := w.post("namespaces/update", `{"name":"n","settings":{"secrets":null,"headers":null,"finalStatuses":null,"tls":null}}`).must(t, 200)
	for _, field := range []string{"secrets", "headers", "finalStatuses", "tls"} {
		if cleared.field("settings", field) != nil {
			t.Errorf("cleared: %s", cleared.text)
		}
	}
}

func TestWithoutASecretKeySecretsAreNotTaken(t *testing.T) {
	w := newWorld(t)
	w.post("namespaces/create", `{"name":"n"}`).must(t, 200)
	for _, path := range []string{"namespaces/create", "namespaces/update"} {
		name := map[string]string{"namespaces/create": "other", "namespaces/update": "n"}[path]
		r := w.post(path, `{"name":"`+name+`","settings":{"secrets":{"set":"`+firstSecret+`"}}}`).must(t, http.StatusBadRequest)
		if !strings.Contains(r.text, "TIMERBUS_SECRET_KEY") || strings.Contains(r.text, firstSecret[6:]) {
			t.Errorf("%s: %s", path, r.text)
		}
	}
	w.post("namespaces/get", `{"name":"other"}`).must(t, http.StatusNotFound)
}

func TestAnswersShowHowCallbacksAuthenticateWithoutSecrets(t *testing.T) {
	tune, keys := withKeys(t)
	policy, err := egress.Parse("")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, tune, func(c *ingest.Config) { c.Policy = policy })
	const secret = "hunter2"
	for _, c := range []struct{ given, shown string }{
		{`{"type":"bearer","token":"hunter2"}`, `{"type":"bearer"}`},
		{`{"type":"basic","username":"u","password":"hunter2"}`, `{"type":"basic","username":"u"}`},
		{
			`{"type":"oauth2","tokenUrl":"https://id.example/t","clientId":"c","clientSecret":"hunter2","scopes":["a","b"],"audience":"d"}`,
			`{"type":"oauth2","audience":"d","clientId":"c","scopes":["a","b"],"tokenUrl":"https://id.example/t"}`,
		},
		{
			`{"type":"oauth2","tokenUrl":"https://id.example/t","clientId":"c","clientSecret":"hunter2"}`,
			`{"type":"oauth2","clientId":"c","tokenUrl":"https://id.example/t"}`,
		},
	} {
		changed := w.post("namespaces/update", `{"name":"default","settings":{"callbackAuth":`+c.given+`}}`).must(t, 200)
		got := w.post("namespaces/get", `{"name":"default"}`).must(t, 200)
		list := w.post("namespaces/list", `{}`).must(t, 200)
		for _, r := range []reply{changed, got, list} {
			if !strings.Contains(r.text, `"callbackAuth":`+c.shown) || strings.Contains(r.text, secret) || strings.Contains(r.text, "v1:") {
				t.Errorf("%s is shown as %s", c.given, r.text)
			}
		}
		ns, err := w.store.GetNamespace(t.Context(), "default")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := keys.Decrypt(store.AuthContext("default"), ns.Settings.Auth.EncryptedSecret); err != nil || string(text) != secret {
			t.Errorf("the stored secret is %q, %v", text, err)
		}
	}
	for _, path := range []string{"namespaces/create", "namespaces/update"} {
		name := map[string]string{"namespaces/create": "other", "namespaces/update": "default"}[path]
		r := w.post(path, `{"name":"`+name+`","settings":{"callbackAuth":{"type":"oauth2","tokenUrl":"http://169.254.169.254/t","clientId":"c","clientSecret":"hunter2"}}}`)
		if r.must(t, http.StatusBadRequest); !strings.Contains(r.text, "callbackAuth.tokenUrl") || !strings.Contains(r.text, "metadata") {
			t.Errorf("%s with an address that is not allowed: %s", path, r.text)
		}
	}
	cleared := w.post("namespaces/update", `{"name":"default","settings":{"callbackAuth":null}}`).must(t, 200)
	if strings.Contains(cleared.text, "callbackAuth") {
		t.Errorf("after null: %s", cleared.text)
	}
}

func TestTheErrorOfARefusedURLNamesItsField(t *testing.T) {
	policy, err := egress.Parse("")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *ingest.Config) { c.Policy = policy })
	w.post("timers/create", `{"id":"a","executeIn":"1h","callbackUrl":"https://hooks.example/a"}`).must(t, http.StatusOK)
	for _, c := range []struct{ path, body string }{
		{"timers/create", `{"id":"b","executeIn":"1h","callbackUrl":"https://hooks.example/b","%s":"http://169.254.169.254/x"}`},
		{"timers/update", `{"id":"a","%s":"http://169.254.169.254/x"}`},
		{"namespaces/create", `{"name":"other","settings":{"%s":"http://169.254.169.254/x"}}`},
		{"namespaces/update", `{"name":"default","settings":{"%s":"http://169.254.169.254/x"}}`},
	} {
		for _, field := range []string{"onDone", "onDead"} {
			r := w.post(c.path, fmt.Sprintf(c.body, field)).must(t, http.StatusBadRequest)
			if !strings.Contains(r.text, field+": ") || strings.Contains(r.text, "callbackUrl") {
				t.Errorf("%s with %s: %s", c.path, field, r.text)
			}
		}
	}
}

// TestAnUpdateOfANamespaceChecksItsOwnURLs: URLs that an older policy allowed do not hinder the update of another setting.
func TestAnUpdateOfANamespaceChecksItsOwnURLs(t *testing.T) {
	policy, err := egress.Parse("")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.post("namespaces/update", `{"name":"default","settings":{"onDone":"http://169.254.169.254/x"}}`).must(t, 200)
	w.stop()
	w.restart(func(c *ingest.Config) { c.Policy = policy })
	w.post("namespaces/update", `{"name":"default","settings":{"headers":{"X-A":"1"}}}`).must(t, 200)
	w.post("namespaces/update", `{"name":"default","settings":{"onDone":"http://169.254.169.254/x"}}`).must(t, 400)
	w.post("namespaces/update", `{"name":"default","settings":{"onDone":null}}`).must(t, 200)
}

func TestANamespacesUpdatesAreInOrderWhateverTheClock(t *testing.T) {
	w := newWorld(t)
	last, err := w.store.GetNamespace(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []int64{0, -5000, 0, 10_000} {
		w.now.Add(step)
		w.post("namespaces/update", `{"name":"default","settings":{"headers":{"X-A":"1"}}}`).must(t, 200)
		next, err := w.store.GetNamespace(t.Context(), "default")
		if err != nil || next.UpdatedAt <= last.UpdatedAt {
			t.Errorf("updated at %s after %s, %v", next.UpdatedAt, last.UpdatedAt, err)
		}
		last = next
	}
}
