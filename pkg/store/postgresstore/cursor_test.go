package postgresstore

import (
	"errors"
	"math"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestCursorsComeBack(t *testing.T) {
	want := place{shard: 7, uuid: timer.UUID{1, 2, 255}, generation: math.MaxInt64, attempt: 3}
	for _, status := range timer.Statuses() {
		q := store.ListQuery{Status: status, Namespace: store.Namespace{Shards: block}}
		q.After = want.cursor(status.Finished())
		got, err := startOf(&q)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", status, got, err, want)
		}
	}
}

func TestForeignCursorsAreRefused(t *testing.T) {
	good := place{shard: 7}.cursor(false)
	damaged := append(store.Cursor{}, good...)
	damaged[10] ^= 1
	elsewhere := store.ListQuery{After: good, Namespace: store.Namespace{Shards: shard.Block{Base: 16, Count: 16}}}
	for name, q := range map[string]store.ListQuery{
		"damaged":           {After: damaged, Namespace: store.Namespace{Shards: block}},
		"cut":               {After: good[:len(good)-1], Namespace: store.Namespace{Shards: block}},
		"another kind":      {After: good, Status: timer.StatusDone, Namespace: store.Namespace{Shards: block}},
		"another namespace": elsewhere,
	} {
		var invalid *timer.InvalidError
		if _, err := startOf(&q); !errors.As(err, &invalid) {
			t.Errorf("%s: got %v, want an InvalidError", name, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte(place{shard: 7}.cursor(false)), false)
	f.Add([]byte(behindAll().cursor(true)), true)
	f.Add([]byte("pg1l"), false)
	f.Fuzz(func(t *testing.T, raw []byte, finished bool) {
		q := store.ListQuery{After: raw, Namespace: store.Namespace{Shards: block}}
		if finished {
			q.Status = timer.StatusDead
		}
		p, err := startOf(&q)
		if err == nil && len(raw) > 0 && string(p.cursor(finished)) != string(raw) {
			t.Errorf("%x is read as %+v, which is %x", raw, p, p.cursor(finished))
		}
	})
}

// TestListLooksAtABoundedNumberOfRows: pages under a filter that hardly matches are short, and the walk
// still sees everything once.
func TestListLooksAtABoundedNumberOfRows(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		s := openStore(t, migrated(t, address))
		s.maxLooked = 100
		seed(t, s, 1200) // a tenth each parked, done and dead
		for status, want := range map[timer.Status]int{timer.StatusParked: 120, timer.StatusDead: 120} {
			seen := map[timer.UUID]bool{}
			q := store.ListQuery{Namespace: store.Namespace{Shards: block}, Status: status, Limit: 1000}
			for {
				page, err := s.List(t.Context(), now, q)
				if err != nil {
					t.Fatal(err)
				}
				for i := range page.Timers {
					if seen[page.Timers[i].UUID] {
						t.Fatalf("%s comes twice", page.Timers[i].UUID)
					}
					seen[page.Timers[i].UUID] = true
				}
				if q.After = page.Next; len(q.After) == 0 {
					break
				}
			}
			if len(seen) != want {
				t.Errorf("%s: %d of %d timers seen", status, len(seen), want)
			}
		}
		q := store.ListQuery{Namespace: store.Namespace{Shards: block}, Status: timer.StatusRetrying, Limit: 10}
		page, err := s.List(t.Context(), now, q)
		if err != nil || len(page.Timers) != 0 || len(page.Next) == 0 {
			t.Errorf("nothing among the first %d rows: %d timers, next %x, %v", s.maxLooked, len(page.Timers), page.Next, err)
		}
	})
}
