package ingest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestACommandThatTheStoreRefusedIsRepeatedUntilItIsApplied: the other commands of its batch, which were applied, are
// not repeated. A temporary failure must not become a refusal, because the client would not send the command again.
func TestACommandThatTheStoreRefusedIsRepeatedUntilItIsApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, withoutPlaces)
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		hot, cool := timer.UUIDOf("default", "hot"), timer.UUIDOf("default", "cool")
		var mu sync.Mutex
		puts := map[timer.UUID]int{}
		refuses := true
		thaw := w.frozen()
		w.command("0", event.TypeCreate, `{"id":"first","executeIn":"1h"}`)
		synctest.Wait()
		// The next two commands are one batch.
		w.command("1", event.TypeCreate, `{"id":"hot","executeIn":"1h"}`)
		w.command("2", event.TypeCreate, `{"id":"cool","executeIn":"1h"}`)
		synctest.Wait()
		w.store.set(func(ctx context.Context, ops []store.Op, _ func() ([]store.Written, error)) ([]store.Written, error) {
			mu.Lock()
			defer mu.Unlock()
			out := make([]store.Written, len(ops))
			for i, op := range ops {
				uuid := op.(store.Put).Ref.UUID //nolint:errcheck // there are no others.
				puts[uuid]++
				if uuid == hot && refuses {
					out[i] = store.Written{Err: fmt.Errorf("put: %w", store.ErrUnavailable)}
					continue
				}
				written, err := w.store.Store.Write(ctx, w.clock(), []store.Op{op})
				if err != nil {
					return nil, err
				}
				out[i] = written[0]
			}
			return out, nil
		})
		thaw()
		time.Sleep(30 * time.Second)
		if n := w.pending(); n == 0 {
			t.Fatal("a command was acknowledged without being applied")
		}
		mu.Lock()
		refuses = false
		mu.Unlock()
		time.Sleep(30 * time.Second)
		for range 3 {
			results.next(t)
		}
		dead.empty(t)
		if _, err := w.row("hot"); err != nil {
			t.Errorf("the command is lost: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		if puts[cool] != 1 || puts[hot] < 3 {
			t.Errorf("the other command was applied %d times, want once; the refused one was tried %d times", puts[cool], puts[hot])
		}
		w.wantPending(0)
	})
}
