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
	// MinSecret and MaxSecret bound the key inside, in bytes, as the convention does.
	MinSecret = 24
	MaxSecret = 64
)

// Secret is a key for signatures. It prints as its id.
type Secret struct{ key []byte }

var (
	_ fmt.Formatter  = Secret{}
	_ slog.LogValuer = Secret{}
)

// ParseSecret reads "whsec_" and standard base64 of 24 to 64 bytes. Its error does not show what was given.
func ParseSecret(text string) (Secret, error) {
	const want = "whsec_ and the base64 of 24 to 64 random bytes"
	encoded, ok := strings.CutPrefix(text, Prefix)
	if !ok {
		return Secret{}, timer.Invalid("secret", hidden{}, want)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	// The decoder passes over line breaks, which the verifying side may not.
	if err != nil || base64.StdEncoding.EncodeToString(key) != encoded || len(key) < MinSecret || len(key) > MaxSecret {
		return Secret{}, timer.Invalid("secret", hidden{}, want)
	}
	return Secret{key: key}, nil
}

type hidden struct{}

func (hidden) String() string { return "the given secret" }

// Reveal is the secret as text, for whoever seals it.
func (s Secret) Reveal() string { return Prefix + base64.StdEncoding.EncodeToString(s.key) }

// ID tells secrets apart and tells nothing of the secret: a part of a keyed hash, the same for ever.
func (s Secret) ID() string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte("timerbus secret id"))
	return hex.EncodeToString(mac.Sum(nil)[:4])
}

// Format implements fmt.Formatter: no verb shows the key.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("secret " + s.ID())) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue("secret " + s.ID()) }

// MarshalText keeps a secret out of JSON that happens to hold one.
func (s Secret) MarshalText() ([]byte, error) { return []byte("secret " + s.ID()), nil }
