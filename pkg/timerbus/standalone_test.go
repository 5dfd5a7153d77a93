package timerbus_test

import (
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/components/delay"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/bus/watermillbus"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

// TestDelayedWithoutASink: if a Timerbus runs separately on JetStream, its event arrives, and the subscriber extracts
// the message.
func TestDelayedWithoutASink(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	internal, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server})
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, internal)
	service, _ := startOn(t, onDisk(t, t.TempDir()), internal, func(o *timerbus.Options) { o.Watermill = timerbus.Watermill{} })
	_, err = service.Client().UpdateNamespace(t.Context(), client.UpdateNamespaceRequest{
		Name: "default", Settings: client.NamespaceSettingsInput{EventTopics: client.Set([]string{"orders.*"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	nats, err := natsbus.Connect(t.Context(), natsbus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, nats)
	publisher, err := watermillbus.NewPublisher(watermillbus.PublisherConfig{Bus: nats})
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := watermillbus.NewSubscriber(watermillbus.SubscriberConfig{Bus: nats, ConsumerGroup: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if err := adapter.SubscribeInitialize("orders.timeouts"); err != nil {
		t.Fatal(err)
	}
	subscriber, err := watermillclient.NewSubscriber(adapter)
	if err != nil {
		t.Fatal(err)
	}
	messages := listen(t, subscriber, "orders.timeouts")
	delayed, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{Publisher: publisher, Timers: service.Client()})
	if err != nil {
		t.Fatal(err)
	}
	m := message.NewMessage("m-1", []byte{0, 1, 0xff})
	m.Metadata.Set("order", "17")
	delay.Message(m, delay.For(200*time.Millisecond))
	publish(t, delayed, "orders.timeouts", m)
	if got := next(t, messages); !got.Equals(m) {
		t.Errorf("came as %+v, want %+v", got, m)
	}
}
