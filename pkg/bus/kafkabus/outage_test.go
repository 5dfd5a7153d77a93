package kafkabus_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// seen records the bodies of deliveries.
type seen struct {
	mu     sync.Mutex
	bodies map[string]bool
}

func (s *seen) Deliver(_ context.Context, d *bus.Delivery) error {
	s.mu.Lock()
	s.bodies[string(d.Body)] = true
	s.mu.Unlock()
	d.Ack()
	return nil
}

func (s *seen) Close(context.Context, error) error { return nil }

func (s *seen) all(bodies []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range bodies {
		if !s.bodies[b] {
			return false
		}
	}
	return true
}

// TestBrokersAreKilledUnderLoad kills the brokers of a cluster one after the other, and prints how long it takes
// until every partition accepts and delivers messages again on the other two. Every accepted message must be
// delivered.
func TestBrokersAreKilledUnderLoad(t *testing.T) {
	opts := kafkabus.Options{Brokers: brokers(t, "kafka3"), Prefix: prefix(), Replicas: 3, Logger: testserver.Log()}
	remove(t, opts.Brokers, opts.Prefix)
	b := connect(t, opts)
	got := map[bus.Topic]*seen{}
	for _, spec := range []bus.Spec{ordered, queue, live} {
		into := &seen{bodies: map[string]bool{}}
		got[spec.Topic] = into
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- b.Consume(ctx, spec, func(context.Context, shard.Partition) (bus.Session, error) { return into, nil })
		}()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("consume %s: %v", spec.Topic, err)
			}
		})
	}
	// round publishes to every partition; it returns the bodies that the brokers accepted.
	serial := 0
	round := func(topic bus.Topic) ([]string, error) {
		serial++
		bodies, messages := make([]string, 16), make([]bus.Message, 16)
		for p := range messages {
			bodies[p] = fmt.Sprint(serial, "/", p)
			messages[p] = bus.Message{Partition: shard.Partition(p), Body: []byte(bodies[p])}
		}
		_, err := b.Publish(t.Context(), topic, messages...)
		if err != nil {
			return nil, err
		}
		return bodies, nil
	}
	await := func(topic bus.Topic, bodies []string) {
		t.Helper()
		for deadline := time.Now().Add(2 * patience); !got[topic].all(bodies); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: what was taken is not delivered", topic)
			}
		}
	}
	for _, topic := range []bus.Topic{bus.Commands, bus.Due} {
		bodies, err := round(topic)
		if err != nil {
			t.Fatal(err)
		}
		await(topic, bodies)
	}
	for node := 1; node <= 3; node++ {
		name := fmt.Sprintf("kafka3-%d", node)
		testserver.Control(t, "kill/"+name)
		killed := time.Now()
		taken, rounds := map[bus.Topic]time.Duration{}, 0
		for _, topic := range []bus.Topic{bus.Due, bus.Commands} {
			for {
				bodies, err := round(topic)
				if err == nil {
					taken[topic] = time.Since(killed)
					await(topic, bodies)
					break
				}
				rounds++
				if time.Since(killed) > 2*patience {
					t.Fatalf("nothing is taken on two of three brokers: %v", err)
				}
			}
		}
		delivered := time.Since(killed)
		for ok := false; !ok; {
			bodies, err := round(bus.Shards)
			if err != nil {
				continue
			}
			for deadline := time.Now().Add(time.Second); !ok && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
				ok = got[bus.Shards].all(bodies)
			}
			if time.Since(killed) > 2*patience {
				t.Fatal("no hints on two of three brokers")
			}
		}
		hinted := time.Since(killed)
		_, err := b.Floor(t.Context(), bus.Due, queue.Group)
		t.Logf("%s killed: due events taken after %v, commands after %v (%d calls failed), all delivered after %v, hints after %v, floor after %v (%v)",
			name, taken[bus.Due], taken[bus.Commands], rounds, delivered, hinted, time.Since(killed), err)
		testserver.Control(t, "start/"+name)
	}
}
