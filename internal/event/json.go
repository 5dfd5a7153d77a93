package event

import (
	"bytes"
	"encoding/json"
)

// usualSize is the initial capacity for an event with a small payload, in bytes.
const usualSize = 512

// marshal is json.Marshal without HTML escapes, so that a payload with < or & is sent as it was received, except for
// the white space between its tokens.
func marshal(v any) ([]byte, error) {
	if a, ok := v.(appender); ok {
		return a.appendJSON(make([]byte, 0, usualSize))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// orNull returns a payload as JSON: null if there is none.
func orNull(payload []byte) json.RawMessage {
	if payload == nil {
		return json.RawMessage("null")
	}
	return payload
}
