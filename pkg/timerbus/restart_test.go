package timerbus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/bus/watermillbus"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

// TestNoCommandIsLostOverRestarts publishes commands, stops each service as soon as it has applied one, and lets a last
// service apply the rest: commands that were returned or never acknowledged are redelivered.
func TestNoCommandIsLostOverRestarts(t *testing.T) {
	const commands, restarts = 400, 3
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	nats, err := natsbus.Connect(t.Context(), natsbus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := nats.Close(); err != nil {
			t.Error(err)
		}
	})
	subscriber, err := watermillbus.NewSubscriber(watermillbus.SubscriberConfig{Bus: nats, ConsumerGroup: "ours", Unacked: 8})
	if err != nil {
		t.Fatal(err)
	}
	publisher, err := watermillbus.NewPublisher(watermillbus.PublisherConfig{Bus: nats})
	if err != nil {
		t.Fatal(err)
	}
	var all []*message.Message
	for i := range commands {
		all = append(all, create(t, client.CreateTimerRequest{ID: fmt.Sprint("t-", i), ExecuteIn: "1h"}))
	}
	publish(t, publisher, watermillclient.Commands, all...)

	folder := t.TempDir()
	for life := range restarts + 1 {
		timers, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		internal, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server})
		if err != nil {
			t.Fatal(err)
		}
		service, err := timerbus.New(t.Context(), timers, internal, timerbus.Options{Watermill: timerbus.Watermill{Subscriber: subscriber}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- service.Run(ctx) }()
		want := commands
		if life < restarts {
			want = 1 + life*commands/(restarts+1)
		}
		have := awaitTimers(t, service.Client(), want)
		t.Logf("life %d ends with %d timers", life, have)
		stop()
		if err := errors.Join(<-ended, internal.Close(), timers.Close()); err != nil {
			t.Errorf("life %d: %v", life, err)
		}
	}
}

// awaitTimers waits until the number of timers is want.
func awaitTimers(t *testing.T, c *client.Client, want int) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		have := 0
		for _, err := range c.AllTimers(ctx, client.ListTimersRequest{}) {
			if err != nil {
				t.Fatalf("%d of %d timers: %v", have, want, err)
			}
			have++
		}
		if have >= want {
			return have
		}
	}
}
