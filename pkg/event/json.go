package event

import (
	"bytes"
	"encoding/json"
)

// usualSize is room for an event with a small payload, in bytes.
const usualSize = 512

// marshal is json.Marshal without the escapes for HTML: a payload with < or & in it goes out as it
// came in. Only blanks between its tokens are lost.
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

// orNull is a payload as it stands in JSON.
func orNull(payload []byte) json.RawMessage {
	if payload == nil {
		return json.RawMessage("null")
	}
	return payload
}
