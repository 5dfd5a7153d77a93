package kafkabus_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/outage/outagetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// onBothBrokers runs a test on the fake broker and on a real one.
func onBothBrokers(t *testing.T, run func(t *testing.T, opts kafkabus.Options)) {
	t.Helper()
	t.Run("fake", func(t *testing.T) { run(t, fakeOptions(fake(t))) })
	t.Run("kafka", func(t *testing.T) {
		opts := kafkabus.Options{Brokers: brokers(t, "kafka"), Prefix: prefix(), Partitions: 1, Logger: testserver.Log()}
		remove(t, opts.Brokers, opts.Prefix)
		run(t, opts)
	})
}

// alter adds partitions like kafka-topics --alter --partitions.
func alter(t *testing.T, opts kafkabus.Options, topic bus.Topic, partitions int) {
	t.Helper()
	name := opts.Prefix + "." + string(topic)
	changed, err := realAdmin(t, opts.Brokers).UpdatePartitions(t.Context(), partitions, name)
	if err != nil || changed.Error() != nil {
		t.Fatalf("alter %s: %v, %v", name, err, changed.Error())
	}
}

// foreign publishes to a partition of its choice, like another program.
func foreign(t *testing.T, opts kafkabus.Options, topic bus.Topic, partition int32, body string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(opts.Brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	record := &kgo.Record{Topic: opts.Prefix + "." + string(topic), Partition: partition, Value: []byte(body)}
	// A broker learns of added partitions some time after the controller has added them.
	retry(t, "find added partition", func(ctx context.Context) error {
		details, err := kadm.NewClient(client).ListTopics(ctx, record.Topic)
		if n := len(details[record.Topic].Partitions); err == nil && n <= int(partition) {
			err = fmt.Errorf("%s has %d partitions, want more than %d", record.Topic, n, partition)
		}
		return err
	})
	if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// TestAddedPartitionsOfLogsAreRead: publishers that choose the partition by key publish messages there, including
// commands. No message is lost, no acknowledged message is repeated, and no restart is needed.
func TestAddedPartitionsOfLogsAreRead(t *testing.T) {
	onBothBrokers(t, func(t *testing.T, opts kafkabus.Options) {
		log := &outagetest.Log{}
		opts.Logger = log.Logger()
		b := connect(t, opts)
		for _, spec := range []bus.Spec{ordered, {Topic: bus.Results, Group: "g", Mode: bus.Ordered}} {
			name := opts.Prefix + "." + string(spec.Topic)
			c := consume(t, b, spec)
			publish(t, b, spec.Topic, "before")
			c.Next(t).Ack()
			alter(t, opts, spec.Topic, 3)
			foreign(t, opts, spec.Topic, 2, "added")
			publish(t, b, spec.Topic, "after")
			got := map[string]int{}
			for range 2 {
				d := c.Next(t)
				d.Ack()
				got[string(d.Body)] = int(d.Partition)
				if d.Position.Partition != d.Partition {
					t.Errorf("%s: %q has position %+v", name, d.Body, d.Position)
				}
			}
			if got["added"] != 2 || got["after"] != 0 || len(got) != 2 {
				t.Errorf("%s: delivered %v, want added from partition 2 and after from 0, each once", name, got)
			}
			log.Await(t, "partitions", "topic="+name, "partitions=3", "cluster_partitions=1")
			var floors bus.Floors
			for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
				var err error
				if floors, err = b.Floor(t.Context(), spec.Topic, spec.Group); err != nil {
					t.Fatal(err)
				}
				if len(floors) == 3 && floors[2].Depth == 0 && floors[2].End.Offset == 2 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s: floors %+v, want that of partition 2 at its end", name, floors)
				}
			}
			if err := c.stop(); err != nil {
				t.Errorf("%s: consume ended with %v", name, err)
			}
		}
		// A process that starts later reads the added partitions too.
		if line := log.Await(t, "level=ERROR", "commands", "either order"); !strings.Contains(line, "action=") {
			t.Errorf("%s does not say what to do", line)
		}
		again := connect(t, opts)
		foreign(t, opts, bus.Commands, 1, "later")
		if d := consume(t, again, ordered).Next(t); string(d.Body) != "later" || d.Partition != 1 {
			t.Errorf("delivered %q of partition %d, want later of 1", d.Body, d.Partition)
		}
	})
}

