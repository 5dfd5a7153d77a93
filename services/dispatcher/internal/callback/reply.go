package callback

import (
	"bytes"
	"encoding/json"

	"github.com/timerbus/timerbus/pkg/timer"
)

// reply is the content of a 2xx body. The zero value adds nothing to the status.
type reply struct {
	// notOK: the body has ok, and it is false.
	notOK bool
	// rescheduled: the body has nextExecuteAt, with the time in at.
	rescheduled bool
	at          timer.Millis
}

// parseReply parses a 2xx body. It returns the zero value for bodies that are not a JSON object or have neither member,
// so that webhooks that know nothing of Timerbus work unchanged. An error means that a member is present and has no
// valid value.
//
// Names are matched exactly (encoding/json's struct fields would match in any case). A null nextExecuteAt counts as
// absent, because serialisers write null for an unset field. A null ok is an error, because taking it for success would
// be a guess.
func parseReply(body []byte) (reply, error) {
	// Some serialisers begin with a byte order mark, which is not valid JSON. Its "ok": false must still count.
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
	r.rescheduled, r.at = true, at
	return r, nil
}
