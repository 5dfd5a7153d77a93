package encryption

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// KeySize is the size of a key, in bytes.
	KeySize = 32
	// version begins every encrypted text, so that the encryption can be changed later.
	version = "v1"
)

var (
	// ErrNoKey reports that nothing can be encrypted, because no key is configured.
	ErrNoKey = errors.New("no secret key is configured")
	// ErrUnknownKey reports that a text was encrypted with a key that is not configured.
	ErrUnknownKey = errors.New("encrypted with a key that is not configured")
	// ErrDamaged reports that an encrypted text was modified, or was encrypted for another place.
	ErrDamaged = errors.New("the encrypted text is damaged, or was encrypted for another place")
)

// Keyring encrypts with its first key and decrypts with any of its keys. Without keys it can do neither. The zero value
// has no keys. Copies share their keys.
type Keyring struct{ shared *atomic.Pointer[[]key] }

func (r Keyring) keys() []key {
	if r.shared == nil {
		return nil
	}
	return *r.shared.Load()
}

// Replace replaces the keys of r and its copies by those of another Keyring. r must be the result of ParseKeys.
func (r Keyring) Replace(by Keyring) {
	keys := by.keys()
	r.shared.Store(&keys)
}

type key struct {
	id   string
	aead cipher.AEAD
}

// ParseKeys parses keys as they are configured: base64 of 32 bytes each, separated by commas. The first key encrypts.
// An empty text results in an empty keyring. The error does not contain the given text.
func ParseKeys(text string) (Keyring, error) {
	var all []key
	if strings.TrimSpace(text) == "" {
		return newKeyring(nil), nil
	}
	for i, part := range strings.Split(text, ",") {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(part))
		if err != nil || len(raw) != KeySize {
			return Keyring{}, timer.Invalid("secret-key", hidden{},
				fmt.Sprintf("base64 of 32 random bytes, or several separated by commas; key %d is invalid", i+1))
		}
		k, err := newKey(raw)
		if err != nil {
			return Keyring{}, err
		}
		if slices.ContainsFunc(all, func(other key) bool { return other.id == k.id }) {
			return Keyring{}, timer.Invalid("secret-key", hidden{}, fmt.Sprintf("each key once; key %d is a duplicate", i+1))
		}
		all = append(all, k)
	}
	return newKeyring(all), nil
}

func newKeyring(keys []key) Keyring {
	r := Keyring{&atomic.Pointer[[]key]{}}
	r.shared.Store(&keys)
	return r
}

func newKey(raw []byte) (key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return key{}, err
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte("timerbus key id"))
	return key{id: hex.EncodeToString(mac.Sum(nil)[:4]), aead: aead}, nil
}

type hidden struct{}

func (hidden) String() string { return "the given value" }

// IDs returns the ids of the keys. The first one encrypts.
func (r Keyring) IDs() []string {
	keys := r.keys()
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	return ids
}

// Format prints only the ids of the keys, so that printing a configuration does not reveal them.
func (r Keyring) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "keys %v", r.IDs()) }

// Encrypt encrypts a secret with the first key. place is authenticated with it: Decrypt fails with a different place.
func (r Keyring) Encrypt(place string, secret []byte) (string, error) {
	keys := r.keys()
	if len(keys) == 0 {
		return "", ErrNoKey
	}
	k := keys[0]
	nonce := make([]byte, k.aead.NonceSize())
	rand.Read(nonce) // never fails: the process ends instead
	encrypted := k.aead.Seal(nonce, nonce, secret, []byte(place))
	return strings.Join([]string{version, k.id, base64.RawStdEncoding.EncodeToString(encrypted)}, ":"), nil
}

// Decrypt decrypts the result of Encrypt for the same place. The error is ErrUnknownKey or ErrDamaged.
func (r Keyring) Decrypt(place, encrypted string) ([]byte, error) {
	id, text, err := split(encrypted)
	if err != nil {
		return nil, err
	}
	keys := r.keys()
	at := slices.IndexFunc(keys, func(k key) bool { return k.id == id })
	if at < 0 {
		have := "none"
		if len(keys) > 0 {
			have = strings.Join(r.IDs(), ", ")
		}
		return nil, fmt.Errorf("%w: key %s, configured keys: %s", ErrUnknownKey, id, have)
	}
	aead := keys[at].aead
	raw, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < aead.NonceSize() {
		return nil, ErrDamaged
	}
	secret, err := aead.Open(nil, raw[:aead.NonceSize()], raw[aead.NonceSize():], []byte(place))
	if err != nil {
		return nil, ErrDamaged
	}
	return secret, nil
}

// IsCurrent reports whether a text is encrypted with the first key.
func (r Keyring) IsCurrent(encrypted string) bool {
	id, _, err := split(encrypted)
	keys := r.keys()
	return err == nil && len(keys) > 0 && keys[0].id == id
}

func split(encrypted string) (id, text string, err error) {
	parts := strings.Split(encrypted, ":")
	if len(parts) != 3 || parts[0] != version {
		return "", "", ErrDamaged
	}
	return parts[1], parts[2], nil
}
