package examples_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-amqp/v3/pkg/amqp"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

// TestRabbitMQWithoutConfirmsIsRefused: by default Watermill's RabbitMQ Publisher does not wait for the broker, and
// events would be lost.
func TestRabbitMQWithoutConfirmsIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*amqp.PublishConfig)
		taken  bool
	}{
		"as configured by default": {func(*amqp.PublishConfig) {}, false},
		"with confirms":            {func(p *amqp.PublishConfig) { p.ConfirmDelivery = true }, true},
		"with transactions":        {func(p *amqp.PublishConfig) { p.Transactional = true }, true},
	} {
		t.Run(name, func(t *testing.T) {
			config := amqp.NewDurablePubSubConfig("amqp://127.0.0.1:1/", nil)
			c.change(&config.Publish)
			// No connection is made before something is published.
			publisher, err := amqp.NewPublisherWithConnection(config, watermill.NopLogger{}, new(amqp.ConnectionWrapper))
			if err != nil {
				t.Fatal(err)
			}
			decorate := message.MessageTransformPublisherDecorator(func(*message.Message) {})
			decorated, err := decorate(publisher)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []message.Publisher{publisher, decorated} {
				s, b := memstore.NewDatabaseAt(timer.SystemClock).Open(), membus.New(membus.Options{}).Join("example")
				service, err := timerbus.New(t.Context(), s, b, timerbus.Options{Watermill: timerbus.Watermill{Publisher: p}})
				switch {
				case c.taken && err != nil:
					t.Errorf("%T: %v", p, err)
				case c.taken:
					ended, end := context.WithCancel(t.Context())
					end()
					if err := service.Run(ended); err != nil {
						t.Error(err)
					}
				case err == nil || !strings.Contains(err.Error(), "ConfirmDelivery"):
					t.Errorf("%T: New answered %v, want an error that names ConfirmDelivery", p, err)
				}
			}
		})
	}
}
