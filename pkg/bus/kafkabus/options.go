package kafkabus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/timerbus/timerbus/pkg/bus"
)

// Options configures the connection and the retention of the topics. The zero value of each field selects its
// default. The first process that connects creates the topics; later processes use them unchanged, so that an
// operator's changes are kept.
type Options struct {
	// Brokers are the seed brokers, as host:port. Default 127.0.0.1:9092.
	Brokers []string
	// TLS encrypts every connection; nil: no encryption.
	TLS *tls.Config
	// SASL authenticates this process.
	SASL Credentials
	// Client is passed to every client of this handle, for other settings.
	Client []kgo.Opt
	// Name appears in the brokers' logs and metrics. Default "timerbus".
	Name string

	// Prefix separates clusters on one Kafka: topics <prefix>.<topic>, groups <prefix>.<topic>.<group>. Letters,
	// digits, - and _. Default "timerbus".
	Prefix string
	// Partitions is the cluster's partition count, which is that of each topic. Default 16.
	Partitions int
	// Replicas of each topic that is created. Default 1. With three or more, a message is acknowledged when two
	// replicas have it (min.insync.replicas).
	Replicas int
	// NoCreate disables the creation of topics; a missing topic is then an error.
	NoCreate bool

	// LogMaxAge and LogMaxBytes bound each of the topics of fired events, results and dead timers. Default 24 h and 1
	// GiB. The size is divided equally among the partitions, with at least 4 MiB for each. Messages are kept for at
	// most LogMaxAge and an eighth of it.
	LogMaxAge   time.Duration
	LogMaxBytes int64
	// CommandsMaxAge bounds the topic of commands, whose size has no bound: Kafka cannot reject a command because
	// earlier ones are not applied, it can only remove those. Default 7 days.
	CommandsMaxAge time.Duration
	// QueueMaxAge and QueueMaxBytes bound the due queue, including acknowledged messages, which Kafka keeps like all
	// others. The scheduler's sweep finds the timers of removed messages. Default 24 h and 4 GiB.
	QueueMaxAge   time.Duration
	QueueMaxBytes int64

	// Session is how long a dead process keeps its partitions. The brokers accept values between their
	// group.min.session.timeout.ms (6 s by default) and group.max.session.timeout.ms. Default 6 s.
	Session time.Duration
	// Heartbeat is the interval of a member's heartbeats, and so the longest time until a member learns of a
	// rebalance. Default 100 ms.
	Heartbeat time.Duration
	// InstanceID makes this process a static member: when it leaves, its partitions wait for Session for its return
	// instead of moving. It must be unique among the live processes. Empty: a dynamic member.
	InstanceID string
	// ServerBalancer leaves the assignment to the brokers (KIP-848, Kafka 4.0 or newer) instead of the members.
	// Session and Heartbeat are then the brokers' settings (group.consumer.*).
	ServerBalancer bool

	// CloseWait bounds how long a handover waits for a Session's Close. Default 5 s.
	CloseWait time.Duration
	// RetryPause is the initial backoff of a partition after open or Deliver failed. Default 100 ms.
	RetryPause time.Duration
	// CommitEvery is the interval between commits of changed positions. After a crash, messages since the last commit
	// are repeated. Default 100 ms.
	CommitEvery time.Duration
	// AckTimeout is how long Publish waits for the brokers if its context allows. Default 5 s.
	AckTimeout time.Duration

	// Logger receives events that no caller gets as an error: losses, failing sessions, and the client library's
	// warnings. By default the log is discarded.
	Logger *slog.Logger

	// ackWait is how long a Queue delivery may remain without an answer: bus.AckWait. Only tests change it, to at least
	// 10 ms.
	ackWait time.Duration

	clientLog *clientLog // set by complete
	// credentials replace the user and password of SASL; they contain nil until SetCredentials. Set by complete.
	credentials *atomic.Pointer[url.Userinfo]
}

