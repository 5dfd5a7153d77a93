package timerbus_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/components/delay"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

// patience is far longer than anything here takes on a busy machine.
const patience = 30 * time.Second

// inMemory returns a store and a bus that are closed when the test ends.
func inMemory(t *testing.T) (store.Store, bus.Bus) {
	t.Helper()
	s, b := memstore.NewDatabaseAt(timer.SystemClock).Open(), membus.New(membus.Options{Partitions: 16}).Join("test")
	closeLater(t, s, b)
	return s, b
}

// onDisk opens a database in a folder, until the test ends.
func onDisk(tb testing.TB, folder string) *sqlitestore.Store {
	tb.Helper()
	s, err := sqlitestore.Open(tb.Context(), sqlitestore.Options{Folder: folder})
	if err != nil {
		tb.Fatal(err)
	}
	closeLater(tb, s)
	return s
}

func closeLater(tb testing.TB, closers ...io.Closer) {
	tb.Helper()
	tb.Cleanup(func() {
		for _, c := range slices.Backward(closers) {
			if err := c.Close(); err != nil {
				tb.Error(err)
			}
		}
	})
}

// start runs a service in memory, on a Pub/Sub in memory, until the test ends.
func start(t *testing.T, tune ...func(*timerbus.Options)) (*timerbus.Service, *gochannel.GoChannel) {
	t.Helper()
	s, b := inMemory(t)
	return startOn(t, s, b, tune...)
}

func startOn(t *testing.T, s store.Store, b bus.Bus, tune ...func(*timerbus.Options)) (*timerbus.Service, *gochannel.GoChannel) {
	t.Helper()
	pubsub := gochannel.NewGoChannel(gochannel.Config{OutputChannelBuffer: 64}, nil)
	o := timerbus.Options{
		Watermill: timerbus.Watermill{Publisher: pubsub, Subscriber: pubsub},
		Logger:    slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, f := range tune {
		f(&o)
	}
	service, err := timerbus.New(t.Context(), s, b, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, pubsub.Close()); err != nil {
			t.Errorf("the service: %v", err)
		}
	})
	ready(t, service)
	return service, pubsub
}

// ready waits until the service reads commands: this Pub/Sub drops messages without a subscriber.
func ready(tb testing.TB, s *timerbus.Service) {
	tb.Helper()
	for ctx, cancel := context.WithTimeout(tb.Context(), patience); ; {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/readyz", http.NoBody)
		if err != nil {
			tb.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			tb.Fatalf("not ready: %v", err)
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			cancel()
			return
		}
	}
}

func listen(t *testing.T, s message.Subscriber, topic string) <-chan *message.Message {
	t.Helper()
	messages, err := s.Subscribe(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func next(t *testing.T, messages <-chan *message.Message) *message.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case m := <-messages:
		m.Ack()
		return m
	case <-ctx.Done():
		t.Fatal("no message")
		return nil
	}
}

func publish(tb testing.TB, p message.Publisher, topic string, messages ...*message.Message) {
	tb.Helper()
	if err := p.Publish(topic, messages...); err != nil {
		tb.Fatal(err)
	}
}

