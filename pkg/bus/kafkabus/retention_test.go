package kafkabus_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

// realAdmin returns an admin client of real brokers.
func realAdmin(t *testing.T, brokers []string) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

// TestTopicSettingsKeepTheDocumentedLimits: brokers delete whole segments only, so the largest size of a partition is
// retention.bytes and one segment, and the largest age is retention.ms and the time that one segment spans.
func TestTopicSettingsKeepTheDocumentedLimits(t *testing.T) {
	const gib = 1 << 30
	const unbounded = 1<<63 - 1 // retention.bytes is -1
	opts := kafkabus.Options{Brokers: brokers(t, "kafka"), Prefix: prefix()}
	remove(t, opts.Brokers, opts.Prefix)
	b := connect(t, opts)
	own := opts.Prefix + "-own"
	ownTopic(t, b, own)
	limits := map[string]struct {
		bytes int64 // of a partition
		age   time.Duration
	}{own: {gib, 27 * time.Hour}}
	for _, topic := range bus.Topics() {
		limit := limits[own]
		limit.bytes = gib / 16
		switch topic {
		case bus.Commands:
			limit.bytes, limit.age = unbounded, (7*24+21)*time.Hour
		case bus.Due:
			limit.bytes = 4 * gib / 16
		case bus.Shards:
			limit.age = 20 * time.Minute
		default:
		}
		limits[opts.Prefix+"."+string(topic)] = limit
	}
	for topic, limit := range limits {
		described, err := realAdmin(t, opts.Brokers).DescribeTopicConfigs(t.Context(), topic)
		if err != nil || described[0].Err != nil {
			t.Fatalf("%s: %v, %v", topic, err, described)
		}
		value := map[string]int64{}
		for _, c := range described[0].Configs {
			value[c.Key], _ = strconv.ParseInt(c.MaybeValue(), 10, 64)
		}
		if most := value["retention.bytes"] + value["segment.bytes"]; (value["retention.bytes"] <= 0) != (limit.bytes == unbounded) || most > limit.bytes {
			t.Errorf("%s: a partition grows to %d bytes (retention %d, segment %d), want at most %d",
				topic, most, value["retention.bytes"], value["segment.bytes"], limit.bytes)
		}
		if most := time.Duration(value["retention.ms"]+value["segment.ms"]) * time.Millisecond; most > limit.age {
			t.Errorf("%s: messages get %v old (retention %d ms, segment %d ms), want at most %v",
				topic, most, value["retention.ms"], value["segment.ms"], limit.age)
		}
		if value["segment.bytes"] <= value["max.message.bytes"] {
			t.Errorf("%s: a segment of %d bytes does not hold a message of %d", topic, value["segment.bytes"], value["max.message.bytes"])
		}
	}
}

// TestRetentionHoldsUnderTraffic fills a topic beyond its size limit, and keeps publishing to another beyond its
// maximum age. The active segment always has new messages; it must not keep old ones.
func TestRetentionHoldsUnderTraffic(t *testing.T) {
	opts := kafkabus.Options{
		Brokers: brokers(t, "kafka"), Prefix: prefix(), Partitions: 1, LogMaxBytes: 16 << 20, LogMaxAge: 4 * time.Second,
	}
	remove(t, opts.Brokers, opts.Prefix)
	b, admin := connect(t, opts), realAdmin(t, opts.Brokers)
	start := func(topic bus.Topic) int64 {
		listed, err := admin.ListStartOffsets(t.Context(), opts.Prefix+"."+string(topic))
		if err != nil {
			t.Fatal(err)
		}
		first, _ := listed.Lookup(opts.Prefix+"."+string(topic), 0)
		return first.Offset
	}
	t.Run("age", func(t *testing.T) {
		began := time.Now()
		for start(bus.Results) == 0 {
			if time.Since(began) > patience {
				t.Fatalf("after %v of traffic nothing was deleted, want messages older than %v gone", time.Since(began), opts.LogMaxAge)
			}
			publish(t, b, bus.Results, "x")
			time.Sleep(20 * time.Millisecond) // a load of about 50 messages a second
		}
		if age := time.Since(began); age < opts.LogMaxAge {
			t.Errorf("the first message was deleted after %v, want it kept for %v", age, opts.LogMaxAge)
		}
	})
	t.Run("size", func(t *testing.T) {
		fired := opts.Prefix + "." + string(bus.Fired)
		forever := "-1"
		if _, err := admin.AlterTopicConfigs(t.Context(),
			[]kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &forever}}, fired); err != nil {
			t.Fatal(err)
		}
		body := make([]byte, 512<<10)
		random := rand.NewChaCha8([32]byte{})
		for range 96 {
			_, _ = random.Read(body) // does not compress
			publish(t, b, bus.Fired, string(body))
		}
		size := func(topic string) int64 {
			dirs, err := admin.DescribeAllLogDirs(t.Context(), kadm.TopicsSet{topic: {0: {}}})
			if err != nil {
				t.Fatal(err)
			}
			var bytes int64
			dirs.Each(func(d kadm.DescribedLogDir) {
				if p, ok := d.Topics.Lookup(topic, 0); ok {
					bytes = p.Size
				}
			})
			return bytes
		}
		for deadline := time.Now().Add(patience); size(fired) > opts.LogMaxBytes; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the topic has %d bytes, want at most %d", size(fired), opts.LogMaxBytes)
			}
		}
		if kept := size(fired); kept < opts.LogMaxBytes/2 {
			t.Errorf("only %d bytes are kept of %d", kept, opts.LogMaxBytes)
		}
	})
}
