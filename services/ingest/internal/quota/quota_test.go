package quota_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest/internal/quota"
)

// world is a Limiter over a store whose counts the test sets.
type world struct {
	t       *testing.T
	limiter *quota.Limiter
	pending int           // the store's answer
	took    time.Duration // of one count
	err     error
	counts  int
	failed  int
}

func run(t *testing.T, body func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t}
		w.limiter = quota.New(quota.Config{
			Count: func(ctx context.Context, _ store.Namespace, limit int) (int, error) {
				w.counts++
				select {
				case <-time.After(w.took):
				case <-ctx.Done():
					return 0, ctx.Err()
				}
				return min(w.pending, limit), w.err
			},
			Counted: func(err error) {
				if err != nil {
					w.failed++
				}
			},
			Timeout: 10 * time.Second,
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.limiter.Run(ctx) }()
		body(w)
		cancel()
		<-done
	})
}

func namespace(q store.Quota) *store.Namespace {
	return &store.Namespace{Name: "n", Shards: shard.Block{Count: 4}, Settings: store.Settings{Quota: q}}
}

// counted is a time after which a requested count has ended.
const counted = 60 * time.Millisecond

// admit admits as many creates as possible, at most n, and returns their number and the refusal.
func (w *world) admit(ns *store.Namespace, n int) (admitted int, refused *quota.ExceededError) {
	w.t.Helper()
	for range n {
		err := w.limiter.Admit(ns)
		if errors.As(err, &refused) {
			break
		}
		if err != nil {
			w.t.Fatal(err)
		}
		admitted++
	}
	time.Sleep(counted)
	synctest.Wait()
	return admitted, refused
}

func (w *world) want(ns *store.Namespace, n, want int, name quota.Name, after time.Duration) {
	w.t.Helper()
	got, refused := w.admit(ns, n)
	switch {
	case got != want:
		w.t.Fatalf("%d of %d admitted, want %d; refused: %v", got, n, want, refused)
	case name == "" && refused != nil:
		w.t.Fatalf("refused: %v", refused)
	case name != "" && (refused.Quota != name || refused.RetryAfter != after):
		w.t.Fatalf("refused by %s, again after %s, want %s and %s: %v", refused.Quota, refused.RetryAfter, name, after, refused)
	}
}

func TestWithoutQuotasNothingIsCounted(t *testing.T) {
	run(t, func(w *world) {
		w.want(namespace(store.Quota{MaxPayload: 5}), 100_000, 100_000, "", 0)
		if w.counts != 0 {
			t.Errorf("%d counts", w.counts)
		}
	})
}

func TestPendingTimersAreBounded(t *testing.T) {
	run(t, func(w *world) {
		ns := namespace(store.Quota{MaxPending: 100})
		w.pending = 1
		w.want(ns, 1, 1, "", 0) // counted after its write
		w.want(ns, 200, 99, quota.MaxPending, time.Second)
		w.pending = 100
		time.Sleep(time.Second)
		w.want(ns, 1, 0, quota.MaxPending, time.Second) // requests the next count
		w.want(ns, 1, 0, quota.MaxPending, time.Second)
		w.pending = 40 // 60 have fired
		time.Sleep(time.Second)
		w.want(ns, 1, 0, quota.MaxPending, time.Second)
		w.want(ns, 100, 60, quota.MaxPending, time.Second)
	})
}

func TestTimersThatExistAtTheStartCount(t *testing.T) {
	run(t, func(w *world) {
		w.pending = 99
		ns := namespace(store.Quota{MaxPending: 100})
		w.want(ns, 1, 1, "", 0)
		w.want(ns, 5, 1, quota.MaxPending, time.Second)
	})
}

func TestCountsAreRareFarFromTheQuota(t *testing.T) {
	run(t, func(w *world) {
		ns := namespace(store.Quota{MaxPending: 1_000_000})
		for range 600 {
			w.want(ns, 1, 1, "", 0)
			time.Sleep(time.Second)
		}
		if w.counts != 60 {
			t.Errorf("%d counts in 10 minutes, want one in 10 s", w.counts)
		}
	})
}

