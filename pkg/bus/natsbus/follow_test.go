package natsbus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

func TestFollow(t *testing.T) {
	server := startServer(t, embedded.Options{Listen: "127.0.0.1:0", Token: "secret"})
	b := connectTo(t, natsbus.Options{URL: server.URL(), Token: "secret", Partitions: 2, Logger: testserver.Log()})
	onlooker := natsbus.Options{URL: server.URL(), Token: "secret"}
	enginetest.RunFollow(t, b,
		func(ctx context.Context, since time.Time, topics []bus.Topic, receive func(bus.Topic, *bus.Message) error) error {
			return natsbus.Follow(ctx, onlooker, since, topics, receive)
		})
}

func TestFollowRefuses(t *testing.T) {
	server := startServer(t, embedded.Options{Listen: "127.0.0.1:0", Token: "secret"})
	for name, c := range map[string]struct {
		options natsbus.Options
		want    string
	}{
		"nobody there": {natsbus.Options{URL: "nats://127.0.0.1:1"}, "connect to NATS at nats://127.0.0.1:1"},
		"no token":     {natsbus.Options{URL: server.URL()}, "Authorization"},
		"no service":   {natsbus.Options{URL: server.URL(), Token: "secret", Prefix: "other"}, "no stream other-results"},
	} {
		err := natsbus.Follow(t.Context(), c.options, time.Time{}, []bus.Topic{bus.Results}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
