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

// MetadataKey is the metadata with the message's key, namespace/id of its timer unless the timer says otherwise:
// what a Pub/Sub with partitions should choose them by.
const MetadataKey = watermillbus.MetadataKey

// correlationHeader is where Format has the correlation id.
const correlationHeader = "ce_correlationid"

// outgoing lays a message of the service into one of Watermill's. Publishers may keep what they are given, so
// nothing is shared.
func (s *Sink) outgoing(topic bus.Topic, m *bus.Message) *message.Message {
	id := watermill.NewUUID()
	if m.ID != "" {
		// What is published again has the same UUID again; 36 characters, as SQL tables of messages have it.
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

// incoming is the reverse. The message's UUID becomes the id that an answer falls back on.
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
