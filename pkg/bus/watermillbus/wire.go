package watermillbus

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
)

const (
	// MetadataKey is the metadata entry with a message's key: messages with the same key keep their order. On a
	// received message it is the key that the message had on the bus. Without a key it is absent.
	MetadataKey = "timerbus_key"

	// headerUUID carries a message's UUID, under the name that Watermill's Kafka and NATS Pub/Subs use.
	headerUUID = "_watermill_message_uuid"
	// headerMetadata carries, as a URL query, the metadata entries that cannot be separate headers.
	headerMetadata = "_timerbus_metadata"
)

// encode converts a Watermill message to a bus message.
func encode(key string, m *message.Message) (bus.Message, error) {
	out := bus.Message{Key: key, Headers: make(map[string]string, len(m.Metadata)+1), Body: m.Payload}
	if !plain(m.UUID) {
		return bus.Message{}, fmt.Errorf("message UUID %.100q cannot be a header's value", m.UUID)
	}
	if m.UUID != "" {
		out.Headers[headerUUID] = m.UUID
	}
	var rest url.Values
	for name, value := range m.Metadata {
		switch {
		case name == MetadataKey:
		case token(name) && plain(value) && !taken(name):
			out.Headers[name] = value
		default:
			if rest == nil {
				rest = make(url.Values)
			}
			rest.Set(name, value)
		}
	}
	if rest != nil {
		out.Headers[headerMetadata] = rest.Encode()
	}
	return out, nil
}

// decode converts a delivery to a Watermill message. If the message was not published through Watermill, its UUID is
// the id of its event, its message ID or its position, which are the same at each delivery.
func decode(name string, d *bus.Delivery) *message.Message {
	out := message.NewMessage(d.Headers[headerUUID], bytes.Clone(d.Body))
	for header, value := range d.Headers {
		switch header {
		case headerUUID:
		case headerMetadata:
			rest, err := url.ParseQuery(value)
			if err != nil { // another publisher's header
				out.Metadata.Set(header, value)
				continue
			}
			for name := range rest {
				out.Metadata.Set(name, rest.Get(name))
			}
		default:
			out.Metadata.Set(header, value)
		}
	}
	if d.Key != "" {
		out.Metadata.Set(MetadataKey, d.Key)
	}
	for _, id := range []string{d.Headers["ce_id"], d.Headers["ce-id"], d.ID} {
		if out.UUID == "" {
			out.UUID = id
		}
	}
	if out.UUID == "" {
		out.UUID = fmt.Sprintf("%s/%d/%d/%d", name, d.Position.Partition, d.Position.Epoch, d.Position.Offset)
	}
	return out
}

// taken reports whether the name has a meaning for the bus or for this package.
func taken(name string) bool {
	lower := strings.ToLower(name)
	return lower == headerUUID || lower == headerMetadata || lower == "timerbus-key" || strings.HasPrefix(lower, "nats-")
}

// token reports whether every bus accepts a name as a header name: the tokens of HTTP.
func token(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return name != ""
}

// plain reports whether every bus transports the value as a header without changing it.
func plain(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c == 0x7f {
			return false
		}
	}
	return utf8.ValidString(value) && strings.TrimSpace(value) == value
}
