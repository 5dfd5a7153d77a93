package watermillbus_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/tests"
	"github.com/twmb/franz-go/pkg/kfake" //nolint:depguard // the fake broker is under the adapter, not in it

	"github.com/timerbus/timerbus/internal/testserver"
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
	subscriber, err := watermillbus.NewSubscriber(watermillbus.SubscriberConfig{Bus: b, ConsumerGroup: group, NackPause: 10 * time.Millisecond, Logger: testserver.Log()})
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
		server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", NoSync: true, Logger: testserver.Log()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		runSuite(t, sized(features), onJetStream(server.URL()))
	})
	t.Run("nats", func(t *testing.T) { runSuite(t, sized(features), onJetStream(testserver.Address(t, "nats"))) })
}

func onJetStream(url string) func(t *testing.T) bus.Bus {
	opts := natsbus.Options{URL: url, Prefix: prefix(), Partitions: 1, Logger: testserver.Log()}
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
	t.Run("kafka", func(t *testing.T) {
		runSuite(t, sized(features), onKafka(strings.Split(testserver.Address(t, "kafka"), ",")))
	})
}

func onKafka(brokers []string) func(t *testing.T) bus.Bus {
	opts := kafkabus.Options{Brokers: brokers, Prefix: prefix(), Partitions: 1, Logger: testserver.Log()}
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

// prefix separates runs on one server.
func prefix() string { return fmt.Sprintf("w%x", time.Now().UnixNano()) }
