package decode

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"strings"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// tlsFields are the TLS settings in a body. Certificate and key must be given together.
type tlsFields struct {
	given, null          bool
	ca, certificate, key optional[string]
}

var tlsNames = []string{"ca", "certificate", "key"}

const (
	// maxPEM bounds each of the three values, in bytes.
	maxPEM   = 32 << 10
	wantCA   = "certificates in PEM, at most 32 KiB"
	wantPair = "a certificate in PEM, with its chain, and with it the private key that it is for, at most 32 KiB each"
)

func (f *tlsFields) read(v value) error {
	f.given, f.null = true, v.isNull()
	if f.null {
		return nil
	}
	err := v.object("tls", tlsNames, func(name string, v value) (err error) {
		field := "tls." + name
		switch name {
		case "ca":
			f.ca, err = maybe(field, v, func(field string, v value) (string, error) { return readPEM(field, v, wantCA) })
		case "certificate":
			f.certificate, err = maybe(field, v, func(field string, v value) (string, error) { return readPEM(field, v, wantPair) })
		case "key":
			f.key, err = maybe(field, v, func(field string, v value) (string, error) { return readPEM(field, v, wantPair) })
		}
		return err
	})
	if err != nil {
		return err
	}
	if f.certificate.given != f.key.given || f.certificate.null != f.key.null {
		return timer.Invalid("tls.certificate", "one of certificate and key", "both, or both null")
	}
	return nil
}

func readPEM(field string, v value, want string) (string, error) {
	text, err := v.string(field, want)
	if err == nil && len(text) > maxPEM {
		err = timer.Invalid(field, hidden{}, want)
	}
	return text, err
}

func (f *tlsFields) apply(now store.TLS, with *Encryption) (store.TLS, error) {
	switch {
	case !f.given:
	case f.null:
		now = store.TLS{}
	default:
		if err := f.applyTo(&now, with); err != nil {
			return now, err
		}
	}
	now.EncryptedKey = with.reencrypt(store.KeyContext(with.Namespace), now.EncryptedKey)
	return now, nil
}

func (f *tlsFields) applyTo(now *store.TLS, with *Encryption) error {
	if f.ca.given {
		ca, err := certificates("tls.ca", f.ca.v, wantCA)
		if err != nil && !f.ca.null {
			return err
		}
		now.CA = ca
	}
	if !f.certificate.given {
		return nil
	}
	now.Certificate, now.EncryptedKey = "", ""
	if f.certificate.null {
		return nil
	}
	chain, err := certificates("tls.certificate", f.certificate.v, wantPair)
	if err != nil {
		return err
	}
	if _, err := tls.X509KeyPair([]byte(chain), []byte(f.key.v)); err != nil {
		return timer.Invalid("tls.key", hidden{}, wantPair)
	}
	encrypted, err := with.encrypt("tls.key", store.KeyContext(with.Namespace), f.key.v)
	if err != nil {
		return err
	}
	now.Certificate, now.EncryptedKey = chain, encrypted
	return nil
}

// certificates checks PEM, and removes text between the certificates.
func certificates(field, text, want string) (string, error) {
	var out strings.Builder
	rest := []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil || block.Type != "CERTIFICATE" {
			return "", timer.Invalid(field, hidden{}, want)
		}
		if err := pem.Encode(&out, &pem.Block{Type: block.Type, Bytes: block.Bytes}); err != nil {
			return "", err
		}
	}
	// An incomplete block is an error.
	if out.Len() == 0 || bytes.Contains(rest, []byte("-----BEGIN")) {
		return "", timer.Invalid(field, hidden{}, want)
	}
	return out.String(), nil
}
