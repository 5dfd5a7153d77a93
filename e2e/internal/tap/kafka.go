package tap

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/event"
)

// Kafka reads one topic from its beginning. Each read continues after the last one.
type Kafka struct {
	topic  string
	client *kgo.Client

	mu   sync.Mutex
	all  []Message
	next map[int32]int64 // by partition
}

// ConnectKafka connects to the Kafka topic of a subject as written in the documentation.
func ConnectKafka(brokers []string, prefix, subject string) (*Kafka, error) {
	topic := strings.Replace(strings.TrimSuffix(subject, ".>"), "timerbus", prefix, 1)
	start := kgo.NewOffset().AtStart()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic),
		kgo.ConsumeStartOffset(start), kgo.ConsumeResetOffset(start), kgo.FetchMaxWait(200*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", brokers, err)
	}
	return &Kafka{topic: topic, client: client, next: map[int32]int64{}}, nil
}

// Close ends the connection.
func (k *Kafka) Close() { k.client.Close() }

// ReadAll returns all messages of the topic from its beginning until now. Messages of earlier reads come first, in the
// same order.
func (k *Kafka) ReadAll(ctx context.Context, _ string) ([]Message, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ends, err := k.ends(ctx)
	if err != nil {
		return nil, err
	}
	for !k.read(ends) {
		fetches := k.client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read %s: %w after %d messages", k.topic, ctx.Err(), len(k.all))
		}
		fetches.EachRecord(func(r *kgo.Record) {
			headers := make(map[string]string, len(r.Headers))
			for _, h := range r.Headers {
				headers[h.Key] = string(h.Value)
			}
			m := Message{At: time.Now(), Subject: r.Topic}
			m.Event, m.Err = event.Decode(headers, r.Value)
			k.all = append(k.all, m)
			k.next[r.Partition] = r.Offset + 1
		})
	}
	return slices.Clip(k.all), nil
}

// ends retries while a broker that is gone has not been replaced.
func (k *Kafka) ends(ctx context.Context) (kadm.ListedOffsets, error) {
	for {
		ends, err := kadm.NewClient(k.client).ListEndOffsets(ctx, k.topic)
		if err == nil {
			err = ends.Error()
		}
		if err == nil {
			return ends, nil
		}
		again := time.NewTimer(100 * time.Millisecond)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, fmt.Errorf("end of %s: %w", k.topic, err)
		}
	}
}

// read reports whether everything up to the ends was read.
func (k *Kafka) read(ends kadm.ListedOffsets) bool {
	all := true
	ends.Each(func(end kadm.ListedOffset) { all = all && k.next[end.Partition] >= end.Offset })
	return all
}
