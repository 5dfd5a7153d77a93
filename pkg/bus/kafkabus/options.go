package kafkabus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Options says where the brokers are and how the topics are kept. The zero value of each field means
// its default. Topics are made by the first process that connects; later ones take them as they are,
// so that an operator's changes stay.
type Options struct {
	// Brokers to ask first, as host:port. Default 127.0.0.1:9092.
	Brokers []string
	// TLS encrypts every connection; nil: none.
	TLS *tls.Config
	// SASL is how this process proves who it is.
	SASL Credentials
	// Client is passed to every client of this handle, for whatever else is to be said.
	Client []kgo.Opt
	// Name shows in the brokers' logs and metrics. Default "timerbus".
	Name string

	// Prefix keeps clusters on one Kafka apart: topics <prefix>.<topic>, groups
	// <prefix>.<topic>.<group>. Letters, digits, - and _. Default "timerbus".
	Prefix string
	// Partitions is the cluster's partition count, that of each topic. Default 16.
	Partitions int
	// Replicas of each topic that is made. Default 1. With three or more, a message counts as taken
	// when two have it (min.insync.replicas).
	Replicas int
	// NoCreate leaves making topics to somebody else; what is missing is then an error.
	NoCreate bool

	// LogMaxAge and LogMaxBytes bound each of the topics of fired events, results and dead timers. Default 24 h and
	// 1 GiB, the latter shared evenly among the partitions, with at least 4 MiB for each. Messages are kept for LogMaxAge
	// and an eighth of it at most.
	LogMaxAge   time.Duration
	LogMaxBytes int64
	// CommandsMaxAge bounds the topic of commands, whose size has no bound: Kafka cannot refuse a command because
	// earlier ones are not applied, it can only remove those. Default 7 days.
	CommandsMaxAge time.Duration
	// QueueMaxAge and QueueMaxBytes bound the due queue, acknowledged messages included, which Kafka
	// keeps like all others. What outlives them is found again by the scheduler's sweep. Default 24 h
	// and 4 GiB.
	QueueMaxAge   time.Duration
	QueueMaxBytes int64

	// Session is how long a dead process keeps its partitions. The brokers accept what lies between
	// their group.min.session.timeout.ms (6 s, if nobody changed it) and group.max.session.timeout.ms.
	// Default 6 s.
	Session time.Duration
	// Heartbeat is how often a member asks its coordinator for news, and so at most how long a change of
	// members takes to be heard. Default 100 ms.
	Heartbeat time.Duration
	// InstanceID makes this process a static member: partitions wait for its return for Session
	// instead of moving when it leaves. It must be unique among the processes that live. Empty: none.
	InstanceID string
	// ServerBalancer leaves the assignment to the brokers (KIP-848, Kafka 4.0 or newer) instead of the
	// members. Session and Heartbeat are then the brokers' settings (group.consumer.*).
	ServerBalancer bool
	// ShareGroups consumes the due queue in a share group (Kafka 4.2 or newer) instead of a consumer
	// group: see docs/decisions/0009.
	ShareGroups bool
	// ShareLanes is how many members of the share group one Consume is. Each takes a batch and fetches
	// again when the batch is settled, so a slow message holds up a lane, not all. Default 4.
	ShareLanes int

	// CloseWait bounds how long a hand-over waits for a Session's Close. Default 5 s.
	CloseWait time.Duration
	// RetryPause is how long a partition rests after open or Deliver failed. Default 100 ms.
	RetryPause time.Duration
	// CommitEvery bounds how often positions are written while they move; it is what a crash repeats.
	// Default 100 ms.
	CommitEvery time.Duration
	// AckTimeout is how long Publish waits for the brokers if its context allows. Default 5 s.
	AckTimeout time.Duration

	// Logger gets what no caller is told: losses, failing sessions, and the client library's warnings.
	// Default: nothing.
	Logger *slog.Logger

	clientLog *clientLog // set by complete
}

// Credentials are for SASL. The zero value means none.
type Credentials struct {
	// Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.
	Mechanism      string
	User, Password string
}

