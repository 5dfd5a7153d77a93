package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/testcert"
)

// A service with TLS, client certificates and a token in a file, and its client commands.
func TestTLS(t *testing.T) {
	hermetic(t)
	authority := testcert.New(t)
	cert, key := authority.Pair("server")
	clientCert, clientKey := authority.Pair("client")
	strangerCert, strangerKey := testcert.New(t).Pair("client")
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TIMERBUS_TOKEN_FILE", token)
	settings := []string{"--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--tls-client-ca", authority.File}
	dev := start(t, append([]string{"dev", "--data", t.TempDir(), "--nats-listen", ""}, settings...)...)
	address := dev.see(t, dev.stdout, `HTTP API  (https://\S+)`)[1]
	t.Setenv("TIMERBUS_URL", address)
	list := []string{"namespace", "list"}
	if got := command(t, append(list, "--ca", authority.File, "--client-cert", clientCert, "--client-key", clientKey)...); got.code != exitOK ||
		!strings.Contains(got.stdout, "default") {
		t.Errorf("with a certificate: %d %s", got.code, got.stderr)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no certificate":       {[]string{"--ca", authority.File}, "want a client certificate"},
		"an unknown authority": {nil, "unknown authority"},
		// In TLS 1.3 the server refuses a certificate after the client's handshake, so the client's next read or write fails.
		"another client's authority": {
			[]string{"--ca", authority.File, "--client-cert", strangerCert, "--client-key", strangerKey},
			"remote error|could not be established|connection reset|broken pipe",
		},
		"a file that does not exist":   {[]string{"--ca", "/nowhere"}, "/nowhere"},
		"a file without a certificate": {[]string{"--ca", token}, "no certificate"},
		"a certificate without a key":  {[]string{"--client-cert", clientCert}, "--client-key"},
	} {
		if got := command(t, append(list, c.args...)...); got.code == exitOK || !regexp.MustCompile(c.want).MatchString(got.stderr) {
			t.Errorf("%s: %d %s, want %s", name, got.code, got.stderr, c.want)
		}
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(address, "https://"), ":")
	t.Setenv("TIMERBUS_TLS_CERT", cert)
	t.Setenv("TIMERBUS_TLS_KEY", key)
	if got := command(t, "healthcheck", "--listen", "0.0.0.0:"+port); got.code != exitOK || !strings.Contains(got.stdout, "https://127.0.0.1:"+port) {
		t.Errorf("healthcheck: %d %s", got.code, got.stderr)
	}
	t.Setenv("TIMERBUS_TLS_CERT", clientCert)
	t.Setenv("TIMERBUS_TLS_KEY", clientKey)
	if got := command(t, "healthcheck", "--listen", "127.0.0.1:"+port); got.code != exitFailure || !strings.Contains(got.stderr, "another certificate") {
		t.Errorf("healthcheck of another process: %d %s", got.code, got.stderr)
	}
}
