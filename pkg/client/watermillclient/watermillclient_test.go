package watermillclient_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/components/delay"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/timer"
)

const noon timer.Millis = 1_900_000_000_000

// timers records delayed messages in made, and messages without a delay in direct.
type timers struct {
	made   []client.CreateTimerRequest
	direct []*message.Message
	fail   error
}

func (s *timers) CreateTimer(_ context.Context, r client.CreateTimerRequest) (client.Written, error) {
	if s.fail != nil {
		return client.Written{}, s.fail
	}
	s.made = append(s.made, r)
	return client.Written{}, nil
}

func (s *timers) Publish(_ string, messages ...*message.Message) error {
	s.direct = append(s.direct, messages...)
	return s.fail
}

func (s *timers) Close() error { return nil }

func (s *timers) delayed(t *testing.T) *watermillclient.Delayed {
	t.Helper()
	d, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{
		Publisher: s, Timers: s, Namespace: "shop", Clock: func() timer.Millis { return noon },
		Key: func(_ string, m *message.Message) string { return m.Metadata.Get("order") },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDelayMetadata(t *testing.T) {
	second := noon.Time().Truncate(time.Second) // noon has whole seconds
	for name, c := range map[string]struct {
		metadata message.Metadata
		want     timer.Millis // 0: published immediately
		err      string
	}{
		"none":        {},
		"for":         {message.Metadata{delay.DelayedForKey: "1.5s"}, noon + 1501, ""},
		"for days":    {message.Metadata{delay.DelayedForKey: "1d"}, noon.Add(24*time.Hour) + 1, ""},
		"until":       {message.Metadata{delay.DelayedUntilKey: "2030-03-17T17:46:50Z"}, noon + 10_000, ""},
		"both":        {message.Metadata{delay.DelayedForKey: "1.5s", delay.DelayedUntilKey: second.Add(time.Second).Format(time.RFC3339)}, noon + 1501, ""},
		"long ago":    {message.Metadata{delay.DelayedForKey: "1h", delay.DelayedUntilKey: second.Add(time.Minute).Format(time.RFC3339)}, noon + 61_000, ""},
		"other clock": {message.Metadata{delay.DelayedForKey: "1s", delay.DelayedUntilKey: second.Add(time.Minute).Format(time.RFC3339)}, noon + 60_000, ""},
		"past":        {message.Metadata{delay.DelayedForKey: "-1s"}, noon - 999, ""},
		"bad for":     {message.Metadata{delay.DelayedForKey: "soon"}, 0, `"soon" is not a duration`},
		"bad until":   {message.Metadata{delay.DelayedUntilKey: "tomorrow"}, 0, `"tomorrow" is not a time`},
	} {
		t.Run(name, func(t *testing.T) {
			s := &timers{}
			m := message.NewMessage("m-1", []byte("x"))
			maps.Copy(m.Metadata, c.metadata)
			err := s.delayed(t).Publish("orders", m)
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) || len(s.made)+len(s.direct) > 0 {
					t.Errorf("%v; made %v", err, s.made)
				}
			case err != nil:
				t.Error(err)
			case c.want == 0:
				if len(s.made) != 0 || len(s.direct) != 1 || s.direct[0] != m {
					t.Errorf("made %v, published %v", s.made, s.direct)
				}
			case len(s.made) != 1 || len(s.direct) != 0 || !s.made[0].ExecuteAt.Time.Equal(c.want.Time()):
				t.Errorf("made %+v, want one at %v", s.made, c.want)
			}
		})
	}
}

// TestDelayIsWhatWatermillWrites uses Watermill's delay component.
func TestDelayIsWhatWatermillWrites(t *testing.T) {
	for name, d := range map[string]delay.Delay{"for": delay.For(1700 * time.Millisecond), "until": delay.Until(time.Now().Add(1700 * time.Millisecond))} {
		s := &timers{}
		publisher, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{Publisher: s, Timers: s})
		if err != nil {
			t.Fatal(err)
		}
		m := message.NewMessage("m-1", nil)
		before := time.Now()
		delay.Message(m, d)
		if err := publisher.Publish("orders", m); err != nil {
			t.Fatal(err)
		}
		if wait := s.made[0].ExecuteAt.Sub(before); wait < 1690*time.Millisecond || wait > 2700*time.Millisecond {
			t.Errorf("%s: waits %v", name, wait)
		}
	}
}

