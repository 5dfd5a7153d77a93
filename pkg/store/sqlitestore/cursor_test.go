package sqlitestore

import (
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/internal/relational"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestListLooksAtABoundedNumberOfRows: pages under a filter that hardly matches are short, and the walk
// still sees everything once.
func TestListLooksAtABoundedNumberOfRows(t *testing.T) {
	s := openFolder(t, Options{Folder: t.TempDir()})
	s.listLimits.Looked = 100
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
	q := store.ListQuery{Namespace: store.Namespace{Shards: block}, Status: timer.StatusDead, DueBefore: now - 1, Limit: 10}
	page, err := s.List(t.Context(), now, q)
	if err != nil || len(page.Timers) != 0 || len(page.Next) == 0 {
		t.Errorf("nothing among the first %d rows: %d timers, next %x, %v", s.listLimits.Looked, len(page.Timers), page.Next, err)
	}
}

// TestListsAreWholeWhateverTheLimits walks lists of every kind with limits so small that every page meets them.
func TestListsAreWholeWhateverTheLimits(t *testing.T) {
	s := openFolder(t, Options{Folder: t.TempDir()})
	seed(t, s, 1200)
	all := map[bool][]timer.Timer{}
	for _, status := range []timer.Status{"", timer.StatusDone, timer.StatusDead} {
		all[status.Finished()] = append(all[status.Finished()], walkAll(t, s, store.ListQuery{Status: status, Limit: 1000})...)
	}
	if len(all[false]) != 960 || len(all[true]) != 240 {
		t.Fatalf("%d live and %d finished timers, want 960 and 240", len(all[false]), len(all[true]))
	}
	for _, limits := range []relational.ListLimits{
		{Looked: 3, Sorted: 20, Chunk: 2}, {Looked: 100, Sorted: 60, Chunk: 7}, {Looked: 7, Sorted: 1000, Chunk: 100}, {Looked: 1, Sorted: 1, Chunk: 1},
	} {
		s.listLimits = limits
		for _, status := range append(timer.Statuses(), "") {
			for _, correlation := range []string{"", "correlation-3", timer.UUIDOf("default", "seed-15").String()} {
				for _, due := range [][2]timer.Millis{{}, {now + 100, 0}, {0, now + 5}, {now + 100, now + 200}, {now + 500, now + 501}} {
					q := store.ListQuery{Status: status, CorrelationID: correlation, DueFrom: due[0], DueBefore: due[1], Limit: 10}
					var want []string
					for i := range all[status.Finished()] {
						if listed := &all[status.Finished()][i]; q.Selects(listed) {
							want = append(want, listed.ID)
						}
					}
					var got []string
					for _, listed := range walkAll(t, s, q) {
						got = append(got, listed.ID)
					}
					slices.Sort(want)
					slices.Sort(got)
					if !slices.Equal(got, want) {
						t.Errorf("%+v, status %q, correlation %q, due %v: listed %d timers, want %d", limits, status, correlation, due, len(got), len(want))
					}
				}
			}
		}
	}
}

func walkAll(t *testing.T, s *Store, q store.ListQuery) (all []timer.Timer) {
	t.Helper()
	q.Namespace.Shards = block
	for range 10_000 {
		page, err := s.List(t.Context(), now, q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Timers...)
		if q.After = page.Next; len(page.Next) == 0 {
			return all
		}
	}
	t.Fatal("the walk does not end")
	return nil
}
