package watermillsink_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/watermillsink"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestSuite runs the conformance suite on a sink without Publisher and Subscriber, which passes all calls to the bus
// below.
func TestSuite(t *testing.T) {
	bustest.Run(t, bustest.Options{Bubble: true}, func(t bustest.T, partitions int) bustest.System {
		opts := membus.Options{Partitions: partitions}
		ours := membus.New(opts)
		theirs := ours.Beside(opts)
		return bustest.System{
			Join:     func(bustest.T) bustest.Member { return member(t, ours) },
			Stranger: func(bustest.T) bustest.Member { return member(t, theirs) },
			Remove:   func(_ bustest.T, topic bus.Topic, before bus.Position) { ours.Remove(topic, before) },
			Small: func(bustest.T) bustest.Member {
				return member(t, membus.New(membus.Options{Partitions: 1, LogLimit: 20}))
			},
			LeaseTTL: time.Second, Settle: 3 * time.Second, Patience: 3 * time.Second,
		}
	})
}

func member(t bustest.T, b *membus.Broker) bustest.Member {
	m := b.Join("m")
	sink, err := watermillsink.New(watermillsink.Config{Inner: m, Source: "//test", Clock: timer.SystemClock})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return bustest.Member{
		Bus: closing{sink, m}, Crash: m.Crash, Isolate: m.Freeze, Heal: m.Thaw,
		Break: func() {
			m.Disconnect()
			time.AfterFunc(1500*time.Millisecond, m.Connect)
		},
	}
}

// closing also closes the bus below.
type closing struct {
	*watermillsink.Sink

	inner bus.Bus
}

func (c closing) Close() error { return errors.Join(c.Sink.Close(), c.inner.Close()) }

// world is a sink with an in-memory bus and an in-memory Pub/Sub.
type world struct {
	t      *testing.T
	pubsub *gochannel.GoChannel
	sink   *watermillsink.Sink
	inner  *membus.Member
}

func newWorld(t *testing.T, tune ...func(*watermillsink.Config)) *world {
	t.Helper()
	w := &world{t: t, inner: membus.New(membus.Options{Partitions: 4}).Join("inner")}
	w.pubsub = gochannel.NewGoChannel(gochannel.Config{OutputChannelBuffer: 64}, nil)
	c := watermillsink.Config{
		Inner: w.inner, Publisher: w.pubsub, Subscriber: w.pubsub, Source: "//test", Clock: timer.SystemClock,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	for _, f := range tune {
		f(&c)
	}
	var err error
	if w.sink, err = watermillsink.New(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(w.sink.Close(), w.pubsub.Close(), w.inner.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// listen subscribes to a topic of the Pub/Sub.
func (w *world) listen(topic string) <-chan *message.Message {
	w.t.Helper()
	messages, err := w.pubsub.Subscribe(w.t.Context(), topic)
	if err != nil {
		w.t.Fatal(err)
	}
	return messages
}

// next returns a message that has already arrived.
func (w *world) next(messages <-chan *message.Message) *message.Message {
	w.t.Helper()
	synctest.Wait()
	select {
	case m := <-messages:
		m.Ack()
		return m
	default:
		w.t.Fatal("no message")
		return nil
	}
}

func (w *world) publish(topic bus.Topic, m bus.Message) {
	w.t.Helper()
	if _, err := w.sink.Publish(w.t.Context(), topic, m); err != nil {
		w.t.Fatal(err)
	}
}

// command publishes a command to the Pub/Sub.
func (w *world) command(uuid string) {
	w.t.Helper()
	m := message.NewMessage(uuid, []byte(`{"id":"a","executeIn":"1h"}`))
	m.Metadata = message.Metadata{
		"ce_specversion": "1.0", "ce_id": "id-of-" + uuid, "ce_source": "//client", "ce_type": event.TypeCreate,
		"correlation_id": "c-" + uuid, watermillsink.MetadataKey: "default/a",
	}
	if err := w.pubsub.Publish("timerbus.commands", m); err != nil {
		w.t.Fatal(err)
	}
}

// sessions consumes commands in a test.
type sessions struct {
	mu      sync.Mutex
	got     []*bus.Delivery
	opened  int
	causes  []error
	deliver func(*bus.Delivery) error // called instead of recording the delivery
	closed  func()
}

func (s *sessions) open(context.Context, shard.Partition) (bus.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	return s, nil
}

func (s *sessions) Deliver(_ context.Context, d *bus.Delivery) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deliver != nil {
		return s.deliver(d)
	}
	s.got = append(s.got, d)
	return nil
}

func (s *sessions) Close(_ context.Context, cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.causes = append(s.causes, cause)
	if s.closed != nil {
		s.closed()
	}
	return nil
}

// take returns the deliveries since the last call.
func (s *sessions) take() []*bus.Delivery {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

// consume consumes commands until stop, which returns the result of Consume.
func (w *world) consume(s *sessions, tune ...func(*bus.Spec)) (stop func() error) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	spec := bus.Spec{Topic: bus.Commands, Group: bus.GroupIngest, Mode: bus.Ordered, MaxInFlight: 8}
	for _, f := range tune {
		f(&spec)
	}
	go func() { ended <- w.sink.Consume(ctx, spec, s.open) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	w.t.Cleanup(func() { _ = stop() })
	synctest.Wait()
	return stop
}

func TestPublicEventsGoToThePubSub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		fired, own := w.listen("timerbus.fired"), w.listen("orders.timeouts")
		body := []byte(`{"n":1}`)
		m := bus.Message{
			Partition: 3, Key: "default/a", ID: "3f2504e0-4f89-51d3-9a0c-0305e82c3301_3706188562493276161",
			Headers: map[string]string{"ce_type": event.TypeFired, "ce_correlationid": "c-1"}, Body: body,
		}
		w.publish(bus.Fired, m)
		w.publish(bus.Fired, m)
		first, second := w.next(fired), w.next(fired)
		if first.UUID != second.UUID || len(first.UUID) != 36 {
			t.Errorf("the same event came as %q and %q", first.UUID, second.UUID)
		}
		body[2] = 'x' // a bus must not keep a reference to a body
		if string(first.Payload) != `{"n":1}` || first.Metadata.Get("ce_type") != event.TypeFired ||
			first.Metadata.Get(watermillsink.MetadataKey) != "default/a" || middleware.MessageCorrelationID(first) != "c-1" {
			t.Errorf("came as %s with %v", first.Payload, first.Metadata)
		}
		w.publish(bus.Own("orders.timeouts"), m)
		if got := w.next(own); got.UUID == first.UUID {
			t.Error("events of two topics have one UUID")
		}
	})
}

func TestUnwrapIsForTopicsOfUsersOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *watermillsink.Config) {
			c.Unwrap = func(m *message.Message) { m.UUID, m.Payload = "inner", m.Payload[1:] }
		})
		fired, own := w.listen("timerbus.fired"), w.listen("mine")
		w.publish(bus.Fired, bus.Message{Body: []byte("(x")})
		w.publish(bus.Own("mine"), bus.Message{Body: []byte("(x")})
		if m := w.next(fired); string(m.Payload) != "(x" {
			t.Errorf("unwrapped: %s", m.Payload)
		}
		if m := w.next(own); m.UUID != "inner" || string(m.Payload) != "x" {
			t.Errorf("not unwrapped: %s", m.Payload)
		}
	})
}

func TestInternalTopicsStayBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, topic := range []bus.Topic{bus.Shards, bus.Due} {
			if messages := w.listen("timerbus." + string(topic)); len(messages) > 0 {
				t.Fatal("a fresh Pub/Sub has messages")
			}
		}
		positions, err := w.sink.Publish(t.Context(), bus.Due, bus.Message{Partition: 1, Key: "7", Body: []byte("x")})
		if err != nil || len(positions) != 1 || positions[0] == (bus.Position{}) {
			t.Errorf("positions %v, %v", positions, err)
		}
		floors, err := w.sink.Floor(t.Context(), bus.Due, bus.GroupDispatchers)
		if err != nil || floors[1].Depth != 1 {
			t.Errorf("the bus below did not get it: %v, %v", floors, err)
		}
		spec := bus.Spec{Topic: bus.Fired, Group: "g", Mode: bus.Ordered}
		if err := w.sink.Consume(t.Context(), spec, nil); !errors.Is(err, bus.ErrUnsupported) || !strings.Contains(err.Error(), "timerbus.fired") {
			t.Errorf("consuming what is on the Pub/Sub: %v", err)
		}
	})
}

func TestPublisherThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuses := errors.New("disk full")
		w := newWorld(t, func(c *watermillsink.Config) { c.Publisher = publisher(func() error { return refuses }) })
		_, err := w.sink.Publish(t.Context(), bus.Results, bus.Message{})
		if !errors.Is(err, bus.ErrOutcomeUnknown) || !errors.Is(err, refuses) {
			t.Errorf("publish: %v", err)
		}
	})
}

