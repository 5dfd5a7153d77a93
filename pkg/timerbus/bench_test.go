package timerbus_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/bus/watermillbus"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

// commandsPerRound commands are published together; a round ends with the last answer.
const commandsPerRound = 5000

// BenchmarkCommands applies the same commands to the same store (SQLite) in four ways, one after another in each round,
// so that a temporary load of the machine affects all of them: natively, from JetStream through a router with one
// unacknowledged message per partition, the same with many, and from memory through a router. Answers always go to
// JetStream. It reports the medians; make bench-watermill prints them.
func BenchmarkCommands(b *testing.B) {
	ways := []struct {
		name       string
		subscriber func(b *testing.B, nats *natsbus.Bus) (message.Publisher, message.Subscriber)
	}{
		{"natively", nil},
		{"router,_JetStream,_in_order", func(b *testing.B, nats *natsbus.Bus) (message.Publisher, message.Subscriber) {
			return nil, adapter(b, nats, 1)
		}},
		{"router,_JetStream,_64_unacked", func(b *testing.B, nats *natsbus.Bus) (message.Publisher, message.Subscriber) {
			return nil, adapter(b, nats, 64)
		}},
		{"router,_memory", func(*testing.B, *natsbus.Bus) (message.Publisher, message.Subscriber) {
			memory := gochannel.NewGoChannel(gochannel.Config{}, nil)
			return memory, memory
		}},
	}
	took := make([][]time.Duration, len(ways))
	for range b.N {
		for i := range ways {
			took[i] = append(took[i], round(b, ways[i].subscriber))
		}
	}
	for i := range ways {
		slices.Sort(took[i])
		b.ReportMetric(commandsPerRound/took[i][len(took[i])/2].Seconds(), ways[i].name+"/s")
	}
	b.ReportMetric(0, "ns/op")
}

// adapter returns a Pub/Sub on the service's JetStream.
func adapter(b *testing.B, nats *natsbus.Bus, unacked int) message.Subscriber {
	b.Helper()
	s, err := watermillbus.NewSubscriber(watermillbus.SubscriberConfig{Bus: nats, ConsumerGroup: fmt.Sprint("users-", unacked), Unacked: unacked})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// round runs one service and returns how long its commands took.
func round(b *testing.B, way func(*testing.B, *natsbus.Bus) (message.Publisher, message.Subscriber)) time.Duration {
	b.Helper()
	folder := b.TempDir()
	server, err := embedded.Start(b.Context(), embedded.Options{Dir: folder + "/nats", Listen: "127.0.0.1:0", NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	nats, err := natsbus.Connect(b.Context(), natsbus.Options{URL: server.URL()})
	if err != nil {
		b.Fatal(err)
	}
	defer nats.Close()
	var publisher message.Publisher
	var o timerbus.Options
	if way != nil {
		publisher, o.Watermill.Subscriber = way(b, nats)
	}
	if publisher == nil {
		if publisher, err = watermillbus.NewPublisher(watermillbus.PublisherConfig{Bus: nats}); err != nil {
			b.Fatal(err)
		}
	}
	service, err := timerbus.New(b.Context(), onDisk(b, folder), nats, o)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	results, err := adapter(b, nats, 1000).Subscribe(ctx, watermillclient.Results)
	if err != nil {
		b.Fatal(err)
	}
	ready(b, service)
	send := func(n int) {
		commands := make([]*message.Message, n)
		for i := range commands {
			commands[i], err = watermillclient.Create("bench", client.CreateTimerRequest{ID: fmt.Sprint("t-", i), ExecuteIn: "1h"})
			if err != nil {
				b.Fatal(err)
			}
		}
		for some := range slices.Chunk(commands, 500) {
			publish(b, publisher, watermillclient.Commands, some...)
		}
		for range commands {
			(<-results).Ack()
		}
	}
	send(200) // until every partition has its owner
	began := time.Now()
	send(commandsPerRound)
	took := time.Since(began)
	stop()
	if err := <-ended; err != nil {
		b.Error(err)
	}
	return took
}
