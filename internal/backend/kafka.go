package backend

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/timer"
)

const acceptedKafka = "kafka://[USER:PASSWORD@]HOST:PORT,HOST:PORT?replicas=3"

// openKafka accepts these URL parameters:
//
//	replicas=N              replicas of each created topic: by default 1, or 3 on a cluster of three or more brokers
//	create=false            does not create topics
//	session=D               how long a dead process keeps its partitions: 6s by default
//	instance=NAME           static membership under this name, which must be unique among the running processes
//	balancer=server         leaves the assignment to the brokers (Kafka 4.0 or newer)
//	sasl=MECHANISM          PLAIN, SCRAM-SHA-256 (default if the URL has a user), SCRAM-SHA-512, OAUTHBEARER, or
//	                        AWS_MSK_IAM with the credentials of AWS that the process has
//	token-file=FILE         the token of OAUTHBEARER
//	tls=true, ca=FILE       encrypts connections; ca trusts only the certificates in a PEM file
//	cert=FILE, key=FILE     PEM files with a client certificate and its key
//	prefix=NAME             begins the names of topics and groups, so that several clusters can share one
//	                        Kafka: "timerbus" by default
func (b *Backend) openKafka(ctx context.Context, o *Options) error {
	options, err := kafkaOptions(o.BusURL)
	if err != nil {
		return err
	}
	options.Partitions, options.Logger = o.Partitions, o.Logger
	if strings.EqualFold(options.SASL.Mechanism, "AWS_MSK_IAM") {
		if options.SASL.AWS, err = awsCredentials(ctx); err != nil {
			return fmt.Errorf("bus URL: %w", err)
		}
	}
	connected, err := kafkabus.Connect(ctx, options)
	if err != nil {
		return err
	}
	b.Bus = connected
	b.closers = append(b.closers, connected.Close)
	return nil
}

func kafkaOptions(raw string) (kafkabus.Options, error) {
	var options kafkabus.Options
	u, err := splitServers("kafka", raw, acceptedKafka)
	if err != nil {
		return options, err
	}
	if u.user != nil {
		options.SASL.Mechanism, options.SASL.User = "SCRAM-SHA-256", u.user.Username()
		options.SASL.Password, _ = u.user.Password()
	}
	for _, host := range u.hosts {
		if name, port, found := cutLast(host, ":"); !found || name == "" || !isPort(port) {
			return options, u.refused
		}
		options.Brokers = append(options.Brokers, host)
	}
	if options.TLS, err = connectionTLS(u.query); err != nil {
		return options, fmt.Errorf("bus URL: %w: %w", ErrURL, err)
	}
	for name := range u.query {
		if err := setKafka(&options, name, u.query.Get(name)); err != nil {
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
		if o.Session, err = timer.ParseDuration(value); err != nil || o.Session <= 0 {
			return invalid(`a duration such as "6s"`)
		}
	case "instance":
		o.InstanceID = value
	case "balancer":
		if o.ServerBalancer = value == "server"; !o.ServerBalancer && value != "client" {
			return invalid("client or server")
		}
	case "queue":
		return errors.New("parameter queue: share groups were removed; remove the parameter (decision 0048)")
	case "sasl":
		o.SASL.Mechanism = value
	case "token-file":
		o.SASL.TokenFile = value
	case "prefix":
		o.Prefix = value
	default:
		return timer.Invalid("parameter", name,
			"one of replicas, create, session, instance, balancer, sasl, token-file, tls, ca, cert, key, prefix")
	}
	return nil
}
