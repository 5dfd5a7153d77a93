package decode

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/pkg/store"
)

// pair creates a self-signed certificate and its key, in PEM.
func pair(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
}

// object returns a JSON object of strings.
func object(t *testing.T, pairs ...string) string {
	t.Helper()
	members := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i]] = pairs[i+1]
	}
	b, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCertificates(t *testing.T) {
	ca, _ := pair(t, "ca")
	other, _ := pair(t, "other")
	certificate, key := pair(t, "client")
	n := newNamespaceSettings(t)
	n.must(`{"tls":` + object(t, "ca", "the one:\n"+ca+"and the other:\n"+other) + `}`)
	if n.settings.TLS != (store.TLS{CA: ca + other}) {
		t.Errorf("ca: %+v", n.settings.TLS)
	}
	n.must(`{"tls":` + object(t, "certificate", certificate+ca, "key", key) + `}`)
	got := n.settings.TLS
	opened, err := n.with.Keys.Decrypt(store.KeyContext("n"), got.EncryptedKey)
	if err != nil || got.CA != ca+other || got.Certificate != certificate+ca || strings.Contains(got.EncryptedKey, "PRIVATE") {
		t.Fatalf("with a client certificate: %+v, %v", got, err)
	}
	if _, err := tls.X509KeyPair([]byte(got.Certificate), opened); err != nil {
		t.Errorf("the stored certificate and key do not match: %v", err)
	}
	n.must(`{"tls":{"ca":null}}`)
	if n.settings.TLS.CA != "" || n.settings.TLS.Certificate == "" {
		t.Errorf("without the ca: %+v", n.settings.TLS)
	}
	n.with.Keys = keyring(t, "l", "k")
	n.must(`{}`)
	if !n.with.Keys.IsCurrent(n.settings.TLS.EncryptedKey) {
		t.Error("the key is not encrypted again")
	}
	n.must(`{"tls":{"certificate":null,"key":null}}`)
	if n.settings.TLS != (store.TLS{}) {
		t.Errorf("no settings are left: %+v", n.settings.TLS)
	}
	n.must(`{"tls":` + object(t, "ca", ca) + `}`)
	n.must(`{"tls":null}`)
	if n.settings.TLS != (store.TLS{}) {
		t.Errorf("no settings are left: %+v", n.settings.TLS)
	}
}

func TestCertificatesThatAreNotAccepted(t *testing.T) {
	certificate, key := pair(t, "client")
	_, otherKey := pair(t, "other")
	n := newNamespaceSettings(t)
	for body, field := range map[string]string{
		object(t, "ca", "hello"):                                         "tls.ca",
		object(t, "ca", key):                                             "tls.ca",
		object(t, "ca", certificate+key):                                 "tls.ca",
		object(t, "ca", certificate+certificate[:100]):                   "tls.ca",
		object(t, "ca", strings.Repeat("x", maxPEM+1)):                   "tls.ca",
		object(t, "certificate", certificate):                            "tls.certificate",
		object(t, "key", key):                                            "tls.certificate",
		`{"certificate":null}`:                                           "tls.certificate",
		object(t, "certificate", certificate, "key", otherKey):           "tls.key",
		object(t, "certificate", certificate, "key", certificate):        "tls.key",
		object(t, "certificate", key, "key", key):                        "tls.certificate",
		object(t, "certificate", certificate, "key", key, "private", ""): "tls.private",
		`"` + strings.ReplaceAll(key, "\n", "\\n") + `"`:                 "tls",
	} {
		n.wantRefused(`{"tls":`+body+`}`, field, "")
		if err := n.update(`{"tls":` + body + `}`); err != nil && strings.Contains(err.Error(), "PRIVATE KEY") {
			t.Errorf("the refusal shows a key: %v", err)
		}
	}
	n.with.Keys = encryption.Keyring{}
	n.wantRefused(`{"tls":`+object(t, "certificate", certificate, "key", key)+`}`, "tls.key", "--secret-key")
	n.must(`{"tls":` + object(t, "ca", certificate) + `}`) // needs no key
}
