package kafkabus_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// fakeSession is short, so that a test need not wait long after a crash. The fake broker accepts it.
const fakeSession = 1200 * time.Millisecond

// fake starts a broker in the process, which can inject faults.
func fake(tb testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	tb.Helper()
	opts = append([]kfake.Opt{
		kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(100 * time.Millisecond),
	}, opts...)
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(cluster.Close)
	return cluster
}

func fakeOptions(cluster *kfake.Cluster) kafkabus.Options {
	return kafkabus.Options{
		Brokers: cluster.ListenAddrs(), Prefix: prefix(), Partitions: 1, Logger: testserver.Log(),
		Session: fakeSession, Heartbeat: 50 * time.Millisecond, CommitEvery: 20 * time.Millisecond,
	}
}

func connect(tb testing.TB, opts kafkabus.Options) *kafkabus.Bus {
	tb.Helper()
	var b *kafkabus.Bus
	retry(tb, "connect", func(ctx context.Context) (err error) {
		if b, err = kafkabus.Connect(ctx, opts); err != nil && !errors.Is(err, bus.ErrUnavailable) {
			tb.Fatal(err)
		}
		return err
	})
	tb.Cleanup(func() { b.Close() })
	return b
}

// TestSuiteOnFake runs the whole suite without a server, on three brokers.
func TestSuiteOnFake(t *testing.T) {
	t.Parallel()
	var ackWait time.Duration // that of production
	if testing.Short() {
		ackWait = 2 * time.Second
	}
	cluster := fake(t, kfake.NumBrokers(3))
	t.Run("checks", func(t *testing.T) {
		t.Parallel()
		bustest.Run(t, bustest.Options{Exclude: excluded}, func(_ bustest.T, partitions int) bustest.System {
			ours, theirs := kafkabus.WithAckWait(fakeOptions(cluster), ackWait), kafkabus.WithAckWait(fakeOptions(cluster), ackWait)
			ours.Partitions, theirs.Partitions = partitions, partitions
			return bustest.System{
				Join:             func(t bustest.T) bustest.Member { return join(t, ours) },
				Stranger:         func(t bustest.T) bustest.Member { return join(t, theirs) },
				OwnPrefix:        ours.Prefix + "-own-",
				StrangerTopics:   []string{theirs.Prefix + ".due", theirs.Prefix + ".commands", theirs.Prefix + ".incarnations"},
				Remove:           removeRecords(cluster.ListenAddrs(), ours.Prefix),
				QueueByPartition: true,
				WaitingUnknown:   true,
				AckWait:          ackWait,
				LeaseTTL:         2 * fakeSession,
				Settle:           500 * time.Millisecond,
				Patience:         30 * time.Second,
			}
		})
	})
}

// patience bounds a wait for a required event. It is long because tests run on loaded machines.
const patience = time.Minute

// setupLimit bounds one step of a test's setup on a loaded machine.
const setupLimit = 2 * time.Minute

