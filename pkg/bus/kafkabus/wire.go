package kafkabus

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// maxBatch is the largest batch in bytes, which a topic must accept: the largest message, and room for the
// framing of its headers and its batch.
const maxBatch = handle.MaxMessage + 64<<10

// position converts Kafka's offset, which starts at 0, to the contract's, which starts at 1.
func position(p shard.Partition, epoch, kafkaOffset int64) bus.Position {
	return bus.Position{Partition: p, Epoch: epoch, Offset: kafkaOffset + 1}
}

// encode returns the record. It copies key, body and headers, because the client may still send the record after
// Publish has returned with a timeout.
func (o *Options) encode(topic bus.Topic, m *bus.Message) *kgo.Record {
	out := &kgo.Record{
		Topic:     o.topic(topic),
		Partition: int32(m.Partition),
		Value:     slices.Clone(m.Body),
	}
	if m.Key != "" {
		out.Key = []byte(m.Key)
	}
	if len(m.Headers) > 0 {
		out.Headers = make([]kgo.RecordHeader, 0, len(m.Headers))
		for name, value := range m.Headers {
			out.Headers = append(out.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
		}
	}
	return out
}

// size returns the record's Message.Size.
func size(r *kgo.Record) int {
	n := len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return n
}

// decode returns the message of a record. If foreign publishers send several headers of one name, the first one
// counts.
func decode(in *kgo.Record) bus.Message {
	m := bus.Message{Partition: shard.Partition(in.Partition), Key: string(in.Key), Body: in.Value}
	if len(in.Headers) > 0 {
		m.Headers = make(map[string]string, len(in.Headers))
		for _, h := range in.Headers {
			if _, ok := m.Headers[h.Key]; !ok {
				m.Headers[h.Key] = string(h.Value)
			}
		}
	}
	return m
}

// taken returns when the broker stored the record; zero if the topic keeps the publisher's clock instead.
func taken(in *kgo.Record) time.Time {
	const logAppendTime = 1
	if in.Attrs.TimestampType() != logAppendTime {
		return time.Time{}
	}
	return in.Timestamp
}
