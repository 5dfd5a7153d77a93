package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestDataFolderAfterKill starts the service on a data folder in a state that kill -9 can leave. The due stream
// contains messages that its consumer has acknowledged, and the due events of overdue timers at or below the watermark
// are lost. Only the sweep finds these timers, and it waits for the ack floor.
func TestDataFolderAfterKill(t *testing.T) {
	if onDatabase() {
		t.Skip("the data folder has no store in it")
	}
	t.Parallel()
	w := startOwn(t)
	const timers = 60
	for i := range timers {
		w.create(t, fmt.Sprint("lost/", i), 8*time.Second)
	}
	due := time.Now().Add(8 * time.Second)
	if err := w.Kill(); err != nil {
		t.Fatal(err)
	}
	pause(t.Context(), time.Until(due)+100*time.Millisecond)
	loseEvents(t, w.Data)

	restarted := time.Now()
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	var latest time.Duration
	for i := range timers {
		calls, err := w.receiver.Await(within(t, killGrace-time.Since(restarted)), w.namespace, fmt.Sprint("lost/", i), 1)
		if err != nil {
			t.Fatalf("timer %d of %d: %v", i+1, timers, err)
		}
		latest = max(latest, calls[0].At.Sub(restarted))
	}
	t.Logf("%d overdue timers delivered, the last %.1f s after the restart", timers, latest.Seconds())
}

// loseEvents moves the watermarks past all due timers, as if their events had been published, and leaves 20 acknowledged
// messages in the due stream.
func loseEvents(t *testing.T, data string) {
	t.Helper()
	b, err := backend.Open(within(t, patience), backend.Options{
		StoreURL:   backend.FolderURL("sqlite", data, nil),
		BusURL:     backend.FolderURL("embedded", filepath.Join(data, "nats"), url.Values{"listen": {"127.0.0.1:0"}}),
		Partitions: 16, Clock: timer.SystemClock, Random: rand.Uint64,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	ns, err := b.Store.GetNamespace(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	shards := make([]shard.ID, ns.Shards.Count)
	for i := range shards {
		shards[i] = ns.Shards.Base + shard.ID(i)
	}
	now := timer.SystemClock()
	claimed, err := b.Store.Claim(t.Context(), now, store.Owner{Incarnation: timer.UUID{1}, Node: "killed"}, shards)
	if err != nil {
		t.Fatal(err)
	}
	passed := make([]store.Advance, len(claimed))
	for i, c := range claimed {
		passed[i] = store.Advance{Claim: c.Claim, Watermark: store.MaxKeyAt(now)}
	}
	if _, err := b.Store.Advance(t.Context(), now, passed); err != nil {
		t.Fatal(err)
	}

	if _, err := b.Bus.Publish(t.Context(), bus.Due, make([]bus.Message, 20)...); err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(b.BusAddress)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	before, err := js.Stream(t.Context(), "timerbus-due")
	if err != nil {
		t.Fatal(err)
	}
	// The ack floor moves to the end of the stream; the messages stay.
	if _, err := js.ResetConsumerToSequence(t.Context(), "timerbus-due", bus.GroupDispatchers, before.CachedInfo().State.LastSeq+1); err != nil {
		t.Fatal(err)
	}
	consumer, err := js.Consumer(t.Context(), "timerbus-due", bus.GroupDispatchers)
	if err != nil {
		t.Fatal(err)
	}
	after, err := before.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c := consumer.CachedInfo(); after.State.Msgs != 20 || c.NumPending != 0 || c.AckFloor.Stream < after.State.LastSeq {
		t.Fatalf("the stream has %d messages up to %d, the consumer's ack floor is %d, %d are pending: the test proves nothing",
			after.State.Msgs, after.State.LastSeq, c.AckFloor.Stream, c.NumPending)
	}
}