// Credentials are for SASL. The zero value disables SASL.
type Credentials struct {
	// Mechanism is PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or AWS_MSK_IAM.
	Mechanism      string
	User, Password string
	// TokenFile has the token of OAUTHBEARER. It is read at each authentication, so that another program can renew it.
	TokenFile string
	// AWS returns the credentials of AWS_MSK_IAM. It is called at each authentication. The region is in the broker's name, or in
	// the environment variable AWS_REGION.
	AWS func(ctx context.Context) (AWSCredentials, error)
}

// AWSCredentials are credentials of AWS. SessionToken is empty for those that do not expire.
type AWSCredentials struct{ AccessKeyID, SecretAccessKey, SessionToken string }

// mechanism returns the SASL mechanism, which reads the user and password at each connection; nil without credentials.
func (o *Options) mechanism() (sasl.Mechanism, error) {
	c := o.SASL
	name := strings.ToUpper(c.Mechanism)
	if (name == "OAUTHBEARER") != (c.TokenFile != "") {
		return nil, fmt.Errorf("kafkabus: SASL mechanism %q with token file %q: want OAUTHBEARER and a file, or neither",
			c.Mechanism, c.TokenFile)
	}
	if (name == iam) != (c.AWS != nil) {
		return nil, errors.New("kafkabus: want Credentials.AWS with the SASL mechanism " + iam + ", and without any other")
	}
	switch name {
	case "":
		if c.User != "" || c.Password != "" {
			return nil, errors.New("kafkabus: a user or password without a SASL mechanism")
		}
		return nil, nil //nolint:nilnil // missing credentials are no error
	case "PLAIN":
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			user, password := o.user()
			return plain.Auth{User: user, Pass: password}, nil
		}), nil
	case "SCRAM-SHA-256":
		return scram.Sha256(o.scram), nil
	case "SCRAM-SHA-512":
		return scram.Sha512(o.scram), nil
	case "OAUTHBEARER":
		if c.User != "" || c.Password != "" {
			return nil, errors.New("kafkabus: a user or password with OAUTHBEARER, which has a token file")
		}
		return bearer{oauth.Oauth(c.token)}, nil
	case iam:
		if c.User != "" || c.Password != "" {
			return nil, errors.New("kafkabus: a user or password with " + iam + ", which has credentials of AWS")
		}
		return aws.ManagedStreamingIAM(c.signer), nil
	default:
		return nil, fmt.Errorf("kafkabus: SASL mechanism %q: want PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or %s", c.Mechanism, iam)
	}
}

// iam is the mechanism of Amazon MSK that authenticates with credentials of AWS.
const iam = "AWS_MSK_IAM"

func (c Credentials) signer(ctx context.Context) (aws.Auth, error) {
	got, err := c.AWS(ctx)
	if err != nil {
		return aws.Auth{}, fmt.Errorf("credentials of %s: %w", iam, err)
	}
	return aws.Auth{
		AccessKey: got.AccessKeyID, SecretKey: got.SecretAccessKey, SessionToken: got.SessionToken, UserAgent: "timerbus",
	}, nil
}

func (o *Options) scram(context.Context) (scram.Auth, error) {
	user, password := o.user()
	return scram.Auth{User: user, Pass: password}, nil
}

// user returns the present user and password.
func (o *Options) user() (user, password string) {
	if set := o.credentials.Load(); set != nil {
		password, _ = set.Password()
		return set.Username(), password
	}
	return o.SASL.User, o.SASL.Password
}

// bearer is OAUTHBEARER whose errors contain the broker's answer to a token.
type bearer struct{ sasl.Mechanism }

func (b bearer) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	session, first, err := b.Mechanism.Authenticate(ctx, host)
	return bearerSession{session}, first, err
}

type bearerSession struct{ sasl.Session }

