package natsbus_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/shard"
)

// inStreams returns how many messages each stream of the due queue has.
func inStreams(t *testing.T, js jetstream.JetStream) map[string]uint64 {
	t.Helper()
	all := map[string]uint64{}
	names := js.StreamNames(t.Context(), jetstream.WithStreamListSubject("timerbus.due.>"))
	for name := range names.Name() {
		s, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = s.CachedInfo().State.Msgs
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// dispatch consumes the due queue until every stream has a consumer and the queue is empty.
func dispatch(tb bustest.T, opts natsbus.Options, group string) {
	tb.Helper()
	b, err := natsbus.Connect(tb.Context(), opts)
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	ctx, cancel := context.WithCancel(tb.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- b.Consume(ctx, bus.Spec{Topic: bus.Due, Group: group, Mode: bus.Queue},
			func(context.Context, shard.Partition) (bus.Session, error) {
				return &seen{bodies: map[string]int{}}, nil
			})
	}()
	eventually(tb, "the queue is consumed", func() error {
		floors, err := b.Floor(tb.Context(), bus.Due, group)
		for p, f := range floors {
			if f.Depth > 0 {
				return fmt.Errorf("partition %d: %+v", p, f)
			}
		}
		return errors.Join(err, b.Ready(bus.Due, group))
	})
	cancel()
	if err := errors.Join(<-ended, b.Close()); err != nil {
		tb.Fatalf("consume the queue: %v", err)
	}
}

// eachPartition returns a message for each of the first partitions.
func eachPartition(partitions int, body string) []bus.Message {
	messages := make([]bus.Message, partitions)
	for p := range messages {
		messages[p] = bus.Message{Partition: shard.Partition(p), Body: fmt.Append(nil, body, "/", p)}
	}
	return messages
}

func publishDue(t *testing.T, b *natsbus.Bus, messages ...bus.Message) []bus.Position {
	t.Helper()
	at, err := b.Publish(t.Context(), bus.Due, messages...)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func dueFloors(t *testing.T, b *natsbus.Bus) bus.Floors {
	t.Helper()
	floors, err := b.Floor(t.Context(), bus.Due, "g")
	if err != nil {
		t.Fatal(err)
	}
	return floors
}

// TestDueEventsAreDividedAmongStreams: each home stream gets its partitions once dispatchers read it. Dispatchers of
// an earlier release read stream 0 only.
func TestDueEventsAreDividedAmongStreams(t *testing.T) {
	server := startServer(t, embedded.Options{})
	_, js := raw(t, server)
	opts := natsbus.Options{InProcess: server, QueueStreams: 4, Partitions: 8, Logger: testserver.Log()}
	b := connectTo(t, opts)
	early := publishDue(t, b, eachPartition(8, "early")...)
	want := map[string]uint64{"timerbus-due": 8, "timerbus-due-1": 0, "timerbus-due-2": 0, "timerbus-due-3": 0}
	if got := inStreams(t, js); !maps.Equal(got, want) {
		t.Fatalf("without a consumer the messages are in %v, want %v", got, want)
	}
	dispatch(t, opts, "g")
	eventually(t, "the floors reach the ends", func() error {
		for p, f := range dueFloors(t, b) {
			if f.Floor != f.End || f.Depth != 0 || !early[p].Before(f.Floor) {
				return fmt.Errorf("partition %d: %+v after %+v", p, f, early[p])
			}
		}
		return nil
	})
	ends := dueFloors(t, b)
	later := publishDue(t, b, eachPartition(8, "later")...)
	want = map[string]uint64{"timerbus-due": 2, "timerbus-due-1": 2, "timerbus-due-2": 2, "timerbus-due-3": 2}
	if got := inStreams(t, js); !maps.Equal(got, want) {
		t.Errorf("the messages are in %v, want %v", got, want)
	}
	for p, f := range dueFloors(t, b) {
		if later[p].Before(ends[p].End) || !early[p].Before(later[p]) || !later[p].Before(f.End) || later[p].Before(f.Floor) || f.Depth != 2 {
			t.Errorf("partition %d: published at %+v and %+v, end before %+v, floor now %+v", p, early[p], later[p], ends[p].End, f)
		}
	}
}

// TestTheNumberOfDueStreamsChanges: after every change of the number, up and down, all messages are delivered, and no
// floor passes the end of the queue at a claim before the messages of the partition's earlier owner are acknowledged.
func TestTheNumberOfDueStreamsChanges(t *testing.T) {
	t.Parallel()
	const partitions = 8
	for name, messages := range map[string][]bus.Message{
		"all partitions": eachPartition(partitions, "m"),
		"one partition":  eachPartition(partitions, "m")[7:],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, embedded.Options{NoSync: true})
			opts := natsbus.Options{InProcess: server, Partitions: partitions, Logger: testserver.Log()}
			for _, number := range []int{1, 4, 2, 8, 3, 1} {
				opts.QueueStreams = number
				dispatch(t, opts, "g")
				publishDue(t, connectTo(t, opts), messages...)
				for _, next := range []int{1, 2, 4, 5, 8} {
					opts.QueueStreams = next
					floors := dueFloors(t, connectTo(t, opts))
					for _, m := range messages {
						if f := floors[m.Partition]; f.Depth == 0 || !f.Floor.Before(f.End) {
							t.Fatalf("published with %d streams, floor with %d: partition %d has %+v", number, next, m.Partition, f)
						}
					}
				}
				opts.QueueStreams = 3 // neither the old nor the new number
				drained(t, connectTo(t, opts), messages)
			}
		})
	}
}

