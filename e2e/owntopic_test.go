package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
)

// userStream is a user's stream on the service's NATS, with a consumer.
type userStream struct {
	js       jetstream.JetStream
	consumer jetstream.Consumer
}

func (w *world) capture(t *testing.T, subject string) *userStream {
	t.Helper()
	return capture(t, w.NATSURL(), subject)
}

// capture creates a stream for a subject, as a user would.
func capture(t *testing.T, url, subject string) *userStream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.NewReplacer(".", "-", ">", "all").Replace(subject)
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := js.DeleteStream(ctx, name); err != nil {
			t.Error(err)
		}
	})
	consumer, err := stream.CreateConsumer(t.Context(), jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		t.Fatal(err)
	}
	return &userStream{js: js, consumer: consumer}
}

// next returns the next message, and the event in it.
func (s *userStream) next(t *testing.T) (jetstream.Msg, event.CloudEvent) {
	t.Helper()
	m, err := s.consumer.Next(jetstream.FetchMaxWait(patience))
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string]string{}
	for name := range m.Headers() {
		headers[name] = m.Headers().Get(name)
	}
	e, err := event.Decode(headers, m.Data())
	if err != nil {
		t.Fatalf("on %s: no CloudEvent: %v", m.Subject(), err)
	}
	return m, e
}

