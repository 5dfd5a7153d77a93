package kafkabus_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/shard"
)

func batch(n, round int) []bus.Message {
	messages := make([]bus.Message, n)
	random := rand.New(rand.NewPCG(uint64(round), 0))
	for i := range messages {
		body := make([]byte, 0, 304) // random, so that it does not compress
		for len(body) < 300 {
			body = binary.LittleEndian.AppendUint64(body, random.Uint64())
		}
		messages[i] = bus.Message{Partition: shard.Partition(i % 16), Key: "17", Body: body}
	}
	return messages
}

// cases runs a benchmark for each mode on each available cluster.
func cases(b *testing.B, run func(b *testing.B, topic bus.Topic, mode bus.Mode, opts kafkabus.Options)) {
	for _, cluster := range []struct {
		name     string
		replicas int
	}{{"kafka", 1}, {"kafka3", 3}} {
		for _, c := range []struct {
			name  string
			topic bus.Topic
			mode  bus.Mode
		}{
			{"due/group", bus.Due, bus.Queue},
			{"commands/ordered", bus.Commands, bus.Ordered},
		} {
			b.Run(cluster.name+"/"+c.name, func(b *testing.B) {
				opts := kafkabus.Options{
					Brokers: brokers(b, cluster.name), Replicas: cluster.replicas, Prefix: prefix(), Logger: testserver.Log(),
					AckTimeout: time.Minute, // the disk may be busy
				}
				remove(b, opts.Brokers, opts.Prefix)
				run(b, c.topic, c.mode, opts)
			})
		}
	}
}

// BenchmarkBus prints how many 300-byte messages per second one process publishes, in calls of 2,000, and how many it
// consumes and acknowledges. The time of consuming begins with the first session.
func BenchmarkBus(b *testing.B) {
	cases(b, func(b *testing.B, topic bus.Topic, mode bus.Mode, opts kafkabus.Options) {
		handle := connect(b, opts)
		const size = 2000
		var publishing time.Duration
		b.ResetTimer()
		for i := range b.N {
			messages := batch(size, i)
			start := time.Now()
			if _, err := handle.Publish(b.Context(), topic, messages...); err != nil {
				b.Fatal(err)
			}
			publishing += time.Since(start)
		}
		b.StopTimer()
		n := enginetest.NewCounter(size * b.N)
		var start time.Time
		begin := sync.OnceFunc(func() { start = time.Now() })
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- handle.Consume(ctx, bus.Spec{Topic: topic, Group: "bench", Mode: mode},
				func(context.Context, shard.Partition) (bus.Session, error) {
					begin()
					return n, nil
				})
		}()
		<-n.Done()
		consuming := time.Since(start)
		cancel()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(size*b.N)/publishing.Seconds(), "published/s")
		b.ReportMetric(float64(size*b.N)/consuming.Seconds(), "acked/s")
	})
}

// BenchmarkRoundTrip prints the time from Publish to Deliver of one 300-byte message, sequentially, on an otherwise
// idle bus.
func BenchmarkRoundTrip(b *testing.B) {
	cases(b, func(b *testing.B, topic bus.Topic, mode bus.Mode, opts kafkabus.Options) {
		handle := connect(b, opts)
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		in := make(enginetest.Inbox, 16)
		go func() {
			ended <- handle.Consume(ctx, bus.Spec{Topic: topic, Group: "bench", Mode: mode},
				func(context.Context, shard.Partition) (bus.Session, error) { return in, nil })
		}()
		all16 := batch(16, 0)
		trip := func(i int) time.Duration {
			start := time.Now()
			if _, err := handle.Publish(b.Context(), topic, all16[i%16]); err != nil {
				b.Fatal(err)
			}
			d := <-in
			took := time.Since(start)
			d.Ack()
			return took
		}
		for i := range 32 { // joining, first fetches
			trip(i)
		}
		var all []time.Duration
		for i := 0; b.Loop(); i++ {
			all = append(all, trip(i))
		}
		cancel()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	})
}
