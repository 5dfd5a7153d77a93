package natsbus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/shard"
)

func connected(t *testing.T, server *embedded.Server) *natsbus.Bus {
	t.Helper()
	b, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server, Prefix: "ours", Partitions: 2, Logger: testserver.Log()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// TestUsersStreamIsUsedAsItIs: the topic may be one of many subjects of a stream that the user has created.
func TestUsersStreamIsUsedAsItIs(t *testing.T) {
	server := startServer(t, embedded.Options{NoSync: true})
	_, js := raw(t, server)
	b := connected(t, server)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}}); err != nil {
		t.Fatal(err)
	}
	topic := bus.Own("orders.timeouts")
	if err := b.MakeTopic(t.Context(), topic); err != nil {
		t.Fatalf("make a topic that is there: %v", err)
	}
	in := consume(t, b, topic, bus.Ordered)
	if _, err := js.Publish(t.Context(), "orders.others", []byte("not of the topic")); err != nil {
		t.Fatal(err)
	}
	at, err := b.Publish(t.Context(), topic, bus.Message{Key: "k", Body: []byte("ours")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "orders.timeouts", []byte("theirs")); err != nil {
		t.Fatal(err)
	}
	if d := in.Next(t); string(d.Body) != "ours" || d.Key != "k" || d.Position != at[0] || d.Position.Offset != 2 {
		t.Errorf("got %q of key %q at %+v, published at %+v", d.Body, d.Key, d.Position, at)
	}
	if d := in.Next(t); string(d.Body) != "theirs" {
		t.Errorf("got %q, want the foreign publisher's", d.Body)
	}
	m, err := js.Stream(t.Context(), "ORDERS")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.CachedInfo().State.Msgs; got != 3 {
		t.Errorf("the user's stream has %d messages, want 3", got)
	}
}

// TestTopicThatGoesEndsItsConsume: a deleted user topic is not created again, and its Consume returns an error.
func TestTopicThatGoesEndsItsConsume(t *testing.T) {
	server := startServer(t, embedded.Options{NoSync: true})
	_, js := raw(t, server)
	b := connected(t, server)
	topic := bus.Own("short.lived")
	if err := b.MakeTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	in, ended := make(enginetest.Inbox, 1), make(chan error, 1)
	go func() {
		ended <- b.Consume(t.Context(), bus.Spec{Topic: topic, Group: "g", Mode: bus.Ordered},
			func(context.Context, shard.Partition) (bus.Session, error) { return acking{in}, nil })
	}()
	if _, err := b.Publish(t.Context(), topic, bus.Message{Body: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	in.Next(t)
	name, err := js.StreamNameBySubject(t.Context(), "short.lived")
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first call detects the deletion, the second that the topic was not created again
		_, err := b.Publish(t.Context(), topic, bus.Message{Body: []byte("2")})
		if !errors.Is(err, bus.ErrNoTopic) || !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("publish to what is gone: %v, want ErrNoTopic and ErrUnavailable", err)
		}
	}
	select {
	case err := <-ended:
		if !errors.Is(err, bus.ErrNoTopic) || !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("consume of what is gone ended with %v, want ErrNoTopic and ErrUnavailable", err)
		}
	case <-time.After(2 * patience):
		t.Error("Consume continues although the topic is deleted")
	}
	if err := b.MakeTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(t.Context(), topic, bus.Message{Body: []byte("3")}); err != nil {
		t.Errorf("publish to the topic that was created again: %v", err)
	}
}

func TestTopicsThatCannotBeAUsersOwn(t *testing.T) {
	server := startServer(t, embedded.Options{NoSync: true})
	_, js := raw(t, server)
	b := connected(t, server)
	for name, says := range map[string]string{
		"ours.fired":             "reserved for Timerbus",
		"ours.due.0":             "reserved for Timerbus",
		"_INBOX.x":               "words of letters",
		"$KV.ours-owners.x":      "words of letters",
		"a..b":                   "words of letters",
		"orders.*":               "words of letters",
		"orders.>":               "words of letters",
		strings.Repeat("a", 201): "200 bytes",
	} {
		if _, err := b.Publish(t.Context(), bus.Own(name), bus.Message{}); !errors.Is(err, bus.ErrUnsupported) || !strings.Contains(err.Error(), says) {
			t.Errorf("publish to %.20q: %v, want ErrUnsupported that says %q", name, err, says)
		}
	}
	// A group cannot consume a stream that removes delivered messages, but Publish can use it.
	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "JOBS", Subjects: []string{"jobs"}, Retention: jetstream.WorkQueuePolicy})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(t.Context(), bus.Own("jobs"), bus.Message{Body: []byte("1")}); err != nil {
		t.Errorf("publish to a work queue: %v", err)
	}
	err = b.Consume(t.Context(), bus.Spec{Topic: bus.Own("jobs"), Group: "g", Mode: bus.Ordered}, nil)
	if !errors.Is(err, bus.ErrUnsupported) || !strings.Contains(err.Error(), "JOBS") {
		t.Errorf("consume a work queue: %v, want ErrUnsupported that names the stream", err)
	}
}

// TestAnotherClustersTopicsAreNobodysOwn: the internal topics and the commands of another cluster are not user
// topics.
func TestAnotherClustersTopicsAreNobodysOwn(t *testing.T) {
	server := startServer(t, embedded.Options{NoSync: true})
	b := connected(t, server)
	other, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server, Prefix: "theirs", Partitions: 2, Logger: testserver.Log()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	for _, name := range []string{"theirs.commands", "theirs.commands.0", "theirs.due.1", "theirs.fired.0"} {
		_, published := b.Publish(t.Context(), bus.Own(name), bus.Message{Body: []byte("x")})
		consumed := b.Consume(t.Context(), bus.Spec{Topic: bus.Own(name), Group: "g", Mode: bus.Ordered}, nil)
		made := b.MakeTopic(t.Context(), bus.Own(name))
		for call, err := range map[string]error{"publish to": published, "consume": consumed, "make": made} {
			if !errors.Is(err, bus.ErrUnsupported) || errors.Is(err, bus.ErrUnavailable) {
				t.Errorf("%s %s: %v, want ErrUnsupported alone", call, name, err)
			}
		}
	}
}

// TestStreamsOfLikeNamesAreApart: the subjects of a stream matter, its name does not.
func TestStreamsOfLikeNamesAreApart(t *testing.T) {
	server := startServer(t, embedded.Options{NoSync: true})
	_, js := raw(t, server)
	b := connected(t, server)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "a-b", Subjects: []string{"others"}}); err != nil {
		t.Fatal(err)
	}
	names := []string{"a.b", "a-b"}
	for _, name := range names {
		if err := b.MakeTopic(t.Context(), bus.Own(name)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Publish(t.Context(), bus.Own(name), bus.Message{Body: []byte(name)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		if d := consume(t, b, bus.Own(name), bus.Ordered).Next(t); string(d.Body) != name {
			t.Errorf("%s delivered %q", name, d.Body)
		}
	}
}
