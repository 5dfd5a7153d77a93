package natsbus

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// The due queue is one or more streams, so that on a cluster no single stream leader carries all due events
// (docs/decisions/0038). Stream 0 is <prefix>-due with the subjects <prefix>.due.<partition>, the only stream of
// earlier releases. Stream k is <prefix>-due-<k> with the subjects <prefix>.due.<k>.<partition>. A process publishes
// partition p to stream p mod QueueStreams, the home of p. It reads all existing streams, because processes with a
// different QueueStreams publish to other streams, and so did this cluster before the setting changed.

// streamsLabel is the metadata of stream 0 with the largest QueueStreams that any process of the cluster has had. The
// value never decreases. Without the label there is one stream.
const streamsLabel = "timerbus-due-streams"

// MaxQueueStreams is the largest QueueStreams.
const MaxQueueStreams = 16

// rankStep is the distance between the topic epochs of a partition's messages in its home stream and in other
// streams. The epochs of a stream begin with its creation time in nanoseconds, so the epochs of two streams differ by
// less than rankStep (73 years).
const rankStep = 1 << 61

// dueQueue is the streams of the due queue.
type dueQueue struct {
	homes int // QueueStreams

	mu      sync.Mutex
	streams []*stream // by number; streams are only added

	// early counts the running publishes to stream 0 of partitions whose home had no consumer yet.
	early atomic.Int64
}

// queueStream returns the name of stream number k of the due queue.
func (o *Options) queueStream(k int) string {
	if k == 0 {
		return o.stream(bus.Due)
	}
	return o.stream(bus.Due) + "-" + strconv.Itoa(k)
}

// queueSubject is the part of the subjects of stream number k before the partition.
func (o *Options) queueSubject(k int) string {
	if k == 0 {
		return o.Prefix + "." + string(bus.Due) + "."
	}
	return o.Prefix + "." + string(bus.Due) + "." + strconv.Itoa(k) + "."
}

// grow adds streams until there are n.
func (q *dueQueue) grow(o *Options, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for k := len(q.streams); k < min(n, MaxQueueStreams); k++ {
		q.streams = append(q.streams, &stream{name: o.queueStream(k), queue: true, number: k, subjects: o.queueSubject(k)})
	}
}

// all returns the streams known now.
func (q *dueQueue) all() []*stream {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clip(q.streams)
}

// home returns the stream number of a partition's home.
func (q *dueQueue) home(p shard.Partition) int { return int(p) % q.homes }

// foreign reports whether this process does not publish to the stream. The process does not recreate such a stream if
// it is gone.
func (q *dueQueue) foreign(s *stream) bool { return s.number >= q.homes }

// routes returns the stream of each message. The caller calls done when the publish has ended.
//
// A home stream is not used before a consumer has been created for it, because dispatchers of an earlier release read
// stream 0 only.
func (q *dueQueue) routes(messages []bus.Message) (routes []*stream, done func()) {
	routes = make([]*stream, len(messages))
	if q.route(routes, messages) {
		return routes, func() {}
	}
	q.early.Add(1) // before the flags are read again, so that a floor that begins later sees this publish
	if q.route(routes, messages) {
		q.early.Add(-1)
		return routes, func() {}
	}
	return routes, func() { q.early.Add(-1) }
}

// route sets routes, and reports whether all of them are home streams.
func (q *dueQueue) route(routes []*stream, messages []bus.Message) bool {
	streams, atHome := q.all(), true
	for i := range messages {
		s := streams[q.home(messages[i].Partition)]
		if s.number > 0 && !s.consumed.Load() {
			s, atHome = streams[0], false
		}
		routes[i] = s
	}
	return atHome
}

// ranked converts a position in a stream to a position in the queue. For each partition, positions in streams of
// other processes come first, then those in stream 0, which is used until the home has a consumer, then those in the
// home. A floor in the home therefore means that no other stream has unacknowledged messages of the partition.
func (q *dueQueue) ranked(s *stream, at bus.Position) bus.Position {
	switch {
	case !s.queue:
	case s.number == q.home(at.Partition):
		at.Epoch += 2 * rankStep
	case s.number == 0:
		at.Epoch += rankStep
	}
	return at
}

