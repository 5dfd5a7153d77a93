package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// Prefix begins the text of a secret.
	Prefix = "whsec_"
	// MinSecret and MaxSecret are the limits of the key's size in Standard Webhooks, in bytes.
	MinSecret = 24
	MaxSecret = 64
)

// Secret is a key for signatures. It prints as its id.
type Secret struct{ key []byte }

var (
	_ fmt.Formatter  = Secret{}
	_ slog.LogValuer = Secret{}
)

// ParseSecret parses "whsec_" and standard base64 of 24 to 64 bytes. The error does not contain the given text.
func ParseSecret(text string) (Secret, error) {
	const want = "whsec_ and the base64 of 24 to 64 random bytes"
	encoded, ok := strings.CutPrefix(text, Prefix)
	if !ok {
		return Secret{}, timer.Invalid("secret", hidden{}, want)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	// The decoder ignores line breaks, but the receiver's decoder may not.
	if err != nil || base64.StdEncoding.EncodeToString(key) != encoded || len(key) < MinSecret || len(key) > MaxSecret {
		return Secret{}, timer.Invalid("secret", hidden{}, want)
	}
	return Secret{key: key}, nil
}

type hidden struct{}

func (hidden) String() string { return "the given secret" }

// Reveal returns the secret as text, for encrypting it.
func (s Secret) Reveal() string { return Prefix + base64.StdEncoding.EncodeToString(s.key) }

// ID identifies a secret without revealing it: a part of a keyed hash, which never changes.
func (s Secret) ID() string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte("timerbus secret id"))
	return hex.EncodeToString(mac.Sum(nil)[:4])
}

// Format implements fmt.Formatter: no verb prints the key.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("secret " + s.ID())) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue("secret " + s.ID()) }

// MarshalText returns only the id, so that JSON never contains the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte("secret " + s.ID()), nil }
