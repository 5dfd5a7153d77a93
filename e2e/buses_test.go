package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/timer"
)

// messageBus is a bus that processes connect to by a URL.
type messageBus struct {
	url    string
	prefix string
	// nodes are its processes, by their names in testenv.
	nodes []string
	// session is how long a dead process keeps its partitions.
	session time.Duration
	// wakesAsOwner: a member that was frozen learns only from the bus that it lost its partitions, and writes before
	// that. On NATS its clock shows that the lease has expired.
	wakesAsOwner bool
	// connect returns a reader of fired events, and a function that closes it.
	connect func() (events, func(), error)
	// newWire starts a wire to the bus and returns the bus's URL for a process that connects through it.
	newWire func(t *testing.T) (*wire, string)
	// deleteTopic deletes one of this cluster's topics.
	deleteTopic func(ctx context.Context, topic string) error

	reader events
}

// events returns a reader of fired events, with one connection for the whole test.
func (b *messageBus) events(t *testing.T) events {
	t.Helper()
	if b.reader == nil {
		reader, end, err := b.connect()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(end)
		b.reader = reader
	}
	return b.reader
}

// ownNATS returns a NATS server in this process. If token is not empty, the server requires it.
func ownNATS(t *testing.T, token string) *messageBus {
	t.Helper()
	server, err := backend.Open(within(t, patience), backend.Options{
		StoreURL: "memory:", BusURL: backend.FolderURL("embedded", t.TempDir(), url.Values{"listen": {"127.0.0.1:0"}}),
		Partitions: 16, Clock: timer.SystemClock, Random: rand.Uint64, BusToken: token,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return onNATS(server.BusAddress, "timerbus", "")
}

// clusters are the buses of three nodes, lone those of one node, by their names in testenv.
var (
	clusters = []string{"nats3", "kafka3"}
	lone     = []string{"nats", "kafka"}
)

// onEachBus runs a test on each bus. Tests on buses of one node run in parallel: they wait for timeouts and servers,
// and share no server that one of them may kill.
func onEachBus(t *testing.T, names []string, test func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(lone, name) {
				t.Parallel()
			}
			test(t, name)
		})
	}
}

// needBus returns one of testenv's buses. The test's topics are removed at its end.
func needBus(t *testing.T, name string) *messageBus {
	t.Helper()
	given := testserver.Address(t, name)
	prefix := fmt.Sprintf("e2e%x", time.Now().UnixNano())
	nodes := []string{name}
	if slices.Contains(clusters, name) {
		nodes = []string{name + "-1", name + "-2", name + "-3"}
	}
	b := onNATS(given, prefix, fmt.Sprintf("?replicas=%d&prefix=%s", len(nodes), prefix))
	remove := func(ctx context.Context) error { return removeStreams(ctx, given, prefix) }
	if strings.HasPrefix(name, "kafka") {
		b = onKafka(strings.Split(given, ","), prefix, len(nodes))
		remove = func(ctx context.Context) error { return removeTopics(ctx, strings.Split(given, ","), prefix) }
	}
	b.nodes = nodes
	t.Cleanup(func() {
		// The test's context has ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := remove(ctx); err != nil {
			t.Error(err)
		}
	})
	return b
}

func onNATS(server, prefix, query string) *messageBus {
	return &messageBus{
		newWire: func(t *testing.T) (*wire, string) {
			t.Helper()
			u, err := url.Parse(server)
			if err != nil {
				t.Fatal(err)
			}
			w := newWire(t, "127.0.0.1:0", u.Host)
			return w, over(t, server+query, u.Host, w.listener.Addr().String())
		},
		url: server + query, prefix: prefix, session: time.Second,
		connect: func() (events, func(), error) {
			reader, err := tap.Connect(server)
			if err != nil {
				return nil, nil, err
			}
			reader.Prefix = prefix
			return reader, reader.Close, nil
		},
		deleteTopic: func(ctx context.Context, topic string) error {
			return withJetStream(server, func(js jetstream.JetStream) error { return js.DeleteStream(ctx, prefix+"-"+topic) })
		},
	}
}

func onKafka(brokers []string, prefix string, replicas int) *messageBus {
	at := func(brokers ...string) string {
		return fmt.Sprintf("kafka://%s?replicas=%d&prefix=%s", strings.Join(brokers, ","), replicas, prefix)
	}
	// Each wire has a separate listener of the broker (tools/testenv).
	wires := strings.FieldsFunc(os.Getenv("TIMERBUS_TEST_KAFKA_WIRES"), func(r rune) bool { return r == ',' })
	return &messageBus{
		url:    at(brokers...),
		prefix: prefix,
		newWire: func(t *testing.T) (*wire, string) {
			t.Helper()
			if len(wires) == 0 || len(brokers) > 1 {
				t.Fatal("no listener for another wire in TIMERBUS_TEST_KAFKA_WIRES: only testenv's kafka has them, for two processes")
			}
			advertised, listener, _ := strings.Cut(wires[0], "=")
			wires = wires[1:]
			return newWire(t, advertised, listener), at(advertised)
		},
		session: 6 * time.Second, wakesAsOwner: true,
		connect: func() (events, func(), error) {
			reader, err := tap.ConnectKafka(brokers, prefix, tap.Fired)
			if err != nil {
				return nil, nil, err
			}
			return reader, reader.Close, nil
		},
		deleteTopic: func(ctx context.Context, topic string) error {
			return withAdmin(brokers, func(admin *kadm.Client) error {
				_, err := admin.DeleteTopic(ctx, prefix+"."+topic)
				return err
			})
		},
	}
}

func withJetStream(server string, do func(jetstream.JetStream) error) error {
	nc, err := nats.Connect(server)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	return do(js)
}

func withAdmin(brokers []string, do func(*kadm.Client) error) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return err
	}
	defer client.Close()
	return do(kadm.NewClient(client))
}

func removeStreams(ctx context.Context, server, prefix string) error {
	return withJetStream(server, func(js jetstream.JetStream) error {
		names := js.StreamNames(ctx)
		var failed error
		for name := range names.Name() {
			if strings.HasPrefix(strings.TrimPrefix(name, "KV_"), prefix+"-") {
				failed = errors.Join(failed, js.DeleteStream(ctx, name))
			}
		}
		return errors.Join(failed, names.Err())
	})
}

func removeTopics(ctx context.Context, brokers []string, prefix string) error {
	return withAdmin(brokers, func(admin *kadm.Client) error {
		topics, err := admin.ListTopics(ctx)
		if err != nil {
			return err
		}
		names := slices.DeleteFunc(topics.Names(), func(name string) bool { return !strings.HasPrefix(name, prefix+".") })
		_, err = admin.DeleteTopics(ctx, names...)
		return err
	})
}