// retry repeats a step of a test's setup until it succeeds, at most for setupLimit. Loaded brokers reply late or not
// at all, and a change reaches them at different times.
func retry(tb testing.TB, what string, step func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), setupLimit)
	defer cancel()
	for {
		err := step(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("%s: %v", what, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// consuming is one Consume and its result.
type consuming struct {
	enginetest.Inbox

	stop  func() error // ends it gracefully
	ended chan error
}

func consume(t *testing.T, b *kafkabus.Bus, spec bus.Spec) *consuming {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &consuming{Inbox: make(enginetest.Inbox, 1024), ended: make(chan error, 1)}
	c.stop = sync.OnceValue(func() error {
		cancel()
		return <-c.ended
	})
	go func() {
		c.ended <- b.Consume(ctx, spec, func(context.Context, shard.Partition) (bus.Session, error) { return c.Inbox, nil })
	}()
	t.Cleanup(func() { _ = c.stop() })
	return c
}

func publish(t *testing.T, b *kafkabus.Bus, topic bus.Topic, bodies ...string) []bus.Position {
	t.Helper()
	var messages []bus.Message
	for _, body := range bodies {
		messages = append(messages, bus.Message{Body: []byte(body)})
	}
	positions, err := b.Publish(t.Context(), topic, messages...)
	if err != nil {
		t.Fatal(err)
	}
	return positions
}

func admin(t *testing.T, cluster *kfake.Cluster) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

var (
	ordered = bus.Spec{Topic: bus.Commands, Group: "g", Mode: bus.Ordered}
	live    = bus.Spec{Topic: bus.Shards, Group: "g", Mode: bus.Live}
	queue   = bus.Spec{Topic: bus.Due, Group: "g", Mode: bus.Queue}
)

func TestConnectSaysWhatIsWrong(t *testing.T) {
	cluster := fake(t)
	secured := fake(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "me", "right"))
	made := fakeOptions(cluster)
	connect(t, made)
	for name, c := range map[string]struct {
		change func(*kafkabus.Options)
		want   []string
	}{
		"nobody there":  {func(o *kafkabus.Options) { o.Brokers = []string{"127.0.0.1:1"} }, []string{"127.0.0.1:1", "refused"}},
		"another count": {func(o *kafkabus.Options) { o.Prefix, o.Partitions = made.Prefix, 8 }, []string{"has 1 partitions", "set to 8"}},
		"prefix":        {func(o *kafkabus.Options) { o.Prefix = "a.b" }, []string{`prefix "a.b"`}},
		"partitions":    {func(o *kafkabus.Options) { o.Partitions = -1 }, []string{"-1 partitions"}},
		"heartbeat":     {func(o *kafkabus.Options) { o.Heartbeat = time.Second }, []string{"heartbeat 1s", "third"}},
		"mechanism":     {func(o *kafkabus.Options) { o.SASL.Mechanism = "MAGIC" }, []string{`"MAGIC"`, "SCRAM-SHA-256"}},
		"user alone":    {func(o *kafkabus.Options) { o.SASL.User = "me" }, []string{"without a SASL mechanism"}},
		"user with a token": {func(o *kafkabus.Options) {
			o.SASL = kafkabus.Credentials{Mechanism: "oauthbearer", TokenFile: "/token", User: "me"}
		}, []string{"OAUTHBEARER", "token file"}},
		"token without file":      {func(o *kafkabus.Options) { o.SASL.Mechanism = "OAUTHBEARER" }, []string{`token file ""`}},
		"AWS without credentials": {func(o *kafkabus.Options) { o.SASL.Mechanism = "AWS_MSK_IAM" }, []string{"Credentials.AWS"}},
		"missing topics":          {func(o *kafkabus.Options) { o.NoCreate = true }, []string{"missing", ".commands", ".incarnations"}},
		"too many replicas":       {func(o *kafkabus.Options) { o.Replicas = 3 }, []string{"create topic", "3 replicas", "INVALID_REPLICATION_FACTOR"}},
		"wrong password": {func(o *kafkabus.Options) {
			o.Brokers = secured.ListenAddrs()
			o.SASL = kafkabus.Credentials{Mechanism: "PLAIN", User: "me", Password: "wrong"}
		}, []string{"SASL mechanism, user and password"}},
		"password not given": {func(o *kafkabus.Options) { o.Brokers = secured.ListenAddrs() }, []string{"SASL"}},
	} {
		o := fakeOptions(cluster)
		c.change(&o)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := kafkabus.Connect(ctx, o)
		cancel()
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an error that names %s", name, err, want)
			}
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "wrong")) {
			t.Errorf("%s: %q is not one line, or contains the password", name, err)
		}
	}
	o := fakeOptions(secured)
	o.SASL = kafkabus.Credentials{Mechanism: "plain", User: "me", Password: "right"}
	connect(t, o)
}

func TestTopicLimitBelowOurs(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	b := connect(t, o)
	limit := "1000"
	_, err := admin(t, cluster).AlterTopicConfigs(t.Context(),
		[]kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: &limit}}, o.Prefix+".fired")
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 5000)
	for i := range body {
		body[i] = byte(i * i >> 3) // compresses badly
	}
	if _, err := b.Publish(t.Context(), bus.Fired, bus.Message{Body: body}); !errors.Is(err, bus.ErrTooLarge) {
		t.Fatalf("got %v, want ErrTooLarge", err)
	}
	publish(t, b, bus.Fired, "small ones pass")
}
