package natsbus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

var errEnough = errors.New("enough")

// following runs Follow and returns its messages; end stops it and returns its error.
func following(t *testing.T, o natsbus.Options, since time.Time) (heard <-chan string, end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	got, done := make(chan string, 100), make(chan error, 1)
	go func() {
		done <- natsbus.Follow(ctx, o, since, []bus.Topic{bus.Results, bus.Dead}, func(topic bus.Topic, m *bus.Message) error {
			got <- fmt.Sprintf("%s %d %s %s", topic, m.Partition, m.Key, m.Body)
			if string(m.Body) == "last" {
				return errEnough
			}
			return nil
		})
	}()
	return got, func() error {
		cancel()
		return <-done
	}
}

func publish(t *testing.T, b *natsbus.Bus, topic bus.Topic, body string) {
	t.Helper()
	if _, err := b.Publish(t.Context(), topic, bus.Message{Partition: 1, Key: "k", Body: []byte(body)}); err != nil {
		t.Fatal(err)
	}
}

func TestFollow(t *testing.T) {
	server := startServer(t, embedded.Options{Listen: "127.0.0.1:0", Token: "secret"})
	b, err := natsbus.Connect(t.Context(), natsbus.Options{URL: server.URL(), Token: "secret", Partitions: 2, Logger: testserver.Log()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	before := time.Now().Add(-time.Minute)
	publish(t, b, bus.Results, "early")
	publish(t, b, bus.Fired, "another topic")

	onlooker := natsbus.Options{URL: server.URL(), Token: "secret"}
	heard, end := following(t, onlooker, before)
	if got := <-heard; got != "results 1 k early" {
		t.Errorf("heard %q", got)
	}
	publish(t, b, bus.Dead, "dead")
	if got := <-heard; got != "dead 1 k dead" {
		t.Errorf("heard %q", got)
	}
	if err := end(); err != nil {
		t.Errorf("ended by its context: %v", err)
	}

	// With the zero time Follow returns no earlier messages. It does not signal its start, so publish until a message
	// arrives.
	heard, end = following(t, onlooker, time.Time{})
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for first := ""; first == ""; {
		select {
		case <-again.C:
			publish(t, b, bus.Results, "now")
		case first = <-heard:
			if first != "results 1 k now" {
				t.Errorf("heard %q", first)
			}
		}
	}
	publish(t, b, bus.Results, "last")
	for got := range heard {
		if strings.HasSuffix(got, "last") {
			break
		}
	}
	if err := end(); err != nil && !errors.Is(err, errEnough) {
		t.Errorf("ended by its reader: %v", err)
	}
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
