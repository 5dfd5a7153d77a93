package kafkabus_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

// TestMain runs more checks in parallel than there are processors, because checks wait for sessions to expire.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// `make test-clusters` has three brokers as well.
//
//testenv:need kafka

// brokers returns the addresses of a real cluster by its name in tools/testenv.
func brokers(tb testing.TB, name string) []string {
	tb.Helper()
	return strings.Split(testserver.Address(tb, name), ",")
}

// prefixes separate runs and checks on one cluster.
var prefixes atomic.Int64

func prefix() string {
	return fmt.Sprintf("t%x-%d", time.Now().UnixNano(), prefixes.Add(1))
}

const session = 6 * time.Second

// runSuite runs checks on real brokers, each with separate topics.
func runSuite(t *testing.T, base kafkabus.Options) {
	t.Helper()
	t.Run("checks", func(t *testing.T) {
		bustest.Run(t, bustest.Options{Exclude: excluded}, func(t bustest.T, partitions int) bustest.System {
			ours, theirs := base, base
			ours.Prefix, ours.Partitions = prefix(), partitions
			theirs.Prefix, theirs.Partitions = prefix(), partitions
			remove(t, base.Brokers, ours.Prefix, theirs.Prefix)
			return bustest.System{
				Join:             func(t bustest.T) bustest.Member { return join(t, ours) },
				Stranger:         func(t bustest.T) bustest.Member { return join(t, theirs) },
				OwnPrefix:        ours.Prefix + "-own-",
				StrangerTopics:   []string{theirs.Prefix + ".due", theirs.Prefix + ".commands", theirs.Prefix + ".incarnations"},
				Remove:           removeRecords(base.Brokers, ours.Prefix),
				QueueByPartition: true,
				WaitingUnknown:   true,
				LeaseTTL:         2 * session, // the session, and the time until the client detects the loss
				Settle:           700 * time.Millisecond,
				Patience:         time.Minute,
			}
		})
	})
}

// remove deletes a check's topics at the end of the test: the topics of hundreds of checks would slow the brokers
// down.
func remove(t bustest.T, brokers []string, prefixes ...string) {
	t.Cleanup(func() {
		client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
		if err != nil {
			t.Errorf("delete topics: %v", err)
			return
		}
		defer client.Close()
		admin := kadm.NewClient(client)
		ctx, cancel := context.WithTimeout(context.Background(), setupLimit)
		defer cancel()
		topics, err := admin.ListTopics(ctx)
		if err != nil {
			t.Errorf("delete topics: %v", err)
			return
		}
		var ours []string
		for _, topic := range topics.Names() {
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(topic, p+".") || strings.HasPrefix(topic, p+"-") }) {
				ours = append(ours, topic)
			}
		}
		if _, err := admin.DeleteTopics(ctx, ours...); err != nil {
			t.Errorf("delete topics: %v", err)
		}
	})
}

func join(t bustest.T, opts kafkabus.Options) bustest.Member {
	l := testserver.NewLine()
	t.Cleanup(l.Close)
	opts.Client = append(slices.Clone(opts.Client), kgo.Dialer(l.Dial))
	opts.Logger = testserver.Log()
	b, err := kafkabus.Connect(t.Context(), opts)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	return bustest.Member{Bus: bus.Bus(b), Crash: l.Kill, Isolate: l.Isolate, Heal: l.Heal, Break: l.Cut}
}

// removeRecords removes the messages of a topic's partition 0 before a position.
func removeRecords(brokers []string, prefix string) func(bustest.T, bus.Topic, bus.Position) {
	return func(t bustest.T, topic bus.Topic, before bus.Position) {
		client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
		if err != nil {
			t.Fatalf("delete records: %v", err)
		}
		defer client.Close()
		var at kadm.Offsets
		at.AddOffset(prefix+"."+string(topic), int32(before.Partition), before.Offset-1, -1)
		deleted, err := kadm.NewClient(client).DeleteRecords(t.Context(), at)
		if err == nil {
			err = deleted.Error()
		}
		if err != nil {
			t.Fatalf("delete records: %v", err)
		}
	}
}

// excluded are the checks that a bus of consumer groups cannot pass.
var excluded = map[string]string{
	"Publish/RepeatedIDIsDropped":          "Kafka has no window for message ids; the contract lets an engine ignore them",
	"Gap/FullCommandsAreRefusedAndKept":    "Kafka cannot refuse messages because others are not read; it keeps commands for 7 days",
	"Queue/AnyMemberTakesWhatOthersCannot": "a partition of a consumer group has one owner",
}

func TestSuite(t *testing.T) {
	for name, replicas := range map[string]int{"kafka": 1, "kafka3": 3} {
		t.Run(name, func(t *testing.T) {
			runSuite(t, kafkabus.Options{Brokers: brokers(t, name), Replicas: replicas})
		})
	}
}
