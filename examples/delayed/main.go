// Command delayed publishes Watermill messages that arrive later, with Watermill's own delay metadata, on a Pub/Sub
// that knows no delays: in memory, or Kafka with -kafka HOST:PORT.
//
// It imports Watermill and Timerbus as a user's program would. main.go is the example, pubsub.go what it runs on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/components/delay"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

func main() {
	kafka := flag.String("kafka", "", "HOST:PORT of a Kafka broker; without it, a Pub/Sub in memory")
	flag.Parse()
	program.Main(func(ctx context.Context, out io.Writer) error { return run(ctx, *kafka, out) })
}

func run(ctx context.Context, kafka string, out io.Writer) (err error) {
	publisher, subscriber, err := pubsub(kafka)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, subscriber.Close(), publisher.Close()) }()
	service, stop, err := program.Timerbus(ctx, timerbus.Options{
		Store:     "memory:",
		Watermill: timerbus.Watermill{Publisher: publisher, Subscriber: subscriber},
	}, "emails*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	// This is all it takes: a Publisher around the one that is there.
	delayed, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{Publisher: publisher, Timers: service.Client()})
	if err != nil {
		return err
	}
	// A topic of its own for each run, since Kafka keeps what earlier runs left.
	topic := "emails." + watermill.NewShortUUID()
	if err := makeTopic(subscriber, topic); err != nil {
		return err
	}
	messages, err := subscriber.Subscribe(ctx, topic)
	if err != nil {
		return err
	}
	if err := warmUp(ctx, publisher, messages, topic); err != nil {
		return err
	}
	began := time.Now()
	now := message.NewMessage(watermill.NewUUID(), []byte("Welcome!"))
	soon := message.NewMessage(watermill.NewUUID(), []byte("How do you like it?"))
	later := message.NewMessage(watermill.NewUUID(), []byte("We miss you."))
	delay.Message(soon, delay.For(time.Second))
	delay.Message(later, delay.Until(time.Now().Add(2*time.Second)))
	fmt.Fprintln(out, "three messages are published")
	if err := delayed.Publish(topic, later, soon, now); err != nil {
		return err
	}
	for _, want := range []*message.Message{now, soon, later} {
		var got *message.Message
		select {
		case got = <-messages:
			got.Ack()
		case <-ctx.Done():
			return ctx.Err()
		}
		fmt.Fprintf(out, "after %.1f s: %s\n", time.Since(began).Seconds(), got.Payload)
		if got.UUID != want.UUID {
			return fmt.Errorf("message %s came, %s was expected", got.UUID, want.UUID)
		}
	}
	return nil
}

// warmUp waits until the subscription works: members of a Kafka group take seconds to find together.
func warmUp(ctx context.Context, p message.Publisher, messages <-chan *message.Message, topic string) error {
	if err := p.Publish(topic, message.NewMessage(watermill.NewUUID(), nil)); err != nil {
		return err
	}
	select {
	case m := <-messages:
		m.Ack()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
