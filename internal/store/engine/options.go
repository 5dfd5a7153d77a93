package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// options is the stored form of the fields that few timers have. Engines store it as one text that they do not interpret, so
// a new field needs no change of their schemas. An absent member means the zero value; unknown members are ignored.
type options struct {
	Method      string `json:"method,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	Reschedule  bool   `json:"reschedule,omitempty"`
	WindowMS    int64  `json:"windowMs,omitempty"`
	ExpireMS    int64  `json:"expireMs,omitempty"`
	OnDone      string `json:"onDone,omitempty"`
	OnDead      string `json:"onDead,omitempty"`
}

// FormatOptions returns the stored form of the options of a spec. It is empty if there are none.
func FormatOptions(s *timer.Spec) string {
	o := options{
		Method: s.Request.Method, ContentType: s.Request.ContentType, Reschedule: s.Request.Reschedule,
		WindowMS: s.Window.Milliseconds(), ExpireMS: s.ExpireAfter.Milliseconds(), OnDone: s.OnDone, OnDead: s.OnDead,
	}
	if o == (options{}) {
		return ""
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // texts and numbers can always be encoded
	}
	return string(text)
}

// ParseOptions sets the options of a spec from their stored form.
func ParseOptions(text string, s *timer.Spec) error {
	s.Request, s.Window, s.ExpireAfter, s.OnDone, s.OnDead = timer.Request{}, 0, 0, "", ""
	if text == "" {
		return nil
	}
	var o options
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("options %q: %w", text, err)
	}
	s.Request = timer.Request{Method: o.Method, ContentType: o.ContentType, Reschedule: o.Reschedule}
	s.Window = time.Duration(o.WindowMS) * time.Millisecond
	s.ExpireAfter = time.Duration(o.ExpireMS) * time.Millisecond
	s.OnDone, s.OnDead = o.OnDone, o.OnDead
	return nil
}