// note updates the queue from the state of a stream.
func (b *Bus) note(s *stream, info *jetstream.StreamInfo) {
	if info.State.Consumers > 0 && !s.consumed.Swap(true) && s.number > 0 {
		b.log.Debug("due stream in use", "stream", s.name)
	}
	if s.number == 0 {
		b.queue.grow(&b.opts, labelled(&info.Config))
	}
}

// labelled returns the number of streams that stream 0 records.
func labelled(cfg *jetstream.StreamConfig) int {
	n, err := strconv.Atoi(cfg.Metadata[streamsLabel])
	if err != nil || n < 1 {
		return 1
	}
	return min(n, MaxQueueStreams)
}

// ensureQueue creates the missing streams of the due queue. Stream 0 must exist. The new streams have its settings,
// and the sizes of all streams add up to the previous size of the queue.
func (b *Bus) ensureQueue(ctx context.Context, made *madeStreams) error {
	return retry(ctx, func(ctx context.Context) error {
		found, err := b.js.Stream(ctx, b.opts.queueStream(0))
		if err != nil {
			return fmt.Errorf("create due streams: %w", err)
		}
		first := found.CachedInfo().Config
		before := labelled(&first)
		if before < b.opts.QueueStreams {
			if b.opts.given[first.Name] == 0 && first.MaxBytes > 0 {
				first.MaxBytes = first.MaxBytes * int64(before) / int64(b.opts.QueueStreams)
			}
			first.Metadata = maps.Clone(first.Metadata)
			first.Metadata[streamsLabel] = strconv.Itoa(b.opts.QueueStreams)
			b.log.Info("number of due streams changed", "streams", b.opts.QueueStreams, "before", before, "max_bytes", first.MaxBytes)
			if _, err := b.js.UpdateStream(ctx, first); err != nil {
				return fmt.Errorf("change stream %s: %w", first.Name, err)
			}
		}
		for k := 1; k < b.opts.QueueStreams; k++ {
			if err := b.tryStream(ctx, b.queueConfig(first, k), made); err != nil {
				return err
			}
			if k < before && before < b.opts.QueueStreams {
				if err := b.resize(ctx, b.opts.queueStream(k), first.MaxBytes); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// queueConfig returns the configuration of stream number k: that of stream 0, as it is on the server, with another
// name.
func (b *Bus) queueConfig(first jetstream.StreamConfig, k int) jetstream.StreamConfig {
	cfg := first
	cfg.Name, cfg.Subjects = b.opts.queueStream(k), []string{b.opts.queueSubject(k) + "*"}
	cfg.Metadata = maps.Clone(first.Metadata)
	maps.DeleteFunc(cfg.Metadata, func(name, _ string) bool {
		return name == streamsLabel || strings.HasPrefix(name, "_nats.") // set by the server
	})
	return cfg
}

// resize reduces a stream to a maximum size in bytes.
func (b *Bus) resize(ctx context.Context, name string, size int64) error {
	found, err := b.js.Stream(ctx, name)
	if err != nil {
		return fmt.Errorf("change stream %s: %w", name, err)
	}
	cfg := found.CachedInfo().Config
	if size <= 0 || cfg.MaxBytes <= size {
		return nil
	}
	cfg.MaxBytes = size
	if _, err := b.js.UpdateStream(ctx, cfg); err != nil {
		return fmt.Errorf("change stream %s: %w", name, err)
	}
	return nil
}

// lookForStreams finds streams that other processes have created. It writes the number of this process's streams
// again if another process, which changed stream 0 at the same time, has overwritten it.
func (b *Bus) lookForStreams(ctx context.Context) error {
	info, err := b.info(ctx, b.queue.all()[0])
	if err != nil || labelled(&info.Config) >= b.opts.QueueStreams {
		return err
	}
	b.restoring.Lock()
	defer b.restoring.Unlock()
	return b.ensureQueue(ctx, &madeStreams{})
}
