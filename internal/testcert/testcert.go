// Package testcert makes certificates for tests.
package testcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	tb          testing.TB
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	// File is a PEM file with its certificate.
	File string
}

// New returns an authority whose files are in a temporary folder.
func New(tb testing.TB) *Authority {
	tb.Helper()
	a := &Authority{tb: tb}
	template := a.template("authority")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	a.certificate = template
	a.File, _ = a.Issue("ca", template)
	return a
}

func (a *Authority) template(name string) *x509.Certificate {
	a.tb.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		a.tb.Fatal(err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
}

// Pair returns PEM files with a certificate for loopback, as server and as client, and its key.
func (a *Authority) Pair(name string) (certificate, key string) {
	a.tb.Helper()
	return a.Issue(name, a.template(name))
}

// Issue signs a template. It returns PEM files with the certificate and a new key.
func (a *Authority) Issue(name string, template *x509.Certificate) (certificate, key string) {
	a.tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.tb.Fatal(err)
	}
	if a.key == nil {
		a.key = private // it signs its own certificate
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key)
	if err != nil {
		a.tb.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.tb.Fatal(err)
	}
	folder := a.tb.TempDir()
	certificate, key = filepath.Join(folder, name+".pem"), filepath.Join(folder, name+".key")
	a.write(certificate, "CERTIFICATE", der)
	a.write(key, "PRIVATE KEY", secret)
	return certificate, key
}

func (a *Authority) write(file, kind string, der []byte) {
	a.tb.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.tb.Fatal(err)
	}
}