// TestAMessageThatIsRefusedDoesNotFailItsBatch: the Publisher accepts all messages of a call or none, as in one
// transaction, and always refuses the bad ones.
func TestAMessageThatIsRefusedDoesNotFailItsBatch(t *testing.T) {
	for _, bad := range [][]int{{0}, {5}, {63}, {3, 4, 40}} {
		var batch []bus.Message
		for i := range 64 {
			body := fmt.Sprint(i)
			if slices.Contains(bad, i) {
				body = "bad"
			}
			batch = append(batch, bus.Message{Body: []byte(body)})
		}
		taken, calls := map[string]int{}, 0
		w := newWorld(t, func(c *watermillsink.Config) {
			c.Publisher = refusing(func(messages []*message.Message) error {
				calls++
				for _, m := range messages {
					if string(m.Payload) == "bad" {
						return errors.New("violates a constraint")
					}
				}
				for _, m := range messages {
					taken[string(m.Payload)]++
				}
				return nil
			})
		})
		_, err := w.sink.Publish(t.Context(), bus.Results, batch...)
		for i, m := range batch {
			own := bus.ErrorOf(err, i)
			refused := slices.Contains(bad, i)
			switch {
			case refused && (!errors.Is(own, bus.ErrOutcomeUnknown) || !strings.Contains(own.Error(), "constraint")):
				t.Errorf("bad %v: message %d has the error %v", bad, i, own)
			case !refused && (own != nil || taken[string(m.Body)] != 1):
				t.Errorf("bad %v: message %d was taken %d times, error %v", bad, i, taken[string(m.Body)], own)
			}
		}
		if calls > 14*len(bad) {
			t.Errorf("bad %v: %d calls of the Publisher", bad, calls)
		}
	}
}

// A batch is not divided down to single messages while the Publisher fails every call.
func TestABatchIsNotDividedForAPublisherThatIsAway(t *testing.T) {
	calls := 0
	w := newWorld(t, func(c *watermillsink.Config) {
		c.Publisher = refusing(func([]*message.Message) error { calls++; return errors.New("connection refused") })
	})
	_, err := w.sink.Publish(t.Context(), bus.Results, make([]bus.Message, 256)...)
	if partial, ok := errors.AsType[*bus.PartialError](err); ok || !errors.Is(err, bus.ErrOutcomeUnknown) {
		t.Errorf("error %v, partial %v; want an unknown outcome of all", err, partial)
	}
	if calls > 20 {
		t.Errorf("%d calls of a Publisher that is away", calls)
	}
}

// A message that was not published because the caller's context had ended has an error.
func TestABatchWhoseCallerHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		taken := map[string]bool{}
		w := newWorld(t, func(c *watermillsink.Config) {
			c.Publisher = refusing(func(messages []*message.Message) error {
				if len(messages) > 2 {
					return errors.New("too many")
				}
				cancel()
				for _, m := range messages {
					taken[string(m.Payload)] = true
				}
				return nil
			})
		})
		var batch []bus.Message
		for i := range 8 {
			batch = append(batch, bus.Message{Body: []byte(fmt.Sprint(i))})
		}
		_, err := w.sink.Publish(ctx, bus.Results, batch...)
		synctest.Wait()
		for i, m := range batch {
			if bus.ErrorOf(err, i) == nil && !taken[string(m.Body)] {
				t.Errorf("message %d is said to be taken", i)
			}
		}
		if len(taken) != 2 {
			t.Errorf("%d messages taken, want the first two only", len(taken))
		}
	})
}

// refusing is a Publisher whose result depends on the messages.
type refusing func(messages []*message.Message) error

func (p refusing) Publish(_ string, messages ...*message.Message) error { return p(messages) }
func (p refusing) Close() error                                         { return nil }

func TestPublisherThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := newWorld(t, func(c *watermillsink.Config) {
			c.Publisher = publisher(func() error { <-release; return nil })
			c.PublishesInFlight = 1
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.sink.Publish(ctx, bus.Results, bus.Message{}); !errors.Is(err, bus.ErrOutcomeUnknown) {
			t.Errorf("publish: %v", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.sink.Publish(ctx, bus.Results, bus.Message{}); !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("publish when there is no room: %v", err)
		}
		if err := w.sink.Close(); err == nil {
			t.Error("closed as if nothing was under way")
		}
		close(release)
	})
}

// publisher is a Publisher that calls itself as a function.
type publisher func() error

func (p publisher) Publish(string, ...*message.Message) error { return p() }
func (p publisher) Close() error                              { return nil }

func TestConfigIsChecked(t *testing.T) {
	inner := membus.New(membus.Options{}).Join("inner")
	for name, c := range map[string]watermillsink.Config{
		"no bus":    {Source: "//test", Clock: timer.SystemClock},
		"no source": {Inner: inner, Clock: timer.SystemClock},
		"no clock":  {Inner: inner, Source: "//test"},
		"negative":  {Inner: inner, Source: "//test", Clock: timer.SystemClock, CommandsPerSecond: -1},
		"no limit":  {Inner: inner, Source: "//test", Clock: timer.SystemClock, CommandsPerSecond: 1_000_001},
	} {
		if _, err := watermillsink.New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// flaky is a Subscriber whose subscriptions end when it begins to fail.
type flaky struct {
	message.Subscriber

	mu          sync.Mutex
	fail        error
	end         func()
	initialized []string
}

// SubscribeInitialize implements message.SubscribeInitializer.
func (f *flaky) SubscribeInitialize(topic string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.initialized = append(f.initialized, topic)
	return nil
}

func (f *flaky) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail = err; err != nil {
		f.end()
	}
}

func (f *flaky) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	ctx, f.end = context.WithCancel(ctx)
	return f.Subscriber.Subscribe(ctx, topic)
}
