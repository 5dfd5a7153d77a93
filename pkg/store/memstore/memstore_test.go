package memstore_test

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/storetest"
)

// TestStore runs the suite. A database without handles stays, so that reopening it is possible.
func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Factory{
		New: func(testing.TB) storetest.Subject {
			db := memstore.NewDatabase()
			open := func(testing.TB) store.Store { return db.Open() }
			handle := db.Open()
			return storetest.Subject{
				Store:   handle,
				Another: open,
				Reopen: func(t testing.TB) store.Store {
					if err := handle.Close(); err != nil {
						t.Fatal(err)
					}
					return db.Open()
				},
			}
		},
		Reference: func(testing.TB) store.Store { return memstore.NewDatabase().Open() },
	})
}
