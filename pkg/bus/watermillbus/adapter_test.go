package watermillbus_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/bus/watermillbus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// world is an in-memory bus and one process on it.
type world struct {
	*testing.T

	broker *membus.Broker
	member *membus.Member
}

func inBubble(t *testing.T, check func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		broker := membus.New(membus.Options{Partitions: 2})
		w := &world{T: t, broker: broker, member: broker.Join("m")}
		t.Cleanup(func() { w.member.Close() })
		check(w)
	})
}

func (w *world) publisher() *watermillbus.Publisher {
	w.Helper()
	p, err := watermillbus.NewPublisher(watermillbus.PublisherConfig{Bus: w.member})
	if err != nil {
		w.Fatal(err)
	}
	return p
}

func (w *world) subscriber(c watermillbus.SubscriberConfig) *watermillbus.Subscriber {
	w.Helper()
	if c.Bus == nil {
		c.Bus = w.member
	}
	if c.ConsumerGroup == "" {
		c.ConsumerGroup = "handlers"
	}
	s, err := watermillbus.NewSubscriber(c)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := s.Close(); err != nil {
			w.Error(err)
		}
	})
	return s
}

// subscribe creates a user topic if it is missing, and subscribes to it.
func (w *world) subscribe(s *watermillbus.Subscriber, topic string) <-chan *message.Message {
	w.Helper()
	if err := s.SubscribeInitialize(topic); err != nil {
		w.Fatal(err)
	}
	messages, err := s.Subscribe(w.Context(), topic)
	if err != nil {
		w.Fatal(err)
	}
	return messages
}

func (w *world) publish(topic string, bodies ...string) {
	w.Helper()
	var messages []*message.Message
	for _, body := range bodies {
		m := message.NewMessage("uuid-"+body, []byte(body))
		m.Metadata.Set(watermillbus.MetadataKey, "one key")
		messages = append(messages, m)
	}
	if err := w.publisher().Publish(topic, messages...); err != nil {
		w.Fatal(err)
	}
}

// next returns the next message, which must arrive within a minute.
func (w *world) next(messages <-chan *message.Message) *message.Message {
	w.Helper()
	select {
	case m, ok := <-messages:
		if !ok {
			w.Fatal("the channel was closed")
		}
		return m
	case <-time.After(time.Minute):
		w.Fatal("no message came")
	}
	return nil
}

// none verifies that no message arrives within d.
func (w *world) none(messages <-chan *message.Message, d time.Duration) {
	w.Helper()
	select {
	case m, ok := <-messages:
		if ok {
			w.Fatalf("%q came", m.Payload)
		}
		w.Fatal("the channel was closed")
	case <-time.After(d):
	}
}

func TestServicesTopicsAreThere(t *testing.T) {
	inBubble(t, func(w *world) {
		s := w.subscriber(watermillbus.SubscriberConfig{})
		for name, topic := range map[string]bus.Topic{
			watermillbus.Fired: bus.Fired, watermillbus.Results: bus.Results, watermillbus.Dead: bus.Dead, watermillbus.Commands: bus.Commands,
		} {
			messages := w.subscribe(s, name)
			if _, err := w.member.Publish(w.Context(), topic, bus.Message{
				Partition: 1, Key: "ns/id", Headers: map[string]string{"ce_id": "event-1"}, Body: []byte("body"),
			}); err != nil {
				w.Fatal(err)
			}
			m := w.next(messages)
			if m.UUID != "event-1" || string(m.Payload) != "body" || m.Metadata.Get(watermillbus.MetadataKey) != "ns/id" {
				w.Errorf("%s: got %q %q %v", name, m.UUID, m.Payload, m.Metadata)
			}
			m.Ack()
		}
	})
}

func TestCommandsOfOneTimerGoToOnePartition(t *testing.T) {
	inBubble(t, func(w *world) {
		var mu sync.Mutex
		var got []*bus.Delivery
		ctx, stop := context.WithCancel(w.Context())
		var ingest sync.WaitGroup
		ingest.Go(func() {
			_ = w.member.Consume(ctx, bus.Spec{Topic: bus.Commands, Group: bus.GroupIngest, Mode: bus.Ordered},
				func(context.Context, shard.Partition) (bus.Session, error) {
					return sessionFunc(func(d *bus.Delivery) {
						mu.Lock()
						defer mu.Unlock()
						got = append(got, d)
						d.Ack()
					}), nil
				})
		})
		w.publish(watermillbus.Commands, "1", "2", "3")
		synctest.Wait()
		stop()
		ingest.Wait()
		if len(got) != 3 {
			w.Fatalf("ingest got %d commands, want 3", len(got))
		}
		for i, d := range got {
			if d.Key != "one key" || string(d.Body) != string(rune('1'+i)) || d.Partition != got[0].Partition {
				w.Errorf("command %d is %q of key %q on partition %d", i, d.Body, d.Key, d.Partition)
			}
		}
	})
}

