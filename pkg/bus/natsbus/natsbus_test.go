package natsbus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/shard"
)

// patience is how long a test waits for a required event.
const patience = 20 * time.Second

// acking is a session that acknowledges deliveries and forwards them.
type acking struct{ enginetest.Inbox }

func (a acking) Deliver(ctx context.Context, d *bus.Delivery) error {
	d.Ack()
	return a.Inbox.Deliver(ctx, d)
}

// consume collects a topic's deliveries until the end of the test.
func consume(t *testing.T, b *natsbus.Bus, topic bus.Topic, mode bus.Mode) enginetest.Inbox {
	t.Helper()
	in := make(enginetest.Inbox, 1024)
	t.Cleanup(consumeInto(t, b, topic, mode, acking{in}))
	return in
}

// consumeInto consumes a topic with a session until stop is called.
func consumeInto(t *testing.T, b *natsbus.Bus, topic bus.Topic, mode bus.Mode, into bus.Session) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		err := b.Consume(ctx, bus.Spec{Topic: topic, Group: "g", Mode: mode},
			func(context.Context, shard.Partition) (bus.Session, error) { return into, nil })
		if err != nil {
			t.Errorf("consume %s: %v", topic, err)
		}
	})
	return func() { cancel(); done.Wait() }
}

func raw(t *testing.T, server *embedded.Server) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

func TestPartitionCountIsFixed(t *testing.T) {
	server := startServer(t, embedded.Options{})
	connect(t, server) // 16 partitions
	_, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server, Partitions: 8})
	if err == nil || !strings.Contains(err.Error(), `"16" partitions`) || !strings.Contains(err.Error(), "set to 8") {
		t.Fatalf("another partition count gave %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, opts := range map[string]natsbus.Options{
		`prefix "a.b"`:    {Prefix: "a.b"},
		"-1 partitions":   {Partitions: -1},
		"17 due streams":  {QueueStreams: 17},
		"lease TTL 500ms": {LeaseTTL: 500 * time.Millisecond},
		"127.0.0.1:1":     {URL: "nats://127.0.0.1:1"},
	} {
		if _, err := natsbus.Connect(t.Context(), opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that names %s", err, want)
		}
	}
}

func TestForeignCommands(t *testing.T) {
	server := startServer(t, embedded.Options{})
	in := consume(t, connect(t, server), bus.Commands, bus.Ordered)
	nc, js := raw(t, server)
	for subject, p := range map[string]shard.Partition{"timerbus.commands": 0, "timerbus.commands.0": 0, "timerbus.commands.3": 3} {
		if _, err := js.Publish(t.Context(), subject, []byte(subject)); err != nil {
			t.Fatal(err)
		}
		d := in.Next(t)
		if string(d.Body) != subject || d.Partition != p || d.Position.Partition != p || d.Key != "" {
			t.Fatalf("%s arrived as %+v", subject, d)
		}
	}
	if _, err := nc.Request("timerbus.commands.16", nil, time.Second); !errors.Is(err, nats.ErrNoResponders) {
		t.Fatalf("partition 16 of 16 gave %v, want no responders", err)
	}
}

func TestReservedHeadersAreDropped(t *testing.T) {
	b := connect(t, startServer(t, embedded.Options{}))
	in := consume(t, b, bus.Due, bus.Queue)
	_, err := b.Publish(t.Context(), bus.Due, bus.Message{Key: "mine", Headers: map[string]string{
		"Nats-Expected-Last-Sequence": "99", "nats-ttl": "1s", "timerbus-key": "other", "kept": "yes",
	}})
	if err != nil {
		t.Fatal(err)
	}
	d := in.Next(t)
	if d.Key != "mine" || len(d.Headers) != 1 || d.Headers["kept"] != "yes" {
		t.Fatalf("key %q, headers %v", d.Key, d.Headers)
	}
}

func TestQueueBelongsToOneGroup(t *testing.T) {
	b := connect(t, startServer(t, embedded.Options{}))
	in := consume(t, b, bus.Due, bus.Queue)
	if _, err := b.Publish(t.Context(), bus.Due, bus.Message{}); err != nil {
		t.Fatal(err)
	}
	in.Next(t)
	err := b.Consume(t.Context(), bus.Spec{Topic: bus.Due, Group: "other", Mode: bus.Queue}, nil)
	if !errors.Is(err, bus.ErrUnsupported) {
		t.Fatalf("a second group gave %v, want ErrUnsupported", err)
	}
}

