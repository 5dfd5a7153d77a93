package webhook_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/webhook"
)

// The examples in every language also read golden.
const golden = "../../schemas/testdata/signatures.json"

var update = flag.Bool("update", false, "write the golden vectors anew")

// vector is one delivery and its signature.
type vector struct {
	Name      string   `json:"name"`
	Secrets   []string `json:"secrets"`
	ID        string   `json:"webhook-id"`
	Timestamp string   `json:"webhook-timestamp"`
	Body      string   `json:"body"`
	Signature string   `json:"webhook-signature"`
}

// at is when all deliveries were sent.
var at = time.UnixMilli(1767225600250)

func secretText(first byte, size int) string {
	key := make([]byte, size)
	for i := range key {
		key[i] = first + byte(i)
	}
	return webhook.Prefix + base64.StdEncoding.EncodeToString(key)
}

func parsed(t *testing.T, texts ...string) []webhook.Secret {
	t.Helper()
	var all []webhook.Secret
	for _, text := range texts {
		s, err := webhook.ParseSecret(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func vectors() []vector {
	const id = "6ba7b810-9dad-51d1-80b4-00c04fd430c8_3706188562493276161"
	today, before := secretText(1, 32), secretText(200, 24)
	return []vector{
		{Name: "one secret", Secrets: []string{today}, ID: id, Body: `{"namespace":"default","timerId":"order-17","payload":{"order":17}}`},
		{Name: "rotation", Secrets: []string{today, before}, ID: id, Body: `{"namespace":"default","timerId":"order-17","payload":{"order":17}}`},
		{Name: "not only ASCII", Secrets: []string{secretText(7, 64)}, ID: id, Body: `{"timerId":"Bestellung 17/ä <%>","payload":"🕰\n"}`},
		{Name: "no body", Secrets: []string{before}, ID: id, Body: ""},
	}
}

func TestSignaturesAreTheGoldenOnes(t *testing.T) {
	made := vectors()
	for i := range made {
		v := &made[i]
		v.Timestamp = webhook.Timestamp(at)
		v.Signature = webhook.Sign(parsed(t, v.Secrets...), v.ID, at, []byte(v.Body))
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(made); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("signatures have changed; receivers would refuse them:\n%s\nwant\n%s", &out, want)
	}
}

func TestSecretsThatAreAccepted(t *testing.T) {
	for _, size := range []int{webhook.MinSecret, 32, webhook.MaxSecret} {
		text := secretText(250, size)
		s, err := webhook.ParseSecret(text)
		if err != nil || s.Reveal() != text {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	a, b := parsed(t, secretText(1, 32))[0], parsed(t, secretText(2, 32))[0]
	if a.ID() == b.ID() || len(a.ID()) != 8 || a.ID() != parsed(t, secretText(1, 32))[0].ID() {
		t.Errorf("ids %s and %s", a.ID(), b.ID())
	}
}

func TestSecretsThatAreNot(t *testing.T) {
	good := secretText(250, 32)
	for what, text := range map[string]string{
		"nothing": "", "no prefix": strings.TrimPrefix(good, "whsec_"), "prefix only": "whsec_",
		"too short": secretText(1, webhook.MinSecret-1), "too long": secretText(1, webhook.MaxSecret+1),
		"not base64": "whsec_!!!!", "no padding": strings.TrimRight(good, "="), "a line break": good[:20] + "\n" + good[20:],
		"the other alphabet": "whsec_" + strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimPrefix(good, "whsec_")),
		"a blank":            good + " ",
	} {
		_, err := webhook.ParseSecret(text)
		switch {
		case err == nil:
			t.Errorf("%s was accepted", what)
		case len(text) > 8 && strings.Contains(err.Error(), text[6:]):
			t.Errorf("%s: the refusal shows it: %v", what, err)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	text := secretText(1, 32)
	s := parsed(t, text)[0]
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "many", []webhook.Secret{s}, "in", struct{ S webhook.Secret }{s})
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "many", []webhook.Secret{s}, "in", struct{ S webhook.Secret }{s})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		fmt.Fprintf(&log, verb+"\n", s)
		fmt.Fprintf(&log, verb+"\n", []any{s, &s, struct{ S webhook.Secret }{s}})
	}
	raw := parsedKey(t, text)
	for _, shape := range []string{text[6:], fmt.Sprintf("%x", raw), fmt.Sprintf("%d", raw), string(raw)} {
		if strings.Contains(log.String(), shape) {
			t.Errorf("it was printed:\n%s", &log)
		}
	}
	if !strings.Contains(log.String(), s.ID()) {
		t.Errorf("not even its id was printed:\n%s", &log)
	}
}

func parsedKey(t *testing.T, text string) []byte {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, webhook.Prefix))
	if err != nil {
		t.Fatal(err)
	}
	return key
}
