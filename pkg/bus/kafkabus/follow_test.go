package kafkabus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

var errEnough = errors.New("enough")

// following runs Follow and returns its messages; end stops it and returns its error.
func following(t *testing.T, o kafkabus.Options, since time.Time) (heard <-chan string, end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	got, done := make(chan string, 100), make(chan error, 1)
	go func() {
		done <- kafkabus.Follow(ctx, o, since, []bus.Topic{bus.Results, bus.Dead}, func(topic bus.Topic, m *bus.Message) error {
			got <- fmt.Sprintf("%s %s %s", topic, m.Key, m.Body)
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

func TestFollow(t *testing.T) {
	o := fakeOptions(fake(t))
	b := connect(t, o)
	say := func(topic bus.Topic, body string) {
		t.Helper()
		if _, err := b.Publish(t.Context(), topic, bus.Message{Key: "k", Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	hears := func(heard <-chan string, want string) {
		t.Helper()
		select {
		case got := <-heard:
			if got != want {
				t.Errorf("heard %q, want %q", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("heard nothing, want %q", want)
		}
	}
	before := time.Now().Add(-time.Minute)
	say(bus.Results, "early")
	say(bus.Fired, "another topic")

	heard, end := following(t, o, before)
	hears(heard, "results k early")
	say(bus.Dead, "dead")
	hears(heard, "dead k dead")
	if err := end(); err != nil {
		t.Errorf("ended by its context: %v", err)
	}

	// With the zero time Follow returns no earlier messages. It does not signal its start, so publish until a message
	// arrives.
	heard, end = following(t, o, time.Time{})
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for first := ""; first == ""; {
		select {
		case <-again.C:
			say(bus.Results, "now")
		case first = <-heard:
			if first != "results k now" {
				t.Errorf("heard %q", first)
			}
		}
	}
	say(bus.Results, "last")
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
