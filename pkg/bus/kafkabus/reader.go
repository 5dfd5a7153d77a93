package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/pkg/bus"
)

// reader fetches a topic's partitions from the offsets that the sessions request, independent of the group client's
// offsets.
//
// Only the polling loop changes the fetched partitions and offsets, between two polls. A poll that begins after a
// feed was moved therefore returns no records from before the move.
type reader struct {
	client *kgo.Client
	topic  string
	// The number of records and bytes that a feed may have before its partition is paused.
	high, highBytes int

	wake chan struct{} // orders are waiting

	mu     sync.Mutex
	orders []func()
	feeds  map[int32]*feed // used by the loop; guarded for close
}

// feed has the fetched records of one partition until its session reads them.
type feed struct {
	reader    *reader
	partition int32
	arrived   chan struct{} // has at most one token, after records or an error arrived

	mu      sync.Mutex
	records []*kgo.Record
	bytes   int // size of the records
	err     error
	paused  bool
	closed  bool
}

func newReader(o *Options, topic string, spec *bus.Spec) (*reader, error) {
	client, err := o.client(
		// Partitions are added and removed; a consumer without any at its start would not poll.
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{}),
		// The session decides from which offset to continue, never the client.
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		// A partition that is added or resumed waits for the running fetch.
		kgo.FetchMaxWait(fetchWait),
		kgo.FetchMaxPartitionBytes(maxBatch),
		kgo.FetchMaxBytes(fetchMaxBytes),
	)
	if err != nil {
		return nil, err
	}
	return &reader{
		client: client,
		topic:  topic,
		high:   max(4*spec.MaxInFlight, 1024), highBytes: spec.MaxBytes,
		wake:  make(chan struct{}, 1),
		feeds: make(map[int32]*feed),
	}, nil
}

// run polls until ctx ends.
func (r *reader) run(ctx context.Context) {
	defer r.client.Close()
	for ctx.Err() == nil {
		poll, cancel := context.WithCancel(ctx)
		waited := make(chan struct{})
		go func() {
			defer close(waited)
			select {
			case <-r.wake:
				cancel()
			case <-poll.Done():
			}
		}()
		fetches := r.client.PollFetches(poll)
		cancel()
		<-waited
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if f := r.feeds[p.Partition]; f != nil && p.Topic == r.topic {
				f.take(p.Records, p.Err)
			}
		})
		r.obey()
	}
	// No orders run after this; report the end to the sessions that still wait.
	r.obey()
	for _, f := range r.feeds {
		f.take(nil, context.Canceled)
	}
}

func (r *reader) obey() {
	r.mu.Lock()
	orders := r.orders
	r.orders = nil
	r.mu.Unlock()
	for _, do := range orders {
		do()
	}
}

func (r *reader) order(do func()) {
	r.mu.Lock()
	r.orders = append(r.orders, do)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// open begins to read a partition at an offset.
func (r *reader) open(partition int32, at int64) *feed {
	f := &feed{reader: r, partition: partition, arrived: make(chan struct{}, 1)}
	r.order(func() {
		r.feeds[partition] = f
		f.place(at)
	})
	return f
}

// seek continues at another offset. Records fetched before are dropped immediately.
func (f *feed) seek(at int64) {
	f.mu.Lock()
	f.records, f.bytes, f.closed = nil, 0, true // until the loop has moved the feed
	f.mu.Unlock()
	f.reader.order(func() {
		if f.reader.feeds[f.partition] == f {
			f.place(at)
		}
	})
}

// place moves the feed to an offset. Only the loop calls it.
func (f *feed) place(at int64) {
	r := f.reader
	one := map[string][]int32{r.topic: {f.partition}}
	r.client.RemoveConsumePartitions(one)
	f.mu.Lock()
	f.records, f.bytes, f.err, f.closed, f.paused = nil, 0, nil, false, false
	f.mu.Unlock()
	r.client.ResumeFetchPartitions(one)
	r.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{r.topic: {f.partition: kgo.NewOffset().At(at)}})
}

func (f *feed) close() {
	f.mu.Lock()
	f.records, f.bytes, f.closed = nil, 0, true
	f.mu.Unlock()
	r := f.reader
	r.order(func() {
		if r.feeds[f.partition] == f {
			delete(r.feeds, f.partition)
			r.client.RemoveConsumePartitions(map[string][]int32{r.topic: {f.partition}})
		}
	})
}

// take adds fetched records to the feed. Only the loop calls it.
func (f *feed) take(records []*kgo.Record, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.records = append(f.records, records...)
	for _, record := range records {
		f.bytes += size(record)
	}
	if err != nil && f.err == nil && !harmless(err) {
		f.err = fmt.Errorf("fetch partition %d of %s: %w", f.partition, f.reader.topic, err)
	}
	if (len(f.records) > f.reader.high || f.bytes > f.reader.highBytes) && !f.paused {
		f.paused = true
		f.reader.client.PauseFetchPartitions(map[string][]int32{f.reader.topic: {f.partition}})
	}
	f.signal()
}

// harmless reports whether an error is only informational: the client retries.
func harmless(err error) bool {
	_, loss := errors.AsType[*kgo.ErrDataLoss](err)
	return loss || kerr.IsRetriable(err) && !gone(err)
}

// next returns the next record, or nil if there is none yet. Records fetched before an error precede the error.
func (f *feed) next() (*kgo.Record, error) {
	f.mu.Lock()
	if len(f.records) == 0 {
		defer f.mu.Unlock()
		return nil, f.err
	}
	record := f.records[0]
	f.records[0] = nil
	f.records = f.records[1:]
	f.bytes -= size(record)
	resume := f.paused && len(f.records) <= f.reader.high/2 && f.bytes <= f.reader.highBytes/2
	if resume {
		f.paused = false
	}
	f.mu.Unlock()
	if resume {
		f.reader.client.ResumeFetchPartitions(map[string][]int32{f.reader.topic: {f.partition}})
	}
	return record, nil
}

func (f *feed) signal() {
	select {
	case f.arrived <- struct{}{}:
	default:
	}
}
