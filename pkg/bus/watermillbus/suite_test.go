package watermillbus_test

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/tests"
	"github.com/twmb/franz-go/pkg/kfake" //nolint:depguard // the fake broker is under the adapter, not in it

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/bus/watermillbus"
)

// features configures Watermill's suite for the adapter. It is the same on every bus.
//
// ExactlyOnceDelivery is false: every bus delivers at least once. ContextPreserved is false: a message's context
// stays in its process.
var features = tests.Features{
	ConsumerGroups: true,
	// Only for messages with the same key; pair sets the keys.
	GuaranteedOrder: true,
	Persistent:      true,
}

// sized makes the suite's tests on servers small, with hundreds of messages and ten subscribers. With the default
// size, thousands of messages and fifty subscribers, they time out on a busy machine. TIMERBUS_WATERMILL_FULL=1
// selects the default size.
func sized(f tests.Features) tests.Features {
	f.ForceShort = os.Getenv("TIMERBUS_WATERMILL_FULL") == ""
	return f
}

// runSuite runs Watermill's suite. connect joins the bus like a separate process.
func runSuite(t *testing.T, features tests.Features, connect func(t *testing.T) bus.Bus) {
	t.Helper()
	constructor := func(group func() string) tests.PubSubConstructor {
		return func(t *testing.T) (message.Publisher, message.Subscriber) { return pair(t, connect(t), group()) }
	}
	one := "suite"
	t.Run("suite", func(t *testing.T) {
		tests.TestPubSub(t, features, constructor(func() string { return one }),
			func(t *testing.T, group string) (message.Publisher, message.Subscriber) {
				return pair(t, connect(t), group)
			})
	})
	// A subscriber gets old messages if its group is new, and this test needs independent subscribers.
	t.Run("groups of their own", func(t *testing.T) {
		features.NewSubscriberReceivesOldMessages = true
		tests.TestNewSubscriberReceivesOldMessages(t, tests.TestContext{TestID: tests.NewTestID(), Features: features},
			constructor(watermill.NewUUID))
	})
}

// pair creates the suite's Pub/Sub. The key is the payload, as the suite's test of order requires.
func pair(t *testing.T, b bus.Bus, group string) (*watermillbus.Publisher, *watermillbus.Subscriber) {
	t.Helper()
	publisher, err := watermillbus.NewPublisher(watermillbus.PublisherConfig{
		Bus: b,
		Key: func(_ string, m *message.Message) (string, error) { return string(m.Payload), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	subscriber, err := watermillbus.NewSubscriber(watermillbus.SubscriberConfig{Bus: b, ConsumerGroup: group, NackPause: 10 * time.Millisecond, Logger: testLog()})
	if err != nil {
		t.Fatal(err)
	}
	return publisher, subscriber
}

func TestSuiteOnMemory(t *testing.T) {
	broker := membus.New(membus.Options{Partitions: 3})
	runSuite(t, features, func(t *testing.T) bus.Bus {
		m := broker.Join("m")
		t.Cleanup(func() { m.Close() })
		return m
	})
}

//testenv:need nats kafka

func TestSuiteOnJetStream(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		// Without fsync, because a dozen concurrent tests would wait for the disk.
		server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", NoSync: true, Logger: testLog()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		runSuite(t, sized(features), onJetStream(server.URL()))
	})
	t.Run("nats", func(t *testing.T) { runSuite(t, sized(features), onJetStream(address(t, "nats"))) })
}

func onJetStream(url string) func(t *testing.T) bus.Bus {
	opts := natsbus.Options{URL: url, Prefix: prefix(), Partitions: 1, Logger: testLog()}
	return func(t *testing.T) bus.Bus {
		t.Helper()
		b, err := natsbus.Connect(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	}
}

func TestSuiteOnKafka(t *testing.T) {
	t.Run("fake", func(t *testing.T) {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DefaultNumPartitions(3))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cluster.Close)
		runSuite(t, sized(features), onKafka(cluster.ListenAddrs()))
	})
	t.Run("kafka", func(t *testing.T) { runSuite(t, sized(features), onKafka(strings.Split(address(t, "kafka"), ","))) })
}

func onKafka(brokers []string) func(t *testing.T) bus.Bus {
	opts := kafkabus.Options{Brokers: brokers, Prefix: prefix(), Partitions: 1, Logger: testLog()}
	return func(t *testing.T) bus.Bus {
		t.Helper()
		b, err := kafkabus.Connect(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	}
}

// address returns the address of a real server by its name in tools/testenv.
func address(tb testing.TB, name string) string {
	tb.Helper()
	variable := "TIMERBUS_TEST_" + strings.ToUpper(name)
	if given := os.Getenv(variable); given != "" {
		return given
	}
	if slices.Contains(strings.Split(os.Getenv("TIMERBUS_REQUIRE"), ","), name) {
		tb.Fatalf("TIMERBUS_REQUIRE lists %s, and %s is empty", name, variable)
	}
	tb.Skipf("no %s: run through `go run ./tools/testenv --need %s --`", variable, name)
	return ""
}

// prefix separates runs on one server.
func prefix() string { return fmt.Sprintf("w%x", time.Now().UnixNano()) }

// testLog discards the log unless TIMERBUS_TEST_LOG is set, because a failing test is easier to read without it.
func testLog() *slog.Logger {
	if os.Getenv("TIMERBUS_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
