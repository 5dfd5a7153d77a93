package main

import (
	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/timerbus/timerbus/pkg/client/watermillclient"
)

// pubsub is a Pub/Sub without delays: nothing in it knows of Timerbus.
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
	// Brokers that make topics by themselves need none of this.
	for _, topic := range []string{watermillclient.Commands, watermillclient.Fired, watermillclient.Results, watermillclient.Dead} {
		if err := makeTopic(subscriber, topic); err != nil {
			return nil, nil, err
		}
	}
	return publisher, subscriber, nil
}

// makeTopic makes a topic where that is not done by itself.
func makeTopic(s message.Subscriber, topic string) error {
	if initializer, able := s.(message.SubscribeInitializer); able {
		return initializer.SubscribeInitialize(topic)
	}
	return nil
}
