package scheduler_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/outage/outagetest"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// TestShardsOfADeletedNamespaceAreGivenUp: schedulers notice the deletion without warnings, and serve the namespace that is
// created again with the name. Timers in other namespaces fire on time.
func TestShardsOfADeletedNamespaceAreGivenUp(t *testing.T) {
	inWorld(t, func(w *world) {
		var log outagetest.Log
		n := w.start("a", func(c *scheduler.Config) { c.Logger = log.Logger() })
		ns := w.namespace("gone")
		w.pass(time.Minute)
		before := w.put("gone", "before", 2*time.Second, true)
		w.pass(5 * time.Second)
		w.wantFired(time.Second, before)

		ns.Settings.DeletingSince = timer.SystemClock()
		ns, err := w.store.UpdateNamespace(w.t.Context(), ns)
		if err != nil {
			w.t.Fatal(err)
		}
		w.pass(time.Minute)
		if err := w.store.DeleteNamespace(w.t.Context(), ns); err != nil {
			w.t.Fatal(err)
		}
		// A hint that cannot be decoded causes a poll of the shard before the next read of the directory.
		for p := range shard.Partition(partitions) {
			for _, id := range ns.Shards.In(p, partitions) {
				if _, err := w.client.Publish(w.t.Context(), bus.Shards, bus.Message{Partition: p, Key: id.String(), Body: []byte("?")}); err != nil {
					w.t.Fatal(err)
				}
			}
		}
		w.pass(3 * time.Minute)
		states, err := w.store.Inspect(w.t.Context(), ns.Shards.In(0, 1))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, state := range states {
			if state.Version != 0 {
				w.t.Errorf("shard %s of the deleted namespace was claimed again: %+v", state.Shard, state)
			}
		}
		if given := log.Lines("their namespaces are deleted", "shards=1"); len(given) != partitions {
			w.t.Errorf("%d sessions gave up their shard, want %d: %q", len(given), partitions, log.Lines())
		}
		w.namespace("gone")
		w.pass(time.Minute)
		if err := w.directory.Refresh(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		after, other := w.put("gone", "after", 2*time.Second, true), w.put("n", "other", 2*time.Second, true)
		w.pass(5 * time.Second)
		w.wantFired(time.Second, after, other)
		n.end()
		if len(log.Lines("level=WARN")) > 0 || len(log.Lines("level=ERROR")) > 0 {
			w.t.Errorf("the scheduler logged %q", log.Lines())
		}
	})
}
