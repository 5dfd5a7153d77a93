package watermillsink_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/internal/watermillsink"
	"github.com/timerbus/timerbus/pkg/bus"
)

// TestATopicThatHangsHoldsUpNobody: callers that publish to a user topic time out and retry, and the Publisher never
// returns. Other user topics and the service's topics must still be published to.
func TestATopicThatHangsHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 4
		release := make(chan struct{})
		var hanging atomic.Int32
		w := newWorld(t, func(c *watermillsink.Config) {
			c.PublishesInFlight = places
			c.Publisher = byTopic(func(topic string) error {
				if strings.HasPrefix(topic, "hangs") {
					hanging.Add(1)
					<-release
				}
				return nil
			})
		})
		try := func(topic bus.Topic) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := w.sink.Publish(ctx, topic, bus.Message{})
			return err
		}
		if err := try(bus.Own("hangs")); !errors.Is(err, bus.ErrOutcomeUnknown) {
			t.Errorf("the first call: %v", err)
		}
		for range 2 * places {
			if err := try(bus.Own("hangs")); !errors.Is(err, bus.ErrUnavailable) {
				t.Errorf("behind a call that has not come back: %v", err)
			}
		}
		if got := hanging.Load(); got != 1 {
			t.Errorf("%d calls for one topic hang", got)
		}
		if err := try(bus.Own("well")); err != nil {
			t.Errorf("another topic: %v", err)
		}
		for n := range 2 * places { // many topics hang; the service's topics have separate permits
			if err := try(bus.Own("hangs." + strings.Repeat("x", n+1))); err == nil {
				t.Error("a topic that hangs has taken an event")
			}
		}
		if err := try(bus.Results); err != nil {
			t.Errorf("the service's topic: %v", err)
		}
		close(release)
		synctest.Wait()
		if err := try(bus.Own("hangs")); err != nil {
			t.Errorf("a topic that has come back: %v", err)
		}
	})
}

// byTopic is a Publisher whose result depends on the topic.
type byTopic func(topic string) error

func (p byTopic) Publish(topic string, _ ...*message.Message) error { return p(topic) }
func (p byTopic) Close() error                                      { return nil }

// TestTheServicesTopicsAreNobodysOwn: the service's topics are not user topics, neither on the Pub/Sub nor on the bus
// below, which may use the same brokers.
func TestTheServicesTopicsAreNobodysOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, publishes := range []bool{true, false} {
			w := newWorld(t, func(c *watermillsink.Config) {
				c.Prefix = "shop"
				if !publishes {
					c.Publisher = nil
				}
			})
			for _, name := range []string{"shop.commands", "shop.due", "shop.new", "timerbus.due", "timerbus.commands"} {
				if _, err := w.sink.Publish(t.Context(), bus.Own(name), bus.Message{}); !errors.Is(err, bus.ErrUnsupported) {
					t.Errorf("publish to %s: %v", name, err)
				}
				if err := w.sink.MakeTopic(t.Context(), bus.Own(name)); !errors.Is(err, bus.ErrUnsupported) {
					t.Errorf("make %s: %v", name, err)
				}
			}
		}
	})
}

// TestThrottledCommandsDoNotHoldUpTheEnd: a Pub/Sub may deliver many messages at once, which would wait for the
// throttle for minutes.
func TestThrottledCommandsDoNotHoldUpTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 100
		messages := make(chan *message.Message, many)
		w := newWorld(t, func(c *watermillsink.Config) {
			c.Subscriber, c.CommandsPerSecond = given(messages), 1
		})
		stop := w.consume(&sessions{})
		all := make([]*message.Message, many)
		for i := range all {
			all[i] = message.NewMessage("x", nil)
			messages <- all[i]
		}
		synctest.Wait()
		begun := time.Now()
		close(messages)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the end took %v", took)
		}
		for i, m := range all {
			select {
			case <-m.Nacked():
			default:
				t.Fatalf("message %d of %d was not given back", i+1, many)
			}
		}
	})
}

// TestRefusalsThatCannotBePublished: the command remains on the Pub/Sub, and is retried with a pause.
func TestRefusalsThatCannotBePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		w := newWorld(t, func(c *watermillsink.Config) {
			c.Publisher = publisher(func() error {
				if calls.Add(1) > 1000 {
					return nil // ends the test if there is no pause
				}
				return errors.New("disk full")
			})
			c.Middleware = []message.HandlerMiddleware{func(message.HandlerFunc) message.HandlerFunc {
				return func(*message.Message) ([]*message.Message, error) { return nil, errors.New("no") }
			}}
		})
		w.consume(&sessions{})
		w.command("1")
		time.Sleep(10*time.Second + time.Second/2)
		if got := calls.Load(); got < 9 || got > 12 {
			t.Errorf("published %d times in 10 s, want once a second", got)
		}
	})
}
