package kafkabus_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/outage/outagetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
)

// TestLastCommitWaitsForTheRightMoment makes the coordinator refuse commits for some time when the session ends. The
// acknowledged messages must nevertheless be committed.
func TestLastCommitWaitsForTheRightMoment(t *testing.T) {
	for _, refusal := range []*kerr.Error{kerr.RebalanceInProgress, kerr.CoordinatorLoadInProgress, kerr.IllegalGeneration} {
		cluster := fake(t)
		b := connect(t, fakeOptions(cluster))
		publish(t, b, bus.Commands, "1", "2")
		c := consume(t, b, ordered)
		d := c.Next(t)
		// Before Ack, because the next regular commit may precede the last one.
		refused := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: refusal, Count: 3})
		d.Ack()
		if err := c.stop(); err != nil {
			t.Fatalf("%s: %v", refusal.Message, err)
		}
		if refused.Hits() != 3 {
			t.Fatalf("%s: %d commits were refused, want 3", refusal.Message, refused.Hits())
		}
		again := consume(t, b, ordered)
		if d := again.Next(t); string(d.Body) != "2" {
			t.Fatalf("%s: %q was delivered, want 2", refusal.Message, d.Body)
		}
		_ = again.stop()
	}
}

// TestQueueKnowsWhatADeadOwnerMayHaveDelivered tests rule I13 without a delivery count: messages that a killed member
// may have received count as redelivered, messages that no member can have received do not.
func TestQueueKnowsWhatADeadOwnerMayHaveDelivered(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	victim, heir := testserver.NewLine(), connect(t, o)
	t.Cleanup(victim.Close)
	dying := o
	dying.Client = append(dying.Client, kgo.Dialer(victim.Dial))
	spec := queue
	spec.MaxInFlight = 2
	var bodies []string
	for i := range 200 {
		bodies = append(bodies, fmt.Sprint(i))
	}
	publish(t, heir, bus.Due, bodies...)
	dead := consume(t, connect(t, dying), spec)
	for i := range 6 { // 0 and 2 to 4 are acknowledged, 1 and 5 are not
		d := dead.Next(t)
		if d.Deliveries != 1 {
			t.Fatalf("%q was delivered the first time with count %d", d.Body, d.Deliveries)
		}
		if i != 1 && i != 5 {
			d.Ack()
		}
	}
	// Wait until the acknowledgements are committed.
	floor := func() bus.Floor {
		f, err := heir.Floor(t.Context(), bus.Due, spec.Group)
		if err != nil {
			t.Fatal(err)
		}
		return f[0]
	}
	for deadline := time.Now().Add(patience); floor().Depth != len(bodies)-4; {
		if time.Now().After(deadline) {
			t.Fatalf("floor %+v", floor())
		}
	}
	victim.Kill()
	c := consume(t, heir, queue)
	counts := map[string]int{}
	for len(counts) < len(bodies)-4 {
		d := c.Next(t)
		counts[string(d.Body)] = d.Deliveries
		d.Ack()
	}
	for _, body := range []string{"1", "5"} {
		if counts[body] < 2 {
			t.Errorf("%q, which the dead member held, has count %d", body, counts[body])
		}
	}
	for _, body := range []string{"0", "2", "3", "4"} {
		if counts[body] != 0 {
			t.Errorf("%q was acknowledged, but is redelivered", body)
		}
	}
	fresh := 0
	for _, count := range counts {
		if count == 1 {
			fresh++
		}
	}
	if fresh < 100 || counts["199"] != 1 {
		t.Errorf("only %d of 200 count as delivered for the first time, the last with %d", fresh, counts["199"])
	}
}

// TestQueueMovedByHand: if an operator's tool commits without Timerbus's metadata, every existing message may have
// been delivered before.
func TestQueueMovedByHand(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	b := connect(t, o)
	publish(t, b, bus.Due, "1", "2", "3")
	moved := kadm.Offsets{}
	moved.AddOffset(o.Prefix+".due", 0, 1, -1)
	if err := admin(t, cluster).CommitAllOffsets(t.Context(), o.Prefix+".due.g", moved); err != nil {
		t.Fatal(err)
	}
	c := consume(t, b, queue)
	for _, want := range []string{"2", "3"} {
		if d := c.Next(t); string(d.Body) != want || d.Deliveries < 2 {
			t.Fatalf("got %q with count %d, want %s with 2 or more", d.Body, d.Deliveries, want)
		}
	}
	publish(t, b, bus.Due, "4")
	if d := c.Next(t); d.Deliveries != 1 {
		t.Fatalf("got %q with count %d, want 1: it is newer than the session", d.Body, d.Deliveries)
	}
}

