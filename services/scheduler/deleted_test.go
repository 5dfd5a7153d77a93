package scheduler_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// locked is a buffer for a log.
type locked struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(b)
}

// TestShardsOfADeletedNamespaceAreGivenUp: schedulers notice the deletion without warnings, and serve the namespace that is
// created again with the name. Timers in other namespaces fire on time.
func TestShardsOfADeletedNamespaceAreGivenUp(t *testing.T) {
	inWorld(t, func(w *world) {
		var log locked
		n := w.start("a", func(c *scheduler.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
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
		if err := w.store.DeleteNamespace(w.t.Context(), "gone", ns.Version); err != nil {
			w.t.Fatal(err)
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
		w.namespace("gone")
		w.pass(time.Minute)
		if err := w.directory.Refresh(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		after, other := w.put("gone", "after", 2*time.Second, true), w.put("n", "other", 2*time.Second, true)
		w.pass(5 * time.Second)
		w.wantFired(time.Second, after, other)
		n.end()
		if text := log.log.String(); !strings.Contains(text, "their namespaces were deleted") || strings.Contains(text, "level=WARN") ||
			strings.Contains(text, "level=ERROR") {
			w.t.Errorf("the scheduler logged %s", text)
		}
	})
}
