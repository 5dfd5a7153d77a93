package e2e_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/pkg/client"
)

// random returns the base64 of n random bytes.
func random(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

func newSecret() string { return "whsec_" + random(32) }

// verify verifies a call like a receiver that has the secret.
func verify(t *testing.T, c *receiver.Call, secret string) error {
	t.Helper()
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return webhook.Verify(c.Body, c.Header)
}

// startSealed starts a service on SQLite with secret keys. The test's end closes it.
func startSealed(t *testing.T, data, keys string) *world {
	t.Helper()
	service, err := harness.New(binary, data, harness.WithEnv("TIMERBUS_SECRET_KEY="+keys), harness.WithArgs("--log-level", "debug"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = service.Close() })
	w := &world{Service: service, namespace: "default"}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	w.connect(t)
	return w
}

// settings updates the namespace's settings, and returns the answer.
func (w *world) settings(t *testing.T, settings string) *reply {
	t.Helper()
	r := w.post(t, "namespaces/update", `{"name":"NS","settings":`+settings+`}`)
	if r.status != http.StatusOK {
		t.Fatalf("answered %d: %s", r.status, r.body)
	}
	return r
}

// TestSignedCallbacks uses signing secrets over their whole life on the real service, with the published library at the
// receiver. At the end no secret is in an answer, in the log or in the files.
func TestSignedCallbacks(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	key, nextKey := random(32), random(32)
	first, second := newSecret(), newSecret()
	w := startSealed(t, data, key)
	var answers []string
	remember := func(r *reply) { answers = append(answers, r.body) }
	delivered := func(id string) *receiver.Call {
		t.Helper()
		w.create(t, id, 0, func(r *client.CreateTimerRequest) { r.Payload = []byte(`{"text":"<ä> 🕰"}`) })
		return &w.calls(t, id, 1)[0]
	}
	signedBy := func(c *receiver.Call, secrets ...string) {
		t.Helper()
		for _, secret := range []string{first, second} {
			if err := verify(t, c, secret); (err == nil) != slices.Contains(secrets, secret) {
				t.Errorf("%s: a receiver with one of the secrets returns %v", c.TimerID, err)
			}
		}
		if n := len(strings.Fields(c.Header.Get("Webhook-Signature"))); n != len(secrets) {
			t.Errorf("%s: %d signatures, want %d", c.TimerID, n, len(secrets))
		}
	}

	signedBy(delivered("unsigned"))
	remember(w.settings(t, `{"secrets":{"set":"`+first+`"}}`))
	call := delivered("signed")
	signedBy(call, first)
	timer := w.reaches(t, "signed", isStatus("done"))
	if want := timer.UUID + "_" + timer.Generation; call.WebhookID != want {
		t.Errorf("webhook-id %s, want %s", call.WebhookID, want)
	}
	forged := *call
	forged.Body = append(bytes.Clone(call.Body), ' ')
	if verify(t, &forged, first) == nil {
		t.Error("a changed body is accepted")
	}
	remember(w.settings(t, `{"secrets":{"rotate":"`+second+`"}}`))
	signedBy(delivered("rotating"), first, second)
	got := w.post(t, "namespaces/get", `{"name":"NS"}`)
	remember(got)
	remember(w.post(t, "namespaces/list", `{}`))
	secrets, _ := got.field(t, "settings.secrets").([]any)
	if len(secrets) != 2 {
		t.Fatalf("after the rotation: %s", got.body)
	}
	older, _ := secrets[1].(map[string]any)
	remember(w.settings(t, fmt.Sprintf(`{"secrets":{"remove":%q}}`, older["id"])))
	signedBy(delivered("rotated"), second)
	for _, body := range []string{
		`{"name":"NS","settings":{"secrets":{"set":"` + first + ` "}}}`, `{"name":"NS","settings":{"secret":"` + first + `"}}`,
		`{"name":"NS","settings":{"secrets":{"set":"` + first + `"}}`, `{"name":"NS","secrets":["` + first + `"]}`,
	} {
		r := w.post(t, "namespaces/update", body)
		if r.status != http.StatusBadRequest {
			t.Errorf("%s: answered %d", body, r.status)
		}
		remember(r)
	}
	certificate, privateKey := selfSigned(t)
	remember(w.settings(t, fmt.Sprintf(`{"tls":{"certificate":%q,"key":%q}}`, certificate, privateKey)))
	logs := w.Log()
	if _, err := w.Stop(within(t, patience)); err != nil {
		t.Fatal(err)
	}

	// The service's key is changed: without the old key it does not start; with both, everything is encrypted with the
	// new key.
	stranger, err := harness.New(binary, data, harness.WithEnv("TIMERBUS_SECRET_KEY="+nextKey))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Close() })
	if err := stranger.Launch(); err != nil {
		t.Fatal(err)
	}
	if code, err := stranger.Exit(within(t, patience)); err != nil || code != 1 || !strings.Contains(stranger.Log(), "TIMERBUS_SECRET_KEY") {
		t.Errorf("without its key: exit code %d, %v\n%s", code, err, stranger.Log())
	}
	logs += stranger.Log()
	for _, keys := range []string{nextKey + "," + key, nextKey} {
		w = startSealed(t, data, keys)
		signedBy(delivered("keys"+fmt.Sprint(len(keys))), second)
		remember(w.settings(t, `{}`))
		logs += w.Log()
		if _, err := w.Stop(within(t, patience)); err != nil {
			t.Fatal(err)
		}
	}

	hidden := map[string]string{"the service's key": key, "its next key": nextKey, "the client key": pemBody(privateKey)}
	for what, secret := range map[string]string{"the first secret": first, "the second secret": second} {
		hidden[what] = strings.TrimPrefix(secret, "whsec_")
	}
	for what, text := range hidden {
		for _, answer := range answers {
			if strings.Contains(answer, text) {
				t.Errorf("an answer shows %s: %s", what, answer)
			}
		}
		if strings.Contains(logs, text) {
			t.Errorf("the log shows %s", what)
		}
	}
	notInFiles(t, data, hidden)
}

