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
		New: func(t testing.TB) storetest.Subject {
			folder := t.TempDir()
			s := open(t, folder)
			return storetest.Subject{
				Store: s,
				Reopen: func(t testing.TB) store.Store {
					if err := s.Close(); err != nil {
						t.Fatalf("close: %v", err)
					}
					s = open(t, folder)
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

func open(t testing.TB, folder string) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), sqlitestore.Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