type sessionFunc func(d *bus.Delivery)

func (f sessionFunc) Deliver(_ context.Context, d *bus.Delivery) error { f(d); return nil }
func (sessionFunc) Close(context.Context, error) error                 { return nil }

func TestWhatCannotBePublishedOrRead(t *testing.T) {
	inBubble(t, func(w *world) {
		p, s := w.publisher(), w.subscriber(watermillbus.SubscriberConfig{})
		m := message.NewMessage("1", nil)
		for name, says := range map[string]string{
			"timerbus.due": "internal", "timerbus.shards": "internal", "timerbus.orders": "commands, fired, results and dead",
			"timerbus.fired": "only the service", "timerbus.results": "only the service", "timerbus.dead": "only the service",
			"a b": "words of letters",
		} {
			if err := p.Publish(name, m); !errors.Is(err, bus.ErrUnsupported) || !strings.Contains(err.Error(), says) {
				w.Errorf("publish to %q: %v, want ErrUnsupported that says %q", name, err, says)
			}
		}
		for _, name := range []string{"timerbus.due", "timerbus.shards", "timerbus.orders"} {
			if _, err := s.Subscribe(w.Context(), name); !errors.Is(err, bus.ErrUnsupported) {
				w.Errorf("subscribe to %q: %v, want ErrUnsupported", name, err)
			}
		}
		// An error that only the bus can detect ends the subscription.
		messages, err := s.Subscribe(w.Context(), "a b")
		if err != nil {
			w.Fatal(err)
		}
		if m, ok := <-messages; ok {
			w.Errorf("got %q from a topic that cannot be", m.Payload)
		}
		if err := p.Publish("nobody.made.it", m); !errors.Is(err, bus.ErrNoTopic) {
			w.Errorf("publish to a missing topic: %v, want ErrNoTopic", err)
		}
		if err := p.Publish("nobody.made.it"); err != nil {
			w.Errorf("publish nothing: %v", err)
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	member := membus.New(membus.Options{}).Join("m")
	for says, c := range map[string]watermillbus.SubscriberConfig{
		"needs a Bus":           {ConsumerGroup: "g"},
		"needs a ConsumerGroup": {Bus: member},
		"to the service":        {Bus: member, ConsumerGroup: bus.GroupIngest},
		"negative":              {Bus: member, ConsumerGroup: "g", Unacked: -1},
	} {
		if _, err := watermillbus.NewSubscriber(c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want an error that says %q", err, says)
		}
	}
	if _, err := watermillbus.NewPublisher(watermillbus.PublisherConfig{}); err == nil {
		t.Error("a publisher without a bus was made")
	}
}

func TestMissingTopicIsAskedForAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		messages, err := w.subscriber(watermillbus.SubscriberConfig{}).Subscribe(w.Context(), "orders")
		if err != nil {
			w.Fatal(err)
		}
		w.none(messages, 10*time.Second)
		if err := w.member.MakeTopic(w.Context(), bus.Own("orders")); err != nil {
			w.Fatal(err)
		}
		w.publish("orders", "1")
		w.next(messages).Ack()
	})
}

func TestNackComesAgainAfterItsPause(t *testing.T) {
	inBubble(t, func(w *world) {
		messages := w.subscribe(w.subscriber(watermillbus.SubscriberConfig{NackPause: 3 * time.Second}), "orders")
		w.publish("orders", "1", "2")
		m := w.next(messages)
		m.Nack()
		w.none(messages, 2900*time.Millisecond)
		again := w.next(messages)
		if again == m || again.UUID != m.UUID || string(again.Payload) != "1" {
			w.Errorf("got %q %q, want the first again", again.UUID, again.Payload)
		}
		if m.Context().Err() == nil || again.Context().Err() != nil {
			w.Errorf("contexts: the refused one's %v, the present one's %v", m.Context().Err(), again.Context().Err())
		}
		again.Ack()
		second := w.next(messages)
		if string(second.Payload) != "2" {
			w.Errorf("got %q, want the second", second.Payload)
		}
		second.Ack()
	})
}

