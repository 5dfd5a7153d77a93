package watermillsink

import (
	"bytes"
	"maps"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/watermillbus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// MetadataKey is the metadata with the message's key: namespace/id of its timer, unless the timer has another key. A
// Pub/Sub with partitions should choose the partition by it.
const MetadataKey = watermillbus.MetadataKey

// correlationHeader is the header in which binary mode has the correlation id.
const correlationHeader = "ce_correlationid"

// outgoing converts a message of the service to a Watermill message. It copies all data, because Publishers may keep
// the message.
func (s *Sink) outgoing(topic bus.Topic, m *bus.Message) *message.Message {
	id := watermill.NewUUID()
	if m.ID != "" {
		// A message that is published again has the same UUID. It has 36 characters, the length in SQL tables of
		// messages.
		id = timer.UUIDOf(s.TopicName(topic), m.ID).String()
	}
	out := message.NewMessage(id, bytes.Clone(m.Body))
	maps.Copy(out.Metadata, m.Headers)
	out.Metadata.Set(MetadataKey, m.Key)
	if c := m.Headers[correlationHeader]; c != "" {
		middleware.SetCorrelationID(c, out)
	}
	return out
}

// incoming converts a Watermill message to a bus message. The message's UUID becomes the ID that a reply uses if the
// command has none.
func incoming(m *message.Message) bus.Message {
	id := m.UUID
	if id == "" {
		id = watermill.NewUUID()
	}
	in := bus.Message{Key: m.Metadata.Get(MetadataKey), ID: id, Headers: map[string]string{}, Body: bytes.Clone(m.Payload)}
	maps.Copy(in.Headers, m.Metadata)
	if in.Headers[correlationHeader] == "" {
		if c := middleware.MessageCorrelationID(m); c != "" {
			in.Headers[correlationHeader] = c
		}
	}
	return in
}
