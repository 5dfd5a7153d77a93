package natsbus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/shard"
)

// ingest consumes commands like the service, and records gaps.
type ingest struct {
	mu      sync.Mutex
	holding bool // if true, it acknowledges nothing
	got     int
	gaps    []bus.Gap
}

func (i *ingest) hold(holding bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.holding = holding
}

func (i *ingest) Deliver(_ context.Context, d *bus.Delivery) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.got++
	if !i.holding {
		d.Ack()
	}
	return nil
}

func (i *ingest) Missed(_ context.Context, gap bus.Gap) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.gaps = append(i.gaps, gap)
}

func (i *ingest) Close(context.Context, error) error { return nil }

func (i *ingest) seen() (got int, gaps []bus.Gap) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.got, i.gaps
}

// startIngest consumes until stop is called or the test ends.
func startIngest(t *testing.T, b *natsbus.Bus) (i *ingest, stop func()) {
	t.Helper()
	i = &ingest{}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context())) // stop cancels it and waits
	var done sync.WaitGroup
	opened := make(chan struct{}, 1024)
	done.Go(func() {
		err := b.Consume(ctx, bus.Spec{Topic: bus.Commands, Group: bus.GroupIngest, Mode: bus.Ordered},
			func(context.Context, shard.Partition) (bus.Session, error) { opened <- struct{}{}; return i, nil })
		if err != nil {
			t.Errorf("consume: %v", err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	t.Cleanup(stop)
	for range b.Partitions() {
		<-opened
	}
	return i, stop
}

// until waits for a condition that no event signals.
func until(t *testing.T, what string, wait time.Duration, cond func() error) {
	t.Helper()
	deadline := time.Now().Add(wait)
	for err := cond(); err != nil; err = cond() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestAppliedCommandsMakeRoom publishes many times the size of the topic, all to one of 16 partitions. The removal of
// commands is not a gap for the idle partitions either. Only `make test-clusters` starts a cluster.
func TestAppliedCommandsMakeRoom(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		applyAndMakeRoom(t, natsbus.Options{InProcess: startServer(t, embedded.Options{NoSync: true})}, 250)
	})
	t.Run("nats3", func(t *testing.T) {
		t.Parallel()
		opts := natsbus.Options{URL: testserver.Address(t, "nats3"), Replicas: 3, Prefix: prefix()}
		remove(t, opts.URL, opts.Prefix)
		applyAndMakeRoom(t, opts, 75)
	})
}

func applyAndMakeRoom(t *testing.T, opts natsbus.Options, commands int) {
	t.Helper()
	opts.CommandsMaxBytes = 256 << 10
	opts = natsbus.Times{TrimEvery: 100 * time.Millisecond, TrimAgain: 200 * time.Millisecond}.With(opts)
	b, err := natsbus.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	i, stop := startIngest(t, b)
	for p := range shard.Partition(16) { // so that each has an owner record with a position
		if _, err := b.Publish(t.Context(), bus.Commands, bus.Message{Partition: p}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range commands {
		until(t, fmt.Sprintf("command %d is taken", n), patience, func() error {
			_, err := b.Publish(t.Context(), bus.Commands, bus.Message{Partition: 3, Body: make([]byte, 10<<10)})
			if err != nil && !errors.Is(err, bus.ErrFull) {
				t.Fatal(err)
			}
			return err
		})
	}
	until(t, "all commands are delivered", patience, func() error {
		if got, _ := i.seen(); got != commands+16 {
			return fmt.Errorf("%d of %d", got, commands+16)
		}
		return nil
	})
	stop()
	again, _ := startIngest(t, b)
	if _, err := b.Publish(t.Context(), bus.Commands, bus.Message{Partition: 5}); err != nil {
		t.Fatal(err)
	}
	until(t, "the last command is delivered", patience, func() error {
		if got, _ := again.seen(); got != 1 {
			return fmt.Errorf("%d deliveries", got)
		}
		return nil
	})
	for _, all := range []*ingest{i, again} {
		if _, gaps := all.seen(); len(gaps) > 0 {
			t.Errorf("gaps were reported: %+v", gaps)
		}
	}
}

// TestCommandsInAtomicBatches publishes commands in batches, to a stream of an earlier release, which did not allow them. Commands of a
// batch that is not committed are not delivered.
func TestCommandsInAtomicBatches(t *testing.T) {
	t.Parallel()
	server := startServer(t, embedded.Options{})
	b, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	nc, js := raw(t, server)
	stream, err := js.Stream(t.Context(), "timerbus-commands")
	if err != nil {
		t.Fatal(err)
	}
	earlier := stream.CachedInfo().Config
	earlier.AllowAtomicPublish = false
	if _, err := js.UpdateStream(t.Context(), earlier); err != nil {
		t.Fatal(err)
	}
	b2, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b2.Close() }()
	i, _ := startIngest(t, b2)
	send := func(batch string, first, last int, commit bool) error {
		for n := first; n <= last; n++ {
			m := nats.NewMsg(fmt.Sprintf("timerbus.commands.%d", n%16))
			m.Data = []byte("{}")
			m.Header.Set("Nats-Batch-Id", batch)
			m.Header.Set("Nats-Batch-Sequence", strconv.Itoa(n))
			if n < last || !commit {
				if err := nc.PublishMsg(m); err != nil {
					return err
				}
				continue
			}
			m.Header.Set("Nats-Batch-Commit", "1")
			if _, err := js.PublishMsg(t.Context(), m); err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(send("open", 1, 10, false), send("whole", 1, 100, true)); err != nil {
		t.Fatal(err)
	}
	want := func(commands int) {
		t.Helper()
		until(t, "the commands are delivered", patience, func() error {
			if got, _ := i.seen(); got != commands {
				return fmt.Errorf("%d of %d", got, commands)
			}
			return nil
		})
	}
	want(100)
	if err := send("open", 11, 20, true); err != nil {
		t.Fatal(err)
	}
	want(120)
}

// TestManyMessagesArePublishedInBatches: to a server that syncs messages. Positions, repetitions and errors are those of messages that are
// published one by one.
func TestManyMessagesArePublishedInBatches(t *testing.T) {
	t.Parallel()
	for _, noSync := range []bool{false, true} {
		server := startServer(t, embedded.Options{NoSync: noSync})
		b := connectTo(t, natsbus.Options{InProcess: server})
		_, js := raw(t, server)
		many := func(first, last int) []bus.Message {
			var all []bus.Message
			for n := first; n <= last; n++ {
				all = append(all, bus.Message{Partition: shard.Partition(n % 16), ID: strconv.Itoa(n), Body: []byte(strconv.Itoa(n))})
			}
			return all
		}
		publish := func(messages []bus.Message) []bus.Position {
			t.Helper()
			positions, err := b.Publish(t.Context(), bus.Fired, messages...)
			if err != nil {
				t.Fatal(err)
			}
			return positions
		}
		if _, err := b.Publish(t.Context(), bus.Dead, make([]bus.Message, 40)...); err != nil { // without ids and headers
			t.Fatal(err)
		}
		alone := publish(many(1, 1))
		first := publish(many(2, 1100))
		for n, p := range first {
			if p.Offset != alone[0].Offset+1+int64(n) || p.Partition != shard.Partition((n+2)%16) || p.Epoch != alone[0].Epoch {
				t.Fatalf("message %d has the position %+v, the one before all %+v", n+2, p, alone[0])
			}
		}
		if again := publish(many(1001, 1200)); !slices.Equal(again[:100], first[999:]) || again[199].Offset != first[1098].Offset+100 {
			t.Errorf("repeated messages have the positions %v, …, %v", again[:100], again[199])
		}
		large := many(1201, 1300)
		large[50].Body = make([]byte, embedded.MaxPayload+1)
		if _, err := b.Publish(t.Context(), bus.Fired, large...); !errors.Is(err, bus.ErrTooLarge) {
			t.Errorf("one message is too large: %v", err)
		}
		stream, err := js.Stream(t.Context(), "timerbus-fired")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for seq := uint64(1); seq <= 1200; seq++ {
			m, err := stream.GetMsg(t.Context(), seq)
			if err != nil {
				t.Fatal(err)
			}
			if batched := m.Header.Get("Nats-Batch-Id") != ""; batched == noSync && seq > 1 && seq <= 1100 {
				t.Fatalf("message %d is in a batch: %t, and the server syncs messages: %t", seq, batched, !noSync)
			}
			seen[string(m.Data)] = true
		}
		if len(seen) != 1200 {
			t.Errorf("the stream has %d of 1200 messages", len(seen))
		}
	}
}

// TestAppliedCommandsAreRemovedInTime verifies that commands younger than LogMaxAge and unapplied commands are kept.
func TestAppliedCommandsAreRemovedInTime(t *testing.T) {
	t.Parallel()
	server := startServer(t, embedded.Options{NoSync: true})
	_, js := raw(t, server)
	const age = time.Second
	b, err := natsbus.Connect(t.Context(), natsbus.Times{TrimEvery: 50 * time.Millisecond, TrimAgain: 50 * time.Millisecond}.With(
		natsbus.Options{InProcess: server, Partitions: 2, LogMaxAge: age}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	_, stop := startIngest(t, b)
	publish := func(n int) {
		t.Helper()
		for range n {
			if _, err := b.Publish(t.Context(), bus.Commands, bus.Message{Partition: 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept := func(want uint64) func() error {
		return func() error {
			s, err := js.Stream(t.Context(), "timerbus-commands")
			if err != nil {
				t.Fatal(err)
			}
			if got := s.CachedInfo().State.Msgs; got != want {
				return fmt.Errorf("%d messages are kept, want %d", got, want)
			}
			return nil
		}
	}
	publish(10)
	if err := kept(10)(); err != nil {
		t.Fatal(err)
	}
	until(t, "applied commands are removed", patience, kept(0))
	stop()
	publish(5)
	time.Sleep(2 * age) // longer than applied commands are kept
	i, _ := startIngest(t, b)
	until(t, "commands that waited are delivered", patience, func() error {
		if got, gaps := i.seen(); got != 5 || len(gaps) > 0 {
			return fmt.Errorf("%d deliveries, gaps %+v", got, gaps)
		}
		return nil
	})
	until(t, "they are removed", patience, kept(0))
}

// TestCommandsThatAreNotAppliedStay verifies that neither age nor the stream's size removes unapplied commands.
func TestCommandsThatAreNotAppliedStay(t *testing.T) {
	t.Parallel()
	server := startServer(t, embedded.Options{NoSync: true})
	_, js := raw(t, server)
	const every, age = 50 * time.Millisecond, 500 * time.Millisecond
	b, err := natsbus.Connect(t.Context(), natsbus.Times{TrimEvery: every, TrimAgain: every}.With(natsbus.Options{
		InProcess: server, Partitions: 2, CommandsMaxBytes: 256 << 10, LogMaxAge: age,
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	i, _ := startIngest(t, b)
	i.hold(true)
	publish := func(p shard.Partition) error {
		_, err := b.Publish(t.Context(), bus.Commands, bus.Message{Partition: p, Body: make([]byte, 10<<10)})
		return err
	}
	taken := 0
	for err = publish(0); err == nil; err = publish(shard.Partition(taken % 2)) {
		taken++
	}
	if !errors.Is(err, bus.ErrFull) {
		t.Fatal(err)
	}
	// Long enough for many attempts to remove them, also after their age.
	for end := time.Now().Add(3 * age); time.Now().Before(end); time.Sleep(every) {
		s, err := js.Stream(t.Context(), "timerbus-commands")
		if err != nil {
			t.Fatal(err)
		}
		if kept := int(s.CachedInfo().State.Msgs); kept != taken {
			t.Fatalf("%d of %d commands are kept", kept, taken)
		}
	}
	if err := publish(0); !errors.Is(err, bus.ErrFull) {
		t.Errorf("a full stream took a command: %v", err)
	}
}

// TestABoundOnBytesIsNotAskedForAgainAndAgain counts the requests for messages while no message fits within the
// bound.
func TestABoundOnBytesIsNotAskedForAgainAndAgain(t *testing.T) {
	t.Parallel()
	server := startServer(t, embedded.Options{NoSync: true})
	nc, _ := raw(t, server)
	requests, err := nc.SubscribeSync("$JS.API.CONSUMER.MSG.NEXT.timerbus-due.>")
	if err != nil {
		t.Fatal(err)
	}
	b := connect(t, server)
	for range 5 {
		if _, err := b.Publish(t.Context(), bus.Due, bus.Message{Body: make([]byte, 40<<10)}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var consuming sync.WaitGroup
	i := &ingest{}
	i.hold(true)
	consuming.Go(func() {
		err := b.Consume(ctx, bus.Spec{Topic: bus.Due, Group: "g", Mode: bus.Queue, MaxBytes: 100 << 10},
			func(context.Context, shard.Partition) (bus.Session, error) { return i, nil })
		if err != nil {
			t.Errorf("consume: %v", err)
		}
	})
	until(t, "two messages are delivered", patience, func() error {
		if got, _ := i.seen(); got < 2 {
			return fmt.Errorf("%d deliveries", got)
		}
		return nil
	})
	time.Sleep(time.Second)
	cancel()
	consuming.Wait()
	n, _, err := requests.Pending()
	if err != nil || n < 1 || n > 10 {
		t.Errorf("%d requests, %v; want a few", n, err)
	}
}

// TestAnIdlePartitionHasNoGap has an operator remove all messages after they were applied. The server's heartbeats
// have moved the position of the idle partition.
func TestAnIdlePartitionHasNoGap(t *testing.T) {
	t.Parallel()
	server := startServer(t, embedded.Options{NoSync: true})
	_, js := raw(t, server)
	b, err := natsbus.Connect(t.Context(), natsbus.Times{OwnExpires: time.Second}.With(natsbus.Options{InProcess: server, Partitions: 2}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	_, stop := startIngest(t, b)
	var at []bus.Position
	for p := range shard.Partition(2) {
		if at, err = b.Publish(t.Context(), bus.Commands, bus.Message{Partition: p}, bus.Message{Partition: p}, bus.Message{Partition: p}); err != nil {
			t.Fatal(err)
		}
	}
	last := at[2].Offset // of partition 1; partition 0 has no message after the third
	owners, err := js.KeyValue(t.Context(), "timerbus-owners")
	if err != nil {
		t.Fatal(err)
	}
	until(t, "partition 0 is searched to the end", patience, func() error {
		entry, err := owners.Get(t.Context(), "commands.ingest.0")
		if err != nil {
			return err
		}
		var r struct{ Offset, Passed int64 }
		if err := json.Unmarshal(entry.Value(), &r); err != nil {
			return err
		}
		if r.Passed < last || r.Offset >= last {
			return fmt.Errorf("its record is %s", entry.Value())
		}
		return nil
	})
	stop()
	stream, err := js.Stream(t.Context(), "timerbus-commands")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	i, _ := startIngest(t, b)
	if _, err := b.Publish(t.Context(), bus.Commands, bus.Message{Partition: 0}, bus.Message{Partition: 1}); err != nil {
		t.Fatal(err)
	}
	until(t, "later commands are delivered", patience, func() error {
		if got, _ := i.seen(); got != 2 {
			return fmt.Errorf("%d deliveries", got)
		}
		return nil
	})
	if _, gaps := i.seen(); len(gaps) > 0 {
		t.Errorf("gaps were reported: %+v", gaps)
	}
}

// TestCommandsThatExpiredAreCounted uses limits like those of an earlier release, set by an operator. Of 3,000 unread
// commands 996 do not fit, and that number must be reported. The lease is long, because a session that loses its
// lease receives its uncommitted messages again and repeats the report.
func TestCommandsThatExpiredAreCounted(t *testing.T) {
	t.Parallel()
	server := startServer(t, embedded.Options{NoSync: true})
	_, js := raw(t, server)
	b, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server, LeaseTTL: patience, AckTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	i, stop := startIngest(t, b)
	for p := range shard.Partition(16) {
		if _, err := b.Publish(t.Context(), bus.Commands, bus.Message{Partition: p}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "commands are applied", patience, func() error {
		if got, _ := i.seen(); got != 16 {
			return fmt.Errorf("%d deliveries", got)
		}
		return nil
	})
	stop()
	changed := config(t, js)
	changed.Discard, changed.MaxMsgs = jetstream.DiscardOld, 2004
	if _, err := js.UpdateStream(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	var all []bus.Message
	for n := range 3000 {
		all = append(all, bus.Message{Partition: shard.Partition(n % 16), Body: []byte("x")})
	}
	if _, err := b.Publish(t.Context(), bus.Commands, all...); err != nil {
		t.Fatal(err)
	}
	i, _ = startIngest(t, b)
	until(t, "what is kept is delivered", patience, func() error {
		if got, _ := i.seen(); got != 2004 {
			return fmt.Errorf("%d deliveries", got)
		}
		return nil
	})
	_, gaps := i.seen()
	lost := int64(0)
	for _, gap := range gaps {
		lost += gap.Messages
	}
	// The last command of each partition before the stop is one of the first 16 of the sequence.
	if lost < 996 || lost > 996+16 {
		t.Errorf("%d commands are reported as lost, want 996: %+v", lost, gaps)
	}
}

func config(t *testing.T, js jetstream.JetStream) jetstream.StreamConfig {
	t.Helper()
	s, err := js.Stream(t.Context(), "timerbus-commands")
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().Config
}

// TestTheStreamOfAnEarlierReleaseIsChangedOnce verifies that later changes by an operator are kept.
func TestTheStreamOfAnEarlierReleaseIsChangedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*jetstream.StreamConfig)
		discard jetstream.DiscardPolicy
		age     time.Duration
		bytes   int64
	}{
		"as it was made":                      {func(*jetstream.StreamConfig) {}, jetstream.DiscardNew, 0, 1 << 30},
		"larger":                              {func(s *jetstream.StreamConfig) { s.MaxBytes = 4 << 30 }, jetstream.DiscardNew, 0, 4 << 30},
		"with another age":                    {func(s *jetstream.StreamConfig) { s.MaxAge = time.Hour }, jetstream.DiscardNew, time.Hour, 1 << 30},
		"changed back by an operator":         {func(s *jetstream.StreamConfig) { s.Metadata["timerbus-commands"] = "until-applied" }, jetstream.DiscardOld, 24 * time.Hour, 1 << 30},
		"changed back in part by an operator": {func(s *jetstream.StreamConfig) { s.Metadata["timerbus-commands"], s.MaxAge = "until-applied", 0 }, jetstream.DiscardOld, 0, 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, embedded.Options{NoSync: true})
			_, js := raw(t, server)
			earlier := jetstream.StreamConfig{
				Name: "timerbus-commands", Subjects: []string{"timerbus.commands", "timerbus.commands.0"},
				MaxAge: 24 * time.Hour, MaxBytes: 1 << 30, Discard: jetstream.DiscardOld, Duplicates: time.Minute,
				Metadata: map[string]string{"timerbus-partitions": "1"},
			}
			c.change(&earlier)
			if _, err := js.CreateStream(t.Context(), earlier); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				b, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server, Partitions: 1})
				if err != nil {
					t.Fatal(err)
				}
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
			if now := config(t, js); now.Discard != c.discard || now.MaxAge != c.age || now.MaxBytes != c.bytes || now.Duplicates != time.Minute {
				t.Errorf("discard %v, age %v, %d bytes, duplicates %v; want %v, %v, %d, 1m",
					now.Discard, now.MaxAge, now.MaxBytes, now.Duplicates, c.discard, c.age, c.bytes)
			}
		})
	}
}
