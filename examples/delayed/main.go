// Command delayed publishes delayed Watermill messages, with Watermill's delay metadata, on a Pub/Sub without delays:
// in memory, or Kafka with -kafka HOST:PORT.
//
// It imports Watermill and Timerbus like a user's program. main.go is the example, pubsub.go opens the Pub/Sub.
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
	service, stop, err := program.InMemory(ctx, timerbus.Options{
		Watermill: timerbus.Watermill{Publisher: publisher, Subscriber: subscriber},
	}, "emails*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	// A Publisher around the existing one adds the delays.
	delayed, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{Publisher: publisher, Timers: service.Client()})
	if err != nil {
		return err
	}
	// Each run uses a new topic, because Kafka keeps the messages of earlier runs.
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

// warmUp waits until the subscription works: a Kafka group needs seconds to form.
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
