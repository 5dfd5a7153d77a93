package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// minimal has only the attributes that the specification requires.
const minimal = `{"specversion":"1.0","id":"1","source":"me","type":"timerbus.timer.delete","data":{"a":1}}`

func TestDecodeAcceptsWhatOthersWrite(t *testing.T) {
	minimalHeaders := map[string]string{"ce_specversion": "1.0", "ce_id": "1", "ce_source": "me", "ce_type": event.TypeDelete}
	with := func(more map[string]string) map[string]string {
		h := maps.Clone(minimalHeaders)
		maps.Copy(h, more)
		return h
	}
	for name, c := range map[string]struct {
		headers map[string]string
		body    string
		want    event.CloudEvent // the differences from minimal
	}{
		"structured, without headers":         {nil, minimal, event.CloudEvent{}},
		"structured, with a charset":          {map[string]string{"Content-Type": "Application/CloudEvents+JSON; charset=UTF-8"}, minimal, event.CloudEvent{}},
		"structured, the NATS binding's name": {map[string]string{"content-type": "application/cloudevents"}, minimal, event.CloudEvent{}},
		"structured, foreign headers":         {map[string]string{"traceparent": "00-1", "Nats-Msg-Id": "x"}, minimal, event.CloudEvent{}},
		"structured beats headers":            {map[string]string{"content-type": "application/cloudevents+json", "ce-id": "%", "ce-type": "x", "ce-specversion": "1.0"}, minimal, event.CloudEvent{}},
		"structured, null and extensions":     {nil, `{"subject":null,"x":[1],` + minimal[1:], event.CloudEvent{}},
		"binary, Kafka":                       {minimalHeaders, `{"a":1}`, event.CloudEvent{}},
		"binary, Kafka, % is itself":          {with(map[string]string{"ce_subject": "100%25"}), `{"a":1}`, event.CloudEvent{Subject: "100%25"}},
		"binary, content type":                {with(map[string]string{"Content-Type": "application/vnd.me+json; charset=utf-8"}), `{"a":1}`, event.CloudEvent{DataContentType: "application/vnd.me+json; charset=utf-8"}},
		"binary, time with an offset":         {with(map[string]string{"CE_Time": "1970-01-01T01:00:00.0019+01:00"}), `{"a":1}`, event.CloudEvent{Time: 1}},
		"binary, NATS": {map[string]string{
			"Ce-Specversion": "1.0", "ce-id": "%31", "ce-source": `"m\e"`, "ce-type": event.TypeDelete,
			"ce-subject": "%C3%a4%20b", "ce-datacontenttype": "application/json",
		}, `{"a":1}`, event.CloudEvent{Subject: "ä b", DataContentType: "application/json"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := event.Decode(c.headers, []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			want.SpecVersion, want.ID, want.Source, want.Type = "1.0", "1", "me", event.TypeDelete
			want.Data = json.RawMessage(`{"a":1}`)
			if !same(&got, &want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	replaced := func(old, with string) string { return strings.Replace(minimal, old, with, 1) }
	for name, c := range map[string]struct {
		headers map[string]string
		body    string
		field   string
	}{
		"nothing":             {nil, "", "message"},
		"not an object":       {nil, "[]", "message"},
		"null":                {nil, "null", "message"},
		"cut off":             {nil, minimal[:20], "message"},
		"two values":          {nil, minimal + minimal, "message"},
		"not UTF-8":           {nil, "{\"id\":\"\xff\"}", "message"},
		"version 0.3":         {nil, replaced("1.0", "0.3"), "specversion"},
		"no id":               {nil, replaced(`"id":"1",`, ""), "id"},
		"names are exact":     {nil, replaced(`"id"`, `"ID"`), "id"},
		"id is a number":      {nil, replaced(`"id":"1"`, `"id":1`), "id"},
		"empty id":            {nil, replaced(`"id":"1"`, `"id":""`), "id"},
		"control in id":       {nil, replaced(`"id":"1"`, `"id":"a\u0000"`), "id"},
		"long id":             {nil, replaced(`"id":"1"`, `"id":"`+strings.Repeat("x", 1025)+`"`), "id"},
		"no source":           {nil, replaced(`"source":"me",`, ""), "source"},
		"no type":             {nil, replaced(`"type":"timerbus.timer.delete",`, ""), "type"},
		"bad time":            {nil, replaced("{", `{"time":"yesterday",`), "time"},
		"long correlation id": {nil, replaced("{", `{"correlationid":"`+strings.Repeat("x", 256)+`",`), "correlationid"},
		"base64":              {nil, replaced("{", `{"data_base64":"e30=",`), "data_base64"},
		"data not JSON":       {nil, replaced("{", `{"datacontenttype":"text/xml",`), "datacontenttype"},
		"a batch":             {map[string]string{"content-type": "application/cloudevents-batch+json"}, "[" + minimal + "]", "content-type"},
		"an Avro event":       {map[string]string{"content-type": "application/cloudevents+avro"}, "x", "content-type"},
		"binary data is not JSON": {map[string]string{
			"ce_specversion": "1.0", "ce_id": "1", "ce_source": "me", "ce_type": "t",
		}, "{", "data"},
		"escape cut off": {map[string]string{
			"ce-specversion": "1.0", "ce-id": "%3", "ce-source": "me", "ce-type": "t",
		}, "{}", "id"},
		"escaped bytes are not UTF-8": {map[string]string{
			"ce-specversion": "1.0", "ce-id": "%C0%A0", "ce-source": "me", "ce-type": "t",
		}, "{}", "id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := event.Decode(c.headers, []byte(c.body))
			var invalid *timer.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != c.field {
				t.Errorf("error %v, want one about %s", err, c.field)
			}
		})
	}
}

// The answer to a refused command must contain the command's id if it has one.
func TestParseCommandKeepsTheIDOfARefusedCommand(t *testing.T) {
	for name, body := range map[string]string{
		"unknown type":  `{"specversion":"1.0","id":"1","source":"me","type":"x","correlationid":"c"}`,
		"type a number": `{"specversion":"1.0","id":"1","source":"me","type":7,"correlationid":"c"}`,
		"no source":     `{"specversion":"1.0","id":"1","type":"timerbus.timer.create","correlationid":"c"}`,
		"bad time":      `{"specversion":"1.0","id":"1","source":"me","type":"timerbus.timer.create","time":1,"correlationid":"c"}`,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := event.ParseCommand(nil, []byte(body))
			if err == nil || c.ID != "1" || c.CorrelationID != "c" {
				t.Errorf("ParseCommand = %+v, %v, want an error, id 1 and correlation id c", c, err)
			}
		})
	}
}

func TestParseCommandVerbs(t *testing.T) {
	for verb, eventType := range map[event.Verb]string{
		event.VerbCreate: event.TypeCreate, event.VerbUpdate: event.TypeUpdate, event.VerbDelete: event.TypeDelete,
		event.VerbPause: event.TypePause, event.VerbResume: event.TypeResume,
	} {
		body := strings.Replace(minimal, event.TypeDelete, eventType, 1)
		c, err := event.ParseCommand(nil, []byte(body))
		if err != nil || c.Verb != verb || c.ID != "1" || string(c.Data) != `{"a":1}` {
			t.Errorf("%s: %+v, %v", eventType, c, err)
		}
	}
}

// Two releases run together during an upgrade. The earlier one reads messages with appended fields, and distinguishes
// messages of unknown versions from malformed ones.
func TestUnmarshalMessagesOfOtherReleases(t *testing.T) {
	due, hint := event.Due{Shard: 7, Sequence: 9, Target: 5}, event.Hint{Shard: 7, UpdatedAt: 9, Target: 5}
	dueBefore, hintBefore := due, hint
	dueBefore.Target, hintBefore.Target = 0, 0
	// The previous release wrote no target.
	const target = 8
	short := func(b []byte) []byte { return b[:len(b)-target] }
	unmarshal := map[string]struct {
		today []byte
		read  func([]byte) (any, error)
		// before is the decoded message of the previous release.
		before any
		want   any
	}{
		"due":  {event.MarshalDue(due), func(b []byte) (any, error) { return event.UnmarshalDue(b) }, dueBefore, due},
		"hint": {event.MarshalHint(hint), func(b []byte) (any, error) { return event.UnmarshalHint(b) }, hintBefore, hint},
	}
	for name, u := range unmarshal {
		later := bytes.Clone(u.today)
		later[0] |= 0x10 // version 1
		otherKind := bytes.Clone(u.today)
		otherKind[0] ^= 0x03
		for what, c := range map[string]struct {
			message []byte
			unknown bool
			refused bool
			before  bool
		}{
			"of today":                {message: u.today},
			"with a field more":       {message: append(bytes.Clone(u.today), 2, 2, 3)},
			"of the release before":   {message: short(u.today), before: true},
			"a field short":           {message: short(u.today)[:len(u.today)-target-1], refused: true},
			"empty":                   {refused: true},
			"the first byte alone":    {message: u.today[:1], refused: true},
			"of a later version":      {message: later, unknown: true, refused: true},
			"a short later version":   {message: later[:2], unknown: true, refused: true},
			"the other kind":          {message: otherKind, unknown: true, refused: true},
			"a text":                  {message: []byte("nonsense"), unknown: true, refused: true},
			"of a kind not yet known": {message: []byte{0x0f}, unknown: true, refused: true},
		} {
			got, err := u.read(c.message)
			want := u.want
			if c.before {
				want = u.before
			}
			switch {
			case c.refused != (err != nil) || c.unknown != errors.Is(err, event.ErrUnknown):
				t.Errorf("%s, %s: error %v, want refused %v, unknown %v", name, what, err, c.refused, c.unknown)
			case !c.refused && got != want:
				t.Errorf("%s, %s: %+v, want %+v", name, what, got, want)
			}
		}
	}
}

// A payload is sent as it was received: numbers, escapes and the order of its members are the client's.
func TestBodyCarriesThePayloadUnchanged(t *testing.T) {
	d := event.DeliveryOf(sample())
	body, err := d.Body()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(body, []byte(`"payload":`+payload+`}`)) {
		t.Errorf("body %s does not end with payload %s", body, payload)
	}
	fired, err := event.Fired(source, sample(), at)
	if err != nil || !bytes.Equal(fired.Data, body) {
		t.Errorf("a fired event's data is %s, %v, want the callback's body %s", fired.Data, err, body)
	}
}

func TestWholeTimerInANotice(t *testing.T) {
	e, err := event.NoticeOf(source, sample(), at)
	if err != nil {
		t.Fatal(err)
	}
	var n event.Notice
	if err := json.Unmarshal(e.Data, &n); err != nil {
		t.Fatal(err)
	}
	want := event.RetryPolicy{MaxAttempts: 4, InitialInterval: "30s", BackoffMultiplier: 2, MaxInterval: "1h"}
	if n.RetryPolicy != want || n.CallbackTimeout != "30s" || n.Deliver != timer.DeliverBoth {
		t.Errorf("notice %+v does not hold the timer's policy %+v, timeout and way", n, want)
	}
}
