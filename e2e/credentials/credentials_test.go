package credentials_test

import (
	"crypto/tls"
	"crypto/x509"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/timerbus/timerbus/e2e/internal/natsserver"
	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/testcert"
	"github.com/timerbus/timerbus/pkg/timer"
)

// open opens and closes a bus.
func open(t *testing.T, bus string) error {
	t.Helper()
	b, err := backend.Open(t.Context(), backend.Options{
		StoreURL: "memory:", BusURL: bus, Partitions: 1, Clock: timer.SystemClock, Random: rand.Uint64,
	})
	if err != nil {
		return err
	}
	return b.Close()
}

// wantCredentials checks that a bus accepts good parameters and refuses bad ones.
func wantCredentials(t *testing.T, address, good string, bad ...string) {
	t.Helper()
	if err := open(t, address+"?"+good); err != nil {
		t.Errorf("%s: %v", good, err)
	}
	for _, parameters := range bad {
		if err := open(t, address+"?"+parameters); err == nil {
			t.Errorf("%s: accepted", parameters)
		}
	}
}

func write(t *testing.T, name string, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// user returns an NKey: its public key and a file with its seed.
func user(t *testing.T) (public string, pair nkeys.KeyPair, file string) {
	t.Helper()
	pair = must[nkeys.KeyPair](t)(nkeys.CreateUser())
	return must[string](t)(pair.PublicKey()), pair, write(t, "seed", must[[]byte](t)(pair.Seed()))
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestNATSAcceptsNKeys(t *testing.T) {
	public, _, seed := user(t)
	_, _, other := user(t)
	host := natsserver.Start(t, &server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}}, nil).Host
	wantCredentials(t, "nats://"+host, "nkey="+seed, "", "nkey="+other)
	if err := open(t, "nats://"+host+"?nkey="+write(t, "empty", nil)); err == nil || !strings.Contains(err.Error(), "read the NKey in") {
		t.Errorf("a file without a seed: %v", err)
	}
	if err := open(t, "nats://"+host+"?nkey=/nowhere"); err == nil || !strings.Contains(err.Error(), "nkey: \"/nowhere\" is not accepted") {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func TestNATSAcceptsCredentialsFiles(t *testing.T) {
	operator := must[nkeys.KeyPair](t)(nkeys.CreateOperator())
	account := must[nkeys.KeyPair](t)(nkeys.CreateAccount())
	system := must[nkeys.KeyPair](t)(nkeys.CreateAccount())
	publicOf := func(pair nkeys.KeyPair) string { return must[string](t)(pair.PublicKey()) }
	claims := jwt.NewOperatorClaims(publicOf(operator))
	claims.SystemAccount = publicOf(system)
	accounts := &server.MemAccResolver{}
	for _, pair := range []nkeys.KeyPair{account, system} {
		a := jwt.NewAccountClaims(publicOf(pair))
		if pair == account {
			a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		}
		if err := accounts.Store(publicOf(pair), must[string](t)(a.Encode(operator))); err != nil {
			t.Fatal(err)
		}
	}
	must[string](t)(claims.Encode(operator))
	host := natsserver.Start(t, &server.Options{
		TrustedOperators: []*jwt.OperatorClaims{claims}, AccountResolver: accounts, SystemAccount: publicOf(system),
	}, nil).Host
	credentials := func(signer nkeys.KeyPair) string {
		public, pair, _ := user(t)
		token := must[string](t)(jwt.NewUserClaims(public).Encode(signer))
		return write(t, "user.creds", must[[]byte](t)(jwt.FormatUserConfig(token, must[[]byte](t)(pair.Seed()))))
	}
	stranger := must[nkeys.KeyPair](t)(nkeys.CreateAccount())
	wantCredentials(t, "nats://"+host, "creds="+credentials(account), "", "creds="+credentials(stranger), "creds=/nowhere")
}

// serverTLS returns a configuration that requires client certificates of the authority.
func serverTLS(t *testing.T, authority *testcert.Authority) *tls.Config {
	t.Helper()
	cert, key := authority.Pair("server")
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(must[[]byte](t)(os.ReadFile(authority.File)))
	return &tls.Config{
		Certificates: []tls.Certificate{must[tls.Certificate](t)(tls.LoadX509KeyPair(cert, key))},
		ClientCAs:    pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	}
}

func TestBusesAcceptClientCertificates(t *testing.T) {
	authority := testcert.New(t)
	cert, key := authority.Pair("client")
	otherCert, otherKey := testcert.New(t).Pair("client")
	ca := "ca=" + authority.File
	good := ca + "&cert=" + cert + "&key=" + key
	bad := []string{ca, ca + "&cert=" + otherCert + "&key=" + otherKey, ca + "&cert=" + cert, ca + "&cert=" + cert + "&key=" + otherKey}
	t.Run("nats", func(t *testing.T) {
		host := natsserver.Start(t, &server.Options{TLSConfig: serverTLS(t, authority), TLS: true, TLSVerify: true}, nil).Host
		wantCredentials(t, "nats://"+host, good, bad...)
	})
	t.Run("kafka", func(t *testing.T) {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.TLS(serverTLS(t, authority)))
		if err != nil {
			t.Fatal(err)
		}
		defer cluster.Close()
		wantCredentials(t, "kafka://"+cluster.ListenAddrs()[0], good, bad...)
	})
}