// drained requires that the messages are delivered, and that the floors then pass the ends that they had before.
func drained(t *testing.T, b *natsbus.Bus, messages []bus.Message) {
	t.Helper()
	ends := dueFloors(t, b)
	in := make(enginetest.Inbox, 100)
	stop := consumeInto(t, b, bus.Due, bus.Queue, acking{in})
	defer stop()
	want, got := map[string]int{}, map[string]int{}
	for _, m := range messages {
		want[string(m.Body)]++
		got[string(in.Next(t).Body)]++
	}
	if !maps.Equal(got, want) {
		t.Fatalf("%v was delivered, want %v", got, want)
	}
	eventually(t, "the floors pass the ends", func() error {
		for p, f := range dueFloors(t, b) {
			if f.Floor.Before(ends[p].End) || f.Floor != f.End || f.Depth != 0 {
				return fmt.Errorf("partition %d: %+v, the end was %+v", p, f, ends[p].End)
			}
		}
		return nil
	})
}

// TestRunningProcessesReadStreamsThatAreAdded: during a change of the number, dispatchers with the old number read
// the streams of schedulers with the new one.
func TestRunningProcessesReadStreamsThatAreAdded(t *testing.T) {
	t.Parallel()
	server := startServer(t, embedded.Options{})
	_, js := raw(t, server)
	opts := natsbus.Times{LookEvery: 100 * time.Millisecond}.With(natsbus.Options{InProcess: server, Partitions: 8, Logger: testserver.Log()})
	old := connectTo(t, opts)
	in := consume(t, old, bus.Due, bus.Queue)
	publishDue(t, old, eachPartition(8, "old")...)
	for range 8 { // the process has opened the only stream
		in.Next(t)
	}
	opts.QueueStreams = 4
	b := connectTo(t, opts)
	eventually(t, "the new streams are in use", func() error {
		dueFloors(t, b)
		_, err := js.Consumer(t.Context(), "timerbus-due-3", "g")
		return err
	})
	dueFloors(t, b)
	publishDue(t, b, eachPartition(8, "new")...)
	for range 8 {
		in.Next(t)
	}
	// An operator deletes a stream that has no publisher.
	opts.QueueStreams = 1
	b = connectTo(t, opts)
	if err := js.DeleteStream(t.Context(), "timerbus-due-3"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the acknowledgements arrive", func() error {
		for p, f := range dueFloors(t, b) {
			if f.Floor != f.End {
				return fmt.Errorf("partition %d: floor %+v", p, f)
			}
		}
		return nil
	})
	publishDue(t, b, eachPartition(8, "left")...)
	for range 8 {
		in.Next(t)
	}
}