// TestAddedPartitionsOfInternalTopicsAreNotUsed: Timerbus publishes to internal topics by partition number. A message
// in an added partition comes from another program, and an error in the log counts it.
func TestAddedPartitionsOfInternalTopicsAreNotUsed(t *testing.T) {
	onBothBrokers(t, func(t *testing.T, opts kafkabus.Options) {
		log := &outagetest.Log{}
		opts.Logger = log.Logger()
		b := connect(t, opts)
		for _, spec := range []bus.Spec{live, queue} {
			name := opts.Prefix + "." + string(spec.Topic)
			c := consume(t, b, spec)
			hear := func(body string) {
				t.Helper()
				for deadline := time.Now().Add(patience); ; {
					publish(t, b, spec.Topic, body) // a hint needs a listener
					select {
					case d := <-c.Inbox:
						d.Ack()
						if string(d.Body) == body {
							return
						}
					case <-time.After(100 * time.Millisecond):
					}
					if time.Now().After(deadline) {
						t.Fatalf("%s: %q is not delivered", name, body)
					}
				}
			}
			hear("before")
			alter(t, opts, spec.Topic, 4)
			foreign(t, opts, spec.Topic, 3, "stray")
			log.Await(t, "level=WARN", "not used", "topic="+name, "partitions=4", "cluster_partitions=1")
			log.Await(t, "level=ERROR", "not delivered", "topic="+name, "messages=1")
			hear("after")
			floors, err := b.Floor(t.Context(), bus.Due, queue.Group)
			if err != nil || len(floors) != 1 {
				t.Errorf("floors %+v, %v, want one of partition 0", floors, err)
			}
			select {
			case err := <-c.ended:
				t.Fatalf("%s: consume ended with %v", name, err)
			default:
			}
			if n := len(log.Lines("not used", "topic="+name)); n != 1 {
				t.Errorf("%s: warned %d times, want once", name, n)
			}
			_ = c.stop()
		}
		connect(t, opts) // must not fail
	})
}

// TestAddedPartitionsCountForNoMembersShare: members share the used partitions evenly.
func TestAddedPartitionsCountForNoMembersShare(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	o.Partitions = 4
	connect(t, o)
	alter(t, o, bus.Due, 64)
	var members []*consuming
	for range 4 {
		members = append(members, consume(t, connect(t, o), queue))
	}
	publisher := connect(t, o)
	for deadline := time.Now().Add(patience); ; {
		got := map[int]map[int32]bool{}
		for p := range 4 {
			_, err := publisher.Publish(t.Context(), bus.Due, bus.Message{Partition: shard.Partition(p), Body: []byte("x")})
			if err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(100 * time.Millisecond)
		for i, m := range members {
			got[i] = map[int32]bool{}
			for len(m.Inbox) > 0 {
				d := <-m.Inbox
				d.Ack()
				got[i][int32(d.Partition)] = true
			}
		}
		if len(got[0]) == 1 && len(got[1]) == 1 && len(got[2]) == 1 && len(got[3]) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("members have partitions %v, want one each", got)
		}
	}
}

// TestFewerPartitionsThanTheCluster: such a topic was recreated, because partitions cannot be removed.
func TestFewerPartitionsThanTheCluster(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	log := &outagetest.Log{}
	o.Logger, o.Partitions = log.Logger(), 3
	b := connect(t, o)
	c := consume(t, b, ordered)
	publish(t, b, bus.Commands, "1")
	c.Next(t).Ack()
	// A commit that fails after the topic is deleted would begin the outage, and its line would name the commit.
	retry(t, "commit", func(ctx context.Context) error {
		floors, err := b.Floor(ctx, bus.Commands, ordered.Group)
		if err == nil && slices.ContainsFunc(floors, func(f bus.Floor) bool { return f.Depth > 0 }) {
			err = errors.New("not committed")
		}
		return err
	})
	name := o.Prefix + ".commands"
	if err := cluster.DeleteTopic(name); err != nil {
		t.Fatal(err)
	}
	if err := cluster.CreateTopic(name, 2, nil); err != nil {
		t.Fatal(err)
	}
	log.Await(t, "consumer failing", fmt.Sprintf("topic %s has 2 partitions, this process is set to 3", name))
	if _, err := admin(t, cluster).UpdatePartitions(t.Context(), 3, name); err != nil {
		t.Fatal(err)
	}
	foreign(t, o, bus.Commands, 2, "2")
	for d := c.Next(t); string(d.Body) != "2"; d = c.Next(t) {
		d.Ack()
	}
}
