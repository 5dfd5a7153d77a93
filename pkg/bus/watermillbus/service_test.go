package watermillbus_test

import (
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/watermillbus"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/timertest"
)

// TestWithAService publishes commands as Watermill messages. Their fired events must arrive, on the common topic and
// on a user topic, and their results too.
func TestWithAService(t *testing.T) {
	service := timertest.Start(t, timertest.WithNATS())
	b, err := natsbus.Connect(t.Context(), natsbus.Options{URL: service.NATSURL, Partitions: 4, Logger: testserver.Log()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	publisher, err := watermillbus.NewPublisher(watermillbus.PublisherConfig{Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	subscriber, err := watermillbus.NewSubscriber(watermillbus.SubscriberConfig{Bus: b, ConsumerGroup: "handlers", Logger: testserver.Log()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { subscriber.Close() })
	const own = "orders.expired"
	if err := subscriber.SubscribeInitialize(own); err != nil {
		t.Fatal(err)
	}
	_, err = service.Client.UpdateNamespace(t.Context(), client.UpdateNamespaceRequest{
		Name: "default", Settings: client.NamespaceSettingsInput{EventTopics: client.Set([]string{"orders.*"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	streams := map[string]<-chan *message.Message{}
	for _, topic := range []string{watermillbus.Fired, watermillbus.Results, own} {
		if streams[topic], err = subscriber.Subscribe(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
	}
	next := func(topic string) *message.Message {
		t.Helper()
		select {
		case m := <-streams[topic]:
			m.Ack()
			return m
		case <-time.After(30 * time.Second):
			t.Fatalf("nothing came on %s", topic)
			return nil
		}
	}

	for _, c := range []struct {
		request  client.CreateTimerRequest
		topic    string
		firedKey string
	}{
		{client.CreateTimerRequest{ID: "common", ExecuteIn: "50ms"}, watermillbus.Fired, "default/common"},
		{client.CreateTimerRequest{ID: "own", ExecuteIn: "50ms", Topic: own, Key: "customer-3"}, own, "customer-3"},
	} {
		command, err := watermillclient.Create("shop/orders", c.request)
		if err != nil {
			t.Fatal(err)
		}
		if err := publisher.Publish(watermillbus.Commands, command); err != nil {
			t.Fatal(err)
		}
		m := next(c.topic)
		id, delivery, err := watermillclient.ReadFired(m)
		if err != nil {
			t.Fatal(err)
		}
		if delivery.TimerID != c.request.ID || m.UUID != id || m.Metadata.Get(watermillbus.MetadataKey) != c.firedKey {
			t.Errorf("on %s fired %+v with UUID %q and metadata %v", c.topic, delivery, m.UUID, m.Metadata)
		}
		// The reply to the command, and the result of the attempt.
		for range 2 {
			if m := next(watermillbus.Results); m.Metadata.Get(watermillbus.MetadataKey) != "default/"+c.request.ID {
				t.Errorf("on %s: %s %v", watermillbus.Results, m.Payload, m.Metadata)
			}
		}
	}
}
