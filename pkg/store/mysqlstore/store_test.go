package mysqlstore

import (
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, address string) {
		db := migrated(t, address)
		storetest.Run(t, storetest.Factory{
			New: func(tb testing.TB) storetest.Subject {
				empty(tb, db)
				s := openStore(tb, db)
				handles := []*Store{s}
				return storetest.Subject{
					Store: s,
					Another: func(tb testing.TB) store.Store {
						another := openStore(tb, db)
						handles = append(handles, another)
						return another
					},
					Reopen: func(tb testing.TB) store.Store {
						for _, handle := range handles {
							if err := handle.Close(); err != nil {
								tb.Fatalf("close: %v", err)
							}
						}
						return openStore(tb, db)
					},
					Fill:   func(tb testing.TB, full bool) { fill(tb, db, full) },
					Occupy: func(tb testing.TB) func() { return occupy(tb, s) },
				}
			},
			Reference: func(testing.TB) store.Store { return memstore.NewDatabase().Open() },
			Without: map[storetest.Ability]string{
				storetest.AnyRefusing: "a batch is one statement, or one transaction",
				storetest.AnyLeases:   "many processes use a database",
			},
		})
	})
}

// TestListsUnderTightLimits runs the suite's list tests with limits that every page reaches.
func TestListsUnderTightLimits(t *testing.T) {
	t.Parallel()
	address := testserver.Address(t, "mariadb")
	for _, limits := range [][3]int{{1, 1, 1}, {3, 4, 2}, {100, 2, 7}, {7, 1000, 100}} {
		t.Run(fmt.Sprint(limits), func(t *testing.T) {
			t.Parallel()
			db := migrated(t, address)
			storetest.Run(t, storetest.Factory{Only: "List/", New: func(tb testing.TB) storetest.Subject {
				empty(tb, db)
				s := openStore(tb, db)
				setListLimits(s, limits[0], limits[1], limits[2])
				return storetest.Subject{Store: s}
			}})
		})
	}
}
