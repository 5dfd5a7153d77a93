package e2e_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/record"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
)

// command returns a command as a user's program would build it. NS in the body is replaced by the namespace.
func (w *world) command(id, verb, body string) *event.CloudEvent {
	return &event.CloudEvent{
		SpecVersion: "1.0", ID: id, Source: "e2e/tests", Type: "timerbus.timer." + verb,
		DataContentType: "application/json", CorrelationID: "trace-of-" + id,
		Data: json.RawMessage(strings.ReplaceAll(body, "NS", w.namespace)),
	}
}

// answerTo selects the answers to a command.
func answerTo(id string) func(tap.Message) bool {
	return func(m tap.Message) bool { return m.Event.ID == id+"_answer" }
}

func (w *world) listen(t *testing.T, subject string) *record.Record[tap.Message] {
	t.Helper()
	heard, err := w.tap.Listen(subject)
	if err != nil {
		t.Fatal(err)
	}
	return heard
}

// TestCommands: the three verbs by message, in both modes, on both kinds of subject. Each is answered on results, and
// its timer fires like any other.
func TestCommands(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	results, fired := w.listen(t, tap.Results), w.listen(t, tap.Fired)
	for i, mode := range []event.Mode{event.Structured, event.Binary} {
		for j, subject := range []string{tap.Commands, tap.Commands + ".0", tap.Commands + ".15"} {
			id := fmt.Sprintf("%s-%d-%d", w.namespace, i, j)
			send := func(verb, body string) event.Answer {
				t.Helper()
				command := w.command(id+"-"+verb, verb, strings.ReplaceAll(body, "ID", id))
				if err := w.tap.Publish(t.Context(), subject, command, mode); err != nil {
					t.Fatal(err)
				}
				m := await(t, results, 1, answerTo(command.ID))[0]
				a := data[event.Answer](t, &m)
				if m.Event.Type != event.TypeApplied || a.CommandID != command.ID || string(a.Verb) != verb || a.TimerID != id || a.Earlier || !a.InTime {
					t.Errorf("%s of %s is answered %+v", verb, id, a)
				}
				return a
			}
			a := send("create", `{"namespace":"NS","id":"ID","executeIn":"1h","payload":[1]}`)
			var made client.Timer
			if err := json.Unmarshal(a.Timer, &made); err != nil || made.ID != id || made.CorrelationID != "trace-of-"+id+"-create" {
				t.Errorf("the created timer is answered as %s: %v", a.Timer, err)
			}
			got, err := w.api.GetTimer(t.Context(), w.selection(id))
			if err != nil || !reflect.DeepEqual(got, made) {
				t.Errorf("HTTP returns %+v\nthe answer %+v\n%v", got, made, err)
			}
			if j == 2 {
				if a := send("delete", `{"namespace":"NS","id":"ID"}`); a.Timer != nil {
					t.Errorf("a delete is answered with a timer: %s", a.Timer)
				}
				continue
			}
			send("update", `{"namespace":"NS","id":"ID","executeIn":"100ms","payload":[2]}`)
			m := await(t, fired, 1, w.about(event.TypeFired, id))[0]
			if d := data[event.Delivery](t, &m); string(d.Payload) != "[2]" {
				t.Errorf("fired with %s", d.Payload)
			}
		}
	}
	if err := w.tap.Publish(t.Context(), tap.Commands+".16", w.command("nowhere", "create", "{}"), event.Structured); err == nil {
		t.Error("a partition that does not exist accepted a command")
	}
}

