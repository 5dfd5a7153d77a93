package dispatcher

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
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
	// newTokens returns the Tokens of a namespace.
	newTokens func(namespace string, c callback.Credentials, p *callback.Profile) *callback.Tokens

	mu          sync.Mutex
	byNamespace map[string]*decryptedSettings // by namespace; there are few, and none is removed
	tokens      map[string]clientTokens       // by namespace; kept while other settings change
}

// clientTokens are the tokens of a client. They are valid while its credentials and the TLS settings do not change.
type clientTokens struct {
	credentials callback.Credentials
	tls         store.TLS
	tokens      *callback.Tokens
}

// decryptedSettings is a profile, or the error that prevents one. It is valid while the settings and their live secrets
// do not change.
type decryptedSettings struct {
	settings store.Settings
	until    timer.Millis
	profile  *callback.Profile
	err      error
}

func newProfiles(
	keys encryption.Keyring, newTokens func(namespace string, c callback.Credentials, p *callback.Profile) *callback.Tokens,
) *profiles {
	return &profiles{keys: keys, newTokens: newTokens, byNamespace: map[string]*decryptedSettings{}, tokens: map[string]clientTokens{}}
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
		var client *callback.Credentials
		o.profile, client, o.err = decryptSettings(p.keys, ns, live)
		if client != nil {
			o.profile.Tokens = p.tokensOf(ns, client, o.profile)
		}
		p.byNamespace[ns.Name] = o
	}
	return o.profile, fresh, o.err
}

// tokensOf returns the tokens of a namespace's client. The present token stays in use if only other settings have changed.
func (p *profiles) tokensOf(ns *store.Namespace, client *callback.Credentials, profile *callback.Profile) *callback.Tokens {
	known := p.tokens[ns.Name]
	if known.tokens == nil || known.credentials != *client || known.tls != ns.Settings.TLS {
		known = clientTokens{*client, ns.Settings.TLS, p.newTokens(ns.Name, *client, profile)}
		p.tokens[ns.Name] = known
	}
	return known.tokens
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

// decryptSettings also returns the credentials with which callbacks get tokens; nil if they get none.
func decryptSettings(
	keys encryption.Keyring, ns *store.Namespace, live []store.Secret,
) (*callback.Profile, *callback.Credentials, error) {
	profile := &callback.Profile{Headers: ns.Settings.Headers}
	for i := range live {
		text, err := keys.Decrypt(store.SecretContext(ns.Name), live[i].Encrypted)
		if err != nil {
			return nil, nil, fmt.Errorf("namespace %q: signing secret %s: %w", ns.Name, live[i].ID, err)
		}
		secret, err := webhook.ParseSecret(string(text))
		if err != nil {
			return nil, nil, fmt.Errorf("namespace %q: signing secret %s: %w", ns.Name, live[i].ID, err)
		}
		profile.Secrets = append(profile.Secrets, secret)
	}
	var err error
	if profile.TLS, err = decryptTLS(keys, ns); err != nil {
		return nil, nil, fmt.Errorf("namespace %q: %w", ns.Name, err)
	}
	client, err := decryptAuth(keys, ns, profile)
	if err != nil {
		return nil, nil, fmt.Errorf("namespace %q: %w", ns.Name, err)
	}
	return profile, client, nil
}

// decryptAuth sets the profile's Authorization, or returns the credentials with which callbacks get tokens.
func decryptAuth(keys encryption.Keyring, ns *store.Namespace, profile *callback.Profile) (*callback.Credentials, error) {
	a := &ns.Settings.Auth
	if a.Type == "" {
		return nil, nil //nolint:nilnil // callbacks do not authenticate
	}
	secret, err := keys.Decrypt(store.AuthContext(ns.Name), a.EncryptedSecret)
	if err != nil {
		return nil, fmt.Errorf("secret of callbackAuth: %w", err)
	}
	switch a.Type {
	case store.AuthBasic:
		profile.Authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(a.Username+":"+string(secret)))
	case store.AuthBearer:
		profile.Authorization = "Bearer " + string(secret)
	case store.AuthOAuth2:
		return &callback.Credentials{
			TokenURL: a.TokenURL, ClientID: a.ClientID, ClientSecret: string(secret), Scopes: a.Scopes, Audience: a.Audience,
		}, nil
	default:
		return nil, fmt.Errorf("callbackAuth has the type %q of a later release", a.Type)
	}
	return nil, nil //nolint:nilnil // the header is fixed
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
		if _, _, err := decryptSettings(keys, ns, ns.Settings.Secrets.Live(now)); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