func (s bearerSession) Challenge(answer []byte) (done bool, next []byte, err error) {
	if len(answer) > 0 { // RFC 7628: a broker that accepts the token answers nothing
		return false, nil, fmt.Errorf("the broker refuses the token of OAUTHBEARER: %.200q", answer)
	}
	return s.Session.Challenge(answer)
}

// token reads the token of OAUTHBEARER.
func (c Credentials) token(context.Context) (oauth.Auth, error) {
	text, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return oauth.Auth{}, fmt.Errorf("read the token of OAUTHBEARER: %w", err)
	}
	return oauth.Auth{Token: strings.TrimSpace(string(text))}, nil
}

var prefixForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// complete sets the defaults and validates the options.
func complete(o Options) (Options, error) {
	if len(o.Brokers) == 0 {
		o.Brokers = []string{"127.0.0.1:9092"}
	}
	o.Name = cmp.Or(o.Name, "timerbus")
	o.Prefix = cmp.Or(o.Prefix, "timerbus")
	o.Partitions = cmp.Or(o.Partitions, 16)
	o.Replicas = cmp.Or(o.Replicas, 1)
	o.LogMaxAge = cmp.Or(o.LogMaxAge, 24*time.Hour)
	o.LogMaxBytes = cmp.Or(o.LogMaxBytes, 1<<30)
	o.CommandsMaxAge = cmp.Or(o.CommandsMaxAge, 7*24*time.Hour)
	o.QueueMaxAge = cmp.Or(o.QueueMaxAge, 24*time.Hour)
	o.QueueMaxBytes = cmp.Or(o.QueueMaxBytes, 4<<30)
	o.Session = cmp.Or(o.Session, 6*time.Second)
	o.Heartbeat = cmp.Or(o.Heartbeat, 100*time.Millisecond)
	o.CloseWait = cmp.Or(o.CloseWait, 5*time.Second)
	o.RetryPause = cmp.Or(o.RetryPause, 100*time.Millisecond)
	o.CommitEvery = cmp.Or(o.CommitEvery, 100*time.Millisecond)
	o.AckTimeout = cmp.Or(o.AckTimeout, 5*time.Second)
	o.ackWait = cmp.Or(o.ackWait, bus.AckWait)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("component", "kafkabus")
	o.clientLog = newClientLog(o.Logger)
	o.credentials = new(atomic.Pointer[url.Userinfo])
	switch {
	case !prefixForm.MatchString(o.Prefix):
		return o, fmt.Errorf("kafkabus: prefix %q: want 1 to 64 letters, digits, - or _", o.Prefix)
	case o.Partitions < 1 || o.Partitions > 4096:
		return o, fmt.Errorf("kafkabus: %d partitions: want 1 to 4096", o.Partitions)
	case o.Replicas < 1 || o.Replicas > 32767:
		return o, fmt.Errorf("kafkabus: %d replicas: want 1 or more", o.Replicas)
	case o.Heartbeat < 10*time.Millisecond || o.Heartbeat > o.Session/3:
		return o, fmt.Errorf("kafkabus: heartbeat %v: want 10ms to a third of the session, which is %v", o.Heartbeat, o.Session)
	}
	_, err := o.mechanism()
	return o, err
}

// client creates a client with the connection settings and more options.
func (o *Options) client(more ...kgo.Opt) (*kgo.Client, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(o.Brokers...),
		kgo.ClientID(o.Name),
		kgo.DialTimeout(2 * time.Second),
		// How long a request may wait on a dead connection that was not closed.
		kgo.RequestTimeoutOverhead(o.Session),
		kgo.RetryTimeout(o.Session),
		kgo.MetadataMinAge(250 * time.Millisecond), // a moved leader is found within this time
		kgo.MetadataMaxAge(time.Minute),
		kgo.WithLogger(o.clientLog),
		kgo.DisableClientMetrics(), // the brokers do not need client metrics
	}
	if o.TLS != nil {
		options = append(options, kgo.DialTLSConfig(o.TLS))
	}
	mechanism, err := o.mechanism()
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