func TestSlowCountsUseATwentiethOfTheTime(t *testing.T) {
	run(t, func(w *world) {
		w.took, w.pending = 2*time.Second, 100
		ns := namespace(store.Quota{MaxPending: 100})
		for range 2500 {
			_, _ = w.admit(ns, 1)
			time.Sleep(100 * time.Millisecond)
		}
		if w.counts < 9 || w.counts > 11 {
			t.Errorf("%d counts of 2 s in 400 s, want 10", w.counts)
		}
	})
}

func TestFailedCountsAdmitWhatThisProcessMay(t *testing.T) {
	run(t, func(w *world) {
		w.err = store.ErrUnavailable
		ns := namespace(store.Quota{MaxPending: 10})
		w.want(ns, 20, 10, quota.MaxPending, time.Second)
		time.Sleep(990 * time.Millisecond) // the count failed after 50 ms, 10 ms before want returned
		w.want(ns, 1, 0, quota.MaxPending, 4*time.Second)
		if w.failed != 1 {
			t.Errorf("%d failures reported", w.failed)
		}
		w.err, w.pending = nil, 0
		time.Sleep(4 * time.Second)
		w.want(ns, 1, 0, quota.MaxPending, time.Second)
		w.want(ns, 20, 10, quota.MaxPending, time.Second)
	})
}

func TestCreatesPerSecondAreBounded(t *testing.T) {
	run(t, func(w *world) {
		ns := namespace(store.Quota{CreatesPerSecond: 50})
		w.want(ns, 100, 50, quota.CreatesPerSecond, time.Second)
		time.Sleep(100*time.Millisecond - counted)
		w.want(ns, 100, 5, quota.CreatesPerSecond, time.Second)
		time.Sleep(time.Minute)
		w.want(ns, 100, 50, quota.CreatesPerSecond, time.Second)
		ns = namespace(store.Quota{CreatesPerSecond: 100}) // the setting was changed
		w.want(ns, 200, 100, quota.CreatesPerSecond, time.Second)
		w.want(namespace(store.Quota{}), 1000, 1000, "", 0)
	})
}

func TestAChangedQuotaOfPendingTimersIsCountedAgain(t *testing.T) {
	run(t, func(w *world) {
		w.pending = 500
		w.want(namespace(store.Quota{MaxPending: 100}), 1, 1, "", 0)
		w.want(namespace(store.Quota{MaxPending: 100}), 1, 0, quota.MaxPending, time.Second)
		raised := namespace(store.Quota{MaxPending: 520})
		w.want(raised, 1, 1, "", 0)                           // requests a count
		w.want(raised, 50, 20, quota.MaxPending, time.Second) // 500 exist, not the 100 of the earlier count
		w.want(namespace(store.Quota{CreatesPerSecond: 1000}), 900, 900, "", 0)
		w.pending = 0
		time.Sleep(time.Second)
		w.want(raised, 520, 520, "", 0) // creates without this quota do not use it
	})
}

func TestManyNamespacesAreCountedTogether(t *testing.T) {
	run(t, func(w *world) {
		for i := range 1000 {
			ns := namespace(store.Quota{MaxPending: 100})
			ns.Name = fmt.Sprint("n", i)
			if err := w.limiter.Admit(ns); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if w.counts != 1000 {
			t.Errorf("%d of 1000 namespaces counted within a second", w.counts)
		}
	})
}

func TestANamespaceThatWasCreatedAgainStartsAtZero(t *testing.T) {
	run(t, func(w *world) {
		ns := namespace(store.Quota{MaxPending: 10})
		w.want(ns, 20, 10, quota.MaxPending, time.Second)
		ns.Shards.Base = 100
		w.want(ns, 20, 10, quota.MaxPending, time.Second)
	})
}
