package store

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

// MaxSecrets is how many signing secrets of a namespace can be live at once: the one of today and, while
// receivers change over, the one before.
const MaxSecrets = 2

// Secrets are a namespace's signing secrets, the newest first; places without an ID are free.
type Secrets [MaxSecrets]Secret

// Secret is one signing secret. Engines never see what is in it.
type Secret struct {
	// ID tells people which one it is.
	ID        string
	CreatedAt timer.Millis
	// ExpiresAt is when it stops signing; 0: never.
	ExpiresAt timer.Millis
	// Sealed is the secret as pkg/seal makes it unreadable, for SecretPlace.
	Sealed string
}

// Live returns those that sign at now, the newest first.
func (s Secrets) Live(now timer.Millis) []Secret {
	var live []Secret
	for _, secret := range s {
		if secret.ID != "" && (secret.ExpiresAt == 0 || now < secret.ExpiresAt) {
			live = append(live, secret)
		}
	}
	return live
}

// String is the form in which engines store secrets, a line each: id, created, expires, sealed.
func (s Secrets) String() string {
	var text strings.Builder
	for _, secret := range s {
		if secret.ID != "" {
			fmt.Fprintf(&text, "%s %d %d %s\n", secret.ID, secret.CreatedAt, secret.ExpiresAt, secret.Sealed)
		}
	}
	return text.String()
}

// ParseSecrets reads String's form.
func ParseSecrets(text string) (Secrets, error) {
	var s Secrets
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		return s, nil
	}
	if len(lines) > MaxSecrets {
		return s, fmt.Errorf("%d signing secrets are stored, and %d are the most", len(lines), MaxSecrets)
	}
	for i, line := range lines {
		fields := strings.Split(line, " ")
		if len(fields) != 4 {
			return Secrets{}, fmt.Errorf("signing secret %d is stored in %d parts, not 4", i+1, len(fields))
		}
		created, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return Secrets{}, fmt.Errorf("signing secret %s was stored at no time: %w", fields[0], err)
		}
		expires, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return Secrets{}, fmt.Errorf("signing secret %s expires at no time: %w", fields[0], err)
		}
		s[i] = Secret{ID: fields[0], CreatedAt: timer.Millis(created), ExpiresAt: timer.Millis(expires), Sealed: fields[3]}
	}
	return s, nil
}

// TLS is how callbacks of a namespace speak TLS. Certificates are PEM.
type TLS struct {
	// CA are the certificates to trust in place of the machine's; empty: the machine's.
	CA string
	// Certificate is shown to receivers that ask for one, with the chain that goes with it; empty: none.
	Certificate string
	// SealedKey is the certificate's key, PEM, as pkg/seal makes it unreadable, for KeyPlace.
	SealedKey string
}

// SecretPlace and KeyPlace name what is sealed for a namespace, so that nothing that was sealed for one
// opens in another.
func SecretPlace(namespace string) string { return namespace + "/signing secret" }

// KeyPlace is SecretPlace for the key of TLS.
func KeyPlace(namespace string) string { return namespace + "/client key" }
