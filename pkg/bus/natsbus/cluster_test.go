package natsbus_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// seen counts deliveries by body.
type seen struct {
	mu     sync.Mutex
	bodies map[string]int
}

func (s *seen) Deliver(_ context.Context, d *bus.Delivery) error {
	s.mu.Lock()
	s.bodies[string(d.Body)]++
	s.mu.Unlock()
	d.Ack()
	return nil
}

func (s *seen) Close(context.Context, error) error { return nil }

func (s *seen) has(body string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[body] > 0
}

// TestServersAreKilledUnderLoad kills the servers of a cluster one after the other. Every message that was
// acknowledged to its publisher must be delivered, in the queue and in the log, and hints must be delivered again.
func TestServersAreKilledUnderLoad(t *testing.T) {
	url := testserver.Address(t, "nats3")
	ours := prefix()
	remove(t, url, ours)
	b, err := natsbus.Connect(t.Context(), natsbus.Options{URL: url, Prefix: ours, Replicas: 3, Logger: testserver.Log()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	got := map[bus.Topic]*seen{}
	for _, spec := range []bus.Spec{
		{Topic: bus.Commands, Group: "g", Mode: bus.Ordered},
		{Topic: bus.Due, Group: "g", Mode: bus.Queue},
		{Topic: bus.Shards, Group: "g", Mode: bus.Live},
	} {
		into := &seen{bodies: map[string]int{}}
		got[spec.Topic] = into
		running.Go(func() {
			if err := b.Consume(ctx, spec, func(context.Context, shard.Partition) (bus.Session, error) { return into, nil }); err != nil {
				t.Errorf("consume %s: %v", spec.Topic, err)
			}
		})
	}
	var serial int
	// publish publishes until the channel is closed, and returns the bodies that the bus accepted.
	publish := func(until <-chan struct{}) (taken []string) {
		for {
			select {
			case <-until:
				return taken
			default:
			}
			serial++
			body := fmt.Sprint(serial)
			m := bus.Message{ID: body, Body: []byte(body), Partition: shard.Partition(serial % 16)}
			_, dueErr := b.Publish(t.Context(), bus.Due, m)
			_, commandErr := b.Publish(t.Context(), bus.Commands, m)
			if dueErr == nil && commandErr == nil {
				taken = append(taken, body)
			}
		}
	}
	for node := 1; node <= 3; node++ {
		name := fmt.Sprintf("nats3-%d", node)
		until, published := make(chan struct{}), make(chan []string)
		go func() { published <- publish(until) }()
		pause(t, 500*time.Millisecond)
		testserver.Control(t, "kill/"+name)
		killed := time.Now()
		// With two of three servers everything continues.
		for body := "hint"; !got[bus.Shards].has(body + name); pause(t, 20*time.Millisecond) {
			var hints []bus.Message
			for p := range 16 {
				hints = append(hints, bus.Message{Partition: shard.Partition(p), Body: []byte(body + name)})
			}
			_, _ = b.Publish(t.Context(), bus.Shards, hints...)
			if time.Since(killed) > patience {
				t.Fatal("no hints on two of three servers")
			}
		}
		hints := time.Since(killed)
		for {
			body := fmt.Sprint("after ", name, time.Now())
			_, dueErr := b.Publish(t.Context(), bus.Due, bus.Message{Body: []byte(body)})
			_, commandErr := b.Publish(t.Context(), bus.Commands, bus.Message{Body: []byte(body)})
			if dueErr == nil && commandErr == nil {
				break
			}
			if time.Since(killed) > patience {
				t.Fatalf("nothing is taken on two of three servers: %v, %v", dueErr, commandErr)
			}
		}
		stalled := time.Since(killed)
		testserver.Control(t, "start/"+name)
		close(until)
		taken := <-published
		if len(taken) == 0 {
			t.Fatal("nothing was published: this proves nothing")
		}
		for _, topic := range []bus.Topic{bus.Due, bus.Commands} {
			for deadline := time.Now().Add(2 * patience); ; pause(t, 20*time.Millisecond) {
				lost := ""
				for _, body := range taken {
					if !got[topic].has(body) {
						lost = body
						break
					}
				}
				if lost == "" {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s: message %s was taken and is not delivered", topic, lost)
				}
			}
		}
		t.Logf("%s killed: hints again after %v, both topics after %v; all of %d messages delivered", name, hints, stalled, len(taken))
	}
}

// TestManyConnectAtOnce connects several processes to an empty cluster at the same time: each creates missing
// streams, and none fails because of streams that other processes are creating.
func TestManyConnectAtOnce(t *testing.T) {
	url := testserver.Address(t, "nats3")
	for range 5 {
		ours := prefix()
		remove(t, url, ours)
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				b, err := natsbus.Connect(t.Context(), natsbus.Options{URL: url, Prefix: ours, Replicas: 3, Logger: testserver.Log()})
				if err != nil {
					t.Error(err)
					return
				}
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}
