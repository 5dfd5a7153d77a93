package dispatcher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

type callerFunc func(ctx context.Context, r dispatcher.Request) dispatcher.Answer

func (f callerFunc) Call(ctx context.Context, r dispatcher.Request) dispatcher.Answer {
	return f(ctx, r)
}

// BenchmarkFires measures the cost of one delivery in the dispatcher, with store and bus in memory: without callbacks
// (noop), with callbacks over HTTP to a receiver in the same process, on the common topic and on a user topic.
func BenchmarkFires(b *testing.B) {
	b.Run("noop", func(b *testing.B) {
		answer := dispatcher.Answer{Status: 200, Body: []byte(`{"ok":true}`)}
		benchmark(b, "http://receiver.test/", "", callerFunc(
			func(context.Context, dispatcher.Request) dispatcher.Answer { return answer }))
	})
	b.Run("http", func(b *testing.B) {
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"ok":true}`))
		}))
		defer receiver.Close()
		benchmark(b, receiver.URL, "", nil)
	})
	b.Run("event", func(b *testing.B) { benchmark(b, "", "", nil) })
	b.Run("own topic", func(b *testing.B) { benchmark(b, "", "orders", nil) })
}

func benchmark(b *testing.B, url, topic string, caller dispatcher.Caller) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	db := memstore.NewDatabase()
	st := db.Open()
	broker := membus.New(membus.Options{Partitions: 16, LogLimit: 1000})
	client := broker.Join("client")
	settings := store.DefaultSettings()
	if settings.EventTopics = timer.TopicPatterns(topic); topic != "" {
		if err := client.MakeTopic(ctx, bus.Own(topic)); err != nil {
			b.Fatal(err)
		}
	}
	ns, err := st.CreateNamespace(ctx, store.Namespace{Name: "n", Shards: shard.Block{Count: 16}, Settings: settings})
	if err != nil {
		b.Fatal(err)
	}
	clock := store.NewClock(store.ClockConfig{Bound: 250 * time.Millisecond, Shared: true})
	if err := clock.Start(ctx, st); err != nil {
		b.Fatal(err)
	}
	revisions := timer.NewRevisions(clock.Now, rand.Uint64)
	payload := []byte(`{"text":"` + strings.Repeat("x", 190) + `"}`)
	for i := range b.N {
		id := fmt.Sprint(i)
		ref := store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf("n", id)}
		out, err := st.Write(ctx, timer.SystemClock(), []store.Op{store.Put{
			Ref: ref, Namespace: "n", ID: id, Revision: revisions.Next(), Spec: timer.Spec{
				ExecuteAt: timer.SystemClock(), CallbackURL: url, CallbackTimeout: 30 * time.Second,
				Retry: timer.DefaultRetryPolicy(), Payload: payload, Topic: topic,
			},
		}})
		if err != nil {
			b.Fatal(err)
		}
		t := &out[0].Timer
		if _, err := client.Publish(ctx, bus.Due, bus.Message{
			Partition: shard.PartitionOf(ref.Shard, 16),
			Body: event.MarshalDue(event.Due{
				Shard: ref.Shard, UUID: ref.UUID, Revision: t.Revision, Generation: t.Generation, Attempt: 1, DueAt: t.DueAt,
				Target: t.Target(),
			}),
		}); err != nil {
			b.Fatal(err)
		}
	}
	service, err := dispatcher.New(dispatcher.Config{
		Store: st, Bus: broker.Join("node"), Directory: store.NewDirectory(st), Clock: clock.Settled, StoreClock: clock,
		Revisions: revisions, Random: rand.Uint64, Caller: caller,
	})
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	b.ReportAllocs()
	b.ResetTimer()
	go func() { done <- service.Run(ctx) }()
	for {
		floors, err := client.Floor(ctx, bus.Due, bus.GroupDispatchers)
		if err != nil {
			b.Fatal(err)
		}
		if floors[0].Depth == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "fires/s")
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