// holder keeps deliveries unacknowledged.
type holder struct {
	mu   sync.Mutex
	held []*bus.Delivery
}

func (h *holder) Deliver(_ context.Context, d *bus.Delivery) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = append(h.held, d)
	return nil
}

func (h *holder) Close(context.Context, error) error { return nil }

func (h *holder) take() (n map[shard.Partition]int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = map[shard.Partition]int{}
	for _, d := range h.held {
		n[d.Partition]++
	}
	return n
}

// TestABacklogOfOneStreamDelaysNoOther: streams have backlogs of 3,000 messages, 300 messages and 1 message. The test
// acknowledges only a few times as many messages as the session may have in flight. The bound applies to all streams
// together.
func TestABacklogOfOneStreamDelaysNoOther(t *testing.T) {
	for _, window := range []int{256, 8} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			server := startServer(t, embedded.Options{})
			opts := natsbus.Options{InProcess: server, QueueStreams: 4, Partitions: 4, Logger: testserver.Log()}
			dispatch(t, opts, "g")
			b := connectTo(t, opts)
			publishDue(t, b, slices.Repeat([]bus.Message{{Partition: 0}}, 3000)...)
			publishDue(t, b, slices.Repeat([]bus.Message{{Partition: 1}}, 300)...)
			h := &holder{}
			ctx, cancel := context.WithCancel(t.Context())
			var consuming sync.WaitGroup
			consuming.Go(func() {
				err := b.Consume(ctx, bus.Spec{Topic: bus.Due, Group: "g", Mode: bus.Queue, MaxInFlight: window},
					func(context.Context, shard.Partition) (bus.Session, error) { return h, nil })
				if err != nil {
					t.Error(err)
				}
			})
			defer consuming.Wait()
			defer cancel()
			total := map[shard.Partition]int{}
			round := func() {
				t.Helper()
				eventually(t, "the session is almost full", func() error {
					n := h.take()
					if sum := n[0] + n[1] + n[2]; sum < window*3/4 {
						return fmt.Errorf("%v in flight of %d", n, window)
					}
					return nil
				})
				h.mu.Lock()
				held := h.held
				h.held = nil
				h.mu.Unlock()
				if len(held) > window {
					t.Fatalf("%d messages in flight, the bound is %d", len(held), window)
				}
				for _, d := range held {
					total[d.Partition]++
					d.Ack()
				}
			}
			round()
			publishDue(t, b, bus.Message{Partition: 2})
			rounds := 0
			for ; total[2] == 0 && rounds < 20; rounds++ {
				round()
			}
			if total[2] == 0 || total[1] == 0 || total[0]+total[1] > 8*window {
				t.Errorf("after %d rounds the session got %v messages by partition", rounds, total)
			}
			t.Logf("the single message came after %v by partition", total)
		})
	}
}