// notInFiles searches for base64 texts, and for their bytes, raw and as hex.
func notInFiles(t *testing.T, folder string, hidden map[string]string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		for what, text := range hidden {
			raw, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return err
			}
			for _, shape := range [][]byte{[]byte(text), raw, []byte(hex.EncodeToString(raw))} {
				if bytes.Contains(content, shape) {
					t.Errorf("%s holds %s in plain text", name, what)
				}
			}
		}
		return nil
	})
	if database, statErr := os.Stat(filepath.Join(folder, "timerbus.db")); err != nil || statErr != nil || database.Size() == 0 || files < 2 {
		t.Errorf("looked into %d files: %v, %v", files, err, statErr)
	}
}

func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
}

// pemBody is the first line of base64 in PEM.
func pemBody(text string) string { return strings.Split(text, "\n")[1] }

func TestWithoutASecretKey(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	secret := newSecret()
	r := w.post(t, "namespaces/update", `{"name":"NS","settings":{"secrets":{"set":"`+secret+`"}}}`)
	if r.status != http.StatusBadRequest || !strings.Contains(r.body, "TIMERBUS_SECRET_KEY") || strings.Contains(r.body, secret[6:]) {
		t.Errorf("answered %d: %s", r.status, r.body)
	}
	output := w.cli(t, 5, "namespace", "update", w.namespace, "--secret", secret)
	if !strings.Contains(output, "TIMERBUS_SECRET_KEY") || strings.Contains(output, secret[6:]) {
		t.Errorf("the command prints %s", output)
	}
}

func TestHeadersOfCallbacks(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.cli(t, 0, "namespace", "update", w.namespace, "--header", "X-Env: test", "--header", "x-both: namespace")
	w.create(t, "with", time.Hour, func(r *client.CreateTimerRequest) {
		r.Headers = client.Headers{"X-BOTH": "timer", "authorization": "Bearer x"}
	})
	if got, err := w.api.GetTimer(t.Context(), w.selection("with")); err != nil || len(got.Headers) != 2 || got.Headers["X-Both"] != "timer" {
		t.Errorf("got %v, %v", got.Headers, err)
	}
	// Neither an update of other fields nor a death and a retry removes them.
	w.receiver.On(w.namespace, "with", receiver.Answer{Status: http.StatusGone}, receiver.Answer{})
	if _, err := w.api.UpdateTimer(t.Context(), client.UpdateTimerRequest{Namespace: w.namespace, TimerID: "with", ExecuteIn: "0s"}); err != nil {
		t.Fatal(err)
	}
	if dead := w.reaches(t, "with", isStatus("dead")); dead.Headers["X-Both"] != "timer" {
		t.Errorf("the dead timer has the headers %v", dead.Headers)
	}
	if _, err := w.api.RetryTimer(t.Context(), client.RetryTimerRequest{Namespace: w.namespace, TimerID: "with"}); err != nil {
		t.Fatal(err)
	}
	for i, c := range w.calls(t, "with", 2) {
		for name, want := range map[string]string{"X-Env": "test", "X-Both": "timer", "Authorization": "Bearer x", "Webhook-Id": c.WebhookID} {
			if values := c.Header.Values(name); len(values) != 1 || values[0] != want {
				t.Errorf("call %d: %s: %q, want %q", i+1, name, values, want)
			}
		}
	}
	w.cli(t, 0, "timer", "create", "without", "--in", "0s", "--callback-url", w.receiver.URL, "--namespace", w.namespace)
	if c := w.calls(t, "without", 1)[0]; c.Header.Get("X-Both") != "namespace" || c.Header.Get("Authorization") != "" {
		t.Errorf("without its own headers: %v", c.Header)
	}
	w.settings(t, `{"headers":null}`)
	w.create(t, "none", 0)
	if c := w.calls(t, "none", 1)[0]; c.Header.Get("X-Env") != "" {
		t.Errorf("after the namespace's were cleared: %v", c.Header)
	}
}

func TestFinalStatuses(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.settings(t, `{"finalStatuses":[409]}`)
	w.receiver.On(w.namespace, "retried", receiver.Answer{Status: 404}, receiver.Answer{})
	w.receiver.On(w.namespace, "refused", receiver.Answer{Status: 409}, receiver.Answer{})
	for _, id := range []string{"retried", "refused"} {
		w.create(t, id, 0)
	}
	w.calls(t, "retried", 2)
	if got := w.reaches(t, "retried", isStatus("done")); got.Attempts != 2 {
		t.Errorf("done after %d attempts, want 2", got.Attempts)
	}
	if got := w.reaches(t, "refused", isStatus("dead")); got.Attempts != 1 || got.LastStatusCode != 409 {
		t.Errorf("dead after %d attempts with %d", got.Attempts, got.LastStatusCode)
	}
}
