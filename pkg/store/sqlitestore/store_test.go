package sqlitestore_test

import (
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
	"github.com/timerbus/timerbus/pkg/store/storetest"
)

func TestStore(t *testing.T) {
	steps := 0 // those of the suite
	if testing.Short() {
		steps = 100
	}
	storetest.Run(t, storetest.Factory{
		New: func(tb testing.TB) storetest.Subject {
			folder := sqlitestore.NewFolder(tb)
			s := open(tb, folder)
			return storetest.Subject{
				Store: s,
				Reopen: func(tb testing.TB) store.Store {
					if err := s.Close(); err != nil {
						tb.Fatalf("close: %v", err)
					}
					s = open(tb, folder)
					return s
				},
				Fill:   func(tb testing.TB, full bool) { s.Fill(tb, full) },
				Occupy: func(tb testing.TB) func() { return s.Occupy(tb) },
			}
		},
		Reference:     func(testing.TB) store.Store { return memstore.NewDatabase().Open() },
		LockstepSteps: steps,
		Without: map[storetest.Ability]string{
			storetest.AnyHandles:  "the folder belongs to one process, and to one handle in it",
			storetest.AnyRefusing: "a batch is one transaction",
		},
	})
}

// TestListsUnderTightLimits runs the suite's list tests with limits that every page reaches.
func TestListsUnderTightLimits(t *testing.T) {
	for _, limits := range [][3]int{{1, 1, 1}, {3, 4, 2}, {100, 2, 7}, {7, 1000, 100}} {
		t.Run(fmt.Sprint(limits), func(t *testing.T) {
			storetest.Run(t, storetest.Factory{Only: "List/", New: func(tb testing.TB) storetest.Subject {
				s := open(tb, sqlitestore.NewFolder(tb))
				s.SetListLimits(limits[0], limits[1], limits[2])
				return storetest.Subject{Store: s}
			}})
		})
	}
}

func open(tb testing.TB, folder string) *sqlitestore.Store {
	tb.Helper()
	s, err := sqlitestore.Open(tb.Context(), sqlitestore.Options{Folder: folder})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return s
}
