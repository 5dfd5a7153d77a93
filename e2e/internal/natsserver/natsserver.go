// Package natsserver starts NATS servers with the settings of an operator, such as users and certificates.
package natsserver

import (
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// patience bounds the start of a server.
const patience = 30 * time.Second

// Start starts a server with JetStream on a free port of this machine until the test ends, and returns its URL. log is nil
// to discard the server's log.
func Start(t *testing.T, o *server.Options, log server.Logger) *url.URL {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, log == nil
	o.JetStream, o.StoreDir = true, t.TempDir()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	if log != nil {
		s.SetLogger(log, false, false)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start")
	}
	u, err := url.Parse(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	return u
}
