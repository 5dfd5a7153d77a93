package sqlitestore_test

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
	"github.com/timerbus/timerbus/pkg/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Factory{
		New: func(tb testing.TB) storetest.Subject {
			folder := tb.TempDir()
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
			}
		},
		Reference: func(testing.TB) store.Store { return memstore.NewDatabase().Open() },
		Without: map[storetest.Ability]string{
			storetest.AnyHandles: "the folder belongs to one process, and to one handle in it",
		},
	})
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
