package natsbus

import (
	"fmt"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// HeaderKey is the header with a message's key. Messages of foreign publishers may lack it.
const HeaderKey = "Timerbus-Key"

// headerRoom is the most that NATS adds to a message's headers, in bytes: the version line, the names of Timerbus's
// headers, and a separator for each.
const headerRoom = 256

// subject returns the subject to which messages of a partition are published.
func (o *Options) subject(topic bus.Topic, p shard.Partition) string {
	if name, own := topic.OwnName(); own {
		return name
	}
	return o.Prefix + "." + string(topic) + "." + strconv.Itoa(int(p))
}

// subjects returns the subjects from which messages of a partition are read. Foreign publishers of commands may omit
// the partition, which means partition 0.
func (o *Options) subjects(topic bus.Topic, p shard.Partition) []string {
	if topic == bus.Commands && p == 0 {
		return []string{o.Prefix + "." + string(topic), o.subject(topic, p)}
	}
	return []string{o.subject(topic, p)}
}

// partitionOf reads the partition from a subject; 0 if there is none.
func partitionOf(subject string) shard.Partition {
	n, err := strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:])
	if err != nil {
		return 0
	}
	return shard.Partition(n)
}

// reserved reports whether a header name controls the server: with Nats-Expected-Last-Sequence it would reject the
// message, with Nats-TTL it would delete it. encode drops such names from Message.Headers, because a publisher that
// forwards a consumed message's headers does not intend their effects.
func reserved(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	return strings.HasPrefix(name, "Nats-") || name == HeaderKey
}

// encode returns the NATS message. The body is shared, because the connection copies it.
func (o *Options) encode(topic bus.Topic, m *bus.Message) *nats.Msg {
	out := &nats.Msg{Subject: o.subject(topic, m.Partition), Data: m.Body}
	if len(m.Headers) == 0 && m.Key == "" && m.ID == "" {
		return out
	}
	out.Header = make(nats.Header, len(m.Headers)+2)
	for name, value := range m.Headers {
		if !reserved(name) {
			out.Header[name] = []string{value}
		}
	}
	if m.Key != "" {
		out.Header[HeaderKey] = []string{m.Key}
	}
	if m.ID != "" {
		out.Header[nats.MsgIdHdr] = []string{m.ID}
	}
	return out
}

// decode returns the message of a received NATS message. The delivery owns its body and headers.
func decode(in *nats.Msg, p shard.Partition) bus.Message {
	m := bus.Message{Partition: p, Body: in.Data}
	for name, values := range in.Header {
		switch {
		case len(values) == 0:
		case name == HeaderKey:
			m.Key = values[0]
		case name == nats.MsgIdHdr:
			m.ID = values[0]
		case !reserved(name):
			if m.Headers == nil {
				m.Headers = make(map[string]string, len(in.Header))
			}
			m.Headers[name] = values[0]
		}
	}
	return m
}

// check returns an error for messages that the bus can never accept.
func (b *Bus) check(topic bus.Topic, messages []bus.Message) error {
	if err := handle.Check(topic, messages, b.opts.Partitions, b.opts.checkOwn); err != nil {
		return err
	}
	limit := b.nc.MaxPayload()
	for i := range messages {
		m := &messages[i]
		wire := m.Size() + headerRoom + len(m.ID) + len(m.Headers)*len(": \r\n")
		if limit > 0 && int64(wire) > limit {
			return fmt.Errorf("publish to %s: message %d (key %q) has %d bytes with headers, the server's max_payload is %d: %w",
				topic, i, m.Key, wire, limit, bus.ErrTooLarge)
		}
	}
	return nil
}
