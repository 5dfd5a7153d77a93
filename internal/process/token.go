package process

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// NoToken is the message to a client without the token.
const NoToken = "want the header Authorization: Bearer TOKEN with the token of the service"

// Challenge is the header WWW-Authenticate of an answer 401.
const Challenge = `Bearer realm="timerbus"`

// Token checks the token of requests. The zero Token accepts all requests.
type Token struct {
	sum []byte // SHA-256; nil if no token is required
}

// NewToken returns a check for a token; if it is empty, none is required.
func NewToken(token string) Token {
	if token == "" {
		return Token{}
	}
	sum := sha256.Sum256([]byte(token))
	return Token{sum[:]}
}

// Accepts reports whether a request has the token, or none is required.
func (t Token) Accepts(r *http.Request) bool {
	if t.sum == nil {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	// Hashes have a fixed length, so the comparison does not reveal the length of the token.
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], t.sum) == 1
}

// Guard answers requests without the token with 401.
func (t Token) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !t.Accepts(r) {
			w.Header().Set("WWW-Authenticate", Challenge)
			http.Error(w, NoToken, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
