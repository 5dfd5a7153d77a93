package postgresstore_test

import (
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/postgresstore"
	"github.com/timerbus/timerbus/pkg/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	for _, server := range servers(t) {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			db := server.database(t)
			// The servers differ only in syntax and plans, so a shorter random test is enough on the older one.
			// TIMERBUS_LOCKSTEP_STEPS sets another length.
			steps := 0 // the default
			if server.name == "postgres15" {
				steps = 120
			}
			storetest.Run(t, storetest.Factory{
				New: func(tb testing.TB) storetest.Subject {
					db.empty(tb)
					s := db.open(tb)
					handles := []*postgresstore.Store{s}
					return storetest.Subject{
						Store: s,
						Another: func(tb testing.TB) store.Store {
							another := db.open(tb)
							handles = append(handles, another)
							return another
						},
						Reopen: func(tb testing.TB) store.Store {
							for _, handle := range handles {
								if err := handle.Close(); err != nil {
									tb.Fatalf("close: %v", err)
								}
							}
							return db.open(tb)
						},
						Fill:   func(tb testing.TB, full bool) { db.fill(tb, full) },
						Occupy: s.Occupy,
					}
				},
				LockstepSteps: steps,
				Reference:     func(testing.TB) store.Store { return memstore.NewDatabase().Open() },
				Without: map[storetest.Ability]string{
					storetest.AnyRefusing: "a batch is one statement, or one transaction",
					storetest.AnyLeases:   "many processes use a database",
				},
			})
		})
	}
}

// TestListsUnderTightLimits runs the suite's list tests with limits that every page reaches.
func TestListsUnderTightLimits(t *testing.T) {
	t.Parallel()
	server := servers(t)[0]
	for _, limits := range [][3]int{{1, 1, 1}, {3, 4, 2}, {100, 2, 7}, {7, 1000, 100}} {
		t.Run(fmt.Sprint(limits), func(t *testing.T) {
			t.Parallel()
			db := server.database(t)
			storetest.Run(t, storetest.Factory{Only: "List/", New: func(tb testing.TB) storetest.Subject {
				db.empty(tb)
				s := db.open(tb)
				s.SetListLimits(limits[0], limits[1], limits[2])
				return storetest.Subject{Store: s}
			}})
		})
	}
}
