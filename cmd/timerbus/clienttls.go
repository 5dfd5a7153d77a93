package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/timerbus/timerbus/internal/process"
)

// requestTimeout bounds each request of the client commands.
const requestTimeout = 30 * time.Second

// clientTLS are the files of a client command that calls a service over TLS.
type clientTLS struct{ ca, cert, key string }

// client returns an HTTP client. Without files it trusts the authorities of this machine.
func (t *clientTLS) client() (*http.Client, error) {
	if *t == (clientTLS{}) {
		return &http.Client{Timeout: requestTimeout}, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.ca != "" {
		pem, err := os.ReadFile(t.ca)
		if err != nil {
			return nil, usagef("--ca: %v", err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usagef("--ca %s: it has no certificate in PEM form", t.ca)
		}
	}
	if t.cert != "" || t.key != "" {
		pair, err := tls.LoadX509KeyPair(t.cert, t.key)
		if err != nil {
			return nil, usagef("--client-cert %q with --client-key %q: %v", t.cert, t.key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true}
	return &http.Client{Timeout: requestTimeout, Transport: transport}, nil
}

// ownClient returns a client, without a proxy, of a process on this machine with these settings. The name in the process's
// certificate is not that of its address here, so the client accepts exactly the certificate of the settings.
func ownClient(config *process.Config) (*http.Client, error) {
	transport := &http.Transport{}
	client := &http.Client{Timeout: requestTimeout, Transport: transport}
	if config.TLSCert == "" {
		return client, nil
	}
	pair, err := tls.LoadX509KeyPair(config.TLSCert, config.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("tls-cert %s with tls-key %s: %w", config.TLSCert, config.TLSKey, err)
	}
	transport.TLSClientConfig = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the whole certificate.
		VerifyConnection: func(state tls.ConnectionState) error {
			if !bytes.Equal(state.PeerCertificates[0].Raw, pair.Certificate[0]) {
				return errors.New("the process has another certificate than " + config.TLSCert)
			}
			return nil
		},
	}
	return client, nil
}

// ownURL returns the URL of a process on this machine with these settings.
func ownURL(config *process.Config) string {
	if config.TLSCert != "" {
		return "https://" + reachable(config.Listen)
	}
	return "http://" + reachable(config.Listen)
}
