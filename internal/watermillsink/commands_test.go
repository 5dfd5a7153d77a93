package watermillsink_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/watermillsink"
	"github.com/timerbus/timerbus/pkg/bus"
)

func TestCommandIsDeliveredAndAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(t), &sessions{}
		stop := w.consume(s)
		w.command("1")
		got := s.take()
		if len(got) != 1 {
			t.Fatalf("%d deliveries, want 1", len(got))
		}
		d := got[0]
		if d.Position != (bus.Position{}) || d.Key != "default/a" || d.ID != "1" || d.Headers["ce_correlationid"] != "c-1" {
			t.Errorf("delivered %+v", d)
		}
		if c, err := event.ParseCommand(d.Headers, d.Body); err != nil || c.ID != "id-of-1" || c.CorrelationID != "c-1" {
			t.Errorf("the command reads %+v, %v", c, err)
		}
		d.Ack()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if len(s.causes) != 1 || !errors.Is(s.causes[0], bus.ErrStopping) {
			t.Errorf("closed with %v", s.causes)
		}
	})
}

func TestNackedCommandComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(t), &sessions{}
		w.consume(s)
		w.command("1")
		s.take()[0].Nack(time.Minute)
		if got := s.take(); len(got) != 0 {
			t.Error("it was redelivered immediately")
		}
		time.Sleep(time.Minute)
		got := s.take()
		if len(got) != 1 || got[0].ID != "1" {
			t.Fatalf("redelivered: %v", got)
		}
		got[0].Ack()
	})
}

// TestSessionThatFails makes a session fail while a command is in flight; the next session must get it.
func TestSessionThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(t), &sessions{deliver: func(*bus.Delivery) error { return errors.New("broken") }}
		stop := w.consume(s)
		w.command("1")
		synctest.Wait()
		s.mu.Lock()
		s.deliver = nil
		s.mu.Unlock()
		if _, err := w.sink.Floor(t.Context(), bus.Commands, bus.GroupIngest); !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("commands are not consumed, but the floor returned %v", err)
		}
		// This Pub/Sub drops messages while there is no subscription.
		time.Sleep(2 * time.Second)
		w.command("1")
		if got := s.take(); len(got) != 1 {
			t.Fatalf("%d deliveries to the next session", len(got))
		} else {
			got[0].Ack()
		}
		if _, err := w.sink.Floor(t.Context(), bus.Commands, bus.GroupIngest); err != nil {
			t.Error(err)
		}
		if err := stop(); err != nil || s.opened != 2 || !errors.Is(s.causes[0], bus.ErrLost) {
			t.Errorf("%v, opened %d times, closed with %v", err, s.opened, s.causes)
		}
	})
}

// TestStopFinishesWhatIsUnderWay acknowledges in Close, like a session that finishes its batch.
func TestStopFinishesWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(t), &sessions{}
		stop := w.consume(s)
		seen := message.NewMessage("1", nil)
		if err := w.pubsub.Publish("timerbus.commands", seen); err != nil {
			t.Fatal(err)
		}
		d := s.take()[0]
		s.closed = d.Ack
		if err := stop(); err != nil {
			t.Error(err)
		}
		w.consume(s)
		if got := s.take(); len(got) != 0 {
			t.Error("an acknowledged command was redelivered")
		}
	})
}

func TestSubscriptionThatEndsBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sub := &flaky{}
		w, s := newWorld(t, func(c *watermillsink.Config) { c.Subscriber = sub }), &sessions{}
		sub.Subscriber = w.pubsub
		stop := w.consume(s)
		if got := sub.initialized; len(got) != 1 || got[0] != "timerbus.commands" {
			t.Errorf("initialized %q before subscribing", got)
		}
		sub.set(errors.New("away"))
		synctest.Wait()
		if _, err := w.sink.Floor(t.Context(), bus.Commands, bus.GroupIngest); !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("the floor says %v", err)
		}
		time.Sleep(time.Minute + time.Second/2)
		sub.set(nil)
		time.Sleep(time.Second)
		w.command("1")
		if got := s.take(); len(got) != 1 {
			t.Fatalf("%d deliveries", len(got))
		} else {
			got[0].Ack()
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestRefusedByAMiddleware: a command that a middleware refuses, or for which it panics, goes to the dead topic and
// blocks no other command.
func TestRefusedByAMiddleware(t *testing.T) {
	for name, c := range map[string]struct {
		middleware message.HandlerMiddleware
		reason     string
	}{
		"refuses": {func(message.HandlerFunc) message.HandlerFunc {
			return func(*message.Message) ([]*message.Message, error) { return nil, errors.New("who are you?") }
		}, "who are you?"},
		"panics": {func(message.HandlerFunc) message.HandlerFunc {
			return func(*message.Message) ([]*message.Message, error) { panic("oh") }
		}, "a middleware panicked: oh"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(config *watermillsink.Config) {
					config.Middleware = []message.HandlerMiddleware{func(next message.HandlerFunc) message.HandlerFunc {
						refuse := c.middleware(next)
						return func(m *message.Message) ([]*message.Message, error) {
							if m.UUID == "bad" {
								return refuse(m)
							}
							return next(m)
						}
					}}
				})
				s, dead := &sessions{}, w.listen("timerbus.dead")
				w.consume(s)
				w.command("bad")
				w.command("good")
				m := w.next(dead)
				e, err := event.Decode(m.Metadata, m.Payload)
				if err != nil || e.Type != event.TypeRefused || e.CorrelationID != "c-bad" {
					t.Errorf("refused with %+v, %v", e, err)
				}
				var a event.Answer
				if err := json.Unmarshal(e.Data, &a); err != nil {
					t.Fatal(err)
				}
				if a.Message != c.reason || a.CommandID != "id-of-bad" || !strings.Contains(a.Command, `"executeIn"`) {
					t.Errorf("refused with %+v", a)
				}
				if got := s.take(); len(got) != 1 || got[0].ID != "good" {
					t.Errorf("delivered %v", got)
				} else {
					got[0].Ack()
				}
			})
		})
	}
}