func create(t *testing.T, r client.CreateTimerRequest) *message.Message {
	t.Helper()
	m, err := watermillclient.Create("//test", r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answer decodes an answer to a command.
func answer(t *testing.T, m *message.Message) (event.CloudEvent, event.Answer) {
	t.Helper()
	e, err := event.Decode(m.Metadata, m.Payload)
	if err != nil {
		t.Fatal(err)
	}
	var a event.Answer
	if err := json.Unmarshal(e.Data, &a); err != nil {
		t.Fatal(err)
	}
	return e, a
}

func TestCommandsAndEventsOnThePubSub(t *testing.T) {
	service, pubsub := start(t)
	results, fired := listen(t, pubsub, watermillclient.Results), listen(t, pubsub, watermillclient.Fired)
	command := create(t, client.CreateTimerRequest{ID: "a", ExecuteIn: "10ms", Payload: []byte(`{"order":17}`)})
	middleware.SetCorrelationID("trace-1", command)
	publish(t, pubsub, watermillclient.Commands, command)

	e, a := answer(t, next(t, results))
	if e.Type == event.TypeResult { // the timer fired before its command was answered
		e, a = answer(t, next(t, results))
	}
	if e.Type != event.TypeApplied || a.CommandID != command.UUID || a.TimerID != "a" || e.CorrelationID != "trace-1" {
		t.Errorf("answered %+v %+v", e, a)
	}
	m := next(t, fired)
	id, d, err := watermillclient.ReadFired(m)
	if err != nil || d.TimerID != "a" || string(d.Payload) != `{"order":17}` || d.CorrelationID != "trace-1" || id == "" {
		t.Errorf("fired %s %+v, %v", id, d, err)
	}
	if middleware.MessageCorrelationID(m) != "trace-1" {
		t.Errorf("fired with %v", m.Metadata)
	}
	// The HTTP API works too.
	if _, err := service.Client().GetTimer(t.Context(), client.TimerSelection{TimerID: "a"}); err != nil {
		t.Error(err)
	}
}

// TestBadCommands: bad commands are refused once, with the reason, and do not block others.
func TestBadCommands(t *testing.T) {
	_, pubsub := start(t)
	results, dead := listen(t, pubsub, watermillclient.Results), listen(t, pubsub, watermillclient.Dead)
	outside := create(t, client.CreateTimerRequest{ID: "a", ExecuteIn: "1h", Topic: "orders.timeouts"})
	for _, c := range []struct {
		bad  *message.Message
		id   string
		want string
	}{
		{message.NewMessage("m-1", []byte(`{"id":"a","executeIn":"1h"}`)), "a", `specversion: "" is not accepted`},
		{message.NewMessage("m-2", []byte{0xff, 0}), "commands/m-2", "want a CloudEvent in UTF-8"},
		{outside, outside.UUID, `allows no user topics`},
	} {
		publish(t, pubsub, watermillclient.Commands, c.bad)
		e, a := answer(t, next(t, dead))
		if e.Type != event.TypeRefused || a.CommandID != c.id || !strings.Contains(a.Message, c.want) {
			t.Errorf("%s: refused with %+v", c.id, a)
		}
	}
	good := create(t, client.CreateTimerRequest{ID: "good", ExecuteIn: "1h"})
	publish(t, pubsub, watermillclient.Commands, good)
	if _, a := answer(t, next(t, results)); a.CommandID != good.UUID {
		t.Errorf("answered %+v", a)
	}
	select {
	case m := <-dead:
		t.Errorf("refused again: %s", m.Payload)
	default:
	}
}

// TestDelayedMessages publishes with Watermill's delay metadata, once by HTTP and once through commands.
func TestDelayedMessages(t *testing.T) {
	service, pubsub := start(t)
	_, err := service.Client().UpdateNamespace(t.Context(), client.UpdateNamespaceRequest{
		Name: "default", Settings: client.NamespaceSettingsInput{EventTopics: client.Set([]string{"orders.*"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	orders := listen(t, pubsub, "orders.timeouts")
	for name, timers := range map[string]watermillclient.Timers{
		"http":     service.Client(),
		"commands": watermillclient.Through(pubsub, watermillclient.Commands, "//test"),
	} {
		delayed, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{Publisher: pubsub, Timers: timers})
		if err != nil {
			t.Fatal(err)
		}
		at := timer.SystemClock().Add(300 * time.Millisecond)
		m := message.NewMessage(name, []byte{0, 1, 2, 0xff})
		m.Metadata.Set("order", "17")
		delay.Message(m, delay.For(300*time.Millisecond))
		publish(t, delayed, "orders.timeouts", m)
		publish(t, delayed, "orders.timeouts", message.NewMessage("at once", nil))
		if first := next(t, orders); first.UUID != "at once" {
			t.Errorf("%s: first came %s", name, first.UUID)
		}
		got := next(t, orders)
		if early := at.Sub(timer.SystemClock()); early > 0 {
			t.Errorf("%s: came %v early", name, early)
		}
		if !got.Equals(m) {
			t.Errorf("%s: came as %+v, want %+v", name, got, m)
		}
	}
	outside := message.NewMessage("outside", nil)
	delay.Message(outside, delay.For(time.Hour))
	delayed, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{Publisher: pubsub, Timers: service.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if err := delayed.Publish("invoices", outside); err == nil || !strings.Contains(err.Error(), "orders.*") {
		t.Errorf("a topic that the namespace does not allow: %v", err)
	}
}

// TestPrefix: the topics with the configured prefix belong to the service, so that no timer's event may be published
// there, nor to the topics of the bus below.
func TestPrefix(t *testing.T) {
	service, pubsub := start(t, func(o *timerbus.Options) { o.Watermill.Prefix = "acme" })
	results := listen(t, pubsub, "acme.results")
	_, err := service.Client().UpdateNamespace(t.Context(), client.UpdateNamespaceRequest{
		Name: "default", Settings: client.NamespaceSettingsInput{EventTopics: client.Set([]string{"*"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.Client().CreateTimer(t.Context(), client.CreateTimerRequest{ID: "a", ExecuteIn: "1h", Topic: "acme.commands"})
	if err == nil || !strings.Contains(err.Error(), "acme.") {
		t.Errorf("a topic of the service's own: %v", err)
	}
	command := create(t, client.CreateTimerRequest{ID: "a", ExecuteIn: "1h"})
	publish(t, pubsub, "acme.commands", command)
	if _, a := answer(t, next(t, results)); a.CommandID != command.UUID {
		t.Errorf("answered %+v", a)
	}
	// The topics of the bus below have other names, and may be on the same brokers as those of the Publisher.
	dead, due := listen(t, pubsub, "acme.dead"), listen(t, pubsub, "timerbus.due")
	_, err = service.Client().CreateTimer(t.Context(), client.CreateTimerRequest{ID: "b", ExecuteIn: "1ms", Topic: "timerbus.due"})
	if err != nil {
		t.Fatal(err)
	}
	if m := next(t, dead); !strings.Contains(string(m.Payload), `begin with \"timerbus.\"`) || len(due) > 0 {
		t.Errorf("dead with %s; %d events came out on timerbus.due", m.Payload, len(due))
	}
}

// refusing is a Publisher that refuses one topic.
type refusing struct{ message.Publisher }

func (p refusing) Publish(topic string, messages ...*message.Message) error {
	if topic == "orders.closed" {
		return errors.New("this topic takes nothing")
	}
	return p.Publisher.Publish(topic, messages...)
}

// TestTopicThatRefuses: the timer is retried by its policy and is then dead with the reason.
func TestTopicThatRefuses(t *testing.T) {
	service, pubsub := start(t, func(o *timerbus.Options) { o.Watermill.Publisher = refusing{o.Watermill.Publisher} })
	dead := listen(t, pubsub, watermillclient.Dead)
	_, err := service.Client().UpdateNamespace(t.Context(), client.UpdateNamespaceRequest{
		Name: "default", Settings: client.NamespaceSettingsInput{EventTopics: client.Set([]string{"orders.*"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.Client().CreateTimer(t.Context(), client.CreateTimerRequest{
		ID: "a", ExecuteIn: "0s", Topic: "orders.closed",
		RetryPolicy: client.RetryPolicyInput{MaxAttempts: client.Set(2), InitialInterval: client.Set("100ms")},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := event.Decode(next(t, dead).Metadata, nil)
	if err != nil || e.Type != event.TypeDead {
		t.Errorf("dead: %+v, %v", e, err)
	}
	history, err := service.Client().TimerHistory(t.Context(), client.HistoryRequest{TimerID: "a"})
	if err != nil || len(history.Attempts) != 2 || !strings.Contains(history.Attempts[0].Error, "this topic takes nothing") {
		t.Errorf("history %+v, %v", history, err)
	}
}

// TestHalves leaves either half of the topics on the internal bus.
func TestHalves(t *testing.T) {
	t.Run("without a subscriber", func(t *testing.T) {
		service, pubsub := start(t, func(o *timerbus.Options) { o.Watermill.Subscriber = nil })
		fired := listen(t, pubsub, watermillclient.Fired)
		if _, err := service.Client().CreateTimer(t.Context(), client.CreateTimerRequest{ID: "a", ExecuteIn: "0s"}); err != nil {
			t.Fatal(err)
		}
		if _, d, err := watermillclient.ReadFired(next(t, fired)); err != nil || d.TimerID != "a" {
			t.Errorf("%+v, %v", d, err)
		}
	})
	t.Run("without a publisher", func(t *testing.T) {
		service, pubsub := start(t, func(o *timerbus.Options) { o.Watermill.Publisher = nil })
		publish(t, pubsub, watermillclient.Commands, create(t, client.CreateTimerRequest{ID: "a", ExecuteIn: "0s"}))
		for ctx, cancel := context.WithTimeout(t.Context(), patience); ; {
			got, err := service.Client().GetTimer(ctx, client.TimerSelection{TimerID: "a"})
			if ctx.Err() != nil {
				t.Fatalf("%+v, %v", got, err)
			}
			if err == nil && got.Status == "done" {
				cancel()
				return
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	s, b := inMemory(t)
	pubsub := gochannel.NewGoChannel(gochannel.Config{}, nil)
	for name, c := range map[string]struct {
		store   store.Store
		bus     bus.Bus
		options timerbus.Options
		want    string
	}{
		"no store":     {nil, b, timerbus.Options{}, "a store and a bus are required"},
		"no bus":       {s, nil, timerbus.Options{}, "a store and a bus are required"},
		"no such rate": {s, b, timerbus.Options{Watermill: timerbus.Watermill{Subscriber: pubsub, CommandsPerSecond: -1}}, "CommandsPerSecond -1"},
		"no such net":  {s, b, timerbus.Options{CallbackAllow: "10.0.0.0/99"}, "10.0.0.0/99"},
	} {
		if _, err := timerbus.New(t.Context(), c.store, c.bus, c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// TestPartitionsAreFixed: a bus with another number of partitions is refused, because a timer's partition depends on it.
func TestPartitionsAreFixed(t *testing.T) {
	s, b := inMemory(t)
	service, err := timerbus.New(t.Context(), s, b, timerbus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := service.Run(ctx); err != nil {
		t.Error(err)
	}
	other := membus.New(membus.Options{Partitions: 4}).Join("test")
	closeLater(t, other)
	if _, err := timerbus.New(t.Context(), s, other, timerbus.Options{}); !errors.Is(err, store.ErrPartitions) {
		t.Errorf("error %v, want ErrPartitions", err)
	}
}

// TestTheBusMayBeLost: if the bus is in memory and the store on disk, the next process delivers the timers that became
// due meanwhile and those that waited for a retry.
func TestTheBusMayBeLost(t *testing.T) {
	folder := t.TempDir()
	called := make(chan string, 8)
	var failing atomic.Bool
	failing.Store(true)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if failing.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		called <- r.URL.Path
	}))
	defer receiver.Close()
	run := func(use func(*timerbus.Service)) {
		s, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		b := membus.New(membus.Options{Partitions: 16}).Join("test")
		service, err := timerbus.New(t.Context(), s, b, timerbus.Options{CallbackAllow: "loopback"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- service.Run(ctx) }()
		ready(t, service)
		use(service)
		stop()
		if err := errors.Join(<-ended, b.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	run(func(service *timerbus.Service) {
		for id, in := range map[string]string{"retried": "0s", "due-while-down": "300ms"} {
			_, err := service.Client().CreateTimer(t.Context(), client.CreateTimerRequest{
				ID: id, ExecuteIn: in, CallbackURL: receiver.URL + "/" + id,
				RetryPolicy: client.RetryPolicyInput{InitialInterval: client.Set("100ms")},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	failing.Store(false)
	run(func(*timerbus.Service) {
		ids := []string{<-called, <-called}
		slices.Sort(ids)
		if !slices.Equal(ids, []string{"/due-while-down", "/retried"}) {
			t.Errorf("delivered after the restart: %q", ids)
		}
	})
}
