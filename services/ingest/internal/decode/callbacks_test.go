package decode

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/webhook"
)

const (
	aSecret = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
	bSecret = "whsec_yMnKy8zNzs/Q0dLT1NXW19jZ2tvc3d7f"
	cSecret = "whsec_BwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSY="
)

func keyring(t *testing.T, names ...string) encryption.Keyring {
	t.Helper()
	if len(names) == 0 {
		names = []string{"k"}
	}
	var texts []string
	for _, name := range names {
		texts = append(texts, base64.StdEncoding.EncodeToString([]byte(strings.Repeat(name, 32))))
	}
	ring, err := encryption.ParseKeys(strings.Join(texts, ","))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func idOf(t *testing.T, text string) string {
	t.Helper()
	s, err := webhook.ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return s.ID()
}

// namespaceSettings applies updates to the settings of one namespace.
type namespaceSettings struct {
	t        *testing.T
	settings store.Settings
	with     Encryption
}

func newNamespaceSettings(t *testing.T) *namespaceSettings {
	t.Helper()
	return &namespaceSettings{t, store.DefaultSettings(), Encryption{Namespace: "n", Keys: keyring(t), Now: received}}
}

// update applies settings; after a refusal nothing has changed.
func (n *namespaceSettings) update(settings string) error {
	n.t.Helper()
	u, err := ReadNamespaceUpdate([]byte(`{"name":"n","settings":` + settings + `}`))
	if err != nil {
		return err
	}
	s, err := u.Apply(n.settings, &n.with)
	if err == nil {
		n.settings = s
	}
	return err
}

func (n *namespaceSettings) must(settings string) {
	n.t.Helper()
	if err := n.update(settings); err != nil {
		n.t.Fatalf("%s: %v", settings, err)
	}
}

// wantLive checks which secrets sign, the newest first, and that they can be decrypted.
func (n *namespaceSettings) wantLive(what string, want ...string) {
	n.t.Helper()
	var got []string
	for _, s := range n.settings.Secrets.Live(n.with.Now) {
		text, err := n.with.Keys.Decrypt(store.SecretContext("n"), s.Encrypted)
		if err != nil {
			n.t.Fatalf("%s: %v", what, err)
		}
		if s.ID != idOf(n.t, string(text)) {
			n.t.Errorf("%s: %s has another's id", what, s.ID)
		}
		got = append(got, string(text))
	}
	if !slices.Equal(got, want) {
		n.t.Errorf("%s: %d secrets are live, want %d, or they differ", what, len(got), len(want))
	}
}

func (n *namespaceSettings) wantRefused(settings, field, accepted string) {
	n.t.Helper()
	before := n.settings
	err := n.update(settings)
	var invalid *timer.InvalidError
	if !errors.As(err, &invalid) || invalid.Field != field || !strings.Contains(invalid.Want, accepted) {
		n.t.Errorf("%s: %v, want a refusal of %s: … %s", settings, err, field, accepted)
	}
	if n.settings != before {
		n.t.Errorf("%s changed something", settings)
	}
}

func TestSecretsRotate(t *testing.T) {
	n := newNamespaceSettings(t)
	n.wantLive("at first")
	n.must(`{"secrets":{"set":"` + aSecret + `"}}`)
	n.wantLive("set", aSecret)
	if s := n.settings.Secrets[0]; s.CreatedAt != received || s.ExpiresAt != 0 || s.ID != idOf(t, aSecret) {
		t.Errorf("set: %+v", s)
	}
	n.with.Now += 1000
	n.must(`{"secrets":{"rotate":"` + bSecret + `"}}`)
	n.wantLive("rotated", bSecret, aSecret)
	n.with.Now += 1_000_000_000_000
	n.wantLive("long after, the old one stays", bSecret, aSecret)
	n.wantRefused(`{"secrets":{"rotate":"`+cSecret+`"}}`, "secrets.rotate", idOf(t, bSecret)+", "+idOf(t, aSecret))
	n.must(`{"secrets":{"rotate":"` + bSecret + `","overlap":"1h"}}`) // a repetition, because the first answer was lost
	n.wantLive("sent again", bSecret, aSecret)
	n.must(`{"secrets":{"rotate":"` + aSecret + `"}}`)
	n.wantLive("rotated back", aSecret, bSecret)
	n.must(`{"secrets":{"remove":"` + idOf(t, aSecret) + `"}}`)
	n.wantLive("the newer one removed", bSecret)
	n.wantRefused(`{"secrets":{"remove":"`+idOf(t, aSecret)+`"}}`, "secrets.remove", idOf(t, bSecret))
	n.must(`{"historyRetention":"1h"}`)
	n.wantLive("after another update", bSecret)
	n.must(`{"secrets":null}`)
	n.wantLive("all removed")
	n.wantRefused(`{"secrets":{"remove":"00000000"}}`, "secrets.remove", "the namespace has none")
	n.must(`{"secrets":{"rotate":"` + cSecret + `","overlap":"1h"}}`)
	n.wantLive("the first one by rotation", cSecret)
}

func TestSecretsOverlap(t *testing.T) {
	n := newNamespaceSettings(t)
	n.must(`{"secrets":{"set":"` + aSecret + `"}}`)
	n.must(`{"secrets":{"rotate":"` + bSecret + `","overlap":"1h"}}`)
	n.with.Now += timer.Millis(time.Hour/time.Millisecond) - 1
	n.must(`{"secrets":{"rotate":"` + bSecret + `","overlap":"1h"}}`) // a repetition does not prolong the overlap
	n.wantLive("a moment before the end", bSecret, aSecret)
	n.with.Now++
	n.wantLive("at the end", bSecret)
	n.must(`{"secrets":{"rotate":"` + cSecret + `","overlap":"1h"}}`)
	n.wantLive("the expired one makes room", cSecret, bSecret)
	n.must(`{"secrets":{"remove":"` + idOf(t, cSecret) + `"}}`)
	n.with.Now += 1_000_000_000_000
	n.wantLive("the last one signs on", bSecret)
}

func TestSecretsThatAreNotAccepted(t *testing.T) {
	n := newNamespaceSettings(t)
	for settings, want := range map[string][2]string{
		`{"secrets":{}}`: {"secrets", "exactly one"},
		`{"secrets":{"set":"` + aSecret + `","rotate":"` + bSecret + `"}}`: {"secrets", "exactly one"},
		`{"secrets":{"set":null}}`:                                      {"secrets", "exactly one"},
		`{"secrets":{"set":"` + aSecret + `","overlap":"1h"}}`:          {"secrets.overlap", "only together with rotate"},
		`{"secrets":{"rotate":"` + aSecret + `","overlap":"0s"}}`:       {"secrets.overlap", "1s"},
		`{"secrets":{"rotate":"` + aSecret + `","overlap":"8761h"}}`:    {"secrets.overlap", "8760h"},
		`{"secrets":{"set":"` + aSecret[6:] + `"}}`:                     {"secrets.set", "whsec_"},
		`{"secrets":{"rotate":"` + aSecret[:20] + `"}}`:                 {"secrets.rotate", "whsec_"},
		`{"secrets":{"set":17}}`:                                        {"secrets.set", "whsec_"},
		`{"secrets":"` + aSecret + `"}`:                                 {"secrets", "object"},
		`{"secret":"` + aSecret + `"}`:                                  {"settings.secret", "secrets"},
		`{"secrets":{"set":"` + aSecret + `","set":"` + aSecret + `"}}`: {"secrets.set", "once"},
	} {
		n.wantRefused(settings, want[0], want[1])
		if err := n.update(settings); strings.Contains(err.Error(), aSecret[6:20]) {
			t.Errorf("the refusal shows the secret: %v", err)
		}
	}
	for _, body := range []string{
		`{"name":"n","settings":{"secrets":{"set":"` + aSecret + `"}}`, `{"name":"n","secrets":"` + aSecret + `"}`,
		`{"name":"n","settings":"` + aSecret + `"}`, `"` + aSecret + `"`,
	} {
		_, create := ReadNamespaceCreate([]byte(body))
		_, update := ReadNamespaceUpdate([]byte(body))
		for _, err := range []error{create, update} {
			if err == nil || strings.Contains(err.Error(), aSecret[6:20]) {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
	n.with.Keys = encryption.Keyring{}
	n.wantRefused(`{"secrets":{"set":"`+aSecret+`"}}`, "secrets.set", "--secret-key")
	n.must(`{"secrets":null,"tls":null,"headers":{"x-a":"1"}}`)
}

func TestSecretsAreSealedAnewWithTheNewestKey(t *testing.T) {
	n := newNamespaceSettings(t)
	n.must(`{"secrets":{"set":"` + aSecret + `"}}`)
	n.must(`{"secrets":{"rotate":"` + bSecret + `"}}`)
	before := n.settings.Secrets
	n.must(`{}`)
	if n.settings.Secrets != before {
		t.Error("what is encrypted with the newest key was encrypted again")
	}
	n.with.Keys = keyring(t, "l", "k")
	n.must(`{}`)
	for _, s := range n.settings.Secrets {
		if !n.with.Keys.IsCurrent(s.Encrypted) {
			t.Errorf("secret %s has an old seal", s.ID)
		}
	}
	n.wantLive("encrypted again", bSecret, aSecret)
	encrypted := n.settings.Secrets
	n.with.Keys = keyring(t, "m")
	n.must(`{}`)
	if n.settings.Secrets != encrypted {
		t.Error("what does not open was changed")
	}
}

func TestHeadersThatAreNotAccepted(t *testing.T) {
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"x-%d":"1"`, i))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	for _, headers := range []string{
		`[]`, `"x"`, `17`, `{"X-A":1}`, `{"X-A":null}`, `{"X-A":""}`, `{"X-A":"\n"}`, `{"X-A":"\ud800"}`, `{"X-\ud800":"1"}`, `{"":"1"}`,
		`{"webhook-id":"1"}`, `{"Host":"h"}`, `{"X-A":"1","x-a":"2"}`, `{"X-A":"1","X-A":"1"}`, many(33), many(3000),
		`{"X-A":"` + strings.Repeat("v", timer.MaxHeaderBytes) + `"}`,
	} {
		_, err := readSpec(`{"id":"a","executeIn":"1s","headers":` + headers + `}`)
		var invalid *timer.InvalidError
		if !errors.As(err, &invalid) || !strings.HasPrefix(invalid.Field, "headers") {
			t.Errorf("%.60s: %v", headers, err)
		}
		if _, err := settingsOf(`{"name":"a","settings":{"headers":` + headers + `}}`); err == nil {
			t.Errorf("%.60s was accepted of a namespace", headers)
		}
	}
	if _, err := readSpec(`{"id":"a","executeIn":"1s","headers":` + many(32) + `}`); err != nil {
		t.Errorf("32 headers: %v", err)
	}
}

func TestFinalStatuses(t *testing.T) {
	n := newNamespaceSettings(t)
	n.must(`{"finalStatuses":[422,400,400.0]}`)
	if got := n.settings.FinalStatuses.String(); got != "400 422" {
		t.Errorf("statuses %q", got)
	}
	n.must(`{"headers":{"x-a":"1"}}`)
	if n.settings.FinalStatuses == (timer.StatusCodes{}) || n.settings.Headers != "X-A: 1\n" {
		t.Errorf("another update left %+v", n.settings)
	}
	for _, statuses := range []string{`404`, `"404"`, `["404"]`, `[399]`, `[500]`, `[404.5]`, `[null]`, `{}`} {
		n.wantRefused(`{"finalStatuses":`+statuses+`}`, "finalStatuses", "4")
	}
	n.must(`{"finalStatuses":[]}`)
	n.must(`{"headers":null}`)
	if n.settings != store.DefaultSettings() {
		t.Errorf("cleared: %+v", n.settings)
	}
}
