//go:build unix

package natsbus_test

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/shard"
)

// BenchmarkIdle prints the CPU cost of server and client together while 16 partitions of commands, 16 of hints and
// the queue are consumed without any message. Run it with -benchtime 20x: one round takes a second.
func BenchmarkIdle(b *testing.B) {
	handle := connect(b, startServer(b, embedded.Options{}))
	ctx, cancel := context.WithCancel(b.Context())
	var consumers, opened sync.WaitGroup
	opened.Add(16 + 16 + 1)
	for _, spec := range []bus.Spec{
		{Topic: bus.Commands, Group: "ingest", Mode: bus.Ordered},
		{Topic: bus.Shards, Group: "scheduler", Mode: bus.Live},
		{Topic: bus.Due, Group: "dispatcher", Mode: bus.Queue},
	} {
		consumers.Go(func() {
			err := handle.Consume(ctx, spec, func(context.Context, shard.Partition) (bus.Session, error) {
				opened.Done()
				return enginetest.NewCounter(0), nil
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	opened.Wait()
	before := cpu(b)
	b.ResetTimer()
	for range b.N {
		time.Sleep(time.Second)
	}
	b.StopTimer()
	b.ReportMetric(100*(cpu(b)-before).Seconds()/b.Elapsed().Seconds(), "%core")
	cancel()
	consumers.Wait()
}

func cpu(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
