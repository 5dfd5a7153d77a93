package dynamostore_test

import (
	"os"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/storetest"
)

//testenv:need dynamodb

// TestStore runs the conformance suite. Here every item is a request, and DynamoDB Local takes a millisecond of CPU
// time for each. So large batches are three times the limit of one request, and random tests are shorter than
// elsewhere, unless TIMERBUS_DYNAMODB_FULL is set: `make test-dynamodb`.
func TestStore(t *testing.T) {
	on := theServer(t)
	largeBatch, steps := 300, 120
	if os.Getenv("TIMERBUS_DYNAMODB_FULL") != "" {
		largeBatch, steps = 0, 0
	}
	storetest.Run(t, storetest.Factory{
		LargeBatch: largeBatch, LockstepSteps: steps,
		New: func(tb testing.TB) storetest.Subject {
			o := on.database(tb)
			s := open(tb, o)
			handles := []store.Store{s}
			return storetest.Subject{
				Store:  s,
				Occupy: func(testing.TB) func() { return s.Occupy() },
				Another: func(tb testing.TB) store.Store {
					handles = append(handles, open(tb, o))
					return handles[len(handles)-1]
				},
				Reopen: func(tb testing.TB) store.Store {
					for _, handle := range handles {
						if err := handle.Close(); err != nil {
							tb.Fatalf("close: %v", err)
						}
					}
					return open(tb, o)
				},
				Refusing: func(tb testing.TB, id shard.ID) store.Store {
					o := o
					o.MaxAttempts = 2 // each retry waits for its backoff
					hook(&o).refuse(id)
					return open(tb, o)
				},
			}
		},
		Reference: func(testing.TB) store.Store { return memstore.NewDatabase().Open() },
		Without: map[storetest.Ability]string{
			storetest.AnyPositions: "no transaction of DynamoDB spans a batch, so topic commands are applied at least once",
			storetest.AnyCensus:    "DynamoDB counts by reading, and reading is paid for",
			storetest.AnyLeases:    "many processes use a table",
			storetest.AnyFill:      "there is no disk; a shard that is full takes no timers, and the others do",
			storetest.AnyPurge:     "the table's time to live removes what has expired",
		},
	})
}