// TestRefusedCommands: an invalid command goes to the dead topic with the code and the message of HTTP, and does not
// block other commands.
func TestRefusedCommands(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	graves, results := w.listen(t, tap.Dead), w.listen(t, tap.Results)
	for i, c := range refusals() {
		verb, isTimer := strings.CutPrefix(c.path, "timers/")
		if !isTimer || verb != "create" && verb != "update" && verb != "delete" {
			continue
		}
		http := w.post(t, c.path, c.body)
		command := w.command(fmt.Sprintf("%s-%d", w.namespace, i), verb, c.body)
		// In binary mode the data may be anything, like an HTTP body.
		if err := w.tap.Publish(t.Context(), tap.Commands, command, event.Binary); err != nil {
			t.Fatal(err)
		}
		m := await(t, graves, 1, answerTo(command.ID))[0]
		a := data[event.Answer](t, &m)
		// Data that is not JSON is refused when the event is decoded, before the body is.
		same := a.Message == http.field(t, "message") || !json.Valid(command.Data) && strings.HasPrefix(a.Message, "data: ")
		if m.Event.Type != event.TypeRefused || a.Error != c.code || !same {
			t.Errorf("%s %.100s\nis refused as %s: %s\nby HTTP:      %v: %v", c.path, c.body, a.Error, a.Message, http.field(t, "error"), http.field(t, "message"))
		}
	}
	for name, raw := range map[string]struct {
		headers    map[string]string
		body, says string
	}{
		"no JSON":  {body: "hello", says: "want"},
		"no event": {body: `{"id":"x"}`, says: "specversion"},
		"no id":    {body: `{"specversion":"1.0","source":"s","type":"timerbus.timer.create","data":{}}`, says: "id"},
		"other type": {
			body: `{"specversion":"1.0","id":"1","source":"s","type":"timerbus.timer.explode","data":{}}`, says: "timerbus.timer.create",
		},
		"no data":  {body: `{"specversion":"1.0","id":"2","source":"s","type":"timerbus.timer.create"}`, says: "want"},
		"no UTF-8": {body: "{\"specversion\":\"\xff\"}", says: "UTF-8"},
		"a batch": {
			headers: map[string]string{"content-type": "application/cloudevents-batch+json"}, body: `[]`, says: "application/cloudevents+json",
		},
		"nothing": {says: "want"},
	} {
		seen := len(graves.All())
		if err := w.tap.PublishRaw(t.Context(), tap.Commands, raw.headers, []byte(raw.body)); err != nil {
			t.Fatal(err)
		}
		// Refusals of other tests are on the topic as well; this test's refusal contains the command.
		found := await(t, graves, 1, func(m tap.Message) bool {
			var a event.Answer
			return m.Err == nil && json.Unmarshal(m.Event.Data, &a) == nil && a.Command == strings.ToValidUTF8(raw.body, "\uFFFD") &&
				a.TimerID == "" && strings.Contains(a.Message, raw.says)
		})
		if a := data[event.Answer](t, &found[0]); a.Error != "INVALID_INPUT" || a.CommandID == "" {
			t.Errorf("%s (after %d others) is refused as %+v", name, seen, a)
		}
	}
	// The partition makes progress.
	last := w.command(w.namespace+"-last", "create", `{"namespace":"NS","id":"last","executeIn":"1h"}`)
	if err := w.tap.Publish(t.Context(), tap.Commands, last, event.Structured); err != nil {
		t.Fatal(err)
	}
	await(t, results, 1, answerTo(last.ID))
	if page, err := w.api.ListTimers(t.Context(), client.ListTimersRequest{Namespace: w.namespace}); err != nil || len(page.Timers) != 1 {
		t.Errorf("refused commands left something: %+v, %v", page, err)
	}
}

// TestCommandTime: executeIn counts from the time at which the bus got the command.
func TestCommandTime(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	fired := w.listen(t, tap.Fired)
	before := time.Now()
	if err := w.tap.Publish(t.Context(), tap.Commands, w.command(w.namespace, "create", `{"namespace":"NS","id":"timed","executeIn":"500ms"}`), event.Structured); err != nil {
		t.Fatal(err)
	}
	m := await(t, fired, 1, w.about(event.TypeFired, "timed"))[0]
	d := data[event.Delivery](t, &m)
	if least := before.Add(500 * time.Millisecond).Truncate(time.Millisecond); d.ExecuteAt.Time().Before(least) || m.At.Before(least) {
		t.Errorf("executeAt %v, arrived at %v, want %v or later", d.ExecuteAt, m.At, least)
	}
}
