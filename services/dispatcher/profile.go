package dispatcher

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/webhook"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// profiles caches the decrypted callback settings of namespaces, and decrypts them again only after a change.
type profiles struct {
	keys encryption.Keyring

	mu          sync.Mutex
	byNamespace map[string]*decryptedSettings // by namespace; there are few, and none is removed
}

// decryptedSettings is a profile, or the error that prevents one. It is valid while the settings and their live secrets
// do not change.
type decryptedSettings struct {
	settings store.Settings
	until    timer.Millis
	profile  *callback.Profile
	err      error
}

func newProfiles(keys encryption.Keyring) *profiles {
	return &profiles{keys: keys, byNamespace: map[string]*decryptedSettings{}}
}

// of returns a namespace's profile at now. fresh: err was not returned before.
func (p *profiles) of(ns *store.Namespace, now timer.Millis) (profile *callback.Profile, fresh bool, err error) {
	s := &ns.Settings
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.byNamespace[ns.Name]
	if o == nil || o.settings != *s || now >= o.until {
		fresh = true
		o = &decryptedSettings{settings: *s, until: math.MaxInt64}
		live := s.Secrets.Live(now)
		for i := range live {
			if live[i].ExpiresAt != 0 {
				o.until = min(o.until, live[i].ExpiresAt)
			}
		}
		o.profile, o.err = decryptSettings(p.keys, ns, live)
		p.byNamespace[ns.Name] = o
	}
	return o.profile, fresh, o.err
}

// close closes the connections of all profiles.
func (p *profiles) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.byNamespace {
		if o.profile != nil {
			o.profile.Close()
		}
	}
}

func decryptSettings(keys encryption.Keyring, ns *store.Namespace, live []store.Secret) (*callback.Profile, error) {
	profile := &callback.Profile{Headers: ns.Settings.Headers}
	for i := range live {
		text, err := keys.Decrypt(store.SecretContext(ns.Name), live[i].Encrypted)
		if err != nil {
			return nil, fmt.Errorf("namespace %q: signing secret %s: %w", ns.Name, live[i].ID, err)
		}
		secret, err := webhook.ParseSecret(string(text))
		if err != nil {
			return nil, fmt.Errorf("namespace %q: signing secret %s: %w", ns.Name, live[i].ID, err)
		}
		profile.Secrets = append(profile.Secrets, secret)
	}
	var err error
	if profile.TLS, err = decryptTLS(keys, ns); err != nil {
		return nil, fmt.Errorf("namespace %q: %w", ns.Name, err)
	}
	return profile, nil
}

// decryptTLS returns nil if the namespace uses the certificates of the machine.
func decryptTLS(keys encryption.Keyring, ns *store.Namespace) (*tls.Config, error) {
	s := &ns.Settings.TLS
	if *s == (store.TLS{}) {
		return nil, nil //nolint:nilnil // without TLS settings, the profile has no TLS configuration
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CA != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(s.CA)) {
			return nil, errors.New("invalid stored CA certificates")
		}
	}
	if s.Certificate != "" {
		key, err := keys.Decrypt(store.KeyContext(ns.Name), s.EncryptedKey)
		if err != nil {
			return nil, fmt.Errorf("key of the client certificate: %w", err)
		}
		certificate, err := tls.X509KeyPair([]byte(s.Certificate), key)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}

// CheckSettings returns an error that names the namespaces whose callback settings these keys cannot decrypt.
func CheckSettings(keys encryption.Keyring, namespaces []store.Namespace, now timer.Millis) error {
	var errs []error
	for i := range namespaces {
		ns := &namespaces[i]
		if _, err := decryptSettings(keys, ns, ns.Settings.Secrets.Live(now)); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
