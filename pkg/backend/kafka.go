package backend

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// openKafka takes these parameters:
//
//	replicas=N              of each topic that is made: 1 by default, 3 on a cluster of three or more
//	create=false            leaves making topics to somebody else
//	session=D               how long a dead process keeps its partitions: 6s by default
//	instance=NAME           static membership under this name, unique among the processes that live
//	balancer=server         leaves the assignment to the brokers (Kafka 4.0 or newer)
//	queue=share             takes due events from a share group (Kafka 4.2 or newer; decision 0009)
//	sasl=MECHANISM          PLAIN, SCRAM-SHA-256 (by default where there is a user) or SCRAM-SHA-512
//	tls=true, ca=FILE       encrypts connections, and trusts the certificates in a PEM file alone
func (b *Backend) openKafka(ctx context.Context, o *Options) error {
	options, err := kafkaOptions(o.BusURL)
	if err != nil {
		return err
	}
	options.Prefix, options.Partitions, options.Logger = o.Prefix, o.Partitions, o.Logger
	connected, err := kafkabus.Connect(ctx, options)
	if err != nil {
		return err
	}
	b.Bus, b.Format = connected, event.Binary
	b.closers = append(b.closers, connected.Close)
	return nil
}

func kafkaOptions(raw string) (kafkabus.Options, error) {
	var options kafkabus.Options
	// url.Parse takes no list of hosts with ports, so that they are cut out first.
	rest := raw[len("kafka:"):]
	address, query, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "?")
	values, err := url.ParseQuery(query)
	refused := notAccepted("bus", withoutPassword(raw), "kafka://[USER:PASSWORD@]HOST:PORT,HOST:PORT?replicas=3")
	if err != nil || !strings.HasPrefix(rest, "//") {
		return options, refused
	}
	credentials, hosts, given := cutLast(address, "@")
	if given {
		u, err := url.Parse("kafka://" + credentials + "@host")
		if err != nil {
			return options, refused
		}
		options.SASL.Mechanism, options.SASL.User = "SCRAM-SHA-256", u.User.Username()
		options.SASL.Password, _ = u.User.Password()
	}
	for host := range strings.SplitSeq(hosts, ",") {
		name, port, found := cutLast(host, ":")
		if _, err := strconv.ParseUint(port, 10, 16); !found || name == "" || err != nil {
			return options, refused
		}
		options.Brokers = append(options.Brokers, host)
	}
	for name := range values {
		if err := setKafka(&options, name, values.Get(name)); err != nil {
			return options, fmt.Errorf("bus URL: %w: %w", ErrURL, err)
		}
	}
	return options, nil
}

func setKafka(o *kafkabus.Options, name, value string) (err error) {
	invalid := func(want string) error { return timer.Invalid(name, value, want) }
	switch name {
	case "replicas":
		if o.Replicas, err = strconv.Atoi(value); err != nil || o.Replicas < 1 {
			return invalid("a number from 1")
		}
	case "create":
		create, err := strconv.ParseBool(value)
		if err != nil {
			return invalid("true or false")
		}
		o.NoCreate = !create
	case "session":
		if o.Session, err = time.ParseDuration(value); err != nil || o.Session <= 0 {
			return invalid(`a duration such as "6s"`)
		}
	case "instance":
		o.InstanceID = value
	case "balancer":
		if o.ServerBalancer = value == "server"; !o.ServerBalancer && value != "client" {
			return invalid("client or server")
		}
	case "queue":
		if o.ShareGroups = value == "share"; !o.ShareGroups && value != "group" {
			return invalid("group or share")
		}
	case "sasl":
		o.SASL.Mechanism = value
	case "tls":
		encrypt, err := strconv.ParseBool(value)
		if err != nil {
			return invalid("true or false")
		}
		if encrypt && o.TLS == nil {
			o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	case "ca":
		pool, err := certificates(value)
		if err != nil {
			return errors.Join(invalid("a file of certificates in PEM"), err)
		}
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	default:
		return timer.Invalid("parameter", name, "one of replicas, create, session, instance, balancer, queue, sasl, tls, ca")
	}
	return nil
}

func certificates(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return pool, nil
}

// cutLast is strings.Cut at the last separator; without one, all is after.
func cutLast(s, separator string) (before, after string, found bool) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return "", s, false
	}
	return s[:at], s[at+len(separator):], true
}

// withoutPassword is a URL that url.Parse may not take, for messages.
func withoutPassword(raw string) string {
	credentials, hosts, given := cutLast(raw, "@")
	if !given {
		return raw
	}
	user, _, _ := strings.Cut(strings.TrimPrefix(credentials, "kafka://"), ":")
	return "kafka://" + user + "@" + hosts
}
