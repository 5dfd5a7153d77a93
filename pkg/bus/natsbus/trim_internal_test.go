package natsbus

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// connectEmbedded returns a bus on an embedded server of the test.
func connectEmbedded(t *testing.T, opts Options) *Bus {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir(), NoSync: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	opts.InProcess = server
	b, err := Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestProcessesNoteRemovedCommandsTogether: every process that applies commands removes the applied ones, and all of
// them find the stream half full at the same time.
func TestProcessesNoteRemovedCommandsTogether(t *testing.T) {
	t.Parallel()
	b := connectEmbedded(t, Options{Partitions: 1})
	info, err := b.info(t.Context(), b.streams[bus.Commands])
	if err != nil {
		t.Fatal(err)
	}
	const processes, rounds = 8, 10
	for round := range uint64(rounds) {
		var noting sync.WaitGroup
		for p := range uint64(processes) {
			noting.Go(func() {
				if err := b.noteTrim(t.Context(), info, round*processes+p+1); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		noting.Wait()
		last, err := b.trimmed(t.Context(), groupName(bus.Commands, bus.GroupIngest), info)
		if want := int64((round + 1) * processes); err != nil || last != want {
			t.Fatalf("removed up to %d, %v; want %d", last, err, want)
		}
	}
}

// gapNoter acknowledges every delivery and forwards gaps and deliveries.
type gapNoter struct {
	partition shard.Partition
	gaps      chan<- bus.Gap
	delivered chan<- shard.Partition
}

func (n *gapNoter) Deliver(_ context.Context, d *bus.Delivery) error {
	d.Ack()
	n.delivered <- n.partition
	return nil
}

func (n *gapNoter) Missed(_ context.Context, gap bus.Gap) { n.gaps <- gap }

func (n *gapNoter) Close(context.Context, error) error { return nil }

// TestASessionKnowsWhatEarlierOnesHaveSearched: according to the record of an idle partition, an earlier session has
// searched the messages of the other partition. Their removal is not a gap for a session that has had no heartbeat
// yet.
func TestASessionKnowsWhatEarlierOnesHaveSearched(t *testing.T) {
	t.Parallel()
	b := connectEmbedded(t, Options{Partitions: 2})
	s := b.streams[bus.Commands]
	info, err := b.info(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	const messages = 11
	if _, err := b.Publish(t.Context(), bus.Commands, slices.Repeat([]bus.Message{{Partition: 1}}, messages)...); err != nil {
		t.Fatal(err)
	}
	for p, r := range []record{{Offset: 1, Passed: messages}, {Offset: messages, Passed: messages}} {
		r.Epoch = info.Created.UnixNano()
		if _, err := b.write(t.Context(), recordKey(groupName(bus.Commands, "g"), shard.Partition(p)), r, 0); err != nil {
			t.Fatal(err)
		}
	}
	gaps, delivered, opened := make(chan bus.Gap, 10), make(chan shard.Partition, 10), make(chan shard.Partition, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var consuming sync.WaitGroup
	consuming.Go(func() {
		err := b.Consume(ctx, bus.Spec{Topic: bus.Commands, Group: "g", Mode: bus.Ordered},
			func(_ context.Context, p shard.Partition) (bus.Session, error) {
				opened <- p
				return &gapNoter{partition: p, gaps: gaps, delivered: delivered}, nil
			})
		if err != nil {
			t.Errorf("consume: %v", err)
		}
	})
	defer consuming.Wait()
	defer cancel()
	<-opened
	<-opened

	handle, err := b.js.Stream(t.Context(), s.name)
	if err != nil {
		t.Fatal(err)
	}
	consumers := func() (names []string) {
		for name := range handle.ConsumerNames(t.Context()).Name() {
			names = append(names, name)
		}
		return names
	}
	before := consumers()
	if err := handle.Purge(t.Context(), jetstream.WithPurgeSequence(messages)); err != nil {
		t.Fatal(err)
	}
	b.link.change() // sessions read again with new consumers
	for slices.ContainsFunc(consumers(), func(name string) bool { return slices.Contains(before, name) }) {
		if !timer.Sleep(t.Context(), 10*time.Millisecond) {
			t.Fatal("the consumers were not replaced")
		}
	}
	if _, err := b.Publish(t.Context(), bus.Commands, bus.Message{Partition: 0}, bus.Message{Partition: 1}); err != nil {
		t.Fatal(err)
	}
	<-delivered
	<-delivered
	select {
	case gap := <-gaps:
		t.Errorf("a gap was reported: %+v", gap)
	default:
	}
}

// TestCommandsAreRemovedByAgeInPortions: under a steady load there is always a command older than LogMaxAge. Every
// removal takes several requests for each partition.
func TestCommandsAreRemovedByAgeInPortions(t *testing.T) {
	t.Parallel()
	b := connectEmbedded(t, Options{Partitions: 1, LogMaxAge: 16 * time.Hour})
	if _, err := b.Publish(t.Context(), bus.Commands, make([]bus.Message, 3)...); err != nil {
		t.Fatal(err)
	}
	info, err := b.info(t.Context(), b.streams[bus.Commands])
	if err != nil {
		t.Fatal(err)
	}
	published := info.State.FirstTime
	for _, c := range []struct {
		after time.Duration
		want  uint64
	}{{15 * time.Hour, 0}, {17*time.Hour - time.Second, 0}, {17*time.Hour + time.Minute, 4}} {
		info.TimeStamp = published.Add(c.after)
		if got, err := b.trimTo(t.Context(), info); err != nil || got != c.want {
			t.Errorf("%v after the commands the first sequence to keep is %d, %v; want %d", c.after, got, err, c.want)
		}
	}
}

// TestOnAClusterRecordsSayWhatIsApplied: around an election, a server that is no longer or not yet the leader may
// reply that a partition has no messages. On a cluster such a reply does not prove that the partition's commands are
// applied.
func TestOnAClusterRecordsSayWhatIsApplied(t *testing.T) {
	t.Parallel()
	b := connectEmbedded(t, Options{Partitions: 2})
	if _, err := b.Publish(t.Context(), bus.Commands, make([]bus.Message, 5)...); err != nil {
		t.Fatal(err)
	}
	info, err := b.info(t.Context(), b.streams[bus.Commands])
	if err != nil {
		t.Fatal(err)
	}
	want := func(what string, replicas int, want uint64) {
		t.Helper()
		info.Config.Replicas = replicas
		if got, err := b.applied(t.Context(), info); err != nil || got != want {
			t.Errorf("%s, %d replicas: applied before %d, %v; want %d", what, replicas, got, err, want)
		}
	}
	write := func(p shard.Partition, r record) {
		t.Helper()
		key := recordKey(groupName(bus.Commands, bus.GroupIngest), p)
		_, revision, err := b.recordOf(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		r.Epoch = info.Created.UnixNano()
		if _, err := b.write(t.Context(), key, r, revision); err != nil {
			t.Fatal(err)
		}
	}
	want("no records", 1, 1)
	want("no records", 3, 1)
	write(0, record{Offset: 5, Passed: 5})
	want("a partition without a record", 1, 6)
	want("a partition without a record", 3, 1)
	write(1, record{Passed: 2})
	want("a partition that is searched up to 2", 1, 6)
	want("a partition that is searched up to 2", 3, 3)
	write(1, record{Passed: 9})
	want("a partition that is searched beyond the end", 3, 6)
}
