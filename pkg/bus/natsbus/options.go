package natsbus

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"
)

// Options says where the server is and how the topics are kept. The zero value of each field means
// its default. What is kept on the server (streams and buckets) is made by the first process that
// connects; later ones take it as it is, so that an operator's changes stay. Only the sizes, where they are
// given, hold for streams that exist, too.
type Options struct {
	// URL of the server or servers, comma separated. Default nats.DefaultURL.
	URL string
	// InProcess connects without a socket; then URL is ignored.
	InProcess nats.InProcessConnProvider
	// Token, or User and Password, are given to a server that asks for them.
	Token          string
	User, Password string
	// TLS encrypts every connection; nil: as the server wants it.
	TLS *tls.Config
	// Connection is passed to nats.Connect, for other credentials.
	Connection []nats.Option
	// Name shows in the server's connection list. Default "timerbus".
	Name string

	// Prefix keeps clusters on one server apart: subjects <prefix>.<topic>.<partition>, streams
	// <prefix>-<topic>. Letters, digits, - and _. Default "timerbus".
	Prefix string
	// Partitions is the cluster's partition count, fixed by the first process. Default 16.
	Partitions int
	// Replicas of each stream and bucket: 1, 3 or 5. Default 1.
	Replicas int

	// LogMaxAge and LogMaxBytes bound each of the topics of fired events, results and dead timers; the oldest
	// messages go first. Default 24 h and 512 MiB. A server counts the sizes of all streams, times Replicas,
	// against its limit or the account's; those by default are 2.5 GiB.
	LogMaxAge   time.Duration
	LogMaxBytes int64
	// QueueStreams is the number of streams of the due queue, 1 to 16: partition p is published to stream p mod
	// QueueStreams. Default Replicas, so that each server of a cluster can lead one. Processes may have different
	// numbers, and the number may change (decision 0038).
	QueueStreams int
	// QueueMaxAge and QueueMaxBytes bound the due queue; each of its streams has an equal share of the size, above
	// which Publish is refused. The scheduler's sweep publishes again what is removed for its age. Default 24 h and 512 MiB.
	QueueMaxAge   time.Duration
	QueueMaxBytes int64
	// CommandsMaxBytes bounds the topic of commands; above it Publish is refused. Default 512 MiB.
	CommandsMaxBytes int64
	// DedupeWindow is how long the server remembers message IDs. Default 2 min.
	DedupeWindow time.Duration

	// LeaseTTL is how long a dead process keeps its partitions. At least 1 s, which is the default.
	LeaseTTL time.Duration
	// CloseWait bounds how long a hand-over waits for a Session's Close. Default 5 s.
	CloseWait time.Duration
	// RetryPause is how long a partition rests after open or Deliver failed. Default 100 ms.
	RetryPause time.Duration
	// CommitEvery bounds how often an Ordered partition writes its position while it moves; it is
	// what a crash repeats. Default 100 ms.
	CommitEvery time.Duration
	// AckTimeout is how long Publish waits for the server if its context allows. Default 5 s.
	AckTimeout time.Duration

	// Logger gets what no caller is told: reconnects, losses, failing sessions. Default: nothing.
	Logger *slog.Logger

	// given are the sizes that were not left at zero, by stream.
	given map[string]int64
}

var prefixForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// complete fills in the defaults and checks what is given.
func complete(o Options) (Options, error) {
	setDefault(&o.URL, nats.DefaultURL)
	setDefault(&o.Name, "timerbus")
	setDefault(&o.Prefix, "timerbus")
	setDefault(&o.Partitions, 16)
	setDefault(&o.Replicas, 1)
	setDefault(&o.QueueStreams, o.Replicas)
	if o.QueueStreams < 1 || o.QueueStreams > MaxQueueStreams {
		return o, fmt.Errorf("natsbus: %d due streams: want 1 to %d", o.QueueStreams, MaxQueueStreams)
	}
	o.given = o.sizes()
	setDefault(&o.LogMaxAge, 24*time.Hour)
	setDefault(&o.LogMaxBytes, 512<<20)
	setDefault(&o.QueueMaxAge, 24*time.Hour)
	setDefault(&o.QueueMaxBytes, 512<<20)
	setDefault(&o.CommandsMaxBytes, 512<<20)
	setDefault(&o.DedupeWindow, 2*time.Minute)
	setDefault(&o.LeaseTTL, time.Second)
	setDefault(&o.CloseWait, 5*time.Second)
	setDefault(&o.RetryPause, 100*time.Millisecond)
	setDefault(&o.CommitEvery, 100*time.Millisecond)
	setDefault(&o.AckTimeout, 5*time.Second)
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
		return o, fmt.Errorf("natsbus: lease TTL %v: the server takes 1s and more", o.LeaseTTL)
	}
	return o, nil
}

func setDefault[V comparable](v *V, def V) {
	var zero V
	if *v == zero {
		*v = def
	}
}

// credentials are the options that say who this process is, and whom it trusts.
func (o *Options) credentials() []nats.Option {
	var options []nats.Option
	if o.Token != "" {
		options = append(options, nats.Token(o.Token))
	}
	if o.User != "" {
		options = append(options, nats.UserInfo(o.User, o.Password))
	}
	if o.TLS != nil {
		options = append(options, nats.Secure(o.TLS))
	}
	return append(options, o.Connection...)
}
