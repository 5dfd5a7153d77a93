package natsbus

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/timerbus/timerbus/pkg/bus"
)

// Options configures the connection and the retention of the topics. The zero value of each field selects its
// default. The first process that connects creates the streams and buckets; later processes use them unchanged, so
// that an operator's changes are kept. Only explicit sizes are also applied to existing streams.
type Options struct {
	// URL of the server or servers, comma separated. Default nats.DefaultURL.
	URL string
	// InProcess connects without a socket; URL is then ignored. To a server that syncs each message to the disk (an embedded.Server
	// that SyncsMessages), many messages are published as an atomic batch, which is synced once.
	InProcess nats.InProcessConnProvider
	// Token, or User and Password, are sent to a server that requires them.
	Token          string
	User, Password string
	// CredentialsFile has the JWT of a user and the seed of its NKey, as nsc writes it. It is read at each connection.
	CredentialsFile string
	// NKeyFile has the seed of an NKey.
	NKeyFile string
	// TLS encrypts every connection; nil: the server decides.
	TLS *tls.Config
	// Connection is passed to nats.Connect, for other credentials.
	Connection []nats.Option
	// Name appears in the server's connection list. Default "timerbus".
	Name string

	// Prefix separates clusters on one server: subjects <prefix>.<topic>.<partition>, streams <prefix>-<topic>.
	// Letters, digits, - and _. Default "timerbus".
	Prefix string
	// Partitions is the cluster's partition count, fixed by the first process. Default 16.
	Partitions int
	// Replicas of each stream and bucket: 1, 3 or 5. Default 1.
	Replicas int

	// LogMaxAge and LogMaxBytes bound each of the topics of fired events, results and dead timers; the oldest
	// messages are removed first. Default 24 h and 512 MiB. A server counts the sizes of all streams, times Replicas,
	// against its limit or the account's; with the defaults their sum is 2.5 GiB.
	LogMaxAge   time.Duration
	LogMaxBytes int64
	// QueueStreams is the number of streams of the due queue, 1 to 16: partition p is published to stream p mod
	// QueueStreams. Default Replicas, so that each server of a cluster can lead one. Processes may have different
	// numbers, and the number may change (decision 0038).
	QueueStreams int
	// QueueMaxAge and QueueMaxBytes bound the due queue. Each of its streams has an equal share of the size; a full
	// stream rejects Publish. The scheduler's sweep publishes messages again that were removed for their age. Default
	// 24 h and 512 MiB.
	QueueMaxAge   time.Duration
	QueueMaxBytes int64
	// CommandsMaxBytes bounds the topic of commands; a full topic rejects Publish. Default 512 MiB.
	CommandsMaxBytes int64
	// DedupeWindow is how long the server deduplicates a message ID. Default 2 min.
	DedupeWindow time.Duration

	// LeaseTTL is how long a dead process keeps its partitions. At least 1 s, which is the default.
	LeaseTTL time.Duration
	// CloseWait bounds how long a handover waits for a Session's Close. Default 5 s.
	CloseWait time.Duration
	// RetryPause is the initial backoff of a partition after open or Deliver failed. Default 100 ms.
	RetryPause time.Duration
	// CommitEvery is the minimum interval between commits of an Ordered partition. After a crash, messages since the
	// last commit are repeated. Default 100 ms.
	CommitEvery time.Duration
	// AckTimeout is how long Publish waits for the server if its context allows. Default 5 s.
	AckTimeout time.Duration

	// Logger receives events that no caller gets as an error: reconnects, losses, failing sessions. By default the
	// log is discarded.
	Logger *slog.Logger

	// times are intervals that only tests change.
	times times

	// current replaces User and Password, or Token; it contains nil until SetCredentials. Set by complete.
	current *atomic.Pointer[url.Userinfo]

	// given are the explicit sizes (not zero), by stream.
	given map[string]int64
}

// times are intervals that depend on the protocol, not on the installation. Zero means the default in the comment. Tests
// set at least 10 ms.
type times struct {
	// ackWait is how long a Queue delivery may remain without an answer: bus.AckWait.
	ackWait time.Duration
	// trimEvery is the interval at which a consumer of commands checks whether applied commands should be removed: 2 s.
	trimEvery time.Duration
	// trimAgain is that interval while unapplied commands prevent the removal: 10 s.
	trimAgain time.Duration
	// lookEvery is how often a session looks for streams that other processes have created: 5 s.
	lookEvery time.Duration
	// sharedExpires and ownExpires are the lifetimes of a request for messages: 5 s and 30 s. The server sends a heartbeat
	// after 2/5 of it. If a member's connection hangs, messages that the server sends on its open requests are lost. For
	// the shared queue the lifetime must be short. For a consumer with one reader a long lifetime does no harm, and it
	// saves requests and heartbeats, which are most of the cost of an idle process.
	sharedExpires, ownExpires time.Duration
}

