package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/record"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
)

// data decodes an event's data.
func data[T any](t *testing.T, m *tap.Message) T {
	t.Helper()
	var v T
	if m.Err != nil {
		t.Fatalf("on %s: no CloudEvent: %v", m.Subject, m.Err)
	}
	if err := json.Unmarshal(m.Event.Data, &v); err != nil {
		t.Fatalf("data of %s %s: %v", m.Event.Type, m.Event.ID, err)
	}
	return v
}

// about selects messages of one type and one timer.
func (w *world) about(eventType, id string) func(tap.Message) bool {
	return func(m tap.Message) bool {
		return m.Event.Type == eventType && m.Event.Subject == event.Subject(w.namespace, id)
	}
}

func await[T any](t *testing.T, heard *record.Record[T], n int, match func(T) bool) []T {
	t.Helper()
	found, err := heard.Await(within(t, patience), n, match)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// checkEvents: each attempt has its result, and a dead timer has a dead event with all its fields.
func checkEvents(t *testing.T, w *world, c *answerCase, id string, results, graves *record.Record[tap.Message]) {
	t.Helper()
	for i, m := range await(t, results, len(c.outcomes), w.about(event.TypeResult, id)) {
		if r := data[event.Result](t, &m); r.Outcome != c.outcomes[i] || r.FinishedAt < r.StartedAt || r.TimerID != id {
			t.Errorf("result %d is %+v, want outcome %s", i+1, r, c.outcomes[i])
		}
	}
	if c.outcomes[len(c.outcomes)-1] != "dead" {
		return
	}
	m := await(t, graves, 1, w.about(event.TypeDead, id))[0]
	if n := data[event.Notice](t, &m); n.CallbackURL != w.receiver.URL || n.Status != "dead" || n.Reason == "" || int(n.Attempts) != c.calls {
		t.Errorf("the event of the dead timer is %+v", n)
	}
}

// TestFiredEvents: a timer without a URL is delivered as an event, whose id is the webhook-id of a callback. Its result
// follows.
func TestFiredEvents(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	fired, err := w.tap.Listen(tap.Fired)
	if err != nil {
		t.Fatal(err)
	}
	results, err := w.tap.Listen(tap.Results)
	if err != nil {
		t.Fatal(err)
	}
	made := w.create(t, "as event", 300*time.Millisecond, func(r *client.CreateTimerRequest) {
		r.CallbackURL, r.Payload, r.CorrelationID = "", json.RawMessage(`{"big":12345678901234567890,"html":"<&>"}`), "trace-7"
	})
	m := await(t, fired, 1, w.about(event.TypeFired, "as event"))[0]
	d := data[event.Delivery](t, &m)
	if string(d.Payload) != `{"big":12345678901234567890,"html":"<&>"}` {
		t.Errorf("payload %s", d.Payload)
	}
	if want := made.UUID + "_" + made.Generation; m.Event.ID != want || d.Generation != made.Generation {
		t.Errorf("event id %q, generation %s, want %q", m.Event.ID, d.Generation, want)
	}
	if d.CorrelationID != "trace-7" || m.Event.CorrelationID != "trace-7" || d.Attempt != 1 {
		t.Errorf("delivered as %+v of event %+v", d, m.Event)
	}
	if early := d.ExecuteAt.Time().Sub(m.At); early > 0 || !d.ExecuteAt.Time().Equal(made.ExecuteAt.Time) {
		t.Errorf("arrived %v early; executeAt %v, requested %v", early, d.ExecuteAt, made.ExecuteAt)
	}
	m = await(t, results, 1, w.about(event.TypeResult, "as event"))[0]
	if r := data[event.Result](t, &m); r.Outcome != "done" {
		t.Errorf("outcome %q, want done", r.Outcome)
	}
	w.reaches(t, "as event", isStatus("done"))
}

// TestBothWays: one delivery is published as an event and made as a callback, with one id.
func TestBothWays(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	fired, err := w.tap.Listen(tap.Fired)
	if err != nil {
		t.Fatal(err)
	}
	w.create(t, "both", 200*time.Millisecond, func(r *client.CreateTimerRequest) { r.Deliver = client.DeliverBoth })
	m := await(t, fired, 1, w.about(event.TypeFired, "both"))[0]
	call := w.calls(t, "both", 1)[0]
	if call.WebhookID != m.Event.ID {
		t.Errorf("webhook-id %q, event id %q: want one for both", call.WebhookID, m.Event.ID)
	}
	w.reaches(t, "both", isStatus("done"))
}