func TestFullQueueRefuses(t *testing.T) {
	server := startServer(t, embedded.Options{})
	b, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server, QueueMaxBytes: 4096})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	_, err = b.Publish(t.Context(), bus.Due, bus.Message{Body: make([]byte, 8192)})
	if !errors.Is(err, bus.ErrUnavailable) || !errors.Is(err, bus.ErrFull) {
		t.Fatalf("a full queue gave %v, want ErrUnavailable and ErrFull", err)
	}
	many := make([]bus.Message, 10)
	for i := range many {
		many[i].Body = make([]byte, 1024)
	}
	if _, err = b.Publish(t.Context(), bus.Due, many...); !errors.Is(err, bus.ErrOutcomeUnknown) || !errors.Is(err, bus.ErrFull) {
		t.Fatalf("a queue that filled up half-way gave %v, want ErrOutcomeUnknown and ErrFull", err)
	}
}

func TestFloorAfterPurgeAndLoss(t *testing.T) {
	server := startServer(t, embedded.Options{})
	b := connect(t, server)
	_, js := raw(t, server)
	publish := func() bus.Position {
		t.Helper()
		at, err := b.Publish(t.Context(), bus.Due, bus.Message{}, bus.Message{})
		if err != nil {
			t.Fatal(err)
		}
		return at[1]
	}
	floor := func() bus.Floor {
		t.Helper()
		floors, err := b.Floor(t.Context(), bus.Due, "g")
		if err != nil {
			t.Fatal(err)
		}
		return floors[0]
	}
	last := publish()
	due, err := js.Stream(t.Context(), "timerbus-due")
	if err != nil {
		t.Fatal(err)
	}
	if err := due.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := floor(); f.Floor != f.End || f.Depth != 0 || !last.Before(f.Floor) {
		t.Fatalf("floor %+v after a purge, the last position was %+v", f, last)
	}
	if err := js.DeleteStream(t.Context(), due.CachedInfo().Config.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(t.Context(), bus.Due, bus.Message{}); !errors.Is(err, bus.ErrUnavailable) {
		t.Fatalf("publishing to a lost stream gave %v, want ErrUnavailable", err)
	}
	// Then the stream exists again.
	if at := publish(); !last.Before(at) || at.Epoch == last.Epoch {
		t.Fatalf("position %+v in the new stream, %+v in the old", at, last)
	}
	if f := floor(); f.Floor.Offset != 1 || f.Depth != 2 || !last.Before(f.Floor) {
		t.Fatalf("floor %+v in the new stream", f)
	}
}

func TestPublishWithoutServer(t *testing.T) {
	server := startServer(t, embedded.Options{Listen: "127.0.0.1:0"})
	l := testserver.NewLine()
	defer l.Close()
	b, err := natsbus.Connect(t.Context(), natsbus.Options{URL: through(t, l, server.URL()), AckTimeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	l.Isolate()
	if _, err := b.Publish(t.Context(), bus.Due, bus.Message{}); !errors.Is(err, bus.ErrOutcomeUnknown) {
		t.Errorf("publishing into silence gave %v, want ErrOutcomeUnknown", err)
	}
	if _, err := b.Floor(timeout(t, 300*time.Millisecond), bus.Due, "g"); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("floor from silence gave %v, want ErrUnavailable", err)
	}
	l.Kill()
	l.Heal()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		_, err := b.Publish(t.Context(), bus.Due, bus.Message{})
		if errors.Is(err, bus.ErrUnavailable) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("publishing without a connection gave %v, want ErrUnavailable", err)
		}
	}
}

