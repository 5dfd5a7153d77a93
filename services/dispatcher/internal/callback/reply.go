package callback

import (
	"bytes"
	"encoding/json"

	"github.com/timerbus/timerbus/pkg/timer"
)

// reply is what a receiver says with a 2xx body; the zero value says nothing beyond the status.
type reply struct {
	// notOK: ok is there and false.
	notOK bool
	// again: nextExecuteAt is there, with the time in at.
	again bool
	at    timer.Millis
}

// parseReply reads a 2xx body. Bodies that are not a JSON object, or have neither member, say nothing,
// so that webhooks that know nothing of Timerbus work as they are. An error means that the receiver
// wanted to say something and it is unclear what.
//
// Names are matched exactly (encoding/json's struct fields would match in any case). A null
// nextExecuteAt is an absent one, because serialisers write it for an unset field; a null ok is not a
// boolean: guessing would mean guessing success.
func parseReply(body []byte) (reply, error) {
	// Some serialisers begin with a byte order mark, which JSON does not have: "not ok" is meant all the same.
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff")))
	if len(body) == 0 || body[0] != '{' {
		return reply{}, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return reply{}, nil //nolint:nilerr // a body that is not JSON is an ordinary webhook's answer.
	}
	var r reply
	if ok, given := members["ok"]; given {
		switch string(ok) {
		case "true":
		case "false":
			r.notOK = true
		default:
			return reply{}, timer.Invalid("ok", []byte(ok), "true or false")
		}
	}
	next, given := members["nextExecuteAt"]
	if !given || string(next) == "null" {
		return r, nil
	}
	var text string
	if err := json.Unmarshal(next, &text); err != nil {
		return reply{}, timer.Invalid("nextExecuteAt", []byte(next), "an RFC 3339 time in quotes")
	}
	at, err := timer.ParseMillis(text)
	if err != nil {
		return reply{}, timer.Invalid("nextExecuteAt", text, "an RFC 3339 time such as 2030-01-31T09:00:00Z")
	}
	r.again, r.at = true, at
	return r, nil
}