// TestSubscriberThatHangs: Subscribe returns when its caller has already given up, with a subscription that has a
// message.
func TestSubscriberThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		messages := make(chan *message.Message, 1)
		w := newWorld(t, func(c *watermillsink.Config) { c.Subscriber = hanging{given(messages), release} })
		stop := w.consume(&sessions{})
		if err := stop(); err != nil {
			t.Errorf("Consume ended with %v", err)
		}
		m := message.NewMessage("1", nil)
		messages <- m
		close(messages)
		close(release)
		<-m.Nacked()
	})
}

// hanging is a Subscriber whose Subscribe waits for release.
type hanging struct {
	message.Subscriber

	release chan struct{}
}

func (h hanging) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	<-h.release
	return h.Subscriber.Subscribe(ctx, topic)
}

// TestMessageWithoutMetadata: a Subscriber may deliver nil metadata, and the poison queue writes to it.
func TestMessageWithoutMetadata(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		messages := make(chan *message.Message, 1)
		w := newWorld(t, func(c *watermillsink.Config) {
			c.Subscriber = given(messages)
			c.Middleware = []message.HandlerMiddleware{func(message.HandlerFunc) message.HandlerFunc {
				return func(*message.Message) ([]*message.Message, error) { return nil, errors.New("no") }
			}}
		})
		dead := w.listen("timerbus.dead")
		stop := w.consume(&sessions{})
		m := message.NewMessage("bare", []byte("x"))
		m.Metadata = nil
		messages <- m
		if e, err := event.Decode(w.next(dead).Metadata, nil); err != nil || e.ID != "bare_answer" {
			t.Errorf("refused as %+v, %v", e, err)
		}
		<-m.Acked()
		close(messages)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// given is a Subscriber with one subscription.
type given chan *message.Message

func (g given) Subscribe(context.Context, string) (<-chan *message.Message, error) { return g, nil }
func (g given) Close() error                                                       { return nil }

func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *watermillsink.Config) { c.CommandsPerSecond = 10 })
		s := &sessions{}
		s.deliver = func(d *bus.Delivery) error { s.got = append(s.got, d); d.Ack(); return nil }
		w.consume(s)
		for range 30 {
			w.command("x")
		}
		time.Sleep(2 * time.Second)
		if got := len(s.take()); got < 19 || got > 21 {
			t.Errorf("%d commands in 2 s at 10 per second", got)
		}
		time.Sleep(2 * time.Second) // the remaining commands
	})
}

// TestCommandsAreBoundedInBytes: the Subscriber has 10 commands of 40 KiB, and MaxBytes has room for two and a half.
func TestCommandsAreBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		messages := make(given, 10)
		for i := range 10 {
			messages <- message.NewMessage(fmt.Sprint(i), make([]byte, 40<<10))
		}
		w, s := newWorld(t, func(c *watermillsink.Config) { c.Subscriber = messages }), &sessions{}
		stop := w.consume(s, func(spec *bus.Spec) { spec.MaxInFlight, spec.MaxBytes = 100, 100<<10 })
		for got := 0; got < 10; {
			held := s.take()
			if len(held) < 1 || len(held) > 3 {
				t.Fatalf("%d commands of 40 KiB are held, after %d", len(held), got)
			}
			got += len(held)
			for _, d := range held {
				d.Ack()
			}
		}
		messages <- message.NewMessage("large", make([]byte, 500<<10))
		large := s.take()
		if len(large) != 1 {
			t.Fatalf("%d deliveries of a command that is larger than the bound, want 1", len(large))
		}
		large[0].Ack()
		close(messages)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestOneConsumeOfCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(t), &sessions{}
		w.consume(s)
		spec := bus.Spec{Topic: bus.Commands, Group: bus.GroupIngest, Mode: bus.Ordered}
		if err := w.sink.Consume(t.Context(), spec, s.open); err == nil {
			t.Error("a second Consume was taken")
		}
		if err := w.sink.Close(); err != nil {
			t.Error(err)
		}
		if err := w.sink.Consume(t.Context(), spec, s.open); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Consume after Close: %v", err)
		}
		if _, err := w.sink.Publish(t.Context(), bus.Fired, bus.Message{}); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Publish after Close: %v", err)
		}
	})
}
