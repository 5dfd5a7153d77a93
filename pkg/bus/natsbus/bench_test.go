package natsbus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/shard"
)

func connect(tb testing.TB, server *embedded.Server) *natsbus.Bus {
	tb.Helper()
	return connectTo(tb, natsbus.Options{InProcess: server, Logger: testserver.Log()})
}

func connectTo(tb testing.TB, opts natsbus.Options) *natsbus.Bus {
	tb.Helper()
	handle, err := natsbus.Connect(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := handle.Close(); err != nil {
			tb.Error(err)
		}
	})
	return handle
}

func batch(n, round int) []bus.Message {
	messages := make([]bus.Message, n)
	body := make([]byte, 300)
	for i := range messages {
		messages[i] = bus.Message{
			Partition: shard.Partition(i % 16),
			Key:       "17",
			ID:        fmt.Sprintf("%d-%d", round, i),
			Body:      body,
		}
	}
	return messages
}

// BenchmarkBus prints how many 300-byte messages per second one process publishes, in calls of 2,000, and how many it
// consumes and acknowledges: on a server in this process, with and without fsync, and on the servers that testenv has
// started.
func BenchmarkBus(b *testing.B) {
	for _, c := range []struct {
		name     string
		topic    bus.Topic
		mode     bus.Mode
		noSync   bool
		server   string // empty: in this process
		replicas int
		streams  int
	}{
		{"embedded/due", bus.Due, bus.Queue, false, "", 1, 1},
		{"embedded/due-2-streams", bus.Due, bus.Queue, false, "", 1, 2},
		{"embedded/due-4-streams", bus.Due, bus.Queue, false, "", 1, 4},
		{"embedded/commands", bus.Commands, bus.Ordered, false, "", 1, 1},
		{"embedded/commands/nosync", bus.Commands, bus.Ordered, true, "", 1, 1},
		{"nats/due", bus.Due, bus.Queue, false, "nats", 1, 1},
		{"nats/commands", bus.Commands, bus.Ordered, false, "nats", 1, 1},
		{"nats3/due", bus.Due, bus.Queue, false, "nats3", 3, 1},
		{"nats3/due-3-streams", bus.Due, bus.Queue, false, "nats3", 3, 3},
		{"nats3/commands", bus.Commands, bus.Ordered, false, "nats3", 3, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			opts := natsbus.Options{Logger: testserver.Log(), AckTimeout: time.Minute, QueueStreams: c.streams} // the disk may be busy
			if c.server == "" {
				opts.InProcess = startServer(b, embedded.Options{NoSync: c.noSync})
			} else {
				opts.URL, opts.Prefix, opts.Replicas = testserver.Address(b, c.server), prefix(), c.replicas
				remove(b, opts.URL, opts.Prefix)
			}
			dispatch(b, opts, "bench") // the streams of a queue are used once they have a consumer
			handle := connectTo(b, opts)
			const size = 2000
			var publishing, consuming time.Duration
			b.ResetTimer()
			for i := range b.N {
				messages := batch(size, i)
				start := time.Now()
				if _, err := handle.Publish(b.Context(), c.topic, messages...); err != nil {
					b.Fatal(err)
				}
				publishing += time.Since(start)
			}
			n := enginetest.NewCounter(size * b.N)
			ctx, cancel := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			start := time.Now()
			go func() {
				ended <- handle.Consume(ctx, bus.Spec{Topic: c.topic, Group: "bench", Mode: c.mode},
					func(context.Context, shard.Partition) (bus.Session, error) { return n, nil })
			}()
			<-n.Done()
			consuming = time.Since(start)
			b.StopTimer()
			cancel()
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(size*b.N)/publishing.Seconds(), "published/s")
			b.ReportMetric(float64(size*b.N)/consuming.Seconds(), "acked/s")
		})
	}
}