func (c Credentials) mechanism() (sasl.Mechanism, error) {
	switch strings.ToUpper(c.Mechanism) {
	case "":
		if c.User != "" || c.Password != "" {
			return nil, errors.New("kafkabus: a user or password without a SASL mechanism")
		}
		return nil, nil //nolint:nilnil // no credentials are no error
	case "PLAIN":
		return plain.Auth{User: c.User, Pass: c.Password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha512Mechanism(), nil
	default:
		return nil, fmt.Errorf("kafkabus: SASL mechanism %q: want PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", c.Mechanism)
	}
}

var prefixForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// complete fills in the defaults and checks what is given.
func complete(o Options) (Options, error) {
	if len(o.Brokers) == 0 {
		o.Brokers = []string{"127.0.0.1:9092"}
	}
	setDefault(&o.Name, "timerbus")
	setDefault(&o.Prefix, "timerbus")
	setDefault(&o.Partitions, 16)
	setDefault(&o.Replicas, 1)
	setDefault(&o.LogMaxAge, 24*time.Hour)
	setDefault(&o.LogMaxBytes, 1<<30)
	setDefault(&o.CommandsMaxAge, 7*24*time.Hour)
	setDefault(&o.QueueMaxAge, 24*time.Hour)
	setDefault(&o.QueueMaxBytes, 4<<30)
	setDefault(&o.Session, 6*time.Second)
	setDefault(&o.Heartbeat, 100*time.Millisecond)
	setDefault(&o.ShareLanes, 4)
	setDefault(&o.CloseWait, 5*time.Second)
	setDefault(&o.RetryPause, 100*time.Millisecond)
	setDefault(&o.CommitEvery, 100*time.Millisecond)
	setDefault(&o.AckTimeout, 5*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("component", "kafkabus")
	o.clientLog = newClientLog(o.Logger)
	switch {
	case !prefixForm.MatchString(o.Prefix):
		return o, fmt.Errorf("kafkabus: prefix %q: want 1 to 64 letters, digits, - or _", o.Prefix)
	case o.Partitions < 1 || o.Partitions > 4096:
		return o, fmt.Errorf("kafkabus: %d partitions: want 1 to 4096", o.Partitions)
	case o.Replicas < 1 || o.Replicas > 32767:
		return o, fmt.Errorf("kafkabus: %d replicas: want 1 or more", o.Replicas)
	case o.Heartbeat < 10*time.Millisecond || o.Heartbeat > o.Session/3:
		return o, fmt.Errorf("kafkabus: heartbeat %v: want 10ms to a third of the session, which is %v", o.Heartbeat, o.Session)
	case o.ShareLanes < 1 || o.ShareLanes > 64:
		return o, fmt.Errorf("kafkabus: %d share lanes: want 1 to 64", o.ShareLanes)
	}
	_, err := o.SASL.mechanism()
	return o, err
}

func setDefault[V comparable](v *V, def V) {
	var zero V
	if *v == zero {
		*v = def
	}
}

// client makes a client that knows the brokers, with what it is for on top.
func (o *Options) client(more ...kgo.Opt) (*kgo.Client, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(o.Brokers...),
		kgo.ClientID(o.Name),
		kgo.DialTimeout(2 * time.Second),
		// How long a request may hang on a connection that is dead without saying so.
		kgo.RequestTimeoutOverhead(o.Session),
		kgo.RetryTimeout(o.Session),
		kgo.MetadataMinAge(250 * time.Millisecond), // a moved leader is found within this
		kgo.MetadataMaxAge(time.Minute),
		kgo.WithLogger(o.clientLog),
		kgo.DisableClientMetrics(), // the brokers need no figures of ours
	}
	if o.TLS != nil {
		options = append(options, kgo.DialTLSConfig(o.TLS))
	}
	mechanism, err := o.SASL.mechanism()
	if err != nil {
		return nil, err
	}
	if mechanism != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	options = append(options, o.Client...)
	client, err := kgo.NewClient(append(options, more...)...)
	if err != nil {
		return nil, fmt.Errorf("kafkabus: client: %w", err)
	}
	return client, nil
}

func (o *Options) address() string { return strings.Join(o.Brokers, ",") }
