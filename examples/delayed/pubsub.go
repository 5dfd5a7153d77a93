package main

import (
	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/timerbus/timerbus/pkg/client/watermillclient"
)

// pubsub opens a Pub/Sub without delays. It does not depend on Timerbus.
func pubsub(broker string) (message.Publisher, message.Subscriber, error) {
	if broker == "" {
		inMemory := gochannel.NewGoChannel(gochannel.Config{}, nil)
		return inMemory, inMemory, nil
	}
	publisher, err := kafka.NewPublisher(kafka.PublisherConfig{
		Brokers: []string{broker}, Marshaler: kafka.DefaultMarshaler{},
	}, watermill.NopLogger{})
	if err != nil {
		return nil, nil, err
	}
	config := kafka.DefaultSaramaSubscriberConfig()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.Rebalance.Timeout = config.Consumer.Group.Session.Timeout
	subscriber, err := kafka.NewSubscriber(kafka.SubscriberConfig{
		Brokers: []string{broker}, Unmarshaler: kafka.DefaultMarshaler{},
		ConsumerGroup: "delayed-" + watermill.NewShortUUID(), OverwriteSaramaConfig: config,
		InitializeTopicDetails: &sarama.TopicDetail{NumPartitions: 1, ReplicationFactor: 1},
	}, watermill.NopLogger{})
	if err != nil {
		return nil, nil, err
	}
	// Not necessary with brokers that create topics automatically.
	for _, topic := range []string{watermillclient.Commands, watermillclient.Fired, watermillclient.Results, watermillclient.Dead} {
		if err := makeTopic(subscriber, topic); err != nil {
			return nil, nil, err
		}
	}
	return publisher, subscriber, nil
}

// makeTopic creates a topic if the Pub/Sub does not do this automatically.
func makeTopic(s message.Subscriber, topic string) error {
	if initializer, able := s.(message.SubscribeInitializer); able {
		return initializer.SubscribeInitialize(topic)
	}
	return nil
}