// fired returns the message that the service publishes for a timer.
func fired(tb testing.TB, r *client.CreateTimerRequest, mode event.Mode) *message.Message {
	tb.Helper()
	tm := timer.Timer{Namespace: r.Namespace, ID: r.ID, Spec: timer.Spec{Payload: r.Payload}}
	e, err := event.Fired("//test", &tm, noon)
	if err != nil {
		tb.Fatal(err)
	}
	headers, body, err := e.Encode(mode)
	if err != nil {
		tb.Fatal(err)
	}
	m := message.NewMessage("bus-1", body)
	m.Metadata = headers
	return m
}

func TestDelayedMessageComesBackAsPublished(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for name, payload := range map[string][]byte{
		"every byte": every, "json": []byte(`{ "a" : "<b>" }`), "empty": {}, "large": bytes.Repeat([]byte{0xff}, 74<<10),
	} {
		for mode := range map[event.Mode]bool{event.Binary: true, event.Structured: true} {
			s := &timers{}
			m := message.NewMessage("m-1", payload)
			m.Metadata = message.Metadata{delay.DelayedForKey: "1s", "order": "17", "Zürich": "<é>"}
			if err := s.delayed(t).Publish("orders", m); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			r := &s.made[0]
			if r.ID != "orders/m-1" || r.Topic != "orders" || r.Key != "17" || r.Namespace != "shop" || r.Deliver != client.DeliverEvent {
				t.Errorf("%s: waits as %+v", name, r)
			}
			back := fired(t, r, mode)
			if !watermillclient.Unwrap(back) || !back.Equals(m) {
				t.Errorf("%s: came back as %s %v, %d bytes", name, back.UUID, back.Metadata, len(back.Payload))
			}
		}
	}
}

func TestWhatDoesNotFitIsRefusedBeforeAnythingIsPublished(t *testing.T) {
	for name, c := range map[string]struct {
		message *message.Message
		want    string
	}{
		"payload":  {message.NewMessage("m", bytes.Repeat([]byte{1}, 77<<10)), "a payload of 78848 bytes with its metadata is too large for a timer"},
		"uuid":     {message.NewMessage("\xff", nil), "not UTF-8"},
		"metadata": {&message.Message{UUID: "m", Metadata: message.Metadata{"k": "\xff"}}, `its metadata "k"`},
	} {
		s := &timers{}
		if c.message.Metadata == nil {
			c.message.Metadata = message.Metadata{}
		}
		c.message.Metadata.Set(delay.DelayedForKey, "1s")
		first := message.NewMessage("first", nil)
		err := s.delayed(t).Publish("orders", first, c.message)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(s.made)+len(s.direct) > 0 {
			t.Errorf("%s: %v; published %v", name, err, s.direct)
		}
	}
}

func TestFailureNamesTheMessage(t *testing.T) {
	s := &timers{fail: errors.New("no such topic")}
	m := message.NewMessage("m-1", nil)
	m.Metadata.Set(delay.DelayedForKey, "1s")
	if err := s.delayed(t).Publish("orders", m); !errors.Is(err, s.fail) || !strings.Contains(err.Error(), "m-1") {
		t.Error(err)
	}
}

func TestTimerID(t *testing.T) {
	seen := map[string]bool{}
	for _, uuid := range []string{"a", "b", "", strings.Repeat("x", 300), "line\nbreak", "\xff"} {
		id := watermillclient.TimerID("orders", uuid)
		if err := timer.CheckID(id); err != nil || seen[id] {
			t.Errorf("%q: %q, %v", uuid, id, err)
		}
		seen[id] = true
	}
	s := &timers{}
	for range 2 {
		m := message.NewMessage("", nil)
		m.Metadata.Set(delay.DelayedForKey, "1s")
		if err := s.delayed(t).Publish("orders", m); err != nil {
			t.Fatal(err)
		}
	}
	if s.made[0].ID == s.made[1].ID {
		t.Error("messages without a UUID replace each other")
	}
}

