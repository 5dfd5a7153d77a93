package kafkabus_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

// scramUser creates a user and returns its credentials once the broker accepts them. A broker learns of a new user
// some time after the controller has acknowledged it, and refuses the user until then.
func scramUser(t *testing.T, admin *kadm.Client, address, user, password string) kafkabus.Credentials {
	t.Helper()
	retry(t, "create user "+user, func(ctx context.Context) error {
		altered, err := admin.AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{
			{User: user, Mechanism: kadm.ScramSha256, Iterations: 4096, Password: password},
		})
		return errors.Join(err, altered.Error())
	})
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha256Mechanism()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	retry(t, "authenticate user "+user, client.Ping)
	return kafkabus.Credentials{Mechanism: "SCRAM-SHA-256", User: user, Password: password}
}

// unsignedToken writes a token as testenv's brokers accept it, and returns the file.
func unsignedToken(t *testing.T, subject string, expires time.Time) string {
	t.Helper()
	encoded := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"sub":%q,"iat":%d,"exp":%d}`, subject, expires.Add(-2*time.Hour).Unix(), expires.Unix())
	file := filepath.Join(t.TempDir(), "token")
	text := encoded([]byte(`{"alg":"none"}`)) + "." + encoded([]byte(claims)) + ".\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestCredentialsOnRealBrokers: with valid credentials a client connects and can do everything. With invalid
// credentials it gets an error immediately, in one line without the password.
func TestCredentialsOnRealBrokers(t *testing.T) {
	plain := brokers(t, "kafka")
	given := os.Getenv("TIMERBUS_TEST_KAFKA_SASL")
	credentials, address, found := strings.Cut(given, "@")
	if !found {
		t.Skip("TIMERBUS_TEST_KAFKA_SASL is not set: the brokers were not started by testenv")
	}
	user, password, _ := strings.Cut(credentials, ":")
	token := func(expires time.Time) kafkabus.Credentials {
		t.Helper()
		return kafkabus.Credentials{Mechanism: "OAUTHBEARER", TokenFile: unsignedToken(t, "a-service", expires)}
	}
	known := scramUser(t, realAdmin(t, plain), address, "scram-"+user, password)
	for name, c := range map[string]struct {
		kafkabus.Credentials
		refused string // empty: the broker accepts the credentials
	}{
		"PLAIN":                  {kafkabus.Credentials{Mechanism: "PLAIN", User: user, Password: password}, ""},
		"PLAIN, wrong password":  {kafkabus.Credentials{Mechanism: "PLAIN", User: user, Password: "hunter2"}, "SASL_AUTHENTICATION_FAILED"},
		"SCRAM":                  {known, ""},
		"SCRAM, wrong password":  {kafkabus.Credentials{Mechanism: "SCRAM-SHA-256", User: known.User, Password: "hunter2"}, "SASL_AUTHENTICATION_FAILED"},
		"SCRAM, nobody":          {kafkabus.Credentials{Mechanism: "SCRAM-SHA-256", User: "nobody", Password: "hunter2"}, "SASL_AUTHENTICATION_FAILED"},
		"a mechanism it has not": {kafkabus.Credentials{Mechanism: "SCRAM-SHA-512", User: user, Password: "hunter2"}, "UNSUPPORTED_SASL_MECHANISM"},
		"OAUTHBEARER":            {token(time.Now().Add(time.Hour)), ""},
		"OAUTHBEARER, expired":   {token(time.Now().Add(-time.Hour)), "the broker refuses the token of OAUTHBEARER"},
		"OAUTHBEARER, no file":   {kafkabus.Credentials{Mechanism: "OAUTHBEARER", TokenFile: "/nowhere"}, "open /nowhere"},
		"no credentials":         {kafkabus.Credentials{}, "SASL"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := kafkabus.Options{Brokers: []string{address}, Prefix: prefix(), Partitions: 1, SASL: c.Credentials}
			if c.refused == "" {
				remove(t, plain, opts.Prefix)
				b := connect(t, opts)
				publish(t, b, bus.Commands, "1")
				d := consume(t, b, ordered)
				d.Next(t).Ack()
				if err := d.stop(); err != nil {
					t.Error(err)
				}
				return
			}
			_, err := kafkabus.Connect(t.Context(), opts)
			if err == nil || !strings.Contains(err.Error(), c.refused) || !strings.Contains(err.Error(), "connect to Kafka at "+address) {
				t.Errorf("%v, want an error that names %s and %s", err, address, c.refused)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%q is not one line, or contains the password", err)
			}
		})
	}
}

// TestNewCredentialsAreUsedByNewConnections removes the first user and cuts all connections. The handle must connect as the second
// user, and its consumer must continue.
func TestNewCredentialsAreUsedByNewConnections(t *testing.T) {
	plain := brokers(t, "kafka")
	_, address, found := strings.Cut(os.Getenv("TIMERBUS_TEST_KAFKA_SASL"), "@")
	if !found {
		t.Skip("TIMERBUS_TEST_KAFKA_SASL is not set: the brokers were not started by testenv")
	}
	admin := realAdmin(t, plain)
	name := prefix()
	first := scramUser(t, admin, address, name+"-one", "a")
	second := scramUser(t, admin, address, name+"-two", "b")
	line := testserver.NewLine()
	t.Cleanup(line.Close)
	remove(t, plain, name)
	b := connect(t, kafkabus.Options{
		Brokers: []string{address}, Prefix: name, Partitions: 1, SASL: first, Client: []kgo.Opt{kgo.Dialer(line.Dial)},
	})
	d := consume(t, b, ordered)
	publish(t, b, bus.Commands, "before")
	d.Next(t).Ack()

	b.SetCredentials(url.UserPassword(second.User, second.Password))
	retry(t, "remove user "+first.User, func(ctx context.Context) error {
		altered, err := admin.AlterUserSCRAMs(ctx, []kadm.DeleteSCRAM{{User: first.User, Mechanism: kadm.ScramSha256}}, nil)
		if err = errors.Join(err, altered.Error()); err != nil && !strings.Contains(err.Error(), "RESOURCE_NOT_FOUND") {
			return err
		}
		return refuses(ctx, address, first)
	})
	line.Cut()
	retry(t, "publish as "+second.User, func(ctx context.Context) error {
		_, err := b.Publish(ctx, bus.Commands, bus.Message{Key: "k", Body: []byte("after")})
		return err
	})
	for {
		next := d.Next(t)
		next.Ack()
		if string(next.Body) == "after" {
			break
		}
	}
	if err := d.stop(); err != nil {
		t.Error(err)
	}
}

// refuses returns an error if the broker accepts credentials, because it learns of a removed user later than the controller.
func refuses(ctx context.Context, address string, c kafkabus.Credentials) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.SASL(scram.Auth{User: c.User, Pass: c.Password}.AsSha256Mechanism()))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Ping(ctx); err == nil {
		return fmt.Errorf("the broker still accepts %s", c.User)
	} else if !strings.Contains(err.Error(), "SASL_AUTHENTICATION_FAILED") {
		return err
	}
	return nil
}