// TestTopicMadeAnew deletes topics while a process is running. The process recreates them, unless an operator does.
func TestTopicMadeAnew(t *testing.T) {
	t.Run("by an operator", func(t *testing.T) {
		topicMadeAnew(t, func(cluster *kfake.Cluster, name string) error { return cluster.CreateTopic(name, 1, nil) })
	})
	t.Run("by the service", func(t *testing.T) {
		topicMadeAnew(t, func(*kfake.Cluster, string) error { return nil })
	})
}

func topicMadeAnew(t *testing.T, create func(*kfake.Cluster, string) error) {
	t.Helper()
	cluster := fake(t)
	o := fakeOptions(cluster)
	b := connect(t, o)
	for _, spec := range []bus.Spec{ordered, queue} {
		name := o.Prefix + "." + string(spec.Topic)
		first := publish(t, b, spec.Topic, "1", "2", "3")[0]
		c := consume(t, b, spec)
		c.Next(t).Ack()
		if err := cluster.DeleteTopic(name); err != nil {
			t.Fatal(err)
		}
		if err := create(cluster, name); err != nil {
			t.Fatal(err)
		}
		var at []bus.Position
		for deadline := time.Now().Add(patience); at == nil; {
			var err error
			at, err = b.Publish(t.Context(), spec.Topic, bus.Message{Body: []byte("new")})
			if err != nil && time.Now().After(deadline) {
				t.Fatalf("%s: %v", spec.Topic, err)
			}
		}
		if !first.Before(at[0]) || at[0].Offset != 1 || at[0].Epoch <= first.Epoch {
			t.Fatalf("%s: the new topic's first position is %+v, the old one's was %+v", spec.Topic, at[0], first)
		}
		for {
			d := c.Next(t)
			if string(d.Body) != "new" {
				continue // of the old topic
			}
			if d.Position != at[0] || d.Deliveries > 1 {
				t.Fatalf("%s: delivered at %+v with count %d, published at %+v", spec.Topic, d.Position, d.Deliveries, at[0])
			}
			break
		}
		// Another process must use the same topic epoch.
		floors, err := connect(t, o).Floor(t.Context(), spec.Topic, spec.Group)
		if err != nil || floors[0].End.Epoch != at[0].Epoch {
			t.Fatalf("%s: another process returned %+v, %v", spec.Topic, floors, err)
		}
		_ = c.stop()
	}
}

// TestRetentionOvertakesTheGroup: the group continues at the first remaining message and reports a gap. A group that
// is new to the topic has no gap.
func TestRetentionOvertakesTheGroup(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	var log outagetest.Log
	o.Logger = log.Logger()
	b := connect(t, o)
	publish(t, b, bus.Commands, "1", "2", "3", "4")
	c := consume(t, b, ordered)
	c.Next(t).Ack()
	_ = c.stop()
	if err := cluster.DeleteRecords(o.Prefix+".commands", 0, 3); err != nil {
		t.Fatal(err)
	}
	if d := consume(t, b, ordered).Next(t); string(d.Body) != "4" {
		t.Fatalf("delivered %q, want 4", d.Body)
	}
	const missed = "messages were removed before the group had read them"
	if lines := log.Lines(missed); len(lines) != 1 || !strings.Contains(lines[0], "messages=2") {
		t.Errorf("want one line about 2 messages: %q", lines)
	}
	other := ordered
	other.Group = "new"
	if d := consume(t, b, other).Next(t); string(d.Body) != "4" {
		t.Fatalf("delivered %q, want 4", d.Body)
	}
	if lines := log.Lines(missed, "group="+o.Prefix+".commands.new"); len(lines) > 0 {
		t.Errorf("a new group has missed messages: %q", lines)
	}
}

