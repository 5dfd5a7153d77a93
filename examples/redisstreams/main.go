// Command redisstreams uses Redis streams for Timerbus' topics, with Watermill's Pub/Sub for Redis: a program publishes
// commands to one stream, and reads fired timers from another.
//
//	go run ./redisstreams -redis redis://HOST:PORT
//
// It imports Watermill and Timerbus like a user's program. main.go is the whole example.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-redisstream/pkg/redisstream"
	"github.com/redis/go-redis/v9"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

func main() {
	server := flag.String("redis", os.Getenv("REDIS_URL"), "URL of a Redis server, 6.2 or newer, such as redis://127.0.0.1:6379")
	flag.Parse()
	program.Main(func(ctx context.Context, out io.Writer) error { return run(ctx, *server, out) })
}

func run(ctx context.Context, server string, out io.Writer) (err error) {
	options, err := redis.ParseURL(server)
	if err != nil {
		return fmt.Errorf("no server: set -redis URL or REDIS_URL: %w", err)
	}
	db := redis.NewClient(options) // the subscriber closes it
	publisher, err := redisstream.NewPublisher(redisstream.PublisherConfig{
		Client: db,
		// Streams grow until they are trimmed.
		DefaultMaxlen: 100_000,
	}, watermill.NopLogger{})
	if err != nil {
		return err
	}
	subscriber, err := redisstream.NewSubscriber(redisstream.SubscriberConfig{
		Client: db, ConsumerGroup: "timerbus", OldestId: "0", DisableIndefiniteInitialBlock: true,
	}, watermill.NopLogger{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, subscriber.Close()) }()
	// Each run uses new streams. Otherwise it would read the messages of earlier runs first.
	prefix := "timerbus-" + watermill.NewShortUUID()
	_, stop, err := program.InMemory(ctx, timerbus.Options{
		Watermill: timerbus.Watermill{Publisher: publisher, Subscriber: subscriber, Prefix: prefix},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	fired, err := subscriber.Subscribe(ctx, prefix+".fired")
	if err != nil {
		return err
	}
	for i, text := range []string{"tea is ready", "eggs are boiled"} {
		command, err := watermillclient.Create("kitchen", client.CreateTimerRequest{
			ID: fmt.Sprintf("kitchen-%d", i+1), ExecuteIn: fmt.Sprintf("%dms", 700*(i+1)),
			Payload: json.RawMessage(`"` + text + `"`),
		})
		if err != nil {
			return err
		}
		if err := publisher.Publish(prefix+".commands", command); err != nil {
			return err
		}
		fmt.Fprintf(out, "set kitchen-%d\n", i+1)
	}
	for range 2 {
		select {
		case m := <-fired:
			_, d, err := watermillclient.ReadFired(m)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s: %s\n", d.TimerID, d.Payload)
			m.Ack()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
