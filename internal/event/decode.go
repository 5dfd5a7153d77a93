package event

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// maxAttribute limits id, source, type and subject of a received event, in bytes: an answer repeats the id, and
	// must fit into a message and its headers.
	maxAttribute = 1024

	// wholeEvent is the prefix of the media types of bodies that contain a whole event. With the suffix "-batch" the
	// body contains several events, which is not accepted.
	wholeEvent = "application/cloudevents"
)

// Decode decodes an event in either mode. Header names are case-insensitive; both header prefixes are accepted. Unknown
// attributes are ignored, as the specification requires. If there is an error, the event has the attributes that could
// be parsed: each is valid, or empty.
func Decode(headers map[string]string, body []byte) (CloudEvent, error) {
	e, err := decode(headers, body)
	e.Trace = traceOfMessage(headers)
	return e, err
}

func decode(headers map[string]string, body []byte) (CloudEvent, error) {
	if !utf8.Valid(body) {
		return CloudEvent{}, timer.Invalid("message", body, "a CloudEvent in UTF-8")
	}
	attributes, contentType := attributesOf(headers)
	// The content type decides the mode. Without one, headers select binary mode; without headers it is structured.
	mediaType := mediaTypeOf(contentType)
	switch {
	case mediaType == structuredType, mediaType == wholeEvent:
		return decodeStructured(body)
	case strings.HasPrefix(mediaType, wholeEvent):
		return CloudEvent{}, timer.Invalid(contentTypeName, contentType, structuredType+" or "+jsonType)
	case attributes["specversion"].raw != "" && attributes["type"].raw != "":
		return decodeBinary(attributes, contentType, body)
	default:
		return decodeStructured(body)
	}
}

// header is the raw value of an attribute.
type header struct {
	raw string
	// escaped means that the value is percent-encoded (NATS binding).
	escaped bool
}

func (h header) text() (text string, ok bool) {
	if h.escaped {
		return percentDecode(h.raw)
	}
	return h.raw, utf8.ValidString(h.raw)
}

// attributesOf returns the event's attributes from the headers. If two headers are for the same attribute, the first in
// byte order is used, so that the result is always the same.
func attributesOf(headers map[string]string) (attributes map[string]header, contentType string) {
	attributes = make(map[string]header, len(headers))
	for _, key := range slices.Sorted(maps.Keys(headers)) {
		value, name := headers[key], strings.ToLower(key)
		escaped := strings.HasPrefix(name, natsPrefix)
		switch {
		case name == contentTypeName && contentType == "":
			contentType = value
		case escaped || strings.HasPrefix(name, kafkaPrefix):
			name = name[len(natsPrefix):]
			if _, twice := attributes[name]; !twice {
				attributes[name] = header{raw: value, escaped: escaped}
			}
		}
	}
	return attributes, contentType
}

func decodeBinary(attributes map[string]header, contentType string, body []byte) (CloudEvent, error) {
	e := CloudEvent{DataContentType: contentType, Data: body}
	d := decoding{event: &e}
	d.read(func(name string) (string, bool) {
		h, given := attributes[name]
		if !given {
			return "", false
		}
		text, ok := h.text()
		if !ok {
			d.complain(name, h.raw, "a header value in UTF-8")
		}
		return text, ok
	})
	return e, d.err
}

func decodeStructured(body []byte) (CloudEvent, error) {
	// Decode each attribute separately, so that an attribute of a wrong type does not hide the others. Names are
	// case-sensitive: a struct would accept "ID" for "id".
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return CloudEvent{}, timer.Invalid("message", body,
			"a CloudEvent: structured JSON, or binary with ce_ or ce- headers")
	}
	e := CloudEvent{Data: members["data"]}
	d := decoding{event: &e}
	d.read(func(name string) (string, bool) {
		raw, given := members[name]
		if !given || string(raw) == "null" { // in the JSON format, null means absent
			return "", false
		}
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			d.complain(name, string(raw), "a string")
			return "", false
		}
		return text, true
	})
	if raw, given := members["data_base64"]; given {
		d.complain("data_base64", string(raw), "JSON in data")
	}
	return e, d.err
}

// decoding fills an event and keeps the first error.
type decoding struct {
	event *CloudEvent
	err   error
}

func (d *decoding) complain(field, value, want string) {
	if d.err == nil {
		d.err = timer.Invalid(field, value, want)
	}
}

// read copies the attributes that value returns to the event. Attributes that are not acceptable stay empty.
func (d *decoding) read(value func(name string) (text string, given bool)) {
	e := d.event
	if e.SpecVersion, _ = value("specversion"); e.SpecVersion != specVersion {
		d.complain("specversion", e.SpecVersion, `"1.0"`)
		e.SpecVersion = ""
	}
	for _, attribute := range []struct {
		name     string
		to       *string
		required bool
	}{
		{"id", &e.ID, true},
		{"source", &e.Source, true},
		{"type", &e.Type, true},
		{"subject", &e.Subject, false},
	} {
		text, given := value(attribute.name)
		switch {
		case acceptable(text):
			*attribute.to = text
		case given || attribute.required:
			d.complain(attribute.name, text, "1 to 1024 bytes of UTF-8 without control characters")
		}
	}
	d.readRest(value)
}

func (d *decoding) readRest(value func(name string) (text string, given bool)) {
	e := d.event
	if text, _ := value("correlationid"); timer.CheckCorrelationID(text) == nil {
		e.CorrelationID = text
	} else {
		d.complain("correlationid", text, "at most 255 bytes of UTF-8 without control characters")
	}
	if text, given := value("time"); given {
		at, err := timer.ParseMillis(text)
		if err != nil {
			d.complain("time", text, "an RFC 3339 time such as 2030-01-31T09:00:00Z")
		}
		e.Time = at
	}
	// In Kafka's binary mode, content-type is used instead.
	if text, given := value("datacontenttype"); given {
		e.DataContentType = text
	}
	if t := mediaTypeOf(e.DataContentType); t != "" && t != jsonType && !strings.HasSuffix(t, "+json") {
		d.complain("datacontenttype", e.DataContentType, jsonType)
		e.DataContentType = ""
	}
	if len(e.Data) > 0 && !json.Valid(e.Data) {
		d.complain("data", string(e.Data), "valid JSON")
		e.Data = nil
	}
}

func acceptable(attribute string) bool {
	if attribute == "" || len(attribute) > maxAttribute || !utf8.ValidString(attribute) {
		return false
	}
	return !strings.ContainsFunc(attribute, unicode.IsControl)
}

// mediaTypeOf returns the media type in lower case, without parameters.
func mediaTypeOf(contentType string) string {
	bare, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(bare))
}
