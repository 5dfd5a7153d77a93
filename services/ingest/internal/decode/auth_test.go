package decode

import (
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/store"
)

const (
	oauth2Auth = `{"callbackAuth":{"type":"oauth2","tokenUrl":"https://id.example/t?a=b","clientId":"c","clientSecret":"hunter2",` +
		`"scopes":["read","write"],"audience":"https://api"}}`
	basicAuth  = `{"callbackAuth":{"type":"basic","username":"ü u","password":"hunter2 :ä"}}`
	bearerAuth = `{"callbackAuth":{"type":"bearer","token":"hunter2"}}`
)

// wantAuth checks the authentication without its secret, and the decrypted secret.
func (n *namespaceSettings) wantAuth(want store.CallbackAuth, secret string) {
	n.t.Helper()
	got := n.settings.Auth
	text, err := n.with.Keys.Decrypt("n/callback credentials", got.EncryptedSecret)
	if got.EncryptedSecret = ""; err != nil || string(text) != secret || got != want {
		n.t.Errorf("settings: %+v with the secret %q, %v; want %+v with %q", got, text, err, want, secret)
	}
}

func TestCallbackAuthIsReplacedAsAWhole(t *testing.T) {
	n := newNamespaceSettings(t)
	n.must(oauth2Auth)
	n.wantAuth(store.CallbackAuth{
		Type: "oauth2", TokenURL: "https://id.example/t?a=b", ClientID: "c", Scopes: "read write", Audience: "https://api",
	}, "hunter2")
	before := n.settings.Auth
	n.must(`{"headers":{"x-a":"1"}}`)
	if n.settings.Auth != before {
		t.Error("an update of another setting changed it")
	}
	n.must(basicAuth)
	n.wantAuth(store.CallbackAuth{Type: "basic", Username: "ü u"}, "hunter2 :ä")
	n.must(bearerAuth)
	n.wantAuth(store.CallbackAuth{Type: "bearer"}, "hunter2")
	n.must(`{"callbackAuth":{"type":"oauth2","tokenUrl":"http://id","clientId":"c","clientSecret":"s","scopes":null,"token":null}}`)
	n.wantAuth(store.CallbackAuth{Type: "oauth2", TokenURL: "http://id", ClientID: "c"}, "s")
	n.must(`{"callbackAuth":null}`)
	if n.settings.Auth != (store.CallbackAuth{}) {
		t.Errorf("null left %+v", n.settings.Auth)
	}
}

func TestCallbackAuthIsEncryptedAgainWithTheNewestKey(t *testing.T) {
	n := newNamespaceSettings(t)
	n.must(oauth2Auth)
	before := n.settings.Auth
	n.with.Keys = keyring(t, "l", "k")
	n.must(`{}`)
	if !n.with.Keys.IsCurrent(n.settings.Auth.EncryptedSecret) {
		t.Error("the secret is still encrypted with the old key")
	}
	n.with.Keys = keyring(t, "l")
	before.EncryptedSecret = ""
	n.wantAuth(before, "hunter2")
}

// TestASecondCreateWithTheSameCredentialsIsARepetition: each encryption gives another text.
func TestASecondCreateWithTheSameCredentialsIsARepetition(t *testing.T) {
	for _, settings := range []string{oauth2Auth, basicAuth, bearerAuth} {
		n := newNamespaceSettings(t)
		n.must(settings)
		for body, differs := range map[string]bool{
			settings: false, strings.ReplaceAll(settings, "hunter2", "hunter3"): true, `{"callbackAuth":null}`: true, `{}`: false,
			strings.ReplaceAll(strings.ReplaceAll(settings, `"c"`, `"d"`), "ü u", "u"): settings != bearerAuth,
		} {
			u, err := ReadNamespaceUpdate([]byte(`{"name":"n","settings":` + body + `}`))
			if err != nil {
				t.Fatal(err)
			}
			names, err := u.Conflicts(n.settings, &n.with)
			if got := len(names) == 1 && names[0] == "settings.callbackAuth"; err != nil || got != differs || len(names) > 1 {
				t.Errorf("%s after %s differs in %v, %v", body, settings, names, err)
			}
		}
	}
}

