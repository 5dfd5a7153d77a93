package dispatcher_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// allow sets the patterns of the namespace directly in the store, without the knowledge of the dispatchers.
func (w *world) allow(patterns ...string) {
	w.t.Helper()
	var err error
	w.namespace.Settings.EventTopics, err = timer.NewTopicPatterns(patterns)
	w.must(err)
	w.namespace.UpdatedAt = max(w.namespace.UpdatedAt+1, timer.SystemClock())
	w.namespace, err = w.store.UpdateNamespace(w.t.Context(), w.namespace)
	w.must(err)
}

// onto makes a timer whose event goes to a user topic.
func onto(topic, key string) func(*timer.Spec) {
	return func(s *timer.Spec) { s.Deliver, s.Topic, s.EventKey, s.Retry = timer.DeliverEvent, topic, key, hasty() }
}

// both makes a timer with a callback and an event to a user topic.
func both(topic string) func(*timer.Spec) {
	return func(s *timer.Spec) { s.Deliver, s.Topic, s.Retry = timer.DeliverBoth, topic, hasty() }
}

// hasty allows 4 attempts, 2 s apart.
func hasty() timer.RetryPolicy {
	return timer.RetryPolicy{MaxAttempts: 4, InitialInterval: 2 * time.Second, BackoffMultiplier: 1, MaxInterval: 2 * time.Second}
}

// ownTap consumes a user topic, which it creates.
type ownTap struct {
	mu  sync.Mutex
	got []bus.Message
}

func (w *world) tap(topic string) *ownTap {
	w.t.Helper()
	w.must(w.client.MakeTopic(w.t.Context(), bus.Own(topic)))
	tap := &ownTap{}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		spec := bus.Spec{Topic: bus.Own(topic), Group: "tap", Mode: bus.Ordered}
		if err := w.client.Consume(ctx, spec, func(context.Context, shard.Partition) (bus.Session, error) { return tap, nil }); err != nil {
			w.t.Errorf("listen to %s: %v", topic, err)
		}
	}()
	w.t.Cleanup(func() { cancel(); <-ended })
	synctest.Wait()
	return tap
}

func (o *ownTap) Deliver(_ context.Context, d *bus.Delivery) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.got = append(o.got, d.Message)
	d.Ack()
	return nil
}

func (o *ownTap) Close(context.Context, error) error { return nil }

// keys lists the received messages, by key and by the event's id and type.
func (o *ownTap) keys(t *testing.T) []string {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var keys []string
	for _, m := range o.got {
		e, err := event.Decode(m.Headers, m.Body)
		if err != nil || e.Type != event.TypeFired {
			t.Fatalf("a %s arrived: %v", e.Type, err)
		}
		keys = append(keys, m.Key+" of "+e.Subject)
	}
	return keys
}

// sink is a node's bus whose user topics fail.
type sink struct {
	bus.Bus

	mu     sync.Mutex
	answer func(ctx context.Context, topic string, messages []bus.Message) error // nil passes messages on
}

func (s *sink) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	if name, own := topic.OwnName(); own && answer != nil {
		if err := answer(ctx, name, messages); err != nil {
			return nil, err
		}
	}
	return s.Bus.Publish(ctx, topic, messages...)
}

func through(s *sink) func(*dispatcher.Config) {
	return func(c *dispatcher.Config) { s.Bus, c.Bus = c.Bus, s }
}

func TestAnEventGoesToTheTimersTopic(t *testing.T) {
	inWorld(t, func(w *world) {
		w.allow("orders.*")
		tap := w.tap("orders.timeouts")
		n := w.start()
		w.put("keyed", time.Second, onto("orders.timeouts", "customer 7/ä"))
		w.put("plain", 2*time.Second, onto("orders.timeouts", ""))
		w.put("common", 3*time.Second, func(s *timer.Spec) { s.CallbackURL = "" })
		w.put("both", 4*time.Second, both("orders.timeouts"))
		w.pass(5 * time.Second)
		want := []string{"customer 7/ä of n/keyed", "n/plain of n/plain", "n/both of n/both"}
		if got := tap.keys(t); !slices.Equal(got, want) {
			t.Errorf("the topic got %q, want %q", got, want)
		}
		for _, id := range []string{"keyed", "plain", "both"} {
			w.wantStatus(id, timer.StatusDone)
			if got := w.events(id); !slices.Equal(got, []string{"result"}) {
				t.Errorf("%s: events %v on the common topics", id, got)
			}
		}
		if got := w.events("common"); !slices.Equal(got, []string{"fired", "result"}) {
			t.Errorf("the timer without a topic: %v", got)
		}
		w.wantCalls("both", 1)
		w.wantDepth(0)
		n.end()
	})
}

func TestATopicThatIsMissingIsAFailedAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.allow("*")
		n := w.start()
		w.put("never", time.Second, onto("nowhere", "k"))
		w.put("later", time.Second, onto("somewhere", ""))
		w.put("common", time.Second, func(s *timer.Spec) { s.CallbackURL = "" })
		w.pass(2 * time.Second)
		w.wantStatus("common", timer.StatusDone)
		now := w.wantStatus("later", timer.StatusRetrying)
		if want := `event to topic "somewhere": `; now.Attempts != 1 || !strings.HasPrefix(now.LastError, want) || !strings.Contains(now.LastError, "no such topic") {
			t.Errorf("after the first attempt: %+v", now)
		}
		tap := w.tap("somewhere")
		w.pass(10 * time.Second)
		w.wantStatus("later", timer.StatusDone)
		if got := tap.keys(t); !slices.Equal(got, []string{"n/later of n/later"}) {
			t.Errorf("the topic got %q", got)
		}
		dead := w.wantStatus("never", timer.StatusDead)
		if dead.Attempts != 4 || !strings.Contains(dead.LastError, `event to topic "nowhere": `) {
			t.Errorf("dead: %+v", dead)
		}
		if got := w.events("never"); !slices.Equal(got, []string{"result", "result", "result", "result", "dead"}) {
			t.Errorf("events %v", got)
		}
		n.end()
	})
}

// Every error of a user topic is a failed attempt of the timer, except at the end of the service. An error for a name
// that the bus cannot have makes the timer dead.
func TestWhatSinksAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.allow("*")
		var s sink
		s.answer = func(_ context.Context, topic string, _ []bus.Message) error {
			return map[string]error{
				"unavailable": bus.ErrUnavailable, "unknown": bus.ErrOutcomeUnknown, "large": bus.ErrTooLarge, "name": bus.ErrUnsupported,
			}[topic]
		}
		n := w.start(through(&s))
		for _, topic := range []string{"unavailable", "unknown", "large", "name"} {
			w.put(topic, 0, onto(topic, ""))
			w.put("both "+topic, 0, both(topic))
		}
		w.pass(time.Second)
		for _, topic := range []string{"unavailable", "unknown", "large"} {
			for _, id := range []string{topic, "both " + topic} {
				if now := w.wantStatus(id, timer.StatusRetrying); now.Attempts != 1 {
					t.Errorf("%s: %+v", id, now)
				}
			}
		}
		w.pass(10 * time.Second)
		for _, topic := range []string{"unavailable", "unknown", "large", "name"} {
			for _, id := range []string{topic, "both " + topic} {
				attempts := timer.Attempt(4)
				if topic == "name" {
					attempts = 1
				}
				dead := w.wantStatus(id, timer.StatusDead)
				if dead.Attempts != attempts || !strings.HasPrefix(dead.LastError, `event to topic "`+topic+`": `) {
					t.Errorf("%s: %+v", id, dead)
				}
				if strings.HasPrefix(id, "both") {
					w.wantCalls(id, int(attempts))
					if dead.LastStatus != 200 {
						t.Errorf("%s: the receiver's status is %d", id, dead.LastStatus)
					}
				}
			}
		}
		n.end()
	})
}

// With both, callback and event must succeed. If both fail, the failure of the callback is reported.
func TestBothAreOneAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.allow("*")
		var missing sync.Map
		missing.Store("orders", true)
		var s sink
		s.answer = func(_ context.Context, topic string, _ []bus.Message) error {
			if _, ok := missing.Load(topic); ok {
				return bus.ErrNoTopic
			}
			return nil
		}
		tap := w.tap("orders")
		again := []byte(fmt.Sprintf(`{"nextExecuteAt":%q}`, timer.SystemClock().Add(time.Hour)))
		w.answer = func(_ context.Context, c call) dispatcher.Answer {
			switch c.id {
			case "gone":
				return dispatcher.Answer{Status: 410}
			case "again":
				return dispatcher.Answer{Status: 200, Body: again}
			default:
				return dispatcher.Answer{Status: 200}
			}
		}
		n := w.start(through(&s))
		for _, id := range []string{"gone", "again", "done"} {
			w.put(id, 0, both("orders"))
		}
		w.pass(time.Second)
		if dead := w.wantStatus("gone", timer.StatusDead); !strings.Contains(dead.LastError, "410") {
			t.Errorf("after 410 Gone: %+v", dead)
		}
		w.wantStatus("again", timer.StatusRetrying)
		w.wantStatus("done", timer.StatusRetrying)
		missing.Delete("orders")
		w.pass(3 * time.Second)
		w.wantStatus("done", timer.StatusDone)
		if now := w.wantStatus("again", timer.StatusScheduled); now.Attempts != 0 || now.ExecuteAt < timer.SystemClock().Add(50*time.Minute) {
			t.Errorf("the answer's time is lost: %+v", now)
		}
		w.wantCalls("done", 2)
		w.wantCalls("again", 2)
		got := tap.keys(t)
		slices.Sort(got)
		if want := []string{"n/again of n/again", "n/done of n/done"}; !slices.Equal(got, want) {
			t.Errorf("the topic got %q, want %q", got, want)
		}
		n.end()
	})
}