func TestSubscriberUnwraps(t *testing.T) {
	s := &timers{}
	m := message.NewMessage("m-1", []byte("hello"))
	m.Metadata.Set(delay.DelayedForKey, "1s")
	if err := s.delayed(t).Publish("orders", m); err != nil {
		t.Fatal(err)
	}
	pubsub := gochannel.NewGoChannel(gochannel.Config{}, nil)
	defer pubsub.Close()
	sub, err := watermillclient.NewSubscriber(pubsub)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := sub.Subscribe(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	plain := message.NewMessage("plain", []byte("{}"))
	sent := []*message.Message{fired(t, &s.made[0], event.Binary), plain}
	if err := pubsub.Publish("orders", sent...); err != nil {
		t.Fatal(err)
	}
	var got []string
	for range sent {
		back := <-messages
		got = append(got, back.UUID+" "+string(back.Payload))
		back.Ack()
	}
	slices.Sort(got)
	if want := []string{"m-1 hello", "plain {}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	wrapped := fired(t, &s.made[0], event.Binary)
	_, err = watermillclient.Unwrapped(func(m *message.Message) ([]*message.Message, error) {
		if !m.Equals(sent[0]) && m.UUID != "m-1" {
			t.Errorf("the handler got %s", m.UUID)
		}
		return nil, nil
	})(wrapped)
	if err != nil {
		t.Error(err)
	}
}

func TestOtherEventsStayAsTheyAre(t *testing.T) {
	r := &client.CreateTimerRequest{Namespace: "shop", ID: "a", Payload: []byte(`{"order":17}`)}
	m := fired(t, r, event.Binary)
	before := m.Copy()
	if watermillclient.Unwrap(m) || !m.Equals(before) {
		t.Error("a timer of another kind was changed")
	}
	id, d, err := watermillclient.ReadFired(m)
	if err != nil || d.TimerID != "a" || string(d.Payload) != `{"order":17}` || id == "" {
		t.Errorf("read as %q %+v, %v", id, d, err)
	}
	if _, _, err := watermillclient.ReadFired(message.NewMessage("m", []byte("x"))); !errors.Is(err, watermillclient.ErrNotFired) {
		t.Errorf("nonsense read: %v", err)
	}
}

func TestCommands(t *testing.T) {
	create, err := watermillclient.Create("shop", client.CreateTimerRequest{ID: "a", ExecuteIn: "1s", CorrelationID: "c-1", Payload: []byte(`{"n":"<"}`)})
	if err != nil {
		t.Fatal(err)
	}
	update, err := watermillclient.Update("shop", client.UpdateTimerRequest{Namespace: "n", TimerID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	remove, err := watermillclient.Delete("shop", client.DeleteTimerRequest{TimerID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	pause, err := watermillclient.Pause("shop", client.PauseTimerRequest{TimerID: "a", Note: "n"})
	if err != nil {
		t.Fatal(err)
	}
	resume, err := watermillclient.Resume("shop", client.ResumeTimerRequest{TimerID: "a", Overdue: "skip"})
	if err != nil {
		t.Fatal(err)
	}
	must := func(m *message.Message, err error) *message.Message {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	selection := client.ScheduleSelection{ID: "s"}
	for _, c := range []struct {
		m               *message.Message
		verb            event.Verb
		key, correlated string
		data            string
	}{
		{create, event.VerbCreate, "default/a", "c-1", `{"correlationId":"c-1","executeIn":"1s","id":"a","payload":{"n":"<"}}`},
		{update, event.VerbUpdate, "n/a", "", `{"namespace":"n","timerId":"a"}`},
		{remove, event.VerbDelete, "default/a", "", `{"timerId":"a"}`},
		{pause, event.VerbPause, "default/a", "", `{"note":"n","timerId":"a"}`},
		{resume, event.VerbResume, "default/a", "", `{"overdue":"skip","timerId":"a"}`},
		{
			must(watermillclient.CreateSchedule("shop", client.CreateScheduleRequest{ID: "s", Specs: []client.ScheduleSpec{{Cron: "@daily"}}})),
			event.VerbCreateSchedule, "default/s", "", `{"id":"s","specs":[{"cron":"@daily"}]}`,
		},
		{
			must(watermillclient.UpdateSchedule("shop", client.UpdateScheduleRequest{Namespace: "n", ID: "s", IfVersion: 2})),
			event.VerbUpdateSchedule, "n/s", "", `{"id":"s","ifVersion":2,"namespace":"n"}`,
		},
		{
			must(watermillclient.DeleteSchedule("shop", client.DeleteScheduleRequest{ID: "s", Pending: "delete"})),
			event.VerbDeleteSchedule, "default/s", "", `{"id":"s","pending":"delete"}`,
		},
		{
			must(watermillclient.PauseSchedule("shop", client.PauseScheduleRequest{ID: "s", Note: "n"})),
			event.VerbPauseSchedule, "default/s", "", `{"id":"s","note":"n"}`,
		},
		{must(watermillclient.ResumeSchedule("shop", selection)), event.VerbResumeSchedule, "default/s", "", `{"id":"s"}`},
		{must(watermillclient.TriggerSchedule("shop", selection)), event.VerbTriggerSchedule, "default/s", "", `{"id":"s"}`},
		{
			must(watermillclient.BackfillSchedule("shop", client.BackfillScheduleRequest{
				ID: "s", From: client.At(time.UnixMilli(0)), To: client.At(time.UnixMilli(1000)),
			})),
			event.VerbBackfillSchedule, "default/s", "", `{"from":"1970-01-01T00:00:00.000Z","id":"s","to":"1970-01-01T00:00:01.000Z"}`,
		},
	} {
		got, err := event.ParseCommand(c.m.Metadata, c.m.Payload)
		if err != nil || got.Verb != c.verb || got.ID != c.m.UUID || got.Source != "shop" || got.CorrelationID != c.correlated || string(got.Data) != c.data {
			t.Errorf("%s reads %+v %s, %v", c.verb, got, got.Data, err)
		}
		if key := c.m.Metadata.Get(watermillclient.MetadataKey); key != c.key {
			t.Errorf("%s has key %q, want %q", c.verb, key, c.key)
		}
	}
	if _, err := watermillclient.Create("shop", client.CreateTimerRequest{}); err == nil {
		t.Error("a command without a timer was made")
	}
}

// TestThroughCommands: a delayed message can be stored by a command on the command topic.
func TestThroughCommands(t *testing.T) {
	s := &timers{}
	d, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{
		Publisher: s, Timers: watermillclient.Through(s, watermillclient.Commands, "shop"),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := message.NewMessage("m-1", []byte("x"))
	m.Metadata.Set(delay.DelayedForKey, "1s")
	if err := d.Publish("orders", m); err != nil {
		t.Fatal(err)
	}
	if len(s.direct) != 1 || s.direct[0].Metadata.Get("ce_type") != event.TypeCreate || !strings.Contains(string(s.direct[0].Payload), `"topic":"orders"`) {
		t.Errorf("published %v", s.direct)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzUnwrap(f *testing.F) {
	s := &timers{}
	r := &client.CreateTimerRequest{Namespace: "shop", ID: "a", Payload: []byte(`{"watermillMessage":{"uuid":"m","payload":"AA=="}}`)}
	f.Add([]byte(fired(f, r, event.Binary).Payload))
	f.Add([]byte(`{"payload":{"watermillMessage":{"payload":7}}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		m := message.NewMessage("outer", payload)
		m.Metadata = fired(t, r, event.Binary).Metadata
		before := m.Copy()
		if !watermillclient.Unwrap(m) {
			if !m.Equals(before) {
				t.Fatal("changed, but not unwrapped")
			}
			return
		}
		// A message that was read can be sent and read again.
		m.Metadata.Set(delay.DelayedForKey, "1s")
		s.made = nil
		d, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{Publisher: s, Timers: s})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Publish("orders", m); err != nil {
			return // too large
		}
		back := fired(t, &s.made[0], event.Binary)
		if !watermillclient.Unwrap(back) || !back.Equals(m) {
			t.Fatalf("%v came back as %v", m, back)
		}
	})
}