func TestUnackedIsBoundedForEachPartition(t *testing.T) {
	inBubble(t, func(w *world) {
		for _, bound := range []int{1, 3} {
			s := w.subscriber(watermillbus.SubscriberConfig{Unacked: bound, ConsumerGroup: strings.Repeat("g", bound)})
			messages := w.subscribe(s, "orders")
			if bound == 1 {
				w.publish("orders", "1", "2", "3", "4", "5")
			}
			var got []*message.Message
			for range bound {
				got = append(got, w.next(messages))
			}
			w.none(messages, time.Minute)
			got[0].Ack()
			w.next(messages).Ack()
			for _, m := range got[1:] {
				m.Ack()
			}
			if err := s.Close(); err != nil {
				w.Error(err)
			}
		}
	})
}

func TestSilenceIsARefusal(t *testing.T) {
	inBubble(t, func(w *world) {
		messages := w.subscribe(w.subscriber(watermillbus.SubscriberConfig{AckWait: 5 * time.Second}), "orders")
		w.publish("orders", "1")
		m := w.next(messages)
		select {
		case <-m.Context().Done():
			w.Fatal("the context ended immediately")
		case <-time.After(4900 * time.Millisecond):
		}
		again := w.next(messages)
		if m.Context().Err() == nil {
			w.Error("the context of a message has not ended after AckWait")
		}
		m.Ack() // too late: the message was delivered again
		w.none(messages, time.Second)
		again.Ack()
	})
}

// TestAckDuringCloseCounts: the acknowledgement of a handler that is running when its subscriber closes must be
// committed.
func TestAckDuringCloseCounts(t *testing.T) {
	inBubble(t, func(w *world) {
		s := w.subscriber(watermillbus.SubscriberConfig{})
		messages := w.subscribe(s, "orders")
		w.publish("orders", "1", "2")
		m := w.next(messages)
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			if err := s.Close(); err != nil {
				w.Error(err)
			}
		}()
		synctest.Wait()
		time.Sleep(2 * time.Second)
		if m.Context().Err() != nil {
			w.Error("the handler's context ended before its time was over")
		}
		m.Ack()
		<-closed
		if m, ok := <-messages; ok {
			w.Errorf("%q came after Close", m.Payload)
		}
		if _, err := s.Subscribe(w.Context(), "orders"); err == nil {
			w.Error("subscribed after Close")
		}
		next := w.next(w.subscribe(w.subscriber(watermillbus.SubscriberConfig{}), "orders"))
		if string(next.Payload) != "2" {
			w.Errorf("the next subscriber begins with %q, want the second", next.Payload)
		}
		next.Ack()
	})
}

func TestHandlerThatNeverAnswersDoesNotHoldUpClose(t *testing.T) {
	inBubble(t, func(w *world) {
		s := w.subscriber(watermillbus.SubscriberConfig{CloseTimeout: 2 * time.Second})
		messages := w.subscribe(s, "orders")
		w.publish("orders", "1")
		m := w.next(messages)
		began := time.Now()
		if err := s.Close(); err != nil {
			w.Error(err)
		}
		if took := time.Since(began); took != 2*time.Second {
			w.Errorf("close took %v, want CloseTimeout", took)
		}
		if m.Context().Err() == nil {
			w.Error("the message's context has not ended after Close")
		}
		again := w.next(w.subscribe(w.subscriber(watermillbus.SubscriberConfig{}), "orders"))
		if again.UUID != m.UUID {
			w.Errorf("the next subscriber got %q, want the same message", again.UUID)
		}
		again.Ack()
	})
}

// TestLostPartitionIsAbandonedAtOnce: the partition's new owner already has the message.
func TestLostPartitionIsAbandonedAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		messages := w.subscribe(w.subscriber(watermillbus.SubscriberConfig{}), "orders")
		w.publish("orders", "1")
		m := w.next(messages)
		for p := range 2 {
			w.broker.Lose(bus.Own("orders"), "handlers", shard.Partition(p))
		}
		synctest.Wait()
		if m.Context().Err() == nil {
			w.Error("the message's context has not ended although its partition is lost")
		}
		m.Ack()
		again := w.next(messages)
		if again.UUID != m.UUID {
			w.Errorf("got %q, want the same message again", again.UUID)
		}
		again.Ack()
	})
}

