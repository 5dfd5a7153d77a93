package kafkabus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/shard"
)

func sharing(t *testing.T) (*kfake.Cluster, kafkabus.Options) {
	t.Helper()
	cluster := fake(t, kfake.BrokerConfigs(map[string]string{"group.share.heartbeat.interval.ms": "200"}))
	o := fakeOptions(cluster)
	o.ShareGroups = true
	return cluster, o
}

// TestShareMembersTakeWhatALeavingOneHeld: the next member is in the group before the other leaves.
func TestShareMembersTakeWhatALeavingOneHeld(t *testing.T) {
	_, o := sharing(t)
	o.ShareLanes = 1
	b := connect(t, o)
	held := []string{"1", "2", "3"}
	publish(t, b, bus.Due, held...)
	leaving := consume(t, b, queue)
	for range held {
		leaving.next(t)
	}
	heir := consume(t, connect(t, o), queue)
	publish(t, b, bus.Due, "probe")
	if d := heir.next(t); string(d.Body) != "probe" {
		t.Fatalf("the heir got %q, which the other holds", d.Body)
	} else {
		d.Ack()
	}
	left := time.Now()
	if err := leaving.stop(); err != nil {
		t.Fatal(err)
	}
	again := map[string]int{}
	for range held {
		d := heir.next(t)
		d.Ack()
		again[string(d.Body)] = d.Deliveries
	}
	for _, body := range held {
		if again[body] < 2 {
			t.Errorf("%q, which the leaving member held, has count %d", body, again[body])
		}
	}
	if took := time.Since(left); took > bus.AckWait/2 {
		t.Errorf("took %v: a leaving member must return its messages immediately", took)
	}
}

// TestShareFloor checks the guarantees of a floor in a share group: it is never beyond an unacknowledged message, and
// it is the end when every message is acknowledged.
func TestShareFloor(t *testing.T) {
	_, o := sharing(t)
	b := connect(t, o)
	at := publish(t, b, bus.Due, "1", "2", "3")
	c := consume(t, b, queue)
	var held []*bus.Delivery
	for range 3 {
		held = append(held, c.next(t))
	}
	floor := func() bus.Floor {
		f, err := b.Floor(t.Context(), bus.Due, queue.Group)
		if err != nil {
			t.Fatal(err)
		}
		return f[0]
	}
	await := func(depth int) bus.Floor {
		t.Helper()
		for deadline := time.Now().Add(patience); ; {
			f := floor()
			if f.Depth == depth {
				return f
			}
			if time.Now().After(deadline) {
				t.Fatalf("floor %+v, want depth %d", f, depth)
			}
		}
	}
	if f := floor(); f.Floor != at[0] || f.Depth != 3 {
		t.Fatalf("floor %+v, want %+v and depth 3", f, at[0])
	}
	held[0].Ack()
	if f := await(2); at[1].Before(f.Floor) {
		t.Fatalf("floor %+v is beyond %+v", f, at[1])
	}
	held[1].Ack()
	held[2].Ack()
	if f := await(0); f.Floor != f.End || f.End.Offset != at[2].Offset+1 {
		t.Fatalf("floor %+v after everything was acknowledged", f)
	}
}

// TestSlowMessageHoldsUpItsLaneOnly: one of four lanes waits, the others continue.
func TestSlowMessageHoldsUpItsLaneOnly(t *testing.T) {
	_, o := sharing(t)
	b := connect(t, o)
	slow := make(inbox, 1024) // on a busy machine its lock expires, and it is redelivered
	fast := make(inbox, 1024)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- b.Consume(ctx, queue, func(context.Context, shard.Partition) (bus.Session, error) {
			return &picking{fast: fast, slow: slow}, nil
		})
	}()
	publish(t, b, bus.Due, "slow")
	d := slow.next(t)
	for i := range 200 {
		publish(t, b, bus.Due, fmt.Sprint(i))
		fast.next(t).Ack()
	}
	d.Ack()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// picking is a session that forwards the slow message to a separate inbox.
type picking struct {
	fast, slow inbox
}

func (p *picking) Deliver(ctx context.Context, d *bus.Delivery) error {
	if string(d.Body) == "slow" {
		return p.slow.Deliver(ctx, d)
	}
	return p.fast.Deliver(ctx, d)
}

func (p *picking) Close(context.Context, error) error { return nil }
