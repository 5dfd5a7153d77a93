package postgresstore

import (
	"cmp"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// fightSeconds is the environment variable with the duration of TestTwoOwnersFight, such as "30s".
const fightSeconds = "TIMERBUS_FENCE_FIGHT"

// TestTwoOwnersFight: two processes claim a shard from each other all the time (I5). An advance is stale if another
// claim was answered before it began. No stale advance may succeed, and no successful one may be lost.
func TestTwoOwnersFight(t *testing.T) {
	length := 2 * time.Second
	if text := os.Getenv(fightSeconds); text != "" {
		var err error
		if length, err = timer.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		f := fight{end: time.Now().Add(length)}
		var group sync.WaitGroup
		for i := range 2 {
			s := openStore(t, inside)
			group.Go(func() { f.owner(t, s, timer.UUID{byte(i + 1)}) })
		}
		group.Wait()
		claimed, err := openStore(t, inside).Claim(t.Context(), now, store.Owner{Incarnation: timer.UUID{9}}, []shard.ID{fought})
		if err != nil {
			t.Fatal(err)
		}
		if got := int64(claimed[0].Watermark.DueAt); got != f.highest.Load() {
			t.Errorf("the watermark is %d, want the highest that was answered, %d", got, f.highest.Load())
		}
		t.Logf("%s: %d claims, %d advances tried, %d succeeded, %d refused, %d of them stale; stale ones that succeeded: %d",
			length, f.claims.Load(), f.tried.Load(), f.tried.Load()-f.refused.Load(), f.refused.Load(), f.stale.Load(), f.broken.Load())
		if f.broken.Load() != 0 || f.stale.Load() == 0 || f.tried.Load() == f.refused.Load() {
			t.Error("want stale advances, all of them refused, and others that succeed")
		}
	})
}

// TestI5_AnAdvanceWaitsForATakeOver: an advance waits for a claim that is not committed yet, and is then fenced.
func TestI5_AnAdvanceWaitsForATakeOver(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		claim := claimShardsOf(t, s, shard.Block{Base: fought, Count: 1})[0].Claim
		other, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		if _, err := other.Exec(t.Context(), "BEGIN; UPDATE claims SET version = version + 1"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		ctx := t.Context()
		go func() {
			errs, err := s.Advance(ctx, now, []store.Advance{{Claim: claim, Watermark: store.MaxKeyAt(now)}})
			done <- cmp.Or(err, errs[0])
		}()
		for count(t, inside, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 0 {
			select {
			case err := <-done:
				t.Fatalf("the advance did not wait: %v", err)
			default:
			}
		}
		if _, err := other.Exec(t.Context(), "COMMIT"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, store.ErrFenced) {
			t.Errorf("the advance after the take-over: %v", err)
		}
		if states, err := s.Inspect(t.Context(), []shard.ID{fought}); err != nil || states[0].Watermark != store.MinKey() {
			t.Errorf("the watermark is %v, %v", states[0].Watermark, err)
		}
	})
}

const fought shard.ID = 7

// fight counts the results.
type fight struct {
	end time.Time
	// newest is the newest version that was answered, highest the highest watermark.
	newest, highest, next                 atomic.Int64
	claims, tried, refused, stale, broken atomic.Int64
}

// owner claims the shard, and advances until it is fenced.
func (f *fight) owner(t *testing.T, s *Store, incarnation timer.UUID) {
	for time.Now().Before(f.end) {
		claimed, err := s.Claim(t.Context(), now, store.Owner{Incarnation: incarnation, Node: "fighter"}, []shard.ID{fought})
		if err != nil {
			t.Error(err)
			return
		}
		f.claims.Add(1)
		raise(&f.newest, claimed[0].Claim.Version)
		// It continues after it is fenced, which a scheduler would not do.
		for range 8 {
			if err := f.advance(t, s, claimed[0].Claim); err != nil {
				t.Error(err)
				return
			}
		}
	}
}

func (f *fight) advance(t *testing.T, s *Store, claim store.Claim) error {
	stale := claim.Version < f.newest.Load()
	at := f.next.Add(1)
	f.tried.Add(1)
	errs, err := s.Advance(t.Context(), now, []store.Advance{{Claim: claim, Watermark: store.Key{DueAt: timer.Millis(at)}}})
	switch {
	case err != nil:
		return err
	case errors.Is(errs[0], store.ErrFenced):
		f.refused.Add(1)
		if stale {
			f.stale.Add(1)
		}
	case errs[0] != nil:
		return errs[0]
	case stale:
		f.broken.Add(1)
	default:
		raise(&f.highest, at)
	}
	return nil
}

// raise sets a value to v if v is larger.
func raise(value *atomic.Int64, v int64) {
	for {
		old := value.Load()
		if old >= v || value.CompareAndSwap(old, v) {
			return
		}
	}
}
