package kafkabus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

func ownTopic(t *testing.T, b *kafkabus.Bus, name string) bus.Spec {
	t.Helper()
	retry(t, "create topic "+name, func(ctx context.Context) error { return b.MakeTopic(ctx, bus.Own(name)) })
	return bus.Spec{Topic: bus.Own(name), Group: "g", Mode: bus.Ordered}
}

// TestOwnKeysLieWhereOthersPutThem: a message is in the partition that a Java client chooses for the same key.
func TestOwnKeysLieWhereOthersPutThem(t *testing.T) {
	cluster := fake(t, kfake.DefaultNumPartitions(7))
	b := connect(t, fakeOptions(cluster))
	spec := ownTopic(t, b, "orders")
	plain, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plain.Close)
	used := map[int32]bool{}
	for i := range 20 {
		key := fmt.Sprintf("key-%d", i)
		at, err := b.Publish(t.Context(), spec.Topic, bus.Message{Key: key, Body: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := plain.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Key: []byte(key)}).First()
		if err != nil {
			t.Fatal(err)
		}
		if int32(at[0].Partition) != theirs.Partition {
			t.Errorf("key %q went to partition %d, a plain client's to %d", key, at[0].Partition, theirs.Partition)
		}
		used[theirs.Partition] = true
	}
	if len(used) < 3 {
		t.Errorf("20 keys lie on %d partitions of 7", len(used))
	}
}

func TestTopicsThatCannotBeAUsersOwn(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	b := connect(t, o)
	for name, says := range map[string]string{
		o.Prefix + ".fired":        "reserved for Timerbus",
		o.Prefix + ".incarnations": "reserved for Timerbus",
		"__consumer_offsets":       "reserved for Kafka",
		"..":                       "1 to 249",
		"a/b":                      "1 to 249",
		strings.Repeat("a", 250):   "1 to 249",
	} {
		_, err := b.Publish(t.Context(), bus.Own(name), bus.Message{})
		if !errors.Is(err, bus.ErrUnsupported) || !strings.Contains(err.Error(), says) {
			t.Errorf("publish to %.20q: %v, want ErrUnsupported that says %q", name, err, says)
		}
	}
}

// TestOwnTopicMayGrow: a user topic has as many partitions as the user wants, and may get more.
func TestOwnTopicMayGrow(t *testing.T) {
	cluster := fake(t, kfake.DefaultNumPartitions(1))
	o := fakeOptions(cluster)
	// How soon a client learns of new partitions.
	o.Client = append(o.Client, kgo.MetadataMaxAge(300*time.Millisecond))
	b := connect(t, o)
	spec := ownTopic(t, b, "growing")
	c := consume(t, b, spec)
	publish(t, b, spec.Topic, "1")
	first := c.Next(t)
	first.Ack()
	if _, err := admin(t, cluster).UpdatePartitions(t.Context(), 3, "growing"); err != nil {
		t.Fatal(err)
	}
	// This publisher chooses partitions by number. By key, the partition would depend on when it learns of the new
	// count.
	plain, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plain.Close)
	if err := plain.ProduceSync(t.Context(), &kgo.Record{Topic: "growing", Partition: 2, Value: []byte("2")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for d := c.Next(t); ; d = c.Next(t) {
		d.Ack()
		if string(d.Body) == "2" {
			if d.Partition != 2 {
				t.Errorf("came from partition %d, want 2", d.Partition)
			}
			break
		}
	}
}

// TestOwnTopicThatGoesEndsItsConsume: a deleted user topic is not created again, and its Consume returns an error.
func TestOwnTopicThatGoesEndsItsConsume(t *testing.T) {
	t.Parallel()
	cluster := fake(t)
	b := connect(t, fakeOptions(cluster))
	spec := ownTopic(t, b, "short-lived")
	c := consume(t, b, spec)
	publish(t, b, spec.Topic, "1")
	c.Next(t).Ack()
	if _, err := admin(t, cluster).DeleteTopics(t.Context(), "short-lived"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-c.ended:
		c.ended <- err
		if !errors.Is(err, bus.ErrNoTopic) || !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("consume of what is gone ended with %v, want ErrNoTopic and ErrUnavailable", err)
		}
	case <-time.After(patience):
		t.Error("Consume continues although the topic is deleted")
	}
	for range 2 { // the first call detects the deletion, the second that the topic was not created again
		_, err := b.Publish(t.Context(), spec.Topic, bus.Message{Body: []byte("2")})
		if !errors.Is(err, bus.ErrNoTopic) || !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("publish to what is gone: %v, want ErrNoTopic and ErrUnavailable", err)
		}
	}
	ownTopic(t, b, "short-lived")
	publish(t, b, spec.Topic, "3")
}

func TestProcessThatMakesNoTopics(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	maker := connect(t, o)
	o.NoCreate = true
	b := connect(t, o)
	if err := b.MakeTopic(t.Context(), bus.Own("orders")); !errors.Is(err, bus.ErrUnsupported) {
		t.Errorf("created a topic although NoCreate is set: %v", err)
	}
	ownTopic(t, maker, "orders")
	if err := b.MakeTopic(t.Context(), bus.Own("orders")); err != nil {
		t.Errorf("a topic that is there: %v", err)
	}
	publish(t, b, bus.Own("orders"), "1")
}
