// Command ordertimeout is a saga with a deadline: an order that is not paid in time is cancelled and its seats are
// released. Orders and timers are Watermill messages: placing an order publishes a command that creates its timer, paying
// publishes a command that deletes it, and the fired timer is a message on a topic of the shop.
//
// It imports Watermill and Timerbus like a user's program, and never calls Timerbus' HTTP API. main.go is the whole
// example.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

const timeToPay = "1s"

func main() { program.Main(run) }

// order is the payload of the shop's messages.
type order struct {
	ID    string `json:"id"`
	Seats int    `json:"seats"`
}

// shop handles orders. Only one handler prints at a time.
type shop struct {
	publisher message.Publisher
	out       io.Writer
	steps     chan struct{} // one token for each message handled
}

func run(ctx context.Context, out io.Writer) (err error) {
	// Publish returns after the message was handled, so messages are handled in order.
	pubsub := gochannel.NewGoChannel(gochannel.Config{BlockPublishUntilSubscriberAck: true}, nil)
	_, stop, err := program.InMemory(ctx, timerbus.Options{
		Watermill: timerbus.Watermill{Publisher: pubsub, Subscriber: pubsub},
	}, "orders.*")
	if err != nil {
		return err
	}
	s := &shop{publisher: pubsub, out: out, steps: make(chan struct{}, 8)}
	router := message.NewDefaultRouter(watermill.NopLogger{})
	router.AddConsumerHandler("place", "orders.placed", pubsub, s.placed)
	router.AddConsumerHandler("pay", "orders.paid", pubsub, s.paid)
	router.AddConsumerHandler("time out", "orders.timeouts", pubsub, s.timedOut)
	routed := make(chan error, 1)
	go func() { routed <- router.Run(ctx) }()
	<-router.Running()
	// Stop Timerbus first: a router that closes also closes the Pub/Sub.
	defer func() { err = errors.Join(err, stop(), router.Close(), <-routed) }()

	for _, step := range []struct {
		topic string
		order order
	}{
		{"orders.placed", order{"order-1", 2}},
		{"orders.placed", order{"order-2", 3}},
		{"orders.paid", order{"order-1", 2}},
		{"", order{}}, // order-2 is not paid: its timer fires
	} {
		if step.topic != "" {
			if err := s.publish(step.topic, step.order); err != nil {
				return err
			}
		}
		select {
		case <-s.steps:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (s *shop) publish(topic string, o order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return s.publisher.Publish(topic, message.NewMessage(watermill.NewUUID(), body))
}

// placed creates the order's timer.
func (s *shop) placed(m *message.Message) error {
	var o order
	if err := json.Unmarshal(m.Payload, &o); err != nil {
		return err
	}
	command, err := watermillclient.Create("shop/orders", client.CreateTimerRequest{
		ID: o.ID, ExecuteIn: timeToPay, Topic: "orders.timeouts", Payload: json.RawMessage(m.Payload),
	})
	if err != nil {
		return err
	}
	if err := s.publisher.Publish(watermillclient.Commands, command); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: %d seats are kept, to be paid within %s\n", o.ID, o.Seats, timeToPay)
	s.steps <- struct{}{}
	return nil
}

// paid deletes the order's timer.
func (s *shop) paid(m *message.Message) error {
	var o order
	if err := json.Unmarshal(m.Payload, &o); err != nil {
		return err
	}
	command, err := watermillclient.Delete("shop/orders", client.DeleteTimerRequest{TimerID: o.ID})
	if err != nil {
		return err
	}
	if err := s.publisher.Publish(watermillclient.Commands, command); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: paid\n", o.ID)
	s.steps <- struct{}{}
	return nil
}

// timedOut releases the seats. The order may have been paid at the same time, so a real shop checks the order
// first. It also remembers the delivery's id, because deliveries may repeat.
func (s *shop) timedOut(m *message.Message) error {
	_, fired, err := watermillclient.ReadFired(m)
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(fired.Payload, &o); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: not paid in time, cancelled; %d seats are free again\n", o.ID, o.Seats)
	s.steps <- struct{}{}
	return nil
}
