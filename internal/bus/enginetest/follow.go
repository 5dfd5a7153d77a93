package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// Follow is the function Follow of an engine, with the options of one system.
type Follow func(ctx context.Context, since time.Time, topics []bus.Topic, receive func(bus.Topic, *bus.Message) error) error

var errEnough = errors.New("enough")

// RunFollow checks follow with messages that it publishes on the bus of the same system, which has at least two
// partitions.
func RunFollow(t *testing.T, b bus.Bus, follow Follow) {
	t.Helper()
	say := func(topic bus.Topic, body string) {
		t.Helper()
		if _, err := b.Publish(t.Context(), topic, bus.Message{Partition: 1, Key: "k", Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	hears := func(heard <-chan string, want string) {
		t.Helper()
		if got := hear(t, heard); got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
	before := time.Now().Add(-time.Minute)
	say(bus.Results, "early")
	say(bus.Fired, "another topic")

	heard, end := following(t, follow, before)
	hears(heard, "results 1 k early")
	say(bus.Dead, "dead")
	hears(heard, "dead 1 k dead")
	if err := end(); err != nil {
		t.Errorf("ended by its context: %v", err)
	}

	// With the zero time Follow returns no earlier messages. It does not signal its start, so publish until a message
	// arrives.
	heard, end = following(t, follow, time.Time{})
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for first := ""; first == ""; {
		select {
		case <-again.C:
			say(bus.Results, "now")
		case first = <-heard:
			if first != "results 1 k now" {
				t.Errorf("heard %q", first)
			}
		}
	}
	say(bus.Results, "last")
	for got := ""; !strings.HasSuffix(got, "last"); {
		got = hear(t, heard)
	}
	if err := end(); err != nil && !errors.Is(err, errEnough) {
		t.Errorf("ended by its reader: %v", err)
	}
}

// following runs follow and returns its messages; end stops it and returns its error.
func following(t *testing.T, follow Follow, since time.Time) (heard <-chan string, end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	got, done := make(chan string, 100), make(chan error, 1)
	go func() {
		done <- follow(ctx, since, []bus.Topic{bus.Results, bus.Dead}, func(topic bus.Topic, m *bus.Message) error {
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

// hear waits for a message.
func hear(t *testing.T, heard <-chan string) string {
	t.Helper()
	select {
	case got := <-heard:
		return got
	case <-time.After(patience):
		t.Fatal("heard nothing")
		return ""
	}
}
