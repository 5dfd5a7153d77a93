package store

import (
	"encoding/json"
	"fmt"

	"github.com/timerbus/timerbus/pkg/timer"
)

// AuthType is how callbacks of a namespace authenticate to their receivers.
type AuthType string

// The values of AuthType. The zero value means that callbacks do not authenticate.
const (
	// AuthOAuth2 gets tokens by the client credentials grant of OAuth 2.0 (RFC 6749, section 4.4).
	AuthOAuth2 AuthType = "oauth2"
	// AuthBasic sends a user name and a password (RFC 7617).
	AuthBasic AuthType = "basic"
	// AuthBearer sends a fixed token (RFC 6750).
	AuthBearer AuthType = "bearer"
)

// CallbackAuth is the content of the header Authorization of a namespace's callbacks. Engines see only the encrypted form
// of its secret. It can be compared with ==.
type CallbackAuth struct {
	Type AuthType `json:"type"`
	// TokenURL, ClientID, Scopes and Audience are those of AuthOAuth2. Scopes are separated by single spaces. Scopes and
	// Audience are optional.
	TokenURL string `json:"tokenUrl,omitempty"`
	ClientID string `json:"clientId,omitempty"`
	Scopes   string `json:"scopes,omitempty"`
	Audience string `json:"audience,omitempty"`
	// Username is that of AuthBasic.
	Username string `json:"username,omitempty"`
	// EncryptedSecret is the client secret, the password or the token, encrypted by internal/encryption for AuthContext.
	EncryptedSecret string `json:"secret,omitempty"`
}

// AuthContext is the context of CallbackAuth.EncryptedSecret.
func AuthContext(namespace string) string { return namespace + "/callback credentials" }

// String returns the form in which engines store the value: a JSON object; empty without authentication.
func (a *CallbackAuth) String() string {
	if *a == (CallbackAuth{}) {
		return ""
	}
	text, err := json.Marshal(a) //nolint:gosec // the secret is encrypted
	if err != nil {
		return "" // no value of this type fails to encode
	}
	return string(text)
}

// ParseCallbackAuth parses the result of String. Its error does not contain the text.
func ParseCallbackAuth(text string) (CallbackAuth, error) {
	var a CallbackAuth
	if text == "" {
		return a, nil
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return CallbackAuth{}, fmt.Errorf("the stored authentication of callbacks is not a JSON object of %d bytes: %w", len(text), err)
	}
	return a, nil
}

func (a *CallbackAuth) size() int {
	return len(a.TokenURL) + len(a.ClientID) + len(a.Scopes) + len(a.Audience) + len(a.Username) + len(a.EncryptedSecret)
}

// check refuses two sources of the same header.
func (a *CallbackAuth) check(headers timer.Headers) error {
	if a.Type == "" || headers.Get("Authorization") == "" {
		return nil
	}
	return timer.Invalid("callbackAuth", string(a.Type), "only one of callbackAuth and the header Authorization in headers")
}
