package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"sync/atomic"
)

// Token is the token of the service, which can be replaced while it is used.
type Token struct {
	sum atomic.Pointer[[sha256.Size]byte]
}

// NewToken returns a Token, or nil if the text is empty.
func NewToken(text string) *Token {
	if text == "" {
		return nil
	}
	t := &Token{}
	t.Set(text)
	return t
}

// Set replaces the token.
func (t *Token) Set(text string) {
	sum := sha256.Sum256([]byte(text))
	t.sum.Store(&sum)
}

// is reports whether a text is the token. Hashes have a fixed length, so the comparison does not reveal the length of the
// token.
func (t *Token) is(given string) bool {
	if t == nil {
		return false
	}
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], t.sum.Load()[:]) == 1
}