// TestADataFolderOfAnEarlierReleaseIsTakenOver: commit 581ad69 created the folder, with a maximum age of 200 years
// and 120 MiB for the due queue. Its consumer has acknowledged 20 messages, and 40 others, "left 0" to "left 39",
// remain. A process of that release still publishes to its stream.
func TestADataFolderOfAnEarlierReleaseIsTakenOver(t *testing.T) {
	for _, streams := range []int{1, 4} {
		t.Run(fmt.Sprint(streams), func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "data")
			archive, err := zip.OpenReader("testdata/due-one-stream.zip")
			if err != nil {
				t.Fatal(err)
			}
			defer archive.Close()
			if err := os.CopyFS(folder, archive); err != nil {
				t.Fatal(err)
			}
			server := startServer(t, embedded.Options{Dir: folder})
			_, js := raw(t, server)
			before, err := js.Stream(t.Context(), "timerbus-due")
			if err != nil {
				t.Fatal(err)
			}
			if state := before.CachedInfo().State; state.Msgs != 40 || state.FirstSeq != 21 {
				t.Fatalf("the folder has %+v, want 40 messages from 21", state)
			}
			b := connectTo(t, natsbus.Options{InProcess: server, QueueStreams: streams, Logger: testserver.Log()})
			for p, f := range dueFloors(t, b) {
				if f.Floor.Offset != 21 || f.Depth == 0 || !f.Floor.Before(f.End) {
					t.Errorf("partition %d: floor %+v, want it at the first message that is left", p, f)
				}
			}
			var messages []bus.Message
			for i := range 40 {
				messages = append(messages, bus.Message{Body: fmt.Append(nil, "left ", i)})
			}
			for _, m := range eachPartition(16, "side by side") {
				if _, err := js.Publish(t.Context(), fmt.Sprint("timerbus.due.", m.Partition), m.Body); err != nil {
					t.Fatal(err)
				}
				messages = append(messages, m)
			}
			drained(t, b, messages)
			in := consume(t, b, bus.Due, bus.Queue)
			publishDue(t, b, eachPartition(16, "new")...)
			for range 16 {
				in.Next(t)
			}
			used := map[string]bool{}
			names := js.StreamNames(t.Context(), jetstream.WithStreamListSubject("timerbus.due.>"))
			for name := range names.Name() {
				s, err := js.Stream(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				info := s.CachedInfo()
				used[name] = info.State.LastSeq > 0
				if info.Config.MaxAge != before.CachedInfo().Config.MaxAge || info.Config.MaxBytes != 120<<20/int64(streams) {
					t.Errorf("stream %s has a maximum age of %v and %d bytes", name, info.Config.MaxAge, info.Config.MaxBytes)
				}
			}
			if len(used) != streams || slices.Contains(slices.Collect(maps.Values(used)), false) {
				t.Errorf("streams %v are in use, want %d", used, streams)
			}
		})
	}
}

// TestADueQueueOfOneStreamIsDivided: the added streams have the settings of the first, and the sizes of all streams
// add up to its previous size.
func TestADueQueueOfOneStreamIsDivided(t *testing.T) {
	server := startServer(t, embedded.Options{})
	_, js := raw(t, server)
	connectTo(t, natsbus.Options{InProcess: server, QueueMaxAge: time.Hour, QueueMaxBytes: 120 << 20})
	check := func(what string, streams int, opts natsbus.Options, sizes ...int64) {
		t.Helper()
		opts.InProcess, opts.QueueStreams = server, streams
		connectTo(t, opts)
		for k, size := range sizes {
			name := "timerbus-due"
			if k > 0 {
				name = fmt.Sprint("timerbus-due-", k)
			}
			s, err := js.Stream(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			cfg := s.CachedInfo().Config
			if cfg.MaxBytes != size<<20 || cfg.MaxAge != time.Hour || cfg.Retention != jetstream.WorkQueuePolicy ||
				cfg.Discard != jetstream.DiscardNew || cfg.PersistMode != jetstream.AsyncPersistMode {
				t.Errorf("%s: stream %s is %+v, want a size of %d MiB and the other settings of the first", what, name, cfg, size)
			}
		}
	}
	check("three", 3, natsbus.Options{}, 40, 40, 40)
	check("six", 6, natsbus.Options{}, 20, 20, 20, 20, 20, 20)
	check("two again", 2, natsbus.Options{}, 20, 20, 20)
	check("a size", 2, natsbus.Options{QueueMaxBytes: 100 << 20}, 50, 50, 20)
}