func TestContextEndsSubscriptionAndMessages(t *testing.T) {
	inBubble(t, func(w *world) {
		type name struct{}
		s := w.subscriber(watermillbus.SubscriberConfig{})
		if err := s.SubscribeInitialize("orders"); err != nil {
			w.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.WithValue(w.Context(), name{}, "value"))
		messages, err := s.Subscribe(ctx, "orders")
		if err != nil {
			w.Fatal(err)
		}
		if _, err := s.Subscribe(w.Context(), "orders"); err == nil || !strings.Contains(err.Error(), "already") {
			w.Errorf("two concurrent subscriptions of one topic: %v, want an error", err)
		}
		w.publish("orders", "1")
		m := w.next(messages)
		if m.Context().Value(name{}) != "value" {
			w.Error("the message's context is not the subscription's")
		}
		cancel()
		if m.Context().Err() == nil {
			w.Error("the message's context outlives the subscription's")
		}
		m.Nack()
		if _, ok := <-messages; ok {
			w.Error("a message came after the subscription's end")
		}
		again := w.next(w.subscribe(s, "orders"))
		if again.UUID != m.UUID {
			w.Errorf("got %q, want the refused message", again.UUID)
		}
		again.Ack()
	})
}

// TestAClosedChannelFreesTheTopic: when the channel of a subscription is closed, the next one may begin.
func TestAClosedChannelFreesTheTopic(t *testing.T) {
	inBubble(t, func(w *world) {
		s := w.subscriber(watermillbus.SubscriberConfig{})
		if err := s.SubscribeInitialize("orders"); err != nil {
			w.Fatal(err)
		}
		for range 2000 {
			ctx, cancel := context.WithCancel(w.Context())
			messages, err := s.Subscribe(ctx, "orders")
			cancel()
			if err != nil {
				w.Fatal(err)
			}
			for range messages {
				w.Error("a message came from an empty topic")
			}
		}
	})
}

func TestBusThatEndsClosesTheChannel(t *testing.T) {
	inBubble(t, func(w *world) {
		messages := w.subscribe(w.subscriber(watermillbus.SubscriberConfig{}), "orders")
		synctest.Wait()
		w.member.Close()
		if _, ok := <-messages; ok {
			w.Error("a message came from a bus that is closed")
		}
	})
}

// slow is a bus whose Publish lasts until its context ends.
type slow struct{ bus.Bus }

func (slow) Publish(ctx context.Context, _ bus.Topic, _ ...bus.Message) ([]bus.Position, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestEveryMessagesContextBoundsPublish(t *testing.T) {
	inBubble(t, func(w *world) {
		p, err := watermillbus.NewPublisher(watermillbus.PublisherConfig{Bus: slow{w.member}})
		if err != nil {
			w.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		first, second := message.NewMessage("1", nil), message.NewMessage("2", nil)
		second.SetContext(ctx)
		var publishing sync.WaitGroup
		publishing.Go(func() {
			if err := p.Publish("orders", first, second); !errors.Is(err, context.DeadlineExceeded) {
				w.Errorf("publish ended with %v, want the second message's deadline", err)
			}
		})
		synctest.Wait()
		if err := p.Close(); err != nil { // waits for the Publish call
			w.Error(err)
		}
		if ctx.Err() == nil {
			w.Error("Close did not wait for the Publish under way")
		}
		publishing.Wait()
		if err := p.Publish("orders", first); err == nil {
			w.Error("published after Close")
		}
	})
}

func TestKeyThatCannotBeMadeIsToldWithItsMessage(t *testing.T) {
	inBubble(t, func(w *world) {
		p, err := watermillbus.NewPublisher(watermillbus.PublisherConfig{
			Bus: w.member, Prefix: "other",
			Key: func(topic string, m *message.Message) (string, error) {
				return "", errors.New(topic + " has no key for " + m.UUID)
			},
		})
		if err != nil {
			w.Fatal(err)
		}
		err = p.Publish("other.commands", message.NewMessage("m-1", nil))
		if err == nil || !strings.Contains(err.Error(), "other.commands has no key for m-1") {
			w.Errorf("got %v", err)
		}
	})
}

func TestKeysKeepTheirOrder(t *testing.T) {
	inBubble(t, func(w *world) {
		messages := w.subscribe(w.subscriber(watermillbus.SubscriberConfig{}), "orders")
		var want, got []string
		for i := range 100 {
			body := string(rune('a'+i%26)) + strings.Repeat("x", i)
			want = append(want, body)
			w.publish("orders", body)
		}
		for range want {
			m := w.next(messages)
			got = append(got, string(m.Payload))
			m.Ack()
		}
		if !slices.Equal(got, want) {
			w.Errorf("got %q", got)
		}
	})
}
