package kafkabus_test

import (
	"bytes"
	"maps"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/pkg/bus"
)

// TestVectorsLieOnKafkaAsPinned: a client without Timerbus reads every public message that Timerbus publishes, and
// Timerbus reads every one that the client publishes. Key, headers and value must equal the golden vectors, without
// additions.
func TestVectorsLieOnKafkaAsPinned(t *testing.T) {
	cluster := fake(t)
	o := fakeOptions(cluster)
	b := connect(t, o)
	ours := consume(t, b, ordered)
	other, err := kgo.NewClient(
		kgo.SeedBrokers(o.Brokers...), kgo.ConsumeTopics(o.Prefix+".fired"), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.DefaultProduceTopic(o.Prefix+".commands"),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, v := range enginetest.Vectors(t, "../../../schemas/testdata", enginetest.Binary) { // on Kafka the body is the data
		name, key := v.Name, v.Headers["ce_subject"]
		m := bus.Message{Key: key, ID: "1", Headers: v.Headers, Body: v.Body}
		if _, err := b.Publish(t.Context(), bus.Fired, m); err != nil {
			t.Fatal(err)
		}
		fetches := other.PollRecords(t.Context(), 1)
		if err := fetches.Err(); err != nil || fetches.NumRecords() != 1 {
			t.Fatalf("%s: %d records, %v", name, fetches.NumRecords(), err)
		}
		record := fetches.Records()[0]
		headers := map[string]string{}
		for _, h := range record.Headers {
			headers[h.Key] = string(h.Value)
		}
		if string(record.Key) != key || !maps.Equal(headers, m.Headers) || len(record.Headers) != len(headers) || !bytes.Equal(record.Value, m.Body) {
			t.Errorf("%s: others read key %q, headers %v, value %s", name, record.Key, record.Headers, record.Value)
		}
		record.Topic = ""
		if err := other.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatal(err)
		}
		d := ours.Next(t)
		if d.Key != key || !maps.Equal(d.Headers, m.Headers) || !bytes.Equal(d.Body, m.Body) {
			t.Errorf("%s: we read key %q, headers %v, body %s", name, d.Key, d.Headers, d.Body)
		}
		d.Ack()
	}
}
