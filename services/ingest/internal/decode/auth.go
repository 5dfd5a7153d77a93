package decode

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// authFields is the authentication of callbacks in a body. It replaces the present one as a whole.
type authFields struct {
	given  bool
	auth   store.CallbackAuth // without its secret; the zero value removes the authentication
	secret string
}

// The fields of each type. The first array has the required ones, of which the last is the secret.
var authNames = map[store.AuthType][2][]string{
	store.AuthOAuth2: {{"tokenUrl", "clientId", "clientSecret"}, {"scopes", "audience"}},
	store.AuthBasic:  {{"username", "password"}},
	store.AuthBearer: {{"token"}},
}

var allAuthNames = []string{
	"type", "tokenUrl", "clientId", "clientSecret", "scopes", "audience", "username", "password", "token",
}

const (
	maxAuthSecret = 8192
	maxAuthText   = 1024
	maxScopes     = 64

	wantAuthType  = `"oauth2", "basic" or "bearer"`
	wantTokenURL  = "an absolute http or https URL with a host, without a user, a password and a fragment, at most 2048 bytes"
	wantAuthText  = "a text without control characters, at most 1024 bytes"
	wantUsername  = "a text without colons and control characters, at most 1024 bytes"
	wantPassword  = "a text without control characters, at most 8192 bytes"
	wantToken     = "a token of printable ASCII characters without spaces, at most 8192 bytes"
	wantScopes    = "an array of 1 to 64 scopes: printable ASCII characters without spaces, quotation marks and backslashes"
	wantAuthField = "only fields of this type: "
)

func (f *authFields) read(v value) error {
	f.given = true
	if v.isNull() {
		return nil
	}
	seen := map[string]bool{}
	err := v.object("callbackAuth", allAuthNames, func(name string, v value) error {
		if v.isNull() {
			return nil // counts as absent
		}
		seen[name] = true
		return f.readField(name, v)
	})
	if err != nil {
		return err
	}
	names, ok := authNames[f.auth.Type]
	if !ok {
		return timer.Invalid("callbackAuth.type", missing{}, wantAuthType)
	}
	required, optional := names[0], names[1]
	for _, name := range required {
		if !seen[name] {
			return timer.Invalid("callbackAuth."+name, missing{}, "this field, because type is "+string(f.auth.Type))
		}
	}
	for _, name := range allAuthNames[1:] {
		if seen[name] && !slices.Contains(required, name) && !slices.Contains(optional, name) {
			return timer.Invalid("callbackAuth."+name, hidden{}, wantAuthField+strings.Join(slices.Concat(required, optional), ", "))
		}
	}
	return nil
}

func (f *authFields) readField(name string, v value) (err error) {
	field := "callbackAuth." + name
	switch name {
	case "type":
		var kind string
		if kind, err = v.string(field, wantAuthType); err != nil {
			return timer.Invalid(field, hidden{}, wantAuthType) // an object may have a secret in it
		}
		f.auth.Type = store.AuthType(kind)
		if _, ok := authNames[f.auth.Type]; !ok {
			err = timer.Invalid(field, kind, wantAuthType)
		}
	case "tokenUrl":
		f.auth.TokenURL, err = readTokenURL(field, v)
	case "clientId":
		f.auth.ClientID, err = readAuthText(field, v, maxAuthText, wantAuthText, plain)
	case "clientSecret", "password":
		f.secret, err = readAuthText(field, v, maxAuthSecret, wantPassword, plain)
	case "scopes":
		f.auth.Scopes, err = readScopes(field, v)
	case "audience":
		f.auth.Audience, err = readAuthText(field, v, maxAuthText, wantAuthText, plain)
	case "username":
		f.auth.Username, err = readAuthText(field, v, maxAuthText, wantUsername, func(r rune) bool { return plain(r) && r != ':' })
	case "token":
		f.secret, err = readAuthText(field, v, maxAuthSecret, wantToken, visible)
	}
	return err
}

// plain accepts all characters but control characters.
func plain(r rune) bool { return !unicode.IsControl(r) }

// visible accepts the printable ASCII characters except the space.
func visible(r rune) bool { return r > ' ' && r <= '~' }

func readAuthText(field string, v value, limit int, want string, accept func(rune) bool) (string, error) {
	text, err := v.string(field, want)
	if err == nil && (len(text) > limit || strings.ContainsFunc(text, func(r rune) bool { return !accept(r) })) {
		err = timer.Invalid(field, hidden{}, want)
	}
	return text, err
}

// readTokenURL refuses a user in the URL, because answers contain the URL.
func readTokenURL(field string, v value) (string, error) {
	text, err := v.string(field, wantTokenURL)
	if err == nil && timer.CheckCallbackURL(text) != nil {
		err = timer.Invalid(field, hidden{}, wantTokenURL)
	}
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || strings.Contains(text, "#") {
		return "", timer.Invalid(field, hidden{}, wantTokenURL)
	}
	return text, nil
}

// readScopes checks the characters of RFC 6749, section 3.3.
func readScopes(field string, v value) (string, error) {
	scopes, err := readTexts(field, v, maxScopes, wantScopes)
	if err != nil {
		return "", err
	}
	joined := strings.Join(scopes, " ")
	for _, scope := range scopes {
		if strings.ContainsFunc(scope, func(r rune) bool { return !visible(r) || r == '"' || r == '\\' }) {
			return "", timer.Invalid(field, hidden{}, wantScopes)
		}
	}
	if joined == "" || len(joined) > maxAuthSecret {
		return "", timer.Invalid(field, hidden{}, wantScopes)
	}
	return joined, nil
}

func (f *authFields) apply(now store.CallbackAuth, with *Encryption) (store.CallbackAuth, error) {
	place := store.AuthContext(with.Namespace)
	if !f.given || f.auth.Type == "" {
		if f.given {
			now = store.CallbackAuth{}
		}
		now.EncryptedSecret = with.reencrypt(place, now.EncryptedSecret)
		return now, nil
	}
	required := authNames[f.auth.Type][0]
	wanted := f.auth
	var err error
	wanted.EncryptedSecret, err = with.encrypt("callbackAuth."+required[len(required)-1], place, f.secret)
	return wanted, err
}

// sameAuth compares decrypted secrets, because encrypting the same text twice gives different results.
func (w *Encryption) sameAuth(a, b store.CallbackAuth) bool {
	if a == b {
		return true
	}
	place := store.AuthContext(w.Namespace)
	first, err := w.Keys.Decrypt(place, a.EncryptedSecret)
	if err != nil {
		return false
	}
	second, err := w.Keys.Decrypt(place, b.EncryptedSecret)
	a.EncryptedSecret, b.EncryptedSecret = "", ""
	return err == nil && a == b && string(first) == string(second)
}

// TokenURL returns the token endpoint in the fields; empty if there is none.
func (f *SettingsFields) TokenURL() string { return f.auth.auth.TokenURL }

// OutcomeURLs returns onDone and onDead; nil for a field that is not in the body.
func (f *SettingsFields) OutcomeURLs() (onDone, onDead *string) {
	return f.onDone.to(""), f.onDead.to("")
}