func (t *times) complete() {
	t.ackWait = cmp.Or(t.ackWait, bus.AckWait)
	t.trimEvery = cmp.Or(t.trimEvery, 2*time.Second)
	t.trimAgain = cmp.Or(t.trimAgain, 10*time.Second)
	t.lookEvery = cmp.Or(t.lookEvery, 5*time.Second)
	t.sharedExpires = cmp.Or(t.sharedExpires, 5*time.Second)
	t.ownExpires = cmp.Or(t.ownExpires, 30*time.Second)
}

var prefixForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// complete sets the defaults and validates the options.
func complete(o Options) (Options, error) {
	o.URL = cmp.Or(o.URL, nats.DefaultURL)
	o.Name = cmp.Or(o.Name, "timerbus")
	o.Prefix = cmp.Or(o.Prefix, "timerbus")
	o.Partitions = cmp.Or(o.Partitions, 16)
	o.Replicas = cmp.Or(o.Replicas, 1)
	o.QueueStreams = cmp.Or(o.QueueStreams, o.Replicas)
	if o.QueueStreams < 1 || o.QueueStreams > MaxQueueStreams {
		return o, fmt.Errorf("natsbus: %d due streams: want 1 to %d", o.QueueStreams, MaxQueueStreams)
	}
	o.given = o.sizes()
	o.LogMaxAge = cmp.Or(o.LogMaxAge, 24*time.Hour)
	o.LogMaxBytes = cmp.Or(o.LogMaxBytes, 512<<20)
	o.QueueMaxAge = cmp.Or(o.QueueMaxAge, 24*time.Hour)
	o.QueueMaxBytes = cmp.Or(o.QueueMaxBytes, 512<<20)
	o.CommandsMaxBytes = cmp.Or(o.CommandsMaxBytes, 512<<20)
	o.DedupeWindow = cmp.Or(o.DedupeWindow, 2*time.Minute)
	o.LeaseTTL = cmp.Or(o.LeaseTTL, time.Second)
	o.CloseWait = cmp.Or(o.CloseWait, 5*time.Second)
	o.RetryPause = cmp.Or(o.RetryPause, 100*time.Millisecond)
	o.CommitEvery = cmp.Or(o.CommitEvery, 100*time.Millisecond)
	o.AckTimeout = cmp.Or(o.AckTimeout, 5*time.Second)
	o.times.complete()
	o.current = new(atomic.Pointer[url.Userinfo])
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("component", "natsbus")
	switch {
	case !prefixForm.MatchString(o.Prefix):
		return o, fmt.Errorf("natsbus: prefix %q: want 1 to 64 letters, digits, - or _", o.Prefix)
	case o.Partitions < 1 || o.Partitions > 4096:
		return o, fmt.Errorf("natsbus: %d partitions: want 1 to 4096", o.Partitions)
	case o.LeaseTTL < time.Second:
		return o, fmt.Errorf("natsbus: lease TTL %v: want at least 1s", o.LeaseTTL)
	}
	return o, nil
}

// user returns the present user and password, or the token as a user.
func (o *Options) user() *url.Userinfo {
	switch set := o.current.Load(); {
	case set != nil:
		return set
	case o.User != "":
		return url.UserPassword(o.User, o.Password)
	default:
		return url.User(o.Token)
	}
}

// credentials returns the options for authentication and TLS.
func (o *Options) credentials() []nats.Option {
	var options []nats.Option
	if o.Token != "" {
		options = append(options, nats.TokenHandler(func() string { return o.user().Username() }))
	}
	if o.User != "" {
		options = append(options, nats.UserInfoHandler(func() (user, password string) {
			present := o.user() // read once, because it may change
			password, _ = present.Password()
			return present.Username(), password
		}))
	}
	if o.CredentialsFile != "" {
		options = append(options, nats.UserCredentials(o.CredentialsFile))
	}
	if o.NKeyFile != "" {
		options = append(options, func(connection *nats.Options) error {
			option, err := nats.NkeyOptionFromSeed(o.NKeyFile)
			if err != nil {
				return fmt.Errorf("read the NKey in %s: %w", o.NKeyFile, err)
			}
			return option(connection)
		})
	}
	if o.TLS != nil {
		options = append(options, nats.Secure(o.TLS))
	}
	return append(options, o.Connection...)
}