// TestFetchBeyondTheLog makes the broker report that the log no longer has the session's offset.
func TestFetchBeyondTheLog(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	b := connect(t, o)
	for _, spec := range []bus.Spec{ordered, live, queue} {
		c := consume(t, b, spec)
		for deadline := time.Now().Add(patience); len(c.Inbox) == 0; { // a hint needs a listener
			publish(t, b, spec.Topic, "before")
			if time.Now().After(deadline) {
				t.Fatalf("%s: nothing arrives", spec.Topic)
			}
			time.Sleep(5 * time.Millisecond)
		}
		c.Next(t).Ack()
		fault := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: o.Prefix + "." + string(spec.Topic), Err: kerr.OffsetOutOfRange})
		if err := fault.Wait(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); ; {
			publish(t, b, spec.Topic, "after")
			select {
			case d := <-c.Inbox:
				d.Ack()
				if string(d.Body) != "after" {
					continue
				}
			case <-time.After(50 * time.Millisecond):
				if time.Now().After(deadline) {
					t.Fatalf("%s: nothing arrives after a fetch out of range", spec.Topic)
				}
				continue
			}
			break
		}
		_ = c.stop()
	}
}

func TestPublishFailures(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	o.AckTimeout = time.Second
	b := connect(t, o)
	publish(t, b, bus.Due, "works")
	for _, c := range []struct {
		err  *kerr.Error
		want error
	}{
		{kerr.TopicAuthorizationFailed, bus.ErrUnavailable},
		{kerr.MessageTooLarge, bus.ErrTooLarge},
		{kerr.NotEnoughReplicasAfterAppend, bus.ErrOutcomeUnknown},
		{kerr.NotEnoughReplicas, bus.ErrOutcomeUnknown}, // an earlier attempt may have been written
	} {
		fault := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: c.err, Count: -1})
		_, err := b.Publish(t.Context(), bus.Due, bus.Message{Body: []byte("x")})
		if !errors.Is(err, c.want) {
			t.Errorf("%s gave %v, want %v", c.err.Message, err, c.want)
		}
		fault.Remove()
		publish(t, b, bus.Due, "works again")
	}
}

// TestInstanceTwice gives two processes the same static id: the first one is fenced, and must not appear to work.
func TestInstanceTwice(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	o.InstanceID = "one"
	first := consume(t, connect(t, o), ordered)
	b := connect(t, o)
	publish(t, b, bus.Commands, "1")
	first.Next(t)
	second := consume(t, b, ordered)
	select {
	case err := <-first.ended:
		if !errors.Is(err, kerr.FencedInstanceID) || !errors.Is(err, bus.ErrUnavailable) || !strings.Contains(err.Error(), o.Prefix+".commands.g") {
			t.Fatalf("ended with %v", err)
		}
		first.ended <- nil
	case <-time.After(patience):
		t.Fatal("the first process continues")
	}
	second.Next(t)
}

// TestServerBalancer consumes with the brokers' assignment (KIP-848).
func TestServerBalancer(t *testing.T) {
	cluster := fake(t, kfake.BrokerConfigs(map[string]string{"group.consumer.heartbeat.interval.ms": "100"}))
	o := fakeOptions(cluster)
	o.ServerBalancer = true
	b := connect(t, o)
	publish(t, b, bus.Commands, "1", "2")
	c := consume(t, b, ordered)
	c.Next(t).Ack()
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	if d := consume(t, connect(t, o), ordered).Next(t); string(d.Body) != "2" {
		t.Fatalf("delivered %q, want 2", d.Body)
	}
}

// TestFullWindowStopsFetching fills the window: fetching stops, and continues when the window has room.
func TestFullWindowStopsFetching(t *testing.T) {
	cluster := fake(t)
	b := connect(t, fakeOptions(cluster))
	const total = 12000
	body := bytes.Repeat([]byte("x"), 300)
	messages := make([]bus.Message, total)
	for i := range messages {
		messages[i].Body = body
	}
	if _, err := b.Publish(t.Context(), bus.Due, messages...); err != nil {
		t.Fatal(err)
	}
	spec := queue
	spec.MaxInFlight = 8
	c := consume(t, b, spec)
	fetched := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Observe: true, Count: -1})
	held := c.Next(t)
	// A client that still fetches sends a request at least every 250 ms, even at the end of the log.
	quiet := 0
	for deadline := time.Now().Add(patience); quiet < 4; {
		before := fetched.Hits()
		time.Sleep(250 * time.Millisecond)
		if quiet++; fetched.Hits() != before {
			quiet = 0
		}
		if time.Now().After(deadline) {
			t.Fatal("fetching continues although the window is full")
		}
	}
	held.Ack()
	for range total - 1 {
		c.Next(t).Ack()
	}
}
