package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/timerbus/timerbus/pkg/timer"
)

// appender is implemented by types that encode themselves without reflection. Deliveries, results and the envelope
// around them are encoded once for every timer that fires, and reflection took a tenth of the time for that. The bytes
// are the same as those of encoding/json; TestAppendedJSONIsThatOfTheStandardLibrary and its fuzz target compare the
// two.
type appender interface {
	appendJSON(b []byte) ([]byte, error)
}

// object appends the members of a JSON object in the order of the calls.
type object struct {
	b   []byte
	err error
}

func begin(b []byte) object { return object{b: append(b, '{')} }

func (o *object) end() ([]byte, error) { return append(o.b, '}'), o.err }

// name begins a member. Names are constants of this package and need no escapes.
func (o *object) name(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *object) text(name, value string) {
	o.name(name)
	if plain(value) {
		o.b = append(o.b, '"')
		o.b = append(o.b, value...)
		o.b = append(o.b, '"')
		return
	}
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil && o.err == nil {
		o.err = fmt.Errorf("%s: %w", name, err)
	}
	o.b = append(o.b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}

// optional appends a member unless its value is empty.
func (o *object) optional(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) number(name string, value int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, value, 10)
}

func (o *object) instant(name string, value timer.Millis) {
	o.name(name)
	text, err := value.MarshalText()
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("%s: %w", name, err)
	}
	o.b = append(o.b, '"')
	o.b = append(o.b, text...)
	o.b = append(o.b, '"')
}

// raw appends JSON without the white space between its tokens.
func (o *object) raw(name string, value json.RawMessage) {
	o.name(name)
	compact := bytes.NewBuffer(o.b)
	if err := json.Compact(compact, value); err != nil && o.err == nil {
		o.err = fmt.Errorf("%s: %w", name, err)
	}
	o.b = compact.Bytes()
}

// plain reports whether a string needs no escapes in JSON.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func (d *Delivery) appendJSON(b []byte) ([]byte, error) {
	o := begin(b)
	o.text("namespace", d.Namespace)
	o.text("timerId", d.TimerID)
	o.optional("scheduleId", d.ScheduleID)
	o.instant("executeAt", d.ExecuteAt)
	o.instant("scheduledFor", d.ScheduledFor)
	o.number("attempt", int64(d.Attempt))
	o.text("generation", d.Generation)
	o.text("correlationId", d.CorrelationID)
	o.raw("payload", orNull(d.Payload))
	return o.end()
}

func (r *Result) appendJSON(b []byte) ([]byte, error) {
	o := begin(b)
	o.text("namespace", r.Namespace)
	o.text("timerId", r.TimerID)
	o.text("generation", r.Generation)
	o.number("attempt", int64(r.Attempt))
	o.text("correlationId", r.CorrelationID)
	o.text("outcome", r.Outcome)
	o.instant("executeAt", r.ExecuteAt)
	if r.NextAt != nil {
		o.instant("nextAt", *r.NextAt)
	}
	o.instant("startedAt", r.StartedAt)
	o.instant("finishedAt", r.FinishedAt)
	if r.StatusCode != 0 {
		o.number("statusCode", int64(r.StatusCode))
	}
	o.optional("error", r.Error)
	o.optional("body", r.Body)
	return o.end()
}

func (e *CloudEvent) appendJSON(b []byte) ([]byte, error) {
	o := begin(b)
	o.text("specversion", e.SpecVersion)
	o.text("id", e.ID)
	o.text("source", e.Source)
	o.text("type", e.Type)
	o.optional("subject", e.Subject)
	if e.Time != 0 {
		o.instant("time", e.Time)
	}
	o.optional("datacontenttype", e.DataContentType)
	o.optional("correlationid", e.CorrelationID)
	if len(e.Data) > 0 {
		o.raw("data", e.Data)
	}
	return o.end()
}