func timeout(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestLostStreamsAreMadeAgain deletes all streams while consumers run.
func TestLostStreamsAreMadeAgain(t *testing.T) {
	server := startServer(t, embedded.Options{})
	b := connect(t, server)
	_, js := raw(t, server)
	in := map[bus.Topic]enginetest.Inbox{
		bus.Commands: consume(t, b, bus.Commands, bus.Ordered), bus.Shards: consume(t, b, bus.Shards, bus.Live),
		bus.Due: consume(t, b, bus.Due, bus.Queue),
	}
	everywhere := func(round string) {
		t.Helper()
		for topic, in := range in {
			deadline := time.Now().Add(patience)
			for len(in) == 0 {
				_, err := b.Publish(t.Context(), topic, bus.Message{Body: []byte(round)})
				if time.Now().After(deadline) {
					t.Fatalf("%s: nothing is delivered; publish says %v", topic, err)
				}
				pause(t, 20*time.Millisecond)
			}
			for len(in) > 0 {
				<-in
			}
		}
	}
	everywhere("before")
	names := js.StreamNames(t.Context())
	var all []string
	for name := range names.Name() {
		all = append(all, name)
	}
	if len(all) != 7 {
		t.Fatalf("streams %v, want 5 topics and 2 buckets", all)
	}
	for _, name := range all {
		if err := js.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	everywhere("after")
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// TestServerRestart stops the server while consumers run, and starts it with the same folder.
func TestServerRestart(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	opts := embedded.Options{Dir: t.TempDir(), Listen: address, Logger: testserver.Log()}
	server, err := embedded.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	b, err := natsbus.Connect(t.Context(), natsbus.Options{URL: "nats://" + address, Partitions: 2, Logger: testserver.Log()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	commands := consume(t, b, bus.Commands, bus.Ordered)
	hints := consume(t, b, bus.Shards, bus.Live)
	due := consume(t, b, bus.Due, bus.Queue)
	say := func(topic bus.Topic, body string) bool {
		_, err := b.Publish(t.Context(), topic, bus.Message{ID: body, Body: []byte(body)})
		return err == nil
	}
	if !say(bus.Commands, "1") || !say(bus.Due, "1") {
		t.Fatal("publish before the restart")
	}
	commands.Next(t)
	due.Next(t)

	server.Close()
	if say(bus.Commands, "lost") {
		t.Fatal("a stopped server took a message")
	}
	if server, err = embedded.Start(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)

	for i, topic := range []bus.Topic{bus.Commands, bus.Due} {
		for deadline := time.Now().Add(patience); !say(topic, "2"); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s takes no messages after the restart", topic)
			}
		}
		in := []enginetest.Inbox{commands, due}[i]
		for body := ""; body != "2"; { // "1" may be redelivered: its commit may be lost with the server
			body = string(in.Next(t).Body)
		}
	}
	for deadline := time.Now().Add(patience); len(hints) == 0; time.Sleep(10 * time.Millisecond) {
		say(bus.Shards, "hint")
		if time.Now().After(deadline) {
			t.Fatal("no hints after the restart")
		}
	}
}

// TestPublishMany verifies that the client's limit on pending messages does not fail a call.
func TestPublishMany(t *testing.T) {
	b := connect(t, startServer(t, embedded.Options{NoSync: true}))
	var publishers sync.WaitGroup
	for i := range 4 {
		publishers.Go(func() {
			if _, err := b.Publish(t.Context(), bus.Due, batch(10_000, i)...); err != nil {
				t.Error(err)
			}
		})
	}
	publishers.Wait()
	floors, err := b.Floor(t.Context(), bus.Due, "g")
	if err != nil || floors[0].Depth != 40_000 {
		t.Fatalf("floor %s, %v; want depth 40,000", fmt.Sprint(floors[0]), err)
	}
}

// If the client has given up the connection, Consume must end instead of waiting for messages.
func TestConsumeEndsWhenTheConnectionIsGoneForGood(t *testing.T) {
	server := startServer(t, embedded.Options{})
	b, err := natsbus.Connect(t.Context(), natsbus.Options{
		InProcess: server, Connection: []nats.Option{nats.NoReconnect()},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	for topic, mode := range map[bus.Topic]bus.Mode{bus.Due: bus.Queue, bus.Shards: bus.Live} {
		go func() {
			ended <- b.Consume(t.Context(), bus.Spec{Topic: topic, Group: "g", Mode: mode},
				func(context.Context, shard.Partition) (bus.Session, error) {
					return acking{make(enginetest.Inbox, 1)}, nil
				})
		}()
	}
	server.Close()
	for range 2 {
		select {
		case err := <-ended:
			if !errors.Is(err, bus.ErrUnavailable) || !strings.Contains(err.Error(), "permanently closed") {
				t.Errorf("consume ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("Consume continues without a connection")
		}
	}
	if err := b.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
