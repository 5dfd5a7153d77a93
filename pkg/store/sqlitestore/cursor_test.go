package sqlitestore

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestListLooksAtABoundedNumberOfRows: if few rows match the filter, pages are short, and a walk still returns every
// timer once.
func TestListLooksAtABoundedNumberOfRows(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	const looked = 100
	s.SetListLimits(looked, 20_000, 128)
	seed(t, s, 1200) // a tenth parked, a tenth done, a tenth dead
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
		t.Errorf("nothing among the first %d rows: %d timers, next %x, %v", looked, len(page.Timers), page.Next, err)
	}
}
