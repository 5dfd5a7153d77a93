package event

import (
	"bytes"
	"encoding/json"
)

// marshal is json.Marshal without the escapes for HTML: a payload with < or & in it goes out as it
// came in. Only blanks between its tokens are lost.
func marshal(v any) ([]byte, error) {
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
