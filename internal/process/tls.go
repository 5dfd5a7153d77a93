package process

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// tlsCheckEvery is the shortest time between two looks at the files of a TLS server.
const tlsCheckEvery = time.Second

// ServerTLS returns the configuration of a TLS server with the certificate and the key in two PEM files. If clientCA is
// not empty, it verifies client certificates against the authorities in that file, and accepts connections without one,
// for probes. When the files change, later connections use their new content. If that is not usable, the earlier content
// stays in use, and a warning is logged.
func ServerTLS(cert, key, clientCA string, logger *slog.Logger) (*tls.Config, error) {
	f := &tlsFiles{cert: cert, key: key, clientCA: clientCA, logger: logger}
	if err := f.load(); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.current(), nil },
	}, nil
}

// tlsFiles are the files of a TLS server.
type tlsFiles struct {
	cert, key, clientCA string
	logger              *slog.Logger

	mu     sync.Mutex
	config *tls.Config
	// stamps are those of the files at the last attempt to load them. checked is when they were
	// last compared.
	stamps  []stamp
	checked time.Time
}

// stamp changes with a file's content.
type stamp struct {
	changed time.Time
	size    int64
}

func (f *tlsFiles) load() error {
	f.stamps, f.checked = f.read(), time.Now()
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", f.cert, f.key, err)
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{pair},
	}
	if f.clientCA != "" {
		pem, err := os.ReadFile(f.clientCA)
		if err != nil {
			return fmt.Errorf("authorities of clients: %w", err)
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("authorities of clients: %s has no certificate in PEM form", f.clientCA)
		}
	}
	f.config = config
	return nil
}

func (f *tlsFiles) read() []stamp {
	stamps := make([]stamp, 3)
	for i, name := range []string{f.cert, f.key, f.clientCA} {
		if info, err := os.Stat(name); err == nil {
			stamps[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return stamps
}

// current loads the files again if they have changed.
func (f *tlsFiles) current() *tls.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.checked) < tlsCheckEvery {
		return f.config
	}
	if f.checked = time.Now(); slices.Equal(f.stamps, f.read()) {
		return f.config
	}
	// The certificate and its key change one after the other, so a failure may pass with the next change.
	if err := f.load(); err != nil {
		f.logger.Warn("TLS files have changed and are not usable, the earlier ones stay in use", "error", err)
	} else {
		f.logger.Info("TLS files loaded again", "certificate", f.cert)
	}
	return f.config
}
