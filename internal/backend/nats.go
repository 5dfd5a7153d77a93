package backend

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/timer"
)

const acceptedNATS = "nats://[USER:PASSWORD@]HOST:PORT,HOST:PORT?replicas=3"

// natsOptions parses the URL of a server or a cluster, with these parameters:
//
//	replicas=N            replicas of each created stream and bucket: by default 1, or 3 on a cluster of three or more
//	lease=D               how long a dead process keeps its partitions: 1s by default
//	tls=true, ca=FILE     encrypts connections; ca trusts only the certificates in a PEM file
//	cert=FILE, key=FILE   PEM files with a client certificate and its key
//	creds=FILE            credentials of a user: a JWT and the seed of its NKey
//	nkey=FILE             the seed of an NKey
//	commands-size=SIZE, due-size=SIZE, events-size=SIZE
//	                      maximum size of the stream of commands, of due events, and of each stream of fired events,
//	                      results and dead timers: 512MiB by default, at least 16MiB
//	due-streams=N         number of streams of the due queue, 1 to 16; by default the number of replicas
//	prefix=NAME           begins the names of subjects, streams and buckets, so that several clusters can share
//	                      one bus: "timerbus" by default
//
// A user without a password is a token.
func natsOptions(raw string) (natsbus.Options, error) {
	var options natsbus.Options
	u, err := splitServers("nats", raw, acceptedNATS)
	if err != nil {
		return options, err
	}
	// Credentials are not kept in the addresses, because errors contain the addresses.
	if u.user != nil {
		password, isUser := u.user.Password()
		if isUser {
			options.User, options.Password = u.user.Username(), password
		} else {
			options.Token = u.user.Username()
		}
	}
	for i, host := range u.hosts {
		if name, port, found := cutLast(host, ":"); host == "" || found && (name == "" || !isPort(port)) && !strings.HasSuffix(host, "]") {
			return options, u.refused
		}
		u.hosts[i] = "nats://" + host
	}
	options.URL = strings.Join(u.hosts, ",")
	if options.TLS, err = connectionTLS(u.query); err != nil {
		return options, fmt.Errorf("bus URL: %w: %w", ErrURL, err)
	}
	for name := range u.query {
		if err := setNATS(&options, name, u.query.Get(name)); err != nil {
			return options, fmt.Errorf("bus URL: %w: %w", ErrURL, err)
		}
	}
	return options, nil
}

func setNATS(o *natsbus.Options, name, value string) (err error) {
	invalid := func(want string) error { return timer.Invalid(name, value, want) }
	switch name {
	case "replicas":
		if o.Replicas, err = strconv.Atoi(value); err != nil || o.Replicas != 1 && o.Replicas != 3 && o.Replicas != 5 {
			return invalid("1, 3 or 5")
		}
	case "lease":
		if o.LeaseTTL, err = timer.ParseDuration(value); err != nil || o.LeaseTTL < time.Second {
			return invalid(`a duration from 1s, such as "2s"`)
		}
	case "creds":
		if _, err := os.Stat(value); err != nil {
			return errors.Join(invalid("a file of credentials, as nsc writes it"), err)
		}
		o.CredentialsFile = value
	case "nkey":
		if _, err := os.Stat(value); err != nil {
			return errors.Join(invalid("a file with the seed of an NKey"), err)
		}
		o.NKeyFile = value
	case "prefix":
		o.Prefix = value
	default:
		if known, err := setStreams(o, name, value); known {
			return err
		}
		return timer.Invalid("parameter", name,
			"one of replicas, lease, commands-size, due-size, events-size, due-streams, tls, ca, cert, key, creds, nkey, prefix")
	}
	return nil
}

// minStream is large enough for a dozen messages of the largest size, in bytes.
const minStream = 16 << 20

// setStreams parses the size of a stream or the number of streams. known is false if the parameter is neither.
func setStreams(o *natsbus.Options, name, value string) (known bool, err error) {
	if name == "due-streams" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > natsbus.MaxQueueStreams {
			return true, timer.Invalid(name, value, fmt.Sprintf("1 to %d", natsbus.MaxQueueStreams))
		}
		o.QueueStreams = n
		return true, nil
	}
	sizes := map[string]*int64{"commands-size": &o.CommandsMaxBytes, "due-size": &o.QueueMaxBytes, "events-size": &o.LogMaxBytes}
	size, known := sizes[name]
	if !known {
		return false, nil
	}
	n, err := humanize.ParseBytes(value)
	if err != nil || n < minStream || n > math.MaxInt64 {
		return true, timer.Invalid(name, value, `a size from 16MiB, such as "512MiB" or "1GB"`)
	}
	*size = int64(n)
	return true, nil
}