// TestCallbackAuthThatIsNotAccepted: each refusal names the field, and none contains a given value except an unknown type.
func TestCallbackAuthThatIsNotAccepted(t *testing.T) {
	long := strings.Repeat("a", 1025)
	n := newNamespaceSettings(t)
	n.must(bearerAuth)
	for body, field := range map[string]string{
		`"hunter2"`:                                     "callbackAuth",
		`["hunter2"]`:                                   "callbackAuth",
		`{}`:                                            "callbackAuth.type",
		`{"token":"hunter2"}`:                           "callbackAuth.type",
		`{"type":"digest"}`:                             "callbackAuth.type",
		`{"type":["hunter2"]}`:                          "callbackAuth.type",
		`{"type":"bearer"}`:                             "callbackAuth.token",
		`{"type":"bearer","tok":"hunter2"}`:             "callbackAuth.tok",
		`{"type":"bearer","token":""}`:                  "callbackAuth.token",
		`{"type":"bearer","token":null}`:                "callbackAuth.token",
		`{"type":"bearer","token":7}`:                   "callbackAuth.token",
		`{"type":"bearer","token":"hunter2 x"}`:         "callbackAuth.token",
		`{"type":"bearer","token":"hunter2\r\nX-A: b"}`: "callbackAuth.token",
		`{"type":"bearer","token":"hunter2ä"}`:          "callbackAuth.token",
		`{"type":"bearer","token":"` + strings.Repeat("a", 8193) + `"}`:             "callbackAuth.token",
		`{"type":"bearer","token":"hunter2","token":"hunter2"}`:                     "callbackAuth.token",
		`{"type":"bearer","token":"hunter2","password":"hunter2"}`:                  "callbackAuth.password",
		`{"type":"basic","username":"u"}`:                                           "callbackAuth.password",
		`{"type":"basic","password":"hunter2"}`:                                     "callbackAuth.username",
		`{"type":"basic","username":"u:hunter2","password":"hunter2"}`:              "callbackAuth.username",
		`{"type":"basic","username":"` + long + `","password":"hunter2"}`:           "callbackAuth.username",
		`{"type":"basic","username":"u","password":"hunter2\n"}`:                    "callbackAuth.password",
		`{"type":"oauth2","clientId":"c","clientSecret":"hunter2"}`:                 "callbackAuth.tokenUrl",
		`{"type":"oauth2","tokenUrl":"http://h","clientSecret":"hunter2"}`:          "callbackAuth.clientId",
		`{"type":"oauth2","tokenUrl":"http://h","clientId":"c"}`:                    "callbackAuth.clientSecret",
		`{"type":"oauth2","tokenUrl":"http://u:hunter2@h"}`:                         "callbackAuth.tokenUrl",
		`{"type":"oauth2","tokenUrl":"http://h/#hunter2"}`:                          "callbackAuth.tokenUrl",
		`{"type":"oauth2","tokenUrl":"ftp://hunter2/"}`:                             "callbackAuth.tokenUrl",
		`{"type":"oauth2","tokenUrl":"/hunter2"}`:                                   "callbackAuth.tokenUrl",
		`{"type":"oauth2","tokenUrl":"http://h/` + strings.Repeat("a", 2048) + `"}`: "callbackAuth.tokenUrl",
		`{"type":"oauth2","clientId":"` + long + `"}`:                               "callbackAuth.clientId",
		`{"type":"oauth2","scopes":"read"}`:                                         "callbackAuth.scopes",
		`{"type":"oauth2","scopes":[]}`:                                             "callbackAuth.scopes",
		`{"type":"oauth2","scopes":["a b"]}`:                                        "callbackAuth.scopes",
		`{"type":"oauth2","scopes":["hunter2\""]}`:                                  "callbackAuth.scopes",
		`{"type":"oauth2","scopes":[` + strings.Repeat(`"a",`, 64) + `"a"]}`:        "callbackAuth.scopes",
		`{"type":"oauth2","audience":"` + long + `"}`:                               "callbackAuth.audience",
	} {
		n.wantRefused(`{"callbackAuth":`+body+`}`, field, "")
		err := n.update(`{"callbackAuth":` + body + `}`)
		if text := err.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, strings.Repeat("a", 20)) {
			t.Errorf("%s: the refusal shows a value: %v", body, err)
		}
	}
	if err := n.update(`{"callbackAuth":{"type":"digest"}}`); !strings.Contains(err.Error(), `"digest"`) || !strings.Contains(err.Error(), `"basic"`) {
		t.Errorf("an unknown type: %v", err)
	}
	n.wantRefused(`{"headers":{"authorization":"hunter2"}}`, "callbackAuth", "only one of")
	n.with.Keys = encryption.Keyring{}
	n.wantRefused(bearerAuth, "callbackAuth.token", "TIMERBUS_SECRET_KEY")
	n.wantRefused(oauth2Auth, "callbackAuth.clientSecret", "TIMERBUS_SECRET_KEY")
}
