package watermillbus

import (
	"maps"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/twmb/franz-go/pkg/kgo" //nolint:depguard // partitions are compared with those that Kafka's clients choose

	"github.com/timerbus/timerbus/pkg/bus"
)

func arriving(m bus.Message) *bus.Delivery {
	return &bus.Delivery{Message: m, Position: bus.Position{Partition: 3, Epoch: 7, Offset: 9}}
}

func TestMetadataComesBackAsItWas(t *testing.T) {
	sent := message.NewMessage("uuid-1", []byte{0, 0xff, '\n'})
	for name, value := range map[string]string{
		"ce_type": "t", "Mixed-Case": "x y", "ünïcode": "name", "value": "ünïcode", "empty": "",
		"colon: in": "name", "": "no name", "lines": "a\r\nNats-Msg-Id: b", " edges ": "  both  ", "tab": "\tx", "nul": "\x00",
		"Nats-Expected-Last-Sequence": "5", "Timerbus-Key": "not the key", headerUUID: "not the uuid", headerMetadata: "a=b",
		"bytes": "\xff\xfe",
	} {
		sent.Metadata.Set(name, value)
	}
	wire, err := encode("k", sent)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range wire.Headers {
		if !token(name) || !plain(value) {
			t.Errorf("header %q: %q is not one that every bus carries", name, value)
		}
	}
	if wire.Key != "k" || wire.Headers["ce_type"] != "t" || wire.Headers["_watermill_message_uuid"] != "uuid-1" {
		t.Errorf("key %q and headers %v", wire.Key, wire.Headers)
	}
	got := decode("topic", arriving(wire))
	want := maps.Clone(sent.Metadata)
	want[MetadataKey] = "k"
	if got.UUID != sent.UUID || string(got.Payload) != string(sent.Payload) || !maps.Equal(got.Metadata, want) {
		t.Errorf("got %q %q %q, want %q %q %q", got.UUID, got.Payload, got.Metadata, sent.UUID, sent.Payload, want)
	}
}

// TestMessagesOfOthersHaveAUUID: the UUID must be the same at every delivery, so that deduplicating middleware works.
func TestMessagesOfOthersHaveAUUID(t *testing.T) {
	for want, m := range map[string]bus.Message{
		"mine":             {ID: "id", Headers: map[string]string{headerUUID: "mine", "ce_id": "event"}},
		"event on Kafka":   {ID: "id", Headers: map[string]string{"ce_id": "event on Kafka"}},
		"event on NATS":    {ID: "id", Headers: map[string]string{"ce-id": "event on NATS"}},
		"id":               {ID: "id"},
		"timerbus.x/3/7/9": {},
	} {
		if got := decode("timerbus.x", arriving(m)).UUID; got != want {
			t.Errorf("UUID %q, want %q", got, want)
		}
	}
}

func TestUUIDThatNoHeaderCarriesIsRefused(t *testing.T) {
	if _, err := encode("", message.NewMessage("a\nb", nil)); err == nil {
		t.Error("a UUID of two lines was taken")
	}
	if m, err := encode("", message.NewMessage("", nil)); err != nil || len(m.Headers) != 0 {
		t.Errorf("an empty UUID: %v, headers %v", err, m.Headers)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("_timerbus_metadata", "a=b&c=%zz", "key")
	f.Add("_watermill_message_uuid", "", "")
	f.Add("name", "value", "key")
	f.Fuzz(func(t *testing.T, name, value, key string) {
		m := decode("topic", arriving(bus.Message{Key: key, Headers: map[string]string{name: value}}))
		if m.UUID == "" || m.Metadata == nil {
			t.Errorf("UUID %q, metadata %v", m.UUID, m.Metadata)
		}
		// A received message can be published again with the same content; only its UUID may be invalid as a header.
		if wire, err := encode(m.Metadata.Get(MetadataKey), m); err == nil {
			if again := decode("topic", arriving(wire)); again.UUID != m.UUID || !maps.Equal(again.Metadata, m.Metadata) {
				t.Errorf("again %q %q, want %q %q", again.UUID, again.Metadata, m.UUID, m.Metadata)
			}
		}
	})
}

// TestCommandsLieWhereKafkasClientsPutThem: commands for one timer must be in one partition, whichever client
// publishes them.
func TestCommandsLieWhereKafkasClientsPutThem(t *testing.T) {
	const partitions = 16
	theirs := kgo.StickyKeyPartitioner(nil).ForTopic("timerbus.commands")
	used := map[int]bool{}
	for _, key := range []string{"a", "default/order-17", "default/order-18", "ns/ü", "abc", "abcd", "abcde", "x/yz", "ns/a longer id than others"} {
		ours := partitionOf(key, partitions)
		if want := theirs.Partition(&kgo.Record{Key: []byte(key)}, partitions); ours != want {
			t.Errorf("key %q is on partition %d, Kafka's clients put it on %d", key, ours, want)
		}
		used[ours] = true
	}
	if len(used) < 4 {
		t.Errorf("9 keys use %d partitions", len(used))
	}
	if p := partitionOf("", partitions); p != 0 {
		t.Errorf("without a key it is %d, want 0", p)
	}
}
