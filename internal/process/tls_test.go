package process

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/testcert"
)

// hello returns the certificate that a server with the configuration presents, and whether it verified the client's.
func hello(t *testing.T, config, client *tls.Config) (certificate []byte, verified bool, err error) {
	t.Helper()
	near, far := net.Pipe()
	server := tls.Server(far, config)
	done := make(chan error, 1)
	go func() { done <- server.HandshakeContext(t.Context()) }()
	client.InsecureSkipVerify = true
	c := tls.Client(near, client)
	err = c.HandshakeContext(t.Context())
	var rest sync.WaitGroup
	if err == nil {
		rest.Go(func() { _, _ = c.Read(make([]byte, 1)) }) // the server may still send an alert
	}
	if accepted := <-done; err == nil {
		err = accepted
	}
	near.Close()
	far.Close()
	rest.Wait()
	if err != nil {
		return nil, false, err
	}
	return c.ConnectionState().PeerCertificates[0].Raw, len(server.ConnectionState().VerifiedChains) > 0, nil
}

func leaf(t *testing.T, cert, key string) []byte {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Certificate[0]
}

// move replaces a file by another one, with a later time of change.
func move(t *testing.T, from, to string, later time.Duration) {
	t.Helper()
	at := time.Now().Add(later)
	if err := os.Chtimes(from, at, at); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestServerTLSLoadsChangedFiles(t *testing.T) {
	authority := testcert.New(t)
	cert, key := authority.Pair("first")
	nextCert, nextKey := authority.Pair("second")
	first, second := leaf(t, cert, key), leaf(t, nextCert, nextKey)
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		config, err := ServerTLS(cert, key, "", slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		want := func(when string, want []byte) {
			t.Helper()
			got, verified, err := hello(t, config, &tls.Config{Time: certificateTime(first)})
			if err != nil || !bytes.Equal(got, want) || verified {
				t.Errorf("%s: another certificate, or %v", when, err)
			}
		}
		want("at first", first)
		move(t, nextCert, cert, time.Hour) // the key still is that of the first
		want("within a second", first)
		time.Sleep(tlsCheckEvery)
		want("with a key that does not fit", first)
		if !strings.Contains(log.String(), "not usable") || !strings.Contains(log.String(), cert) {
			t.Errorf("the log has %s", log.String())
		}
		move(t, nextKey, key, time.Hour)
		time.Sleep(tlsCheckEvery)
		want("with both files", second)
	})
}

// certificateTime is a clock within the validity of a certificate.
func certificateTime(der []byte) func() time.Time {
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return func() time.Time { return parsed.NotBefore.Add(time.Minute) }
}

func TestServerTLSVerifiesClients(t *testing.T) {
	authority := testcert.New(t)
	cert, key := authority.Pair("server")
	config, err := ServerTLS(cert, key, authority.File, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	pairOf := func(a *testcert.Authority) []tls.Certificate {
		pair, err := tls.LoadX509KeyPair(a.Pair("client"))
		if err != nil {
			t.Fatal(err)
		}
		return []tls.Certificate{pair}
	}
	if _, verified, err := hello(t, config, &tls.Config{Certificates: pairOf(authority)}); err != nil || !verified {
		t.Errorf("a client of the authority: verified %v, %v", verified, err)
	}
	if _, verified, err := hello(t, config, &tls.Config{}); err != nil || verified { // a probe
		t.Errorf("a client without a certificate: verified %v, %v", verified, err)
	}
	if _, _, err := hello(t, config, &tls.Config{Certificates: pairOf(testcert.New(t))}); err == nil {
		t.Error("a client of another authority is accepted")
	}
}

func TestServerTLSNamesBadFiles(t *testing.T) {
	authority := testcert.New(t)
	cert, key := authority.Pair("server")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][4]string{
		{"/nowhere/cert", key, "", "/nowhere/cert"},
		{cert, empty, "", empty},
		{cert, key, "/nowhere/ca", "/nowhere/ca"},
		{cert, key, empty, "no certificate in PEM form"},
	} {
		if _, err := ServerTLS(c[0], c[1], c[2], slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), c[3]) {
			t.Errorf("%v: %v, want %s in it", c[:3], err, c[3])
		}
	}
}
