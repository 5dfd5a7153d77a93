package kafkabus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

func TestFollow(t *testing.T) {
	o := fakeOptions(fake(t))
	o.Partitions = 2
	enginetest.RunFollow(t, connect(t, o),
		func(ctx context.Context, since time.Time, topics []bus.Topic, receive func(bus.Topic, *bus.Message) error) error {
			return kafkabus.Follow(ctx, o, since, topics, receive)
		})
}

func TestFollowRefuses(t *testing.T) {
	o := fakeOptions(fake(t))
	for name, c := range map[string]struct {
		change func(*kafkabus.Options)
		want   string
	}{
		"nobody there": {func(o *kafkabus.Options) { o.Brokers = []string{"127.0.0.1:1"} }, "connect to Kafka at 127.0.0.1:1"},
		"no service":   {func(o *kafkabus.Options) { o.Prefix = "other" }, "follow other.results: there is no such topic"},
	} {
		changed := o
		c.change(&changed)
		err := kafkabus.Follow(t.Context(), changed, time.Time{}, []bus.Topic{bus.Results}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
