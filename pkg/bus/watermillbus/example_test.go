package watermillbus_test

import (
	"context"
	"fmt"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/bus/watermillbus"
)

// A router's handler consumes a user topic. On Kafka or NATS, b is the result of kafkabus.Connect or natsbus.Connect.
func Example() {
	b := membus.New(membus.Options{}).Join("shop")
	publisher, err := watermillbus.NewPublisher(watermillbus.PublisherConfig{Bus: b})
	if err != nil {
		panic(err)
	}
	subscriber, err := watermillbus.NewSubscriber(watermillbus.SubscriberConfig{Bus: b, ConsumerGroup: "billing"})
	if err != nil {
		panic(err)
	}
	if err := subscriber.SubscribeInitialize("orders.expired"); err != nil {
		panic(err)
	}
	router, err := message.NewRouter(message.RouterConfig{}, watermill.NopLogger{})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	router.AddConsumerHandler("expired", "orders.expired", subscriber, func(m *message.Message) error {
		fmt.Printf("%s of %s\n", m.Payload, m.Metadata.Get(watermillbus.MetadataKey))
		stop()
		return nil
	})

	m := message.NewMessage(watermill.NewUUID(), []byte("order 17"))
	m.Metadata.Set(watermillbus.MetadataKey, "customer-3")
	if err := publisher.Publish("orders.expired", m); err != nil {
		panic(err)
	}
	if err := router.Run(ctx); err != nil {
		panic(err)
	}
	// Output: order 17 of customer-3
}