// The dispatcher checks the namespace again at the delivery. A timer whose topic is not allowed any more is dead. A
// topic that was just allowed, which this process has not read yet, is accepted.
func TestTopicsAreJudgedAgainAtDelivery(t *testing.T) {
	inWorld(t, func(w *world) {
		tap := w.tap("orders")
		w.allow("orders")
		n := w.start()
		w.put("first", 0, onto("orders", ""))
		w.pass(time.Second)
		w.wantStatus("first", timer.StatusDone)

		w.put("event", time.Minute*3, onto("orders", ""))
		w.put("both", time.Minute*3, both("orders"))
		w.allow("billing.*", "payments")
		w.pass(4 * time.Minute) // the process reads the namespaces every 30 s
		for _, id := range []string{"event", "both"} {
			dead := w.wantStatus(id, timer.StatusDead)
			const want = `event to topic "orders": namespace "n" no longer allows it; allowed: billing.*, payments`
			if dead.Attempts != 1 || dead.LastError != want {
				t.Errorf("%s: %+v", id, dead)
			}
			w.wantCalls(id, 0)
			if got := w.events(id); !slices.Equal(got, []string{"result", "dead"}) {
				t.Errorf("%s: events %v", id, got)
			}
		}
		w.put("just", 10*time.Millisecond, onto("orders", ""))
		w.allow("orders")
		w.pass(time.Second)
		w.wantStatus("just", timer.StatusDone)
		if got := tap.keys(t); len(got) != 2 {
			t.Errorf("the topic got %q", got)
		}
		n.end()
	})
}

// A hanging topic does not delay the events of other topics, and its own events by at most the duration of a call.
func TestATopicThatHangsHoldsUpNobodyElse(t *testing.T) {
	inWorld(t, func(w *world) {
		w.allow("*")
		var s sink
		s.answer = func(ctx context.Context, topic string, _ []bus.Message) error {
			if strings.HasPrefix(topic, "hangs") {
				<-ctx.Done()
				return fmt.Errorf("%w: %w", bus.ErrOutcomeUnknown, ctx.Err())
			}
			return nil
		}
		tap := w.tap("good")
		n := w.start(through(&s), func(c *dispatcher.Config) { c.Concurrency, c.Batch = 64, 8 })
		for i := range 60 {
			w.put(fmt.Sprint("hangs", i), 0, func(s *timer.Spec) {
				onto(fmt.Sprint("hangs", i%5), "")(s)
				s.Retry.MaxAttempts = 1
			})
		}
		for i := range 100 {
			at := time.Duration(20*i) * time.Millisecond
			w.put(fmt.Sprint("good", i), at, onto("good", ""))
			w.put(fmt.Sprint("common", i), at, func(s *timer.Spec) { s.CallbackURL = "" })
			w.put(fmt.Sprint("called", i), at, nil)
		}
		w.pass(4 * time.Second)
		for i := range 100 {
			for _, kind := range []string{"good", "common", "called"} {
				w.wantStatus(fmt.Sprint(kind, i), timer.StatusDone)
			}
		}
		if got := tap.keys(t); len(got) != 100 {
			t.Errorf("the topic that works got %d events, want 100", len(got))
		}
		w.pass(2 * time.Minute)
		for i := range 60 {
			if dead := w.wantStatus(fmt.Sprint("hangs", i), timer.StatusDead); dead.Attempts != 1 {
				t.Fatalf("the timer of a topic that hangs: %+v", dead)
			}
		}
		n.end()
	})
}

// An orderly stop waits for publishes in flight to a topic. A publish that the stop cuts off uses no attempt.
func TestTheServicesEndIsNoFailureOfATopic(t *testing.T) {
	inWorld(t, func(w *world) {
		w.allow("*")
		tap := w.tap("orders")
		var s sink
		s.answer = func(ctx context.Context, _ string, _ []bus.Message) error {
			<-ctx.Done()
			return fmt.Errorf("%w: %w", bus.ErrOutcomeUnknown, ctx.Err())
		}
		n := w.start(through(&s), func(c *dispatcher.Config) { c.Drain, c.CallTimeout = time.Second, 3*time.Second })
		w.put("a", 0, onto("orders", ""))
		w.pass(100 * time.Millisecond)
		n.end()
		if now := w.wantStatus("a", timer.StatusScheduled); now.Attempts != 0 {
			t.Errorf("after the end: %+v", now)
		}
		second := w.start()
		w.pass(20 * time.Second)
		w.wantStatus("a", timer.StatusDone)
		if got := tap.keys(t); !slices.Equal(got, []string{"n/a of n/a"}) {
			t.Errorf("the topic got %q", got)
		}
		second.end()
	})
}
