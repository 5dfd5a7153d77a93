package store

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

// MaxSecrets is how many signing secrets of a namespace can be live at the same time: the present one and, while
// receivers change over, the previous one.
const MaxSecrets = 2

// Secrets are a namespace's signing secrets, the newest first. An element without an ID is unused.
type Secrets [MaxSecrets]Secret

// Secret is one signing secret. Engines see only its encrypted form.
type Secret struct {
	// ID identifies the secret to operators.
	ID        string
	CreatedAt timer.Millis
	// ExpiresAt is when the secret stops signing; 0: never.
	ExpiresAt timer.Millis
	// Encrypted is the secret, encrypted by internal/encryption for SecretContext.
	Encrypted string
}

// Live returns the secrets that sign at now, the newest first.
func (s Secrets) Live(now timer.Millis) []Secret {
	var live []Secret
	for _, secret := range s {
		if secret.ID != "" && (secret.ExpiresAt == 0 || now < secret.ExpiresAt) {
			live = append(live, secret)
		}
	}
	return live
}

// String returns the form in which engines store secrets, one per line: id, created, expires, encrypted.
func (s Secrets) String() string {
	var text strings.Builder
	for _, secret := range s {
		if secret.ID != "" {
			fmt.Fprintf(&text, "%s %d %d %s\n", secret.ID, secret.CreatedAt, secret.ExpiresAt, secret.Encrypted)
		}
	}
	return text.String()
}

// ParseSecrets parses the result of String.
func ParseSecrets(text string) (Secrets, error) {
	var s Secrets
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		return s, nil
	}
	if len(lines) > MaxSecrets {
		return s, fmt.Errorf("%d signing secrets are stored, at most %d are allowed", len(lines), MaxSecrets)
	}
	for i, line := range lines {
		fields := strings.Split(line, " ")
		if len(fields) != 4 {
			return Secrets{}, fmt.Errorf("signing secret %d has %d stored fields, want 4", i+1, len(fields))
		}
		created, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return Secrets{}, fmt.Errorf("signing secret %s: invalid creation time: %w", fields[0], err)
		}
		expires, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return Secrets{}, fmt.Errorf("signing secret %s: invalid expiry time: %w", fields[0], err)
		}
		s[i] = Secret{ID: fields[0], CreatedAt: timer.Millis(created), ExpiresAt: timer.Millis(expires), Encrypted: fields[3]}
	}
	return s, nil
}

// TLS configures TLS for the callbacks of a namespace. Certificates are PEM.
type TLS struct {
	// CA are the trusted certificates, instead of the machine's. If it is empty, the machine's are trusted.
	CA string
	// Certificate is the client certificate with its chain, presented to receivers that request one. If it is empty,
	// there is none.
	Certificate string
	// EncryptedKey is the certificate's key, PEM, encrypted by internal/encryption for KeyContext.
	EncryptedKey string
}

// SecretContext and KeyContext are the contexts in which internal/encryption encrypts a namespace's values. A value that was
// encrypted for one context cannot be decrypted in another.
func SecretContext(namespace string) string { return namespace + "/signing secret" }

// KeyContext is the context of TLS.EncryptedKey.
func KeyContext(namespace string) string { return namespace + "/client key" }