// allow sets the topics that the world's namespace allows.
func (w *world) allow(t *testing.T, patterns ...string) {
	t.Helper()
	_, err := w.api.UpdateNamespace(t.Context(), client.UpdateNamespaceRequest{
		Name: w.namespace, Settings: client.NamespaceSettingsInput{EventTopics: client.Set(patterns)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// onto makes a timer whose event goes to a user topic.
func onto(topic, key string) func(*client.CreateTimerRequest) {
	return func(r *client.CreateTimerRequest) { r.CallbackURL, r.Topic, r.Key = "", topic, key }
}

// TestOwnTopic: a fired event goes to the timer's topic, set by HTTP or by a command, and not to the common one.
func TestOwnTopic(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.allow(t, "own.orders.*")
	fired, err := w.tap.Listen(tap.Fired)
	if err != nil {
		t.Fatal(err)
	}
	stream := w.capture(t, "own.orders.>")
	made := w.create(t, "keyed", 200*time.Millisecond, onto("own.orders.timeouts", "Kundin 7/ä"))
	if made.Topic != "own.orders.timeouts" || made.Key != "Kundin 7/ä" || made.Deliver != client.DeliverEvent {
		t.Errorf("made %+v", made.Timer)
	}
	m, e := stream.next(t)
	if m.Subject() != made.Topic || m.Headers().Get("Timerbus-Key") != made.Key ||
		e.ID != made.UUID+"_"+made.Generation || e.Type != event.TypeFired || e.Subject != event.Subject(w.namespace, "keyed") {
		t.Errorf("on %s with key %q: %+v", m.Subject(), m.Headers().Get("Timerbus-Key"), e)
	}
	w.reaches(t, "keyed", isStatus("done"))

	command := w.command("c-own", "create", `{"namespace":"`+w.namespace+`","id":"commanded","executeIn":"100ms","topic":"own.orders.reminders"}`)
	if err := w.tap.Publish(t.Context(), tap.Commands+".3", command, event.Structured); err != nil {
		t.Fatal(err)
	}
	m, e = stream.next(t)
	if want := event.Subject(w.namespace, "commanded"); m.Subject() != "own.orders.reminders" || m.Headers().Get("Timerbus-Key") != want || e.Subject != want {
		t.Errorf("on %s with key %q: %+v", m.Subject(), m.Headers().Get("Timerbus-Key"), e)
	}
	w.create(t, "both", 100*time.Millisecond, func(r *client.CreateTimerRequest) {
		r.Deliver, r.Topic = client.DeliverBoth, "own.orders.timeouts"
	})
	if _, e := stream.next(t); e.ID != w.calls(t, "both", 1)[0].WebhookID {
		t.Errorf("the event of both is %+v", e)
	}
	// An update moves it back to the common topic, which has none of the other events.
	w.create(t, "moved", time.Hour, onto("own.orders.timeouts", "k"))
	_, err = w.api.UpdateTimer(t.Context(), client.UpdateTimerRequest{
		Namespace: w.namespace, TimerID: "moved", ExecuteIn: "0s", Topic: client.Clear[string](), Key: client.Clear[string](),
	})
	if err != nil {
		t.Fatal(err)
	}
	await(t, fired, 1, w.about(event.TypeFired, "moved"))
	for _, id := range []string{"keyed", "commanded", "both"} {
		w.reaches(t, id, isStatus("done"))
		if slices.ContainsFunc(fired.All(), w.about(event.TypeFired, id)) {
			t.Errorf("the common topic has an event of %s", id)
		}
	}
}

// TestOwnTopicIsRefused: a topic that the namespace does not allow, or that the service uses itself, is refused by HTTP
// and for commands.
func TestOwnTopicIsRefused(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	dead := w.listen(t, tap.Dead)
	body := func(topic string) string {
		return `{"namespace":"` + w.namespace + `","id":"x","executeIn":"1s","topic":"` + topic + `"}`
	}
	check := func(topic, reason string) {
		t.Helper()
		r := w.post(t, "timers/create", body(topic))
		if r.status != http.StatusBadRequest || r.field(t, "error") != "INVALID_INPUT" || !strings.Contains(r.body, reason) {
			t.Errorf("%s: %d %s, want %q", topic, r.status, r.body, reason)
		}
		id := "c-" + topic + "-" + w.namespace + fmt.Sprint(len(reason))
		if err := w.tap.Publish(t.Context(), tap.Commands+".1", w.command(id, "create", body(topic)), event.Structured); err != nil {
			t.Fatal(err)
		}
		m := await(t, dead, 1, answerTo(id))[0]
		if a := data[event.Answer](t, &m); a.Error != "INVALID_INPUT" || a.Message != r.field(t, "message") {
			t.Errorf("the answer to the command is %+v, that of HTTP %s", a, r.body)
		}
	}
	check("orders.timeouts", "allows no user topics")
	w.allow(t, "billing.*", "*.due")
	check("orders.timeouts", "allows: *.due, billing.*")
	check("timerbus.due", "that prefix is reserved for Timerbus")
}

// TestOwnTopicThatIsNotThere: only the user creates the topic. Until then, deliveries to it fail, like those to a
// receiver.
func TestOwnTopicThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.allow(t, "missing.*")
	dead := w.listen(t, tap.Dead)
	w.create(t, "never", 0, onto("missing.never", ""))
	w.create(t, "later", 0, onto("missing.later", ""), func(r *client.CreateTimerRequest) { r.RetryPolicy = quick(1000) })
	w.create(t, "other", 0, func(r *client.CreateTimerRequest) { r.CallbackURL = "" })
	w.reaches(t, "other", isStatus("done"))
	grave := w.reaches(t, "never", isStatus("dead"))
	if want := `event to topic "missing.never": `; grave.Attempts != 2 || !strings.HasPrefix(grave.LastError, want) || !strings.Contains(grave.LastError, "no such topic") {
		t.Errorf("dead after %d attempts: %s", grave.Attempts, grave.LastError)
	}
	m := await(t, dead, 1, w.about(event.TypeDead, "never"))[0]
	if n := data[event.Notice](t, &m); n.Topic != "missing.never" || n.Reason != grave.LastError {
		t.Errorf("published as %+v", n)
	}
	w.reaches(t, "later", func(t *client.Timer) bool { return t.Attempts > 0 })
	stream := w.capture(t, "missing.later")
	if _, e := stream.next(t); e.Subject != event.Subject(w.namespace, "later") {
		t.Errorf("event %+v", e)
	}
	w.reaches(t, "later", isStatus("done"))
}

// TestOwnTopicOnOtherBuses: the roles are separate processes on other servers. The dispatcher has not read the change
// of the namespace, and reads it when it needs it.
func TestOwnTopicOnOtherBuses(t *testing.T) {
	onEachBus(t, lone, func(t *testing.T, name string) {
		c := startClusterOn(t, needBus(t, name), 1, 1, 1)
		c.create(t, "first", 0) // all roles work and have read the namespace
		c.calls(t, "first", 1)
		topic := c.bus.prefix + "-orders.timeouts"
		c.allow(t, c.bus.prefix+"-orders.*", c.bus.prefix+".*")
		read := c.bus.makeTopic(t, topic)
		made := c.create(t, "keyed", 0, onto(topic, "Kundin 7/ä"))
		key, e := read()
		if key != made.Key || e.ID != made.UUID+"_"+made.Generation || e.Subject != event.Subject(c.namespace, "keyed") {
			t.Errorf("key %q: %+v", key, e)
		}
		c.create(t, "plain", 0, onto(topic, ""))
		if key, e := read(); key != e.Subject || e.Subject != event.Subject(c.namespace, "plain") {
			t.Errorf("key %q: %+v", key, e)
		}
		for _, id := range []string{"keyed", "plain"} {
			c.reaches(t, id, isStatus("done"))
		}
		c.create(t, "nowhere", 0, onto(c.bus.prefix+"-orders.nowhere", ""))
		if dead := c.reaches(t, "nowhere", isStatus("dead")); dead.Attempts != 2 || !strings.Contains(dead.LastError, "no such topic") {
			t.Errorf("dead after %d attempts: %s", dead.Attempts, dead.LastError)
		}
		r := c.post(t, "timers/create", `{"id":"x","executeIn":"1s","topic":"`+c.bus.prefix+`.due"}`)
		if r.status != http.StatusBadRequest || !strings.Contains(r.body, "that prefix is reserved for Timerbus") {
			t.Errorf("a topic of the service: %d %s", r.status, r.body)
		}
	})
}

// makeTopic creates a topic as a user would. The returned function reads its next message: the key and the event.
func (b *messageBus) makeTopic(t *testing.T, topic string) func() (key string, e event.CloudEvent) {
	t.Helper()
	if given := os.Getenv("TIMERBUS_TEST_NATS"); strings.HasPrefix(b.url, "nats:") {
		stream := capture(t, given, topic)
		return func() (string, event.CloudEvent) {
			m, e := stream.next(t)
			return m.Headers().Get("Timerbus-Key"), e
		}
	}
	brokers := strings.Split(os.Getenv("TIMERBUS_TEST_KAFKA"), ",")
	err := withAdmin(brokers, func(admin *kadm.Client) error {
		_, err := admin.CreateTopic(t.Context(), 3, 1, nil, topic)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		err := withAdmin(brokers, func(admin *kadm.Client) error {
			_, err := admin.DeleteTopic(ctx, topic)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return func() (string, event.CloudEvent) {
		t.Helper()
		var fetched kgo.Fetches
		for ctx := within(t, patience); fetched.NumRecords() == 0; {
			if fetched = client.PollRecords(ctx, 1); fetched.Err() != nil {
				t.Fatal(fetched.Err())
			}
		}
		r := fetched.Records()[0]
		headers := map[string]string{}
		for _, h := range r.Headers {
			headers[h.Key] = string(h.Value)
		}
		e, err := event.Decode(headers, r.Value)
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Key), e
	}
}
